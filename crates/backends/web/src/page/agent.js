// The agent's face: what the Rust side calls, as `__stickpin.NAME(...)` in the isolated world. Ids are the numbers of
// the columns; a function that is given the id of an element that is gone (not connected) answers null. Points and
// rectangles are CSS pixels of the viewport of the document that this script lives in.
//
// Reading (capture.js, locate.js)
//   capture({watch: [id]})      -> JSON text: columns and string table, for Columns::parse
//   locate(id, [id])            -> the same, or null
//   idOf(element), nodeOf(id)   -> between numbers and objects that the debugger resolved into this world
//   frameElements()             -> [[id, inside]]: the elements that show frames; inside: walked in this process
//
// Aiming (aim.js)
//   reach(id)                   -> {rect: [x,y,w,h] | null, point: [x,y] | null}; scrolls into view if need be
//   hit(id, x, y)               -> {hit: 'target'} | {hit: 'covered', by: id, what} | {hit: 'off'}
//   elementAt(x, y)             -> id, 0 for none
//   rects([id])                 -> [[x,y,w,h] | null]
//   words(id)                   -> `dialog "Cookies"`, `div.overlay`
//
// Acting (input.js)
//   expectClick(id)             -> true: watching the next press; false: gone
//   clickVerdict()              -> {landed: true | false | null, what}: false was stopped, null: no event came
//   prepareField(id)            -> {why} | {kind: 'type' | 'edit' | 'set', id, value, focused}; focuses, selects all
//   setValue(id, text)          -> value; for kind 'set', with the id that prepareField gave
//   focusOn(id)                 -> whether it has the focus now; caret at the end
//   readValue(id)               -> text
//   selectOptions(id, [text])   -> {handled, value?, missing?, options?, why?}
//   scrollBy(id | 0, dx, dy)    -> {moved, left, top}
//   attrs(id), html(id), text(id)
//
// Noticing (changes.js)
//   changes()                   -> {count, quiet}: a counter, and for how long nothing changed, in ms
//   changed(since, ms)          -> Promise of the counter, as soon as it differs from `since` or after `ms`
//   settled(quiet, cap)         -> Promise of {settled, still: [words]}
//   announcements()             -> [text] since the last call

/** The elements that show frames. */
function frameElements() {
  const out = [];
  const look = root => {
    for (const e of $nodeType.call(root) === 9 ? $docQueryAll.call(root, 'iframe,frame') : root.querySelectorAll('iframe,frame')) {
      const inner = frameDocument(e, $localName.call(e));
      out.push([idOf(e), inner !== null]);
      if (inner) look(inner);
    }
  };
  look(document);
  return out;
}

const wordsOf = id => {
  const e = nodeOf(id);
  return e && $isConnected.call(e) ? words(e) : null;
};

globalThis.__stickpin = Object.freeze({
  agent: AGENT, capture, locate, idOf, nodeOf, frameElements, reach, hit, elementAt, rects, words: wordsOf, expectClick,
  clickVerdict, prepareField, setValue, focusOn, readValue, selectOptions, scrollBy, attrs, html, text, changes, changed,
  settled, announcements,
});
