// The agent's face: what the Rust side calls, as `__stickpin.NAME(...)` in the isolated world.
//
//   capture({watch})            -> JSON: columns and string table (capture.js)
//   idOf(element)               -> the number of an element that was resolved into this world

globalThis.__stickpin = Object.freeze({
  agent: AGENT,
  capture,
  idOf,
  nodeOf,
});
