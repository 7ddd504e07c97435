// Noticing: a counter of changes, quiet, running animations, and texts that came and went in live regions.

let changeCount = 0;
let changedAt = performance.now();
/** What changed lately, for words: the last few targets. */
let lately = [];
let waiting = [];
let announced = [];
const observedRoots = new WeakSet();

const observer = new MutationObserver(records => {
  note(records[0].target);
  // A flood is not read through: its first records tell as much.
  for (const r of records.length > 200 ? records.slice(0, 200) : records) listen(r);
});

/** Watches a document or a shadow root from now on. */
function observe(root) {
  if (observedRoots.has(root)) return;
  observedRoots.add(root);
  observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
  // State that changes without touching the document.
  for (const type of ['input', 'change', 'focusin', 'focusout', 'toggle', 'animationend', 'transitionend', 'load']) {
    root.addEventListener(type, onEvent, { capture: true, passive: true });
  }
}

const onEvent = event => note(event.target);

function note(target) {
  changeCount++;
  changedAt = performance.now();
  lately.push(new WeakRef(target));
  if (lately.length > 8) lately.shift();
  if (waiting.length) {
    const wake = waiting;
    waiting = [];
    for (const f of wake) f();
  }
}

// ---- Live regions (ARIA 1.2, 6.3 "live region attributes") ----

const LIVE = '[aria-live=polite],[aria-live=assertive],[role=alert],[role=status],[role=log],output,[class*=toast i],[class*=snackbar i]';

/** Notes the text of a live region that a record touches. */
function listen(record) {
  if (record.type === 'attributes') return;
  const target = record.target.nodeType === ELEMENT ? record.target : $parentNode.call(record.target);
  const region = target && $nodeType.call(target) === ELEMENT ? $closest.call(target, LIVE) : null;
  if (region) {
    announce(region);
    return;
  }
  for (const node of record.addedNodes) {
    if (node.nodeType !== ELEMENT) continue;
    const found = $matches.call(node, LIVE) ? node : $firstElementChild.call(node) && P.querySelector.call(node, LIVE);
    if (found) announce(found);
  }
}

function announce(region) {
  if (!$isConnected.call(region)) return;
  const text = squeeze($textContent.call(region)).slice(0, 300);
  if (text && announced[announced.length - 1] !== text && announced.length < 50) announced.push(text);
}

/** The texts noted since the last call. */
function announcements() {
  const texts = announced;
  announced = [];
  return texts;
}

// ---- Quiet ----

/** How many changes there were, and for how many milliseconds there has been none. */
function changes() {
  const pending = observer.takeRecords();
  if (pending.length) {
    note(pending[0].target);
    for (const r of pending.slice(0, 200)) listen(r);
  }
  return { count: changeCount, quiet: Math.round(performance.now() - changedAt) };
}

/** Resolves to the counter as soon as it is not `since`, or when `ms` are over. */
function changed(since, ms) {
  if (changes().count !== since) return Promise.resolve(changeCount);
  return new Promise(resolve => {
    const done = () => {
      clearTimeout(timer);
      resolve(changeCount);
    };
    const timer = setTimeout(() => {
      waiting = waiting.filter(f => f !== done);
      resolve(changeCount);
    }, ms);
    waiting.push(done);
  });
}

/** Animations that will end: an endless spinner is no reason to wait. */
function animations() {
  const out = [];
  for (const root of [document, ...frameDocuments(document, [])]) {
    for (const a of DOC.getAnimations.call(root)) {
      if (a.playState !== 'running' || !a.effect) continue;
      const end = a.effect.getComputedTiming().endTime;
      if (end !== null && end !== Infinity && typeof end === 'number' && end < 60000) out.push(a);
    }
  }
  return out;
}

function frameDocuments(doc, out) {
  for (const frame of $docQueryAll.call(doc, 'iframe,frame')) {
    const inner = frameDocument(frame, $localName.call(frame));
    if (inner) frameDocuments(inner, out).push(inner);
  }
  return out;
}

/**
 * Resolves when nothing has changed for `quiet` ms and no finite animation runs: {settled: true, still: []}, or after
 * `cap` ms: {settled: false, still: what was moving}.
 */
function settled(quiet, cap) {
  const deadline = performance.now() + cap;
  for (const doc of [document, ...frameDocuments(document, [])]) observe(doc);
  return new Promise(resolve => {
    const look = () => {
      const now = performance.now();
      const still = changes();
      const moving = animations();
      if (still.quiet >= quiet && !moving.length) return resolve({ settled: true, still: [] });
      if (now >= deadline) return resolve({ settled: false, still: stillMoving(still.quiet < quiet, moving) });
      const next = still.quiet < quiet ? quiet - still.quiet : 16;
      setTimeout(look, Math.max(4, Math.min(next, deadline - now)));
    };
    look();
  });
}

/** What moves, in a few words each. */
function stillMoving(mutating, moving) {
  const out = new Set();
  for (const a of moving.slice(0, 5)) if (a.effect && a.effect.target) out.add('animation on ' + words(a.effect.target));
  if (mutating) {
    for (const ref of lately.slice(-5)) {
      let node = ref.deref();
      if (node && node.nodeType === 9) node = $documentElement.call(node);
      while (node && $nodeType.call(node) !== ELEMENT) node = flatParent(node);
      if (node && $isConnected.call(node)) out.add('mutations of ' + words(node));
    }
  }
  return [...out].slice(0, 5);
}

observe(document);
