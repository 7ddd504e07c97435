// The outline of the app as a tree.

import { arrows, byId, make, plain } from "./dom.js";

const list = byId("outline");
const find = byId("find");
const LINE = /^( *)(?:(@e\d+) )?(\S+)(.*)$/s;

let text = null;
let chosen = () => {};

/** Sets the handler for a selected line. */
export function onOutline(choose) {
  chosen = choose;
}

/** Shows an outline. */
export function showOutline(outline) {
  if (outline === text) return;
  text = outline;
  const selected = list.querySelector('[aria-selected="true"]')?.dataset.ref;
  const rows = outline.split("\n").filter((line) => line.trim()).map(row);
  list.replaceChildren(...rows);
  if (selected) select(selected);
  filter();
}

function row(line) {
  const [, indent, ref, role, rest] = LINE.exec(line) ?? ["", "", undefined, "", line];
  const level = indent.length / 2;
  const made = make("div", "row", null, { role: "treeitem", "aria-level": level + 1, "aria-selected": "false" });
  made.style.paddingLeft = `${8 + 12 * Math.min(level, 16)}px`;
  if (ref) made.dataset.ref = ref;
  made.append(make("span", "role", role), make("span", "words", plain(rest)));
  if (ref) made.append(make("span", "tag", ref));
  made.addEventListener("click", () => choose(made));
  return made;
}

function choose(item) {
  select(item.dataset.ref, item);
  chosen(item.dataset.ref);
}

/** Selects the line of a ref. */
export function select(ref, item = null) {
  for (const row of list.children) {
    const is = item ? row === item : Boolean(ref) && row.dataset.ref === ref;
    row.setAttribute("aria-selected", String(is));
    if (is && !item) row.scrollIntoView({ block: "nearest" });
  }
}

function filter() {
  const wanted = find.value.trim().toLowerCase();
  for (const row of list.children) row.hidden = wanted !== "" && !row.textContent.toLowerCase().includes(wanted);
}

find.addEventListener("input", filter);
arrows(list, ".row", choose);
