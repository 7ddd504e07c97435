// The screenshot of the app with boxes and refs, and the person's actions on it.

import { byId, make, plain } from "./dom.js";
import { address } from "./link.js";

/** The maximum number of boxes; a person cannot distinguish more. */
const MAX_BOXES = 500;
/** The space around the screenshot, in pixels. */
const MARGIN = 20;
const WHEEL_PAUSE = 150;
const TYPING_PAUSE = 120;

const picture = byId("picture");
const image = byId("image");
const boxes = byId("boxes");

let shown = null;
let drawnBoxes = "";
let pending = null;
let loading = false;
let mine = false;
let acts = () => {};
let pointed = () => {};

/** Sets the handlers for actions on the screenshot and for elements under the pointer. */
export function onPicture(handlers) {
  ({ act: acts, point: pointed } = handlers);
}

/** Sets whether the person may act on the screenshot. */
export function setMine(value) {
  mine = value;
  picture.classList.toggle("mine", value);
  for (const box of boxes.children) box.tabIndex = value ? 0 : -1;
}

/** Shows a frame as soon as its screenshot has loaded, and calls `then` at that moment. Frames that arrive before that
 * replace each other, so that a slow connection skips outdated ones. */
export async function show(frame, then) {
  pending = { frame, then };
  if (loading) return;
  loading = true;
  while (pending) {
    const next = pending;
    pending = null;
    if (await load(next.frame)) {
      draw(next.frame);
      next.then(next.frame);
    }
  }
  loading = false;
}

async function load(frame) {
  if (!frame.picture || address(`/picture/${frame.picture}`) === image.getAttribute("src")) return true;
  const loaded = new Image();
  loaded.src = address(`/picture/${frame.picture}`);
  try {
    await loaded.decode();
  } catch {
    // The frame has been replaced: the next one is being loaded.
    return false;
  }
  image.src = loaded.getAttribute("src");
  return true;
}

function draw(frame) {
  shown = frame;
  byId("empty").hidden = Boolean(frame.picture || frame.past);
  byId("without").hidden = !frame.without;
  byId("without").textContent = frame.without ?? "";
  picture.hidden = !frame.picture;
  if (!frame.picture) return;
  image.width = frame.width;
  image.height = frame.height;
  fit();
  image.alt = `Picture of ${plain(frame.title, 80)}`;
  const focused = boxes.contains(document.activeElement) ? document.activeElement.dataset.id : null;
  const drawn = JSON.stringify([frame.boxes, frame.width, frame.height, mine]);
  if (drawn === drawnBoxes) return;
  drawnBoxes = drawn;
  const made = frame.boxes.slice(0, MAX_BOXES).map((box) => boxElement(box, frame));
  boxes.replaceChildren(...made);
  if (focused) made.find((box) => box.dataset.id === focused)?.focus({ preventScroll: true });
}

/** Scales the screenshot to the available space, but not above its own size. */
function fit() {
  if (!shown?.picture) return;
  const { clientWidth, clientHeight } = byId("frame");
  // A narrow window scrolls, so that only its width limits the screenshot.
  const high = matchMedia("(min-width: 900px)").matches ? clientHeight - MARGIN : Infinity;
  const scale = Math.min(1, (clientWidth - MARGIN) / shown.width, high / shown.height);
  picture.style.width = `${Math.floor(shown.width * scale)}px`;
  picture.classList.toggle("small", scale < 0.75);
  picture.style.aspectRatio = `${shown.width} / ${shown.height}`;
}
new ResizeObserver(fit).observe(byId("frame"));

function boxElement(box, frame) {
  const ref = box.ref?.split("~")[0];
  const name = plain(box.name, 80);
  const made = make("button", ref ? "box known" : "box", null, {
    type: "button",
    "aria-label": `${box.role} ${name}${ref ? ` ${ref}` : ""}`,
    title: `${ref ? `${ref} ` : ""}${box.role} "${name}"`,
  });
  made.dataset.id = ref ?? `${box.role} ${box.name}`;
  made.tabIndex = mine ? 0 : -1;
  made.style.left = `${(100 * box.x) / frame.width}%`;
  made.style.top = `${(100 * box.y) / frame.height}%`;
  made.style.width = `${(100 * box.width) / frame.width}%`;
  made.style.height = `${(100 * box.height) / frame.height}%`;
  if (ref) {
    const label = make("span", box.y < 16 ? "ref below" : "ref", ref.slice(1), { "aria-hidden": "true" });
    made.append(label);
  }
  made.addEventListener("pointerenter", () => pointed(ref));
  made.addEventListener("focus", () => pointed(ref));
  made.addEventListener("click", (event) => {
    // A press from the keyboard has no point.
    if (event.detail === 0) press(box.x + box.width / 2, box.y + box.height / 2);
  });
  return made;
}

/** Marks the box of a ref. */
export function mark(ref) {
  for (const box of boxes.children) box.classList.toggle("marked", Boolean(ref) && box.dataset.id === ref);
}

function press(x, y) {
  if (!mine || shown?.past) return;
  const inside = (value, size) => Math.min(size - 1, Math.max(0, value));
  acts({ act: "press", frame: shown.id, x: inside(x, shown.width), y: inside(y, shown.height) });
}

picture.addEventListener("click", (event) => {
  if (event.detail === 0) return;
  const place = image.getBoundingClientRect();
  const scale = shown.width / place.width;
  press((event.clientX - place.left) * scale, (event.clientY - place.top) * scale);
});

let scrolled = 0;
picture.addEventListener(
  "wheel",
  (event) => {
    if (!mine || shown?.past) return;
    event.preventDefault();
    if (scrolled === 0) setTimeout(scroll, WHEEL_PAUSE);
    scrolled += event.deltaY || 0.1;
  },
  { passive: false },
);

function scroll() {
  const amount = Math.round(Math.abs(scrolled));
  if (amount > 0) acts({ act: "scroll", direction: scrolled > 0 ? "down" : "up", amount: Math.min(amount, 5000) });
  scrolled = 0;
}

/** The keys that are passed to the app unchanged. Tab stays with this page, so that keyboard users are not trapped. */
const KEYS = new Set([
  "Enter", "Backspace", "Delete", "Escape", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End",
  "PageUp", "PageDown",
]);
let typed = "";
let flushing = 0;

function flush() {
  clearTimeout(flushing);
  if (typed) acts({ act: "type", text: typed });
  typed = "";
}

picture.addEventListener("keydown", (event) => {
  if (!mine || shown?.past || event.target !== picture || event.ctrlKey || event.metaKey || event.altKey) return;
  if ([...event.key].length === 1) {
    typed += event.key;
    clearTimeout(flushing);
    flushing = setTimeout(flush, TYPING_PAUSE);
  } else if (KEYS.has(event.key)) {
    flush();
    acts({ act: "key", chord: event.key });
  } else {
    return;
  }
  event.preventDefault();
});
