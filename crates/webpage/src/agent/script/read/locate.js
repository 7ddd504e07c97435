// Locating one element again, at the time of an action.

import { $docQueryAll, $isConnected, $rootQueryAll, idOf, nodeOf, shadowOf } from '../dom.js';
import { capture } from './capture.js';
import { glimpse } from '../act/aim.js';
import { guardContent } from '../act/guard.js';

/**
 * A capture of the current document, or null if the element with `id` is no longer connected. Judging a record needs
 * the siblings of rows, the leaves of sections and the headings around them, and only the whole tree is sure to contain
 * these. `watch` as in capture, including `id`.
 */
export function locate(id, watch) {
  const e = nodeOf(id);
  if (!e || !$isConnected.call(e)) return null;
  return capture({ watch });
}

/**
 * The capture, and the point where the element would be pressed: [result of `locate`, result of `glimpse`]. null: gone.
 * `guard`: as for `aim`; what is read last is judged last.
 */
export function find(id, watch, guard) {
  if (guard) guardContent(id, ...guard);
  const columns = locate(id, watch);
  return columns === null ? null : [columns, glimpse(id)];
}

/**
 * The ids of all elements that a CSS selector matches, including those inside shadow roots (a selector never crosses
 * their boundary): {ids}, or {bad: true} if the browser cannot parse it.
 */
export function css(selector) {
  const ids = [];
  const pending = [document];
  try {
    for (let root = pending.pop(); root; root = pending.pop()) {
      const all = root === document ? $docQueryAll : $rootQueryAll;
      for (const e of all.call(root, selector)) ids.push(idOf(e));
      for (const e of all.call(root, '*')) {
        const inner = shadowOf(e);
        if (inner) pending.push(inner);
      }
    }
  } catch (e) {
    if (e instanceof DOMException && e.name === 'SyntaxError') return { bad: true };
    throw e;
  }
  return { ids };
}
