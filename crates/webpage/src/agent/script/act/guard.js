// The content guard: the content of an element and of its context is copied in the task of the last capture that was
// judged, and compared in the task in which the page receives each event of the input. Neither step computes names or
// layout. If no node has been touched since the copy, only the state that no mutation reports is compared: the content
// of controls, and the address.
//
// Guarded nodes of other documents are compared in the same task if this document can access theirs (in the same
// origin): an event with a name that only our worlds know is dispatched to their windows, and answered with
// `preventDefault`. Those of other origins are compared before the input is sent (`aroundHolds`).

import {
  $attributeNames, $contains, $data, $firstChild, $firstElementChild, $getRootNode, $hasAttributes, $host,
  $isConnected, $listen, $matches, $nextSibling, $nodeType, $textContent, ELEMENT, TEXT, attr, flatParent,
  isEditable, nodeOf, shadowOf, tagOf,
} from '../dom.js';

/** Attributes that describe an element. */
const GUARDED_WORDS = new Set(['alt', 'src', 'aria-label', 'aria-labelledby', 'aria-describedby', 'aria-description', 'aria-valuetext', 'title', 'placeholder', 'href']);
/** Attributes that indicate which one of several elements is meant. */
const GUARDED_STATES = ['aria-selected', 'aria-current', 'aria-checked', 'aria-expanded'];
/** Attributes by which an element shows that it received a press. */
const ANSWERS = [...GUARDED_STATES, 'aria-pressed', 'data-state'];
/** The maximum number of elements inside a target that are read, and of its ancestors that may show that it received a
 * press. */
export const INSIDE = 300;
const CHAIN = 12;
/** The maximum number of nodes of an element that are read for its own text. */
const OWN_NODES = 200;
/** The maximum number of guards that are kept: a drag has two. */
const GUARDS = 4;

/** The guards of targets in this document, and of nodes around a target in another document, by key. */
export const guards = new Map();

/** A node's own text, without that of its elements. */
function ownText(node) {
  if ($nodeType.call(node) !== ELEMENT) return $nodeType.call(node) === TEXT ? $data.call(node) : '';
  const root = shadowOf(node);
  if (root === null && $firstElementChild.call(node) === null) return $textContent.call(node);
  let text = '';
  let left = OWN_NODES;
  for (const parent of root === null ? [node] : [root, node]) {
    for (let c = $firstChild.call(parent); c && left-- > 0; c = $nextSibling.call(c)) if ($nodeType.call(c) === TEXT) text += $data.call(c);
  }
  return text;
}

/** The content of a control; null for any other element. */
function heldBy(e, tag) {
  if (tag === 'input') return e.type === 'checkbox' || e.type === 'radio' ? e.checked : e.type === 'file' ? null : e.value;
  if (tag === 'textarea') return e.value;
  return tag === 'select' ? e.selectedIndex : null;
}

const NO_WORDS = [];

/** The attributes of an element that describe it: [name, value] each. */
function wordsIn(e) {
  if (!$hasAttributes.call(e)) return NO_WORDS;
  const found = [];
  for (const name of $attributeNames.call(e)) {
    const value = GUARDED_WORDS.has(name) ? attr(e, name) : '';
    if (value !== '') found.push([name, value]);
  }
  return found;
}

function entryOf(node) {
  if ($nodeType.call(node) !== ELEMENT) return { node, text: ownText(node), words: NO_WORDS, tag: '', states: null, held: null, image: '' };
  const tag = tagOf(node);
  const states = GUARDED_STATES.map(name => attr(node, name));
  return { node, tag, text: ownText(node), words: wordsIn(node), states, held: heldBy(node, tag), image: tag === 'img' ? node.currentSrc : '' };
}

/** Whether a value replaced another one: an empty value may be filled. */
const replaced = (before, now) => before !== now && before.trim() !== '';

/** Whether two texts differ only in their numbers. */
const countsOn = (before, now) => withoutNumbers(before) === withoutNumbers(now);
const withoutNumbers = text => text.replace(/\d+/g, '0');

/** `bears`: differences that do not count as changes, because the input itself causes them. */
export function entryChanged(entry, bears) {
  const { node, tag } = entry;
  const counts = (before, now) => bears.numbers && countsOn(before, now);
  if (!$isConnected.call(node)) return true;
  const text = ownText(node);
  if (replaced(entry.text, text) && !counts(entry.text, text)) return true;
  if (tag === '') return false;
  for (const [name, value] of entry.words) {
    const now = attr(node, name);
    if (now !== value && now && !counts(value, now)) return true;
  }
  if (tag === 'img' && entry.image !== '' && node.currentSrc !== entry.image) return true;
  const held = heldBy(node, tag);
  const bearsHeld = node === bears.field || (bears.checked && typeof held === 'boolean') || (typeof held === 'string' && counts(entry.held, held));
  if (entry.held !== null && held !== entry.held && !bearsHeld) return true;
  return !bears.states && GUARDED_STATES.some((name, i) => !(bears.pressed && name === 'aria-expanded') && attr(node, name) !== entry.states[i]);
}

/** The text of an element and its descendants, and the elements in it. Text typed into a field is not part of it. */
export function insideOf(e) {
  const parts = [];
  if (isEditable(e) || tagOf(e) === 'textarea') return { text: '', parts };
  let text = '';
  let left = INSIDE;
  const read = parent => {
    for (let c = $firstChild.call(parent); c && left > 0; c = $nextSibling.call(c)) {
      const type = $nodeType.call(c);
      if (type === TEXT) text += $data.call(c);
      if (type !== ELEMENT) continue;
      left--;
      parts.push(c);
      const tag = tagOf(c);
      const words = wordsIn(c);
      // The state that an image shows (lit, pressed) may change its address while its text stays.
      const named = tag === 'img' && words.some(([name]) => name === 'alt');
      for (const [name, value] of words) if (!(named && name === 'src')) text += `\0${name}=${value}\0`;
      if (tag === 'option') text += `\0${c.value}\0`;
      const root = shadowOf(c);
      if (root) read(root);
      read(c);
    }
  };
  const root = shadowOf(e);
  if (root) read(root);
  read(e);
  return { text, parts };
}

const isDisabled = e => $matches.call(e, ':disabled') || attr(e, 'aria-disabled') === 'true';
export const addressNow = () => location.pathname + location.search;

/** Whether an element shows that it is the selected one. */
function showsSelected(e) {
  const current = attr(e, 'aria-current');
  return attr(e, 'aria-selected') === 'true' || (current !== null && current !== 'false') || SELECTED.test(attr(e, 'class') || '');
}
const SELECTED = /(^|[\s_-])(is)?selected($|[\s_-])/i;

/** The elements from a target outwards that may show that it received a press. */
function answersOf(target) {
  const chain = [];
  for (let p = target; p && chain.length < CHAIN; p = flatParent(p)) {
    if ($nodeType.call(p) === ELEMENT) chain.push([p, ANSWERS.map(name => attr(p, name)), showsSelected(p)]);
  }
  return chain;
}

export function copyTarget(target) {
  const { text, parts } = insideOf(target);
  return { node: target, text, own: ownText(target), parts: parts.map(entryOf), words: wordsIn(target), disabled: isDisabled(target), chain: answersOf(target), tag: tagOf(target) };
}

/**
 * Starts guarding a target (`id`; 0: it is in another document) and nodes in their judged state. `ranges`: the ids of
 * the nodes, alternately first and last; `wide`: other documents guard for the same target, under the same key.
 */
export function guardContent(id, key, ranges, wide) {
  const target = id > 0 ? nodeOf(id) : null;
  if (id > 0 && (!target || !$isConnected.call(target))) return;
  const entries = [];
  for (let i = 0; i < ranges.length; i += 2) {
    for (let n = ranges[i]; n <= ranges[i + 1]; n++) {
      const node = n === id ? null : nodeOf(n);
      // The caller that judged this state knows which nodes were gone by then.
      if (node && $isConnected.call(node)) entries.push(entryOf(node));
    }
  }
  unguard(key);
  for (const old of guards.keys()) if (guards.size >= GUARDS) unguard(old);
  const guard = { key, target: target && copyTarget(target), entries, controls: [], address: addressNow(), wide, mutated: false, observer: null };
  guards.set(key, guard);
  watchGuard(guard);
  if (!target) $listen.call(window, key, answerAround);
}

/** Records the first mutation from now on. */
export function watchGuard(guard) {
  const { entries, target } = guard;
  guard.controls = entries.filter(entry => entry.held !== null || entry.image !== '');
  guard.mutated = false;
  guard.observer ||= new MutationObserver(() => noteMutation(guard));
  /** @type {Set<Document | ShadowRoot>} */
  const roots = new Set([document]);
  const add = (node, tag) => {
    const shadow = tag !== '' && shadowOf(node);
    if (shadow) roots.add(shadow);
    for (let root = $getRootNode.call(node); root instanceof ShadowRoot && !roots.has(root); root = $getRootNode.call($host.call(root))) roots.add(root);
  };
  for (const { node, tag } of target ? [target, ...target.parts, ...entries] : entries) add(node, tag);
  for (const root of roots) guard.observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
}

export function noteMutation(guard) {
  guard.mutated = true;
  // One mutation is enough, so that a page that changes constantly is not slowed down.
  guard.observer.disconnect();
}

/** Whether any node has been touched since the copy. */
function hasMutated(guard) {
  if (!guard.mutated && guard.observer.takeRecords().length) noteMutation(guard);
  return guard.mutated;
}

function unguard(key) {
  const guard = guards.get(key);
  if (guard) guard.observer.disconnect();
  if (guard && !guard.target) EventTarget.prototype.removeEventListener.call(window, key, answerAround);
  guards.delete(key);
}

/** The guard that an input runs under. `asked`: [key], or [key, ranges, wide] if it was not copied before; null: none.
 */
export function takeGuard(id, asked) {
  if (!asked) return null;
  const [key, ranges, wide] = asked;
  if (ranges) guardContent(id, key, ranges, wide);
  return guards.get(key) || null;
}

/** The content of an editor is the content of its field, and is not guarded. */
export function leaveEditor(guard, editor) {
  const outside = entry => entry.node !== editor && !$contains.call(editor, entry.node);
  guard.entries = guard.entries.filter(outside);
  guard.controls = guard.controls.filter(outside);
}

/** Copies again after an event of our own, whose changes are expected. */
export function guardAgain(guard) {
  guard.entries = guard.entries.filter(entry => $isConnected.call(entry.node)).map(entry => entryOf(entry.node));
  guard.address = addressNow();
  if (guard.target && $isConnected.call(guard.target.node)) guard.target = copyTarget(guard.target.node);
  watchGuard(guard);
}

/** Copies the content of controls again: no mutation reports it. */
export function holdAgain(guard) {
  for (const entry of guard.entries) if (entry.held !== null) entry.held = heldBy(entry.node, entry.tag);
}

export const NOTHING = {};
const NAMES = new Set(['aria-label', 'aria-labelledby']);

/** Whether a target's own content has changed. */
function targetChanged({ node, text, words, disabled }, bears) {
  const same = (before, now) => now === before || (bears.numbers && countsOn(before, now));
  if (!$isConnected.call(node) || (!disabled && isDisabled(node)) || !same(text, insideOf(node).text)) return true;
  const now = wordsIn(node);
  const was = new Map(words);
  // Tooltips appear and disappear; a label that appears is a different name.
  return now.some(([name, value]) => (was.has(name) ? !same(was.get(name), value) : NAMES.has(name)));
}

/** Whether a node is outside what a press has selected: changes there show the selection. */
const isBeside = ({ node }, bears) => Boolean(bears.selected) && node !== bears.selected && !$contains.call(bears.selected, node);

/** Whether any guarded content has changed. */
export function contentChanged(guard, bears = NOTHING) {
  if (guard.address !== addressNow()) return true;
  const mutated = hasMutated(guard);
  return (mutated && guard.target !== null && targetChanged(guard.target, bears))
    || (mutated ? guard.entries : guard.controls).some(entry => !isBeside(entry, bears) && entryChanged(entry, bears)) || (guard.wide && aroundChanged(guard.key));
}

/**
 * Whether the end of a drag means something other than before. The dragged element leaves its position, and gaps open
 * for it: only what was there before counts, and nothing inside the source.
 */
export function dropChanged(guard, source) {
  const own = node => source !== null && (node === source || $contains.call(source, node));
  const differs = entry => !own(entry.node) && entryChanged(entry, DROPS);
  const { node, own: before } = guard.target;
  return guard.address !== addressNow() || !$isConnected.call(node) || replaced(before, ownText(node))
    || guard.target.parts.some(differs) || guard.entries.some(differs) || (guard.wide && aroundChanged(guard.key));
}
export const DROPS = { states: true };

/** Whether a target shows, by its own state or that of an ancestor, that it received a press. */
export const tookPress = ({ chain }) => chain.some(([e, before]) => ANSWERS.some((name, i) => attr(e, name) !== before[i]));

/** The target or ancestor that has become selected since the copy. */
export function selectedSince({ chain }) {
  const found = chain.find(([e, , before]) => !before && $isConnected.call(e) && showsSelected(e));
  return found ? found[0] : null;
}

// ---- Other documents ----

function answerAround(event) {
  const guard = guards.get(event.type);
  if (guard && contentChanged(guard)) event.preventDefault();
}

/** Whether content that a document of this origin guards under a key has changed. */
function aroundChanged(key) {
  const ask = w => {
    if (w !== window && isReachable(w) && !EventTarget.prototype.dispatchEvent.call(w, new Event(key, { cancelable: true }))) return true;
    for (let i = 0; i < w.length && i < OWN_NODES; i++) if (ask(w[i])) return true;
    return false;
  };
  return ask(top);
}

function isReachable(w) {
  try {
    return w.document !== null;
  } catch (e) {
    // A document of another origin.
    if (e instanceof DOMException) return false;
    throw e;
  }
}

/** Whether the content that this document guards for a target in another one is unchanged. */
export function aroundHolds(key) {
  const guard = guards.get(key);
  return !guard || !contentChanged(guard);
}
