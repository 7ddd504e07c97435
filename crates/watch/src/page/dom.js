// Small helpers. Everything that comes from an app goes through `textContent` or an attribute.

/** Returns the element with an id. */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element ${id}`);
  return found;
}

/** Creates an element with a class, text and attributes. */
export function make(tag, className, text, attributes = {}) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined && text !== null) made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

/** Characters that are invisible or affect the text around them: those that all other output escapes, too. */
const INVISIBLE =
  /[\u{0}-\u{1f}\u{7f}-\u{9f}\u{ad}\u{34f}\u{61c}\u{115f}-\u{1160}\u{17b4}-\u{17b5}\u{180b}-\u{180f}\u{200b}-\u{200f}\u{2028}-\u{202e}\u{2060}-\u{206f}\u{3164}\u{fe00}-\u{fe0e}\u{feff}\u{ffa0}\u{fff0}-\u{fffb}\u{fffe}-\u{ffff}\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;

/** Returns an app's text with invisible characters escaped, cut to `most` characters. */
export function plain(text, most = 400) {
  const shown = String(text ?? "").replace(INVISIBLE, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
  return shown.length > most ? `${shown.slice(0, most)}…` : shown;
}

/** Returns the time of day of a timestamp. */
export function clock(timestamp) {
  const time = new Date(timestamp);
  return Number.isNaN(time.getTime()) ? "" : time.toLocaleTimeString([], { hour12: false });
}

/** Returns a duration in words. */
export function duration(ms) {
  if (ms === undefined) return "";
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
}

let items = 0;

/** Lets the arrow keys, Home and End move between the children of a list that match a selector. */
export function arrows(list, selector, choose, keys = ["ArrowUp", "ArrowDown"]) {
  list.addEventListener("keydown", (event) => {
    const moves = { [keys[0]]: -1, [keys[1]]: 1, Home: -Infinity, End: Infinity };
    if (!(event.key in moves) || event.target.closest("input")) return;
    const all = [...list.querySelectorAll(selector)].filter((item) => !item.hidden);
    if (all.length === 0) return;
    const at = all.findIndex((item) => item.getAttribute("aria-selected") === "true");
    const to = Math.min(all.length - 1, Math.max(0, at + moves[event.key]));
    event.preventDefault();
    all[to].id ||= `item-${++items}`;
    list.setAttribute("aria-activedescendant", all[to].id);
    choose(all[to]);
    all[to].scrollIntoView({ block: "nearest", inline: "nearest" });
  });
}
