// The timeline: one tile per command, with a screenshot if somebody was watching. A step without one shows the tree in
// the log.

import { arrows, byId, make, plain } from "./dom.js";
import { address } from "./link.js";

const strip = byId("steps");
const tiles = new Map();
/** The maximum number of tiles. */
const MAX_TILES = 500;

let chosen = () => {};

/** Sets the handler for a selected step. */
export function onStep(choose) {
  chosen = choose;
}

/** Removes all steps. */
export function clearSteps() {
  tiles.clear();
  strip.replaceChildren();
}

/** Adds the commands among these entries, or replaces their tiles. */
export function addSteps(entries) {
  const atEnd = strip.scrollWidth - strip.scrollLeft - strip.clientWidth < 80;
  for (const entry of entries) {
    if (!entry.outcome) continue;
    const known = tiles.get(entry.id);
    const made = tile(entry, known);
    if (known) known.replaceWith(made);
    else strip.append(made);
    tiles.set(entry.id, made);
  }
  while (tiles.size > MAX_TILES) {
    const [id, oldest] = tiles.entries().next().value;
    oldest.remove();
    tiles.delete(id);
  }
  if (atEnd) strip.scrollLeft = strip.scrollWidth;
}

function tile(entry, known) {
  const made = make("div", `tile ${entry.outcome}`, null, {
    role: "option",
    "aria-selected": known?.getAttribute("aria-selected") ?? "false",
    "aria-label": `${entry.what} ${plain(entry.detail, 60)}: ${entry.outcome}`,
    title: `${entry.what} ${plain(entry.detail, 120)}`,
  });
  made.dataset.id = entry.id;
  if (entry.picture) {
    made.classList.add("pictured");
    const picture = known?.querySelector("img") ?? make("img", "thumb", null, { alt: "", loading: "lazy" });
    const source = address(`/picture/${entry.picture}`);
    if (picture.getAttribute("src") !== source) picture.src = source;
    made.append(picture);
  }
  made.append(make("span", "name", plain(entry.what, 24)));
  made.addEventListener("click", () => chosen(entry));
  return made;
}

/** Selects the tile of a step, or none for the live screenshot. */
export function selectStep(id) {
  for (const [known, tile] of tiles) {
    tile.setAttribute("aria-selected", String(known === id));
    if (known === id) tile.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
}

arrows(strip, ".tile", (tile) => tile.click(), ["ArrowLeft", "ArrowRight"]);
