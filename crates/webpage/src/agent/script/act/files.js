// Files for the page: which input accepts them, and where dropped files would land.

import {
  $closest, $contains, $isConnected, $listen, $matches, P, flatParent, idOf, later, nodeOf, shadowOf, tagOf,
} from '../dom.js';
import { hits, reaches, words } from './aim.js';
import { DROPS, addressNow, contentChanged, entryChanged, guardAgain, takeGuard } from './guard.js';
import { innermost } from './press.js';

/** The input that accepts files meant for an element: the element itself, the input that it labels, or the only input
 * inside it. */
function fileInputOf(e) {
  const isOne = x => tagOf(x) === 'input' && x.type === 'file';
  if (isOne(e)) return e;
  const control = tagOf(e) === 'label' ? e.control : null;
  if (control && isOne(control)) return control;
  const inside = [];
  const look = root => {
    for (const c of root.querySelectorAll('*')) {
      if (isOne(c)) inside.push(c);
      const shadow = shadowOf(c);
      if (shadow) look(shadow);
    }
  };
  const shadow = shadowOf(e);
  if (shadow) look(shadow);
  look({ querySelectorAll: s => P.querySelectorAll.call(e, s) });
  if (inside.length === 1) return inside[0];
  // A styled button inside the label of a hidden input.
  const label = $closest.call(e, 'label');
  return label && label.control && isOne(label.control) && !insideControl(e, label) ? label.control : null;
}

/** Whether a press on `e` is for a different control between it and the label around it (HTML 4.10.4). */
function insideControl(e, label) {
  for (let p = e; p && p !== label; p = flatParent(p)) if (/^(a|button|input|select|textarea)$/.test(tagOf(p))) return true;
  return false;
}

let receiving = null;

/** The maximum delay before the page is notified of files that it was given: the browser inspects them first. */
const HEARD_MS = 200;

/** From now on, tracks whether an input is still in use when it gets files. false: gone. `loose`: the input may be
 * outside the document. */
export function expectFiles(id, loose) {
  const e = nodeOf(id);
  const inUse = () => loose || $isConnected.call(e);
  if (!e || !inUse()) return false;
  // The page may remove the input as soon as it is notified of the files: this listener is notified first.
  receiving = new Promise(done => {
    $listen.call(e, 'input', () => done(inUse()), { capture: true, once: true });
    later(() => done(inUse()), HEARD_MS);
  });
  return true;
}

/** Resolves to whether the input for which files were expected was in use when it got them. */
export const filesTaken = () => receiving;

/**
 * The input for an element's files, and what it accepts and contains; {}: none. null: gone. `loose`: an input outside
 * of the document, referenced only by its page, counts as present.
 */
export function fileInput(id, loose) {
  const e = nodeOf(id);
  if (!e || !(loose || $isConnected.call(e))) return null;
  const input = fileInputOf(e);
  if (!input || $matches.call(input, ':disabled')) return {};
  return {
    id: idOf(input), multiple: input.multiple, directory: input.webkitdirectory === true, accept: input.accept,
    holds: Array.from(input.files, f => ({ name: f.name, size: f.size, modified: f.lastModified })),
  };
}

// ---- Drops ----

let dropping = null;
const DROP_EVENTS = ['dragenter', 'dragover', 'drop'];

function watchDrop(event) {
  if (dropping === null || !event.isTrusted) return;
  const { guard } = dropping;
  // At the first event, the judged state must be unchanged; what the page shows for a drag is its reaction to that
  // event.
  if (guard !== null && (event.type === 'drop' || !dropping.entered)) dropping.changed = dropping.stopped = contentChanged(guard);
  dropping.entered = true;
  if (dropping.stopped) {
    event.stopImmediatePropagation();
    event.preventDefault();
    return;
  }
  const at = innermost(event);
  if (event.type === 'dragover' && at) dropping.last = { event, at };
}

/**
 * From now on, tracks what a dragover at a point reaches. Files are dropped only if the guarded content (`asked`, see
 * takeGuard) has not changed. false: gone.
 */
export function expectDrop(id, x, y, asked) {
  const target = nodeOf(id);
  if (!target || !$isConnected.call(target)) return false;
  dropping = { target, free: hits(target, [x, y]), last: null, guard: takeGuard(id, asked), entered: false, changed: false, stopped: false };
  for (const type of DROP_EVENTS) window.addEventListener(type, watchDrop, { capture: true });
  return true;
}

/**
 * Whether the last dragover reached the element, or an element that the page put over it for the drag and that accepts
 * the files; whether the page would accept a drop there; and whether the guarded content has changed. The inside of the
 * target itself may show that files are over it.
 */
export function dropVerdict() {
  if (!dropping || !dropping.last) return { landed: false, taken: false, what: '', changed: dropping !== null && dropping.changed };
  const { last: { event, at }, guard, target, free } = dropping;
  // The dispatch of the event has ended, so the event contains the decision of the page's own listeners.
  const taken = event.defaultPrevented;
  const landed = reaches(at, target) || (free && taken);
  const around = entry => entry.node !== target && !$contains.call(target, entry.node);
  const changed = dropping.changed || (guard !== null && (guard.address !== addressNow() || guard.entries.some(entry => around(entry) && entryChanged(entry, DROPS))));
  if (guard !== null && !changed) {
    guardAgain(guard);
    // The target may have been replaced by the element that accepts the files.
    if (!$isConnected.call(target)) guard.target = null;
  }
  return { landed, taken, what: words(at), changed };
}

/** Whether the drop was kept from the page because guarded content changed. Ends the tracking. */
export function dropStopped() {
  const stopped = dropping !== null && dropping.stopped;
  dropping = null;
  for (const type of DROP_EVENTS) window.removeEventListener(type, watchDrop, { capture: true });
  return stopped;
}
