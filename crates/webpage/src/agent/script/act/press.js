// Presses and the pointer: the check that confirms where a press landed, and stops a press that missed its target.

import {
  $contains, $firstChild, $firstElementChild, $getRootNode, $isConnected, $nextElementSibling, $nextSibling,
  $nodeType, $parentNode, $shadowActive, ELEMENT, anyClosed, attr, closedRoots, deepActive, flatParent, inFrame,
  later, nodeOf, ownFrames, ownTimers, shadowOf, tagOf,
} from '../dom.js';
import { insideFlat } from '../read/capture.js';
import { locate } from '../read/locate.js';
import { boxesOf, deepAt, frame, hits, reaches, words } from './aim.js';
import {
  INSIDE, NOTHING, aroundHolds, contentChanged, copyTarget, dropChanged, insideOf, noteMutation, selectedSince,
  takeGuard, tookPress, watchGuard,
} from './guard.js';
import { fieldKind } from './input.js';
import { reactions, signal, takePending } from '../changes.js';

let expected = null;
const GESTURE = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'auxclick', 'dblclick', 'contextmenu', 'dragover', 'drop'];

/** The listeners exist from the document's first moment: listeners that the page adds to the window run after them. */
function watchGestures() {
  for (const type of GESTURE) window.addEventListener(type, watchGesture, { capture: true });
}
watchGestures();

/** Elements that draw their own content: no mutation reports it. */
const DRAWN = new Set(['canvas', 'embed', 'object']);

/** For expectClick: the press is meant for another frame, or for no particular element. */
const NOBODY = -1;
const ANYBODY = 0;

/** How long to watch for a press that is announced before it is certain. */
export const WATCH_MS = 5000;

/** Events that release a drag. `mouseup` follows `pointerup` in the same task: what changed between them was done by
 * the app. */
const RELEASES = new Set(['pointerup', 'dragover', 'drop']);
/** The last events of a press. */
const LAST = new Set(['click', 'auxclick']);

/**
 * From now on, presses must land on `id`, its label or its descendants, and must find the content guarded with it
 * (`guard`, see takeGuard) unchanged; others are stopped. NOBODY: all are stopped; ANYBODY: none is, and the verdict
 * names what was hit. A press that is made after `until` does not count. `drag`: [id of the end or 0, its guard].
 * false: gone; null: content that this document guards for a target in another one has changed.
 */
export function expectClick(id, until, guard, drag) {
  clickVerdict();
  const target = id > 0 ? nodeOf(id) : null;
  if (id > 0 && (!target || !$isConnected.call(target))) return false;
  if (!target && guard && !aroundHolds(guard[0])) return null;
  const press = { id, target, until: until || Infinity, verdict: null, reactions, guard: target && takeGuard(id, guard) };
  // `delivered`: the page received an event of the press; `stopping`: it receives no more; `clicked`: there was a
  // click; `adopted`: a re-rendered element took the target's place.
  expected = { ...press, drag: drag ? dragTo(...drag) : null, delivered: false, stopping: false, clicked: false, adopted: false, focus: null };
  // `document.open()` removes all listeners; adding them twice has no effect.
  watchGestures();
  return true;
}

/** The end of a drag, and its siblings at this time, before the drag. */
function dragTo(id, guard) {
  const target = id > 0 ? nodeOf(id) : null;
  const parent = target && $parentNode.call(target);
  const beside = new Set();
  for (let c = parent && $firstChild.call(parent); c; c = $nextSibling.call(c)) if (c !== target && $nodeType.call(c) === ELEMENT && tagOf(c) === tagOf(target)) beside.add(c);
  return { target, beside, guard: target && takeGuard(id, guard) };
}

function watchGesture(event) {
  if (expected === null || !event.isTrusted) return;
  // Compare with the time of the event: a busy page receives it late.
  if (event.timeStamp > expected.until) {
    expected = null;
    return;
  }
  if (!expected.drag && (event.type === 'dragover' || event.type === 'drop')) return;
  const at = innermost(event);
  if (at && !expected.stopping) judgeGesture(event, at);
  if (expected.stopping) {
    event.stopImmediatePropagation();
    // A dragover that nobody accepts is not followed by a drop.
    if (event.type !== 'dragover') event.preventDefault();
    return;
  }
  if (at === undefined) return;
  expected.delivered = true;
  expected.clicked ||= event.type === 'click';
  if (LAST.has(event.type)) signal({ press: { ...expected.verdict, complete: true } });
}

/** `landed`: 'target', 'elsewhere' or 'changed'. Stopped events remain stopped until the press is over. */
function decide(landed, what) {
  expected.stopping = landed !== 'target';
  expected.verdict = { landed, what, stopped: expected.stopping && !expected.delivered, complete: expected.stopping };
}

/** Decides about an event for `at`: whether it is for the target, and whether the target is unchanged since it was
 * judged. */
function judgeGesture(event, at) {
  const { id, guard, drag, delivered } = expected;
  if (delivered && guard && !drag) adoptRedrawn(at);
  const { target } = expected;
  const first = expected.verdict === null;
  if (first || event.type === 'pointerdown') putOffAtPress = putOff();
  if (first) expected.focus = deepActive(document);
  if (id === ANYBODY || id === NOBODY) {
    if (first) decide(id === ANYBODY ? 'target' : 'elsewhere', words(at));
  } else if (drag && delivered && event.type !== 'mousedown') {
    if (RELEASES.has(event.type)) judgeRelease(event);
  } else {
    const down = event.type === 'pointerdown';
    // The first press may bring another element under the pointer, or the page may do so by itself.
    const reached = reaches(at, target) || (!down && (!guard || isCaptured(event, at, target)));
    const changed = reached && ((guard && contentChanged(guard, borne(event, guard))) || (first && drag && drag.guard && contentChanged(drag.guard)));
    if (reached && !changed) {
      if (first) decide('target', '');
    } else if (!down && delivered && ((expected.adopted && $contains.call(at, target)) || tookPress(guard.target) || hasLeft(target, at) || (!changed && fieldKind(target)))) {
      // The press had its effect when the button went down: a field took the focus, whatever the page shows in
      // response. The rest continues as it does for a person: widgets wait for the release of the button, wherever that
      // is.
      expected.verdict.complete = true;
    } else decide(changed ? 'changed' : 'elsewhere', changed ? '' : words(at));
  }
  if (first && !expected.stopping && DRAWN.has(tagOf(at))) expected.verdict.drawn = tagOf(at);
  if (first || expected.stopping) signal({ press: expected.verdict });
}

/**
 * The first events of a press may re-render the target, for example rows that show their selection: the element in its
 * place then receives the rest, if everything that was re-rendered with it has the same text as before, so that it is
 * not another row.
 */
function adoptRedrawn(at) {
  const { target: old, guard } = expected;
  if ($isConnected.call(old)) return;
  const place = placeAnew(guard.target, at);
  if (place === null) return;
  // The content of the re-rendered part counts as unchanged, because its text is unchanged.
  guard.entries = guard.entries.filter(({ node }) => $isConnected.call(node) || !$contains.call(place.old, node));
  const { chain } = guard.target;
  const fresh = copyTarget(place.target);
  // The difference between what it showed before the press and shows now is its reaction.
  guard.target = { ...fresh, chain: fresh.chain.map(([e, ...now], i) => (i < chain.length ? [e, chain[i][1], chain[i][2]] : [e, ...now])) };
  Object.assign(expected, { target: place.target, adopted: true });
  watchGuard(guard);
  noteMutation(guard);
}

/** The outermost part that was re-rendered with a target (`old`), and the target in its replacement. null: that is a
 * different element. */
function placeAnew({ node, chain }, at) {
  const above = chain.map(([e]) => e);
  const kept = above.find(e => $isConnected.call(e));
  const old = above[above.indexOf(kept) - 1];
  if (!kept || !old) return null;
  let now = at;
  while (now && flatParent(now) !== kept) now = flatParent(now);
  if (!now || !readsAs(now, old)) return null;
  // One of several elements with equal text may be a different one.
  for (let c = $firstElementChild.call(kept); c; c = $nextElementSibling.call(c)) if (c !== now && readsAs(c, old)) return null;
  if (node === old) return { old, target: now };
  const before = insideOf(old).parts, parts = insideOf(now).parts;
  const like = before.length === parts.length ? [parts[before.indexOf(node)]] : parts;
  const found = like.filter(e => e && readsAs(e, node));
  return found.length === 1 ? { old, target: found[0] } : null;
}

/** Whether two elements have equal text and states. False if one of them is too large to be compared completely. */
function readsAs(e, other) {
  if (tagOf(e) !== tagOf(other) || attr(e, 'role') !== attr(other, 'role')) return false;
  const [a, b] = [insideOf(e), insideOf(other)];
  return a.text === b.text && a.parts.length < INSIDE && b.parts.length < INSIDE;
}

/**
 * The changes that a press causes by itself: the focus leaves a field, a list next to it closes, a box is checked, a
 * row is selected and text next to it shows this; and numbers that the first press of a double press increases. Other
 * changed text may mean another record.
 */
function borne(event, guard) {
  if (!expected.delivered) return NOTHING;
  const { clicked } = expected;
  return { pressed: true, states: tookPress(guard.target), selected: selectedSince(guard.target), field: expected.focus, checked: clicked || event.type === 'click', numbers: clicked };
}

/** Whether an element around the target captured the pointer (`setPointerCapture`), which is still over the target. */
const isCaptured = (event, at, target) => insideFlat(target, at) && hits(target, [event.clientX, event.clientY]);

/** Whether the target disappeared when it was pressed, as closing elements do, and no similar element replaced it. */
function hasLeft(target, at) {
  if ($isConnected.call(target) && boxesOf(target).length) return false;
  const role = attr(target, 'role');
  for (let p = at; p; p = flatParent(p)) if ($nodeType.call(p) === ELEMENT && tagOf(p) === tagOf(target) && attr(p, 'role') === role) return false;
  return true;
}

/** Decides about the end of a drag: whether it is unchanged since it was judged, and whether the pointer is on it and
 * not on a sibling. */
function judgeRelease(event) {
  const { target: source, drag } = expected;
  if (!drag.target) return;
  let other = deepAt(event.clientX, event.clientY);
  // The dragged element is under the pointer, or next to it if it follows a frame later: the element that contains the
  // source moves along.
  while (other && !drag.beside.has(other)) other = other === drag.target || (source !== null && (other === source || insideFlat(source, other))) ? null : flatParent(other);
  if (other && other !== source) decide('elsewhere', words(other));
  else if (drag.guard && dropChanged(drag.guard, source)) decide('changed', '');
}

/**
 * The element that an event is for. Its path ends at the host of a closed shadow root; the inner element is the one
 * under the pointer, or the focused one.
 */
export function innermost(event) {
  let e = event.composedPath().find(n => n instanceof Node && $nodeType.call(n) === ELEMENT);
  for (let root = anyClosed && e && closedRoots.get(e); root; root = shadowOf(e)) {
    const inner = typeof event.clientX === 'number' ? root.elementFromPoint(event.clientX, event.clientY) : $shadowActive.call(root);
    if (!inner || inner === e || $getRootNode.call(inner) !== root) break;
    e = inner;
  }
  return e;
}

/** The result of the expected press: {landed: 'target' | 'elsewhere' | 'changed' | 'none', what, stopped}. Ends the
 * tracking. */
export function clickVerdict() {
  const verdict = (expected && expected.verdict) || { landed: 'none', what: '', stopped: false };
  expected = null;
  return verdict;
}

/**
 * The number of frame and timer callbacks that the page has requested: both are numbered per document, whoever requests
 * them. Requesting the next number causes a frame, which a press does anyway.
 */
function putOff() {
  const frames = inFrame(() => {});
  cancelAnimationFrame(frames);
  const timers = later(() => {});
  clearTimeout(timers);
  return [frames - ownFrames, timers - ownTimers];
}
let putOffAtPress = [0, 0];

/**
 * Resolves when the page has done what it deferred at the press, or at the second frame at the latest. After a press,
 * the browser runs no timer before the frame, so that a page that requested a timer also gets a frame.
 */
export async function answered() {
  let before = putOffAtPress;
  for (let n = 0; n < 2; n++) {
    const now = putOff();
    if (now[0] === before[0] && now[1] === before[1]) return;
    await frame();
    before = now;
  }
}

/**
 * Reads an element like `locate` when the page has reacted to a press. If it has shown nothing since the tracking began
 * except a moved focus, it gets a frame in any case.
 */
export async function pressed(id, watch) {
  takePending();
  const still = expected !== null && expected.reactions === reactions;
  clickVerdict();
  await (still ? frame() : answered());
  return locate(id, watch);
}

// ---- The pointer ----

/** Where the pointer was last seen; null: it has not been seen since it was forgotten. */
let pointer = null;

function watchPointer(event) {
  if (event.isTrusted) pointer = [event.clientX, event.clientY];
}
window.addEventListener('mousemove', watchPointer, { capture: true, passive: true });

/** Where the pointer was last seen; null: it was not seen. `forget`: later calls report only what is seen from now
 * on. */
export function pointerAt(forget) {
  const at = pointer;
  if (forget) {
    pointer = null;
    window.addEventListener('mousemove', watchPointer, { capture: true, passive: true });
  }
  return at;
}

