// The outline of the app as a tree that can be folded.

import { byId, make, plain } from "./dom.js";

const list = byId("outline");
const find = byId("find");
const LINE = /^( *)(?:(@e\d+) )?(\S+)(.*)$/s;
/** The deepest level that is indented. */
const MAX_INDENT = 16;

let text = null;
let rows = [];
/** The keys of folded rows. They stay folded in later outlines that contain them. */
const folded = new Set();
let active = null;
let chosen = () => {};

/** Sets the handler for a selected line. */
export function onOutline(choose) {
  chosen = choose;
}

/** Shows an outline. Rows of lines that were there before are kept, with their position in the document. */
export function showOutline(outline) {
  if (outline === text) return;
  text = outline;
  const known = new Map();
  for (const row of rows) known.set(row.dataset.key, row);
  const open = [];
  const counts = new Map();
  rows = outline.split("\n").filter((line) => line.trim()).map((line) => {
    const [, indent, ref, role, rest] = LINE.exec(line) ?? ["", "", undefined, "", line];
    const level = indent.length / 2;
    open.length = Math.min(open.length, level);
    // A key identifies a line by its parents; lines that read the same are distinguished by their order.
    const path = `${open.at(-1) ?? ""}\n${ref ?? `${role} ${nameOf(rest)}`}`;
    const count = counts.get(path) ?? 0;
    counts.set(path, count + 1);
    const key = `${path}\t${count}`;
    open[level] = key;
    const kept = known.get(key);
    if (kept?.dataset.line === line) return kept;
    return row({ line, level, ref, role, rest, key }, kept);
  });
  nest();
  place();
  filter();
}

/** The quoted name in a line, which stays when the states after it change. */
function nameOf(rest) {
  return /^ "(?:[^"\\]|\\.)*"/s.exec(rest)?.[0] ?? "";
}

function row({ line, level, ref, role, rest, key }, before) {
  const made = make("div", "row", null, {
    role: "treeitem",
    "aria-level": level + 1,
    "aria-selected": before?.getAttribute("aria-selected") ?? "false",
  });
  made.id = before?.id || `row-${++count}`;
  made.dataset.key = key;
  made.dataset.line = line;
  made.style.paddingLeft = `${4 + 12 * Math.min(level, MAX_INDENT)}px`;
  if (ref) made.dataset.ref = ref;
  made.append(make("span", "fold", "", { "aria-hidden": "true" }), make("span", "role", role), make("span", "words", plain(rest)));
  if (ref) made.append(make("span", "tag", ref));
  made.addEventListener("click", (event) => {
    choose(made);
    if (event.target.className === "fold") toggle(made);
  });
  made.addEventListener("dblclick", () => toggle(made));
  return made;
}
let count = 0;

/** Sets which rows have children, and the position of each among its siblings. */
function nest() {
  const siblings = [[]];
  const close = (depth) => {
    while (siblings.length > depth) {
      const all = siblings.pop() ?? [];
      all.forEach((row, at) => {
        row.setAttribute("aria-posinset", at + 1);
        row.setAttribute("aria-setsize", all.length);
      });
    }
  };
  rows.forEach((row, at) => {
    const level = levelOf(row);
    close(level);
    while (siblings.length < level) siblings.push([]);
    siblings[level - 1].push(row);
    const isParent = at + 1 < rows.length && levelOf(rows[at + 1]) > level;
    if (isParent) row.setAttribute("aria-expanded", String(!folded.has(row.dataset.key)));
    else row.removeAttribute("aria-expanded");
  });
  close(0);
}

/** Puts the rows into the list, touching only those that changed. */
function place() {
  const wanted = new Set(rows);
  for (const child of [...list.children]) if (!wanted.has(child)) child.remove();
  let at = list.firstChild;
  for (const row of rows) {
    if (row === at) at = at.nextSibling;
    else list.insertBefore(row, at);
  }
  if (active && !wanted.has(active)) {
    const { key } = active.dataset;
    activate(rows.find((row) => row.dataset.key === key) ?? null);
  }
}

const levelOf = (row) => Number(row.getAttribute("aria-level"));

/** Hides what is inside folded rows or, during a search, everything but what was found and the rows
 * around it. */
function filter() {
  const wanted = find.value.trim().toLowerCase();
  let hiddenBelow = Infinity;
  for (const row of rows) {
    const level = levelOf(row);
    if (level <= hiddenBelow) hiddenBelow = folded.has(row.dataset.key) && row.hasAttribute("aria-expanded") ? level : Infinity;
    row.hidden = wanted === "" && level > hiddenBelow;
  }
  if (wanted === "") return;
  let around = 0;
  for (const row of [...rows].reverse()) {
    const level = levelOf(row);
    const isFound = row.textContent.toLowerCase().includes(wanted);
    row.hidden = !isFound && level >= around;
    if (!row.hidden) around = level;
  }
}

/** Folds or unfolds a row. */
function toggle(row, fold = !folded.has(row.dataset.key)) {
  if (!row.hasAttribute("aria-expanded")) return;
  if (fold) folded.add(row.dataset.key);
  else folded.delete(row.dataset.key);
  row.setAttribute("aria-expanded", String(!fold));
  filter();
}

function activate(row) {
  active = row;
  if (row) list.setAttribute("aria-activedescendant", row.id);
  else list.removeAttribute("aria-activedescendant");
}

function choose(row) {
  activate(row);
  for (const other of rows) other.setAttribute("aria-selected", String(other === row));
  chosen(row.dataset.ref);
}

function go(row) {
  if (!row) return;
  choose(row);
  row.scrollIntoView({ block: "nearest" });
}

/** Selects the line of a ref, and unfolds the rows around it. */
export function select(ref) {
  const row = ref ? rows.find((row) => row.dataset.ref === ref) : null;
  for (const other of rows) other.setAttribute("aria-selected", String(other === row));
  if (!row) return;
  activate(row);
  for (let outer = parent(row); outer; outer = parent(outer)) toggle(outer, false);
  row.scrollIntoView({ block: "nearest" });
}

function parent(row) {
  const level = levelOf(row);
  return rows.slice(0, rows.indexOf(row)).findLast((other) => levelOf(other) < level) ?? null;
}

// The keys of the tree pattern of ARIA.
list.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const shown = rows.filter((row) => !row.hidden);
  if (shown.length === 0) return;
  const at = shown.indexOf(active);
  const row = shown[at];
  const isParent = row?.hasAttribute("aria-expanded");
  const isFolded = row?.getAttribute("aria-expanded") === "false";
  const keys = {
    ArrowDown: () => go(shown[Math.min(at + 1, shown.length - 1)]),
    ArrowUp: () => go(shown[Math.max(at - 1, 0)]),
    Home: () => go(shown[0]),
    End: () => go(shown.at(-1)),
    ArrowRight: () => {
      if (isParent && isFolded) toggle(row, false);
      else if (isParent) go(shown[at + 1]);
    },
    ArrowLeft: () => {
      if (isParent && !isFolded) toggle(row, true);
      else if (row) go(parent(row));
    },
    Enter: () => row && toggle(row),
    " ": () => row && toggle(row),
    "*": () => {
      const around = row ? parent(row) : null;
      for (const other of rows) if (parent(other) === around) toggle(other, false);
    },
  };
  const handle = keys[event.key];
  if (!handle) return;
  event.preventDefault();
  handle();
});
find.addEventListener("input", filter);
