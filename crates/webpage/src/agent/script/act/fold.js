// Closes a list that was opened in vain: by the press that opened it if the element reports that it is expanded,
// otherwise by Escape, which must reach the list but not what contains the list.

import {
  $checkVisibility, $docQueryAll, $getRootNode, $isConnected, $listen, $matches, $nodeType, $rootQueryAll, ELEMENT,
  VISIBLE, attr, deepActive, flatParent, idOf, isEditable, nodeOf, tagOf,
} from '../dom.js';
import { insideFlat } from '../read/capture.js';
import { frame } from './aim.js';

const POPUP_LISTS = '[role="listbox" i], [role="menu" i]';
/** What Escape would close or cancel around a list: a dialog, a row that is being edited. */
const AROUND = 'dialog, [role="dialog" i], [role="alertdialog" i], tr, [role="row" i]';
/** How long a list may take to close. */
const FOLD_MS = 500;

const expandedOf = e => (e && $isConnected.call(e) ? attr(e, 'aria-expanded') : null);

/** The visible lists that did not exist before: `older` contains the numbers of those that did. */
function newLists(e, older) {
  const root = e && $isConnected.call(e) ? $getRootNode.call(e) : document;
  const found = new Set($docQueryAll.call(document, POPUP_LISTS));
  if (root !== document) for (const list of $rootQueryAll.call(root, POPUP_LISTS)) found.add(list);
  return [...found].filter(list => $checkVisibility.call(list, VISIBLE) && !older.includes(idOf(list)));
}

/** The nearest ancestor of an element that would react to Escape. */
function aroundOf(e) {
  for (let p = e && flatParent(e); p && $nodeType.call(p) === ELEMENT; p = flatParent(p)) {
    if ($matches.call(p, AROUND)) return p;
  }
  return null;
}

/**
 * Whether what an element opened is open: null, or how it can be closed: {press: by a press on the element, key: by
 * Escape, because the element or a list has the focus, expanded: the state that the element reports}.
 */
export function opened(id, older) {
  const e = nodeOf(id);
  const lists = newLists(e, older);
  const expanded = expandedOf(e) === 'true';
  if (!expanded && !lists.length) return null;
  const focus = deepActive(document);
  const mine = [e, ...lists].filter(x => x && $isConnected.call(x));
  // A field that filters the list is next to it, in the same popup.
  const popups = lists.map(aroundOf).filter(p => p && !(e && within(e, p)));
  const key = focus !== null && [...mine, ...popups].some(x => within(focus, x));
  const typed = e && $isConnected.call(e) && (isEditable(e) || /^(input|textarea)$/.test(tagOf(e)));
  return { expanded, press: expanded && !typed, key };
}

/** Whether an element is where keys go in this document, including a frame whose document has the focus. */
export const takesKeys = id => deepActive(document) === nodeOf(id);

const within = (e, outer) => e === outer || insideFlat(e, outer);

let edge = null;

/** Listeners outside the element around the list do not receive the key. */
function keepInside(event) {
  if (edge === null || !event.isTrusted) return;
  const path = event.composedPath();
  const inner = path[path.indexOf(edge) - 1];
  if (inner instanceof Node) $listen.call(inner, event.type, e => e.stopPropagation(), { once: true });
}

/** A dialog around the list stays. */
const keepOpen = event => {
  if (edge !== null && event.target instanceof Node && within(edge, event.target)) event.preventDefault();
};

/** From now on, only listeners inside the `aroundOf` of an element (of its list if it is gone) receive Escape. */
export function expectEscape(id, older) {
  const e = nodeOf(id);
  edge = aroundOf(e && $isConnected.call(e) ? e : newLists(e, older)[0]);
  for (const type of ['keydown', 'keyup']) window.addEventListener(type, keepInside, { capture: true });
  window.addEventListener('cancel', keepOpen, { capture: true });
}

/** Resolves to whether what an element opened is closed, which may take a moment; `was`: the element reported that it
 * was expanded. */
export async function folded(id, older, was) {
  const until = performance.now() + FOLD_MS;
  const closed = () => (was ? expandedOf(nodeOf(id)) !== 'true' : !newLists(nodeOf(id), older).length);
  while (!closed() && performance.now() < until) await frame();
  edge = null;
  return closed();
}
