// The log of calls, and the problems that the app reported.

import { arrows, byId, clock, duration, make, plain } from "./dom.js";

const list = byId("log");
const problems = byId("problem-list");
const entries = new Map();
/** The maximum number of rows. */
const MAX_ROWS = 1000;
const SIGNS = { running: "…", ok: "✓", error: "✕", interrupted: "!" };

let chosen = () => {};
let noticed = [];

/** Sets the handler for a selected entry. */
export function onLog(choose) {
  chosen = choose;
}

/** Returns the entries, oldest first. */
export function all() {
  return [...entries.values()].map((kept) => kept.entry);
}

/** Removes all entries. */
export function clear() {
  entries.clear();
  list.replaceChildren();
}

/** Adds or replaces entries. */
export function add(changed) {
  const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 40;
  for (const entry of changed) {
    const made = row(entry);
    const known = entries.get(entry.id);
    if (known) {
      made.setAttribute("aria-selected", known.row.getAttribute("aria-selected"));
      known.row.replaceWith(made);
    } else {
      list.append(made);
    }
    entries.set(entry.id, { entry, row: made });
  }
  while (entries.size > MAX_ROWS) {
    const [id, oldest] = entries.entries().next().value;
    oldest.row.remove();
    entries.delete(id);
  }
  if (atEnd) list.scrollTop = list.scrollHeight;
  showProblems();
}

function row(entry) {
  const made = make("li", `call ${entry.outcome ?? "note"}`, null, { role: "option", "aria-selected": "false" });
  made.dataset.id = entry.id;
  const head = make("div", "head");
  head.append(
    make("span", "sign", entry.outcome ? SIGNS[entry.outcome] : "·", { "aria-label": entry.outcome ?? "note" }),
    make("span", "what", plain(entry.what, 40)),
    make("span", "words", plain(entry.detail)),
    make("span", "took", duration(entry.durationMs)),
  );
  const who = make("span", "who", plain(entry.who, 40));
  who.dataset.hue = hue(entry.who);
  const when = make("time", "when", clock(entry.at), { datetime: entry.at });
  made.append(head);
  if (entry.outcome) {
    const foot = make("div", "foot");
    foot.append(who, when);
    made.append(foot);
  } else {
    head.children[0].after(who);
    head.append(when);
  }
  if (entry.error) made.append(make("p", "line bad", plain(entry.error)));
  for (const line of entry.receipt) made.append(make("p", line.isError ? "line bad" : "line", plain(line.text)));
  made.addEventListener("click", () => choose(made));
  return made;
}

/** Returns one of six colors for a name. */
function hue(who) {
  let sum = 0;
  for (const c of who) sum = (sum * 31 + c.codePointAt(0)) % 997;
  return sum % 6;
}

function choose(item) {
  chosen(entries.get(Number(item.dataset.id)).entry);
}

/** Selects the row of an entry. */
export function selectCall(id) {
  for (const { entry, row } of entries.values()) {
    const is = entry.id === id;
    row.setAttribute("aria-selected", String(is));
    if (is) row.scrollIntoView({ block: "nearest" });
  }
}

/** Shows what the device itself noticed, in addition to the errors in receipts: console errors that occurred outside
 * actions, and the page's failed requests. */
export function showNoticed({ consoleErrors, failedRequests }) {
  noticed = [
    ...consoleErrors.map((error) => [error, "in no receipt"]),
    ...failedRequests.map((request) => [request, "request from this page"]),
  ];
  showProblems();
}

let shownProblems = null;

function showProblems() {
  const found = [];
  for (const { entry } of entries.values()) {
    for (const line of entry.receipt) {
      if (line.isError) found.push([line.text, `${entry.what} · ${clock(entry.at)}`]);
    }
  }
  found.push(...noticed);
  const key = JSON.stringify(found);
  if (key === shownProblems) return;
  shownProblems = key;
  const rows = found.map(([text, where]) => problem(text, where));
  const count = byId("problem-count");
  count.textContent = rows.length;
  count.hidden = rows.length === 0;
  if (rows.length === 0) rows.push(make("li", "call note", "No console errors and no failed requests."));
  problems.replaceChildren(...rows);
}

function problem(text, where) {
  const made = make("li", "call error");
  made.append(make("p", "line bad", plain(text)), make("p", "foot", plain(where)));
  return made;
}

list.setAttribute("role", "listbox");
arrows(list, ".call", choose);
showProblems();
