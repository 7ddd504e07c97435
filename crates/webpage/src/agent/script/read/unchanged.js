// Determines, without a walk, whether a capture now would equal the last one. Sound, not complete: "no" costs a walk.
//
// A walk reads the document, computed style and layout, and the content of controls. These are checked as follows:
// - the document: by a MutationObserver on every root that a walk entered. Its records are taken immediately;
// - style and layout: not here. The Rust side compares the browser's own counts of style recalculations and layouts,
//   which it requests after this function has updated both;
// - click listeners: the Rust side compares the browser's count of listeners, see `canary`;
// - state that none of these report: LIVE below, compared by value.
// If something uncounted could change, a capture gets no seal, and the next capture is a walk.

import {
  $docQueryAll, $documentElement, $firstChild, $localName, $matches, $nextSibling, $nodeType, $rootQueryAll,
  $scrollHeight, $title, $url, DOC, ELEMENT, P, deepActive, getterOf, idOf, shadowOf, styleOf,
} from '../dom.js';
import { factsOf, mayHavePseudo, scope } from '../scope.js';
import { changeCount, shadowRoots, takePending } from '../changes.js';

/** The last capture that can be compared, or null. */
let sealed = null;
let lastSeal = 0;

/** Exists until the browser collects garbage: only then can listeners vanish from its listener count. There is one per
 * check. */
let canary = new WeakRef({});
/** Whether the canary of the previous check still existed at the last one. */
let kept = false;

/** Controls whose state is not part of the document. (`progress`, `meter`, `details` and `dialog` reflect attributes.)
 */
const HOLDING = 'input,textarea,select';

/** Elements in the top layer: opened by script, and without a trace in the document if they are not rendered. */
const ON_TOP = ':popover-open,dialog:modal';

const $designMode = getterOf(DOC, 'designMode');

/** Reads everything that may change without a mutation record, a new style or a new layout: a list of values. */
function liveState(controls, names) {
  const active = deepActive(document);
  const state = [$url.call(document), $title.call(document), $designMode.call(document), active ? idOf(active) : 0];
  for (const e of controls) {
    const tag = $localName.call(e);
    if (tag === 'input') {
      const type = e.type;
      if (type === 'checkbox' || type === 'radio') state.push((e.checked ? 1 : 0) + (e.indeterminate ? 2 : 0));
      else if (type === 'file') for (const file of e.files || []) state.push(file.name);
      else state.push(e.value);
    } else if (tag === 'textarea') state.push(e.value);
    else {
      // The options of a closed list are not rendered: no count reveals that style hides one.
      let bits = '';
      for (const option of e.options) bits += (option.selected ? 's' : '.') + (styleOf(option).display === 'none' ? 'h' : '');
      for (const group of P.querySelectorAll.call(e, 'optgroup')) bits += styleOf(group).display === 'none' ? 'H' : '|';
      state.push(bits);
    }
  }
  for (const root of rootsNow()) {
    for (const e of queryIn(root, ON_TOP)) state.push(idOf(e));
    // New rules for elements that are not rendered are not counted either.
    if (names.length) state.push(factsOf(root).key);
  }
  return state;
}

const queryIn = (root, selector) => (root === document ? $docQueryAll : $rootQueryAll).call(root, selector);

function rootsNow() {
  const roots = [document];
  for (const ref of shadowRoots) {
    const root = ref.deref();
    if (root) roots.push(root);
  }
  return roots;
}

/**
 * Seals the current capture, at its end: from now on, `unchanged(number)` compares with it. Returns 0 if nothing could
 * be proven.
 */
export function seal() {
  const before = sealed;
  sealed = null;
  if (!scope.provable) return 0;
  const controls = [];
  const { unrendered } = scope;
  for (const root of rootsNow()) for (const e of queryIn(root, HOLDING)) if (e instanceof HTMLElement) controls.push(e);
  sealed = { number: 0, count: changeCount, controls, state: liveState(controls, unrendered), unrendered, undefined: scope.undefined };
  // Two captures without a change in between share one number.
  sealed.number = before !== null && before.count === changeCount && same(before.state, sealed.state) ? before.number : ++lastSeal;
  return sealed.number;
}

/**
 * Whether a capture now would equal the one with this seal, as far as that can be determined here. Updates style and
 * layout in any case, so that the browser's counts match what a walk would see.
 */
export function unchanged(number) {
  kept = canary.deref() !== undefined;
  canary = new WeakRef({});
  const root = $documentElement.call(document);
  if (root) $scrollHeight.call(root);
  takePending();
  if (sealed === null || sealed.number !== number || sealed.count !== changeCount) return false;
  // A shadow root on an element that is not rendered is not reported.
  for (const e of sealed.unrendered) if (shadowOf(e) !== null) return false;
  // Once defined, a custom element may report any role or state.
  for (const e of sealed.undefined) if ($matches.call(e, ':defined')) return false;
  const { state, controls, unrendered } = sealed;
  return same(state, liveState(controls, unrendered));
}

const same = (a, b) => a.length === b.length && a.every((x, i) => x === b[i]);

/** Whether no garbage was collected between the last two checks. */
export const uncollected = () => kept;

/** Records in the scope that an element refers to an element that is not rendered, whose style is not counted. */
export function noteUnrendered(target) {
  for (let c = $firstChild.call(target); c; c = $nextSibling.call(c)) if ($nodeType.call(c) === ELEMENT) scope.provable = false;
  if (shadowOf(target) !== null || scope.transform || (scope.pseudo.on && mayHavePseudo(target, $localName.call(target)))) scope.provable = false;
  scope.unrendered.push(target);
}

/** Records a custom element: through ElementInternals, it may change its role and name by itself. */
export function noteCustom(e) {
  if (!(e instanceof HTMLElement)) return;
  if ($matches.call(e, ':defined')) scope.provable = false;
  else scope.undefined.push(e);
}
