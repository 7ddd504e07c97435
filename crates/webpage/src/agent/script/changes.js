// Observes the page: a counter of changes, quiet, running animations, and texts that appeared and disappeared in live
// regions.

import {
  $closest, $documentElement, $firstElementChild, $host, $isConnected, $listen, $matches, $nodeType, $parentNode,
  $textContent, DOC, ELEMENT, FRAGMENT, P, flatParent, later, squeeze,
} from './dom.js';
import { words } from './act/aim.js';

export let changeCount = 0;
export const countChange = () => { changeCount++; };
/** The number of changes other than a moved focus, which a press causes by itself. */
export let reactions = 0;
let changedAt = performance.now();
/** The recent changes, for descriptions: the last few targets. */
let lately = [];
let waiting = [];
let announced = [];
/** When the last signal was sent, and the timer of the next one. */
let signalledAt = -Infinity;
let signalTimer = 0;
const SIGNAL_EVERY = 50;
const observedRoots = new WeakSet();
export const shadowRoots = [];

const $docAnimations = DOC.getAnimations;

const observer = new MutationObserver(records => {
  reactions++;
  note(records[0].target);
  // Of a flood of records, only the first are read: they are sufficient.
  for (const r of records.length > 200 ? records.slice(0, 200) : records) listen(r);
});

/** Observes a document or a shadow root from now on. */
export function observe(root) {
  if (observedRoots.has(root)) return;
  observedRoots.add(root);
  if ($nodeType.call(root) === FRAGMENT) shadowRoots.push(new WeakRef(root));
  observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
  // State that changes without a change of the document.
  for (const type of ['input', 'change', 'focusin', 'focusout', 'toggle', 'animationend', 'transitionend', 'load']) {
    $listen.call(root, type, onEvent, { capture: true, passive: true });
  }
}

const onEvent = event => {
  if (event.type !== 'focusin' && event.type !== 'focusout') reactions++;
  note(event.target);
};

function note(target) {
  changeCount++;
  changedAt = performance.now();
  lately.push(new WeakRef(target));
  if (lately.length > 8) lately.shift();
  if (!signalTimer) {
    const wait = signalledAt + SIGNAL_EVERY - changedAt;
    if (wait <= 0) signalChange();
    else signalTimer = later(signalChange, wait);
  }
  if (waiting.length) {
    const wake = waiting;
    waiting = [];
    for (const f of wake) f();
  }
}

function signalChange() {
  signalTimer = 0;
  signalledAt = performance.now();
  signal({ changed: changeCount });
}

/** Reports what has changed so far, and the next change as soon as it happens, because an action waits for it. */
export function tell() {
  takePending();
  if (signalTimer) {
    clearTimeout(signalTimer);
    signalChange();
  }
  signalledAt = -Infinity;
}

/** Sends a message to the Rust side, if it has bound a function into this world. */
export function signal(message) {
  if (typeof globalThis.__stickpinSignal === 'function') globalThis.__stickpinSignal(JSON.stringify(message));
}

// ---- Live regions (ARIA 1.2, 6.3 "live region attributes") ----

const LIVE = '[aria-live=polite],[aria-live=assertive],[role=alert],[role=status],[role=log],output,[class*=toast i],[class*=snackbar i]';

/** Records the text of a live region that a mutation record touches. */
function listen(record) {
  if (record.type === 'attributes') return;
  const target = $nodeType.call(record.target) === ELEMENT ? record.target : $parentNode.call(record.target);
  const region = target && $nodeType.call(target) === ELEMENT ? $closest.call(target, LIVE) : null;
  if (region) {
    announce(region);
    return;
  }
  for (const node of record.addedNodes) {
    if ($nodeType.call(node) !== ELEMENT) continue;
    const found = $matches.call(node, LIVE) ? node : $firstElementChild.call(node) && P.querySelector.call(node, LIVE);
    if (found) announce(found);
  }
}

function announce(region) {
  if (!$isConnected.call(region)) return;
  const text = squeeze($textContent.call(region)).slice(0, 300);
  if (text && announced[announced.length - 1] !== text && announced.length < 50) {
    announced.push(text);
    signal({ said: text });
  }
}

/** The texts recorded since the last call. */
export function announcements() {
  const texts = announced;
  announced = [];
  return texts;
}

// ---- Quiet ----

/** Counts records that have not been delivered yet. */
export function takePending() {
  const pending = observer.takeRecords();
  if (pending.length) {
    reactions++;
    note(pending[0].target);
    for (const r of pending.slice(0, 200)) listen(r);
  }
}

/** The number of changes, the milliseconds since the last one, what is animated, and where the last changes were. */
export function changes() {
  takePending();
  return {
    count: changeCount,
    quiet_for: Math.round(performance.now() - changedAt),
    animations: animations().slice(0, 5).filter(a => a.effect.target).map(a => 'animation on ' + words(a.effect.target)),
    mutated: mutated(),
  };
}

/** Resolves to the counter as soon as it differs from `since`, or after `ms`. */
export function changed(since, ms) {
  takePending();
  if (changeCount !== since) return Promise.resolve(changeCount);
  return new Promise(resolve => {
    const done = () => {
      clearTimeout(timer);
      resolve(changeCount);
    };
    const timer = later(() => {
      waiting = waiting.filter(f => f !== done);
      resolve(changeCount);
    }, ms);
    waiting.push(done);
  });
}

/** Animations that will end: an endless spinner is no reason to wait. */
function animations() {
  return $docAnimations.call(document).filter(a => {
    const end = a.playState === 'running' && a.effect ? a.effect.getComputedTiming().endTime : null;
    return typeof end === 'number' && end < 60000;
  });
}

/** Describes where the last changes were; empty if those elements are gone. */
function mutated() {
  for (let i = lately.length - 1; i >= 0; i--) {
    let node = lately[i].deref();
    if (node && $nodeType.call(node) === 9) node = $documentElement.call(node);
    while (node && $nodeType.call(node) !== ELEMENT) node = $nodeType.call(node) === FRAGMENT ? $host.call(node) : flatParent(node);
    if (node && $isConnected.call(node)) return words(node);
  }
  return '';
}

/**
 * Resolves when nothing has changed for `quiet` ms and no finite animation runs: {settled: true, still: []}, or after
 * `cap` ms: {settled: false, still: what was moving}.
 */
export function settled(quiet, cap) {
  const deadline = performance.now() + cap;
  return new Promise(resolve => {
    let calmAt = -1;
    const look = () => {
      takePending();
      const now = performance.now();
      const calm = now - changedAt;
      const moving = animations();
      if (calm >= quiet && !moving.length) {
        if (calmAt === changeCount) {
          resolve({ settled: true, still: [] });
          return;
        }
        // On a busy machine the page's own timers may be overdue: let them run first, and check again.
        calmAt = changeCount;
        later(look);
        return;
      }
      if (now >= deadline) {
        const still = moving.slice(0, 5).filter(a => a.effect.target).map(a => 'animation on ' + words(a.effect.target));
        const where = calm < quiet && mutated();
        resolve({ settled: false, still: where ? [...still, 'mutations of ' + where] : still });
        return;
      }
      calmAt = -1;
      later(look, Math.max(4, Math.min(calm < quiet ? quiet - calm : 16, deadline - now)));
    };
    look();
  });
}

/** Resolves after the page's due timers have run: on a busy machine they are late, and so are their effects. */
export const turn = () => new Promise(done => later(done));

observe(document);
