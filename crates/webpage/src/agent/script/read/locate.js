// Looking for one element again, at the moment of an act.

import { $docQueryAll, $isConnected, $rootQueryAll, idOf, nodeOf, shadowOf } from '../dom.js';
import { capture } from './capture.js';
import { glimpse } from '../act/aim.js';
import { guardContent } from '../act/guard.js';

/**
 * A capture of the whole document as it is now, or null when the element with `id` is no longer connected. Judging a
 * record needs the siblings of rows, the leaves of sections and the headings around them: short of the whole tree
 * there is no part that surely holds them. `watch` as in capture, `id` among it.
 */
export function locate(id, watch) {
  const e = nodeOf(id);
  if (!e || !$isConnected.call(e)) return null;
  return capture({ watch });
}

/**
 * The same, and where it would be aimed at: [what `locate` answers, what `glimpse` does]. null: gone. `guard`: as for `aim`;
 * what is looked at last is judged last.
 */
export function find(id, watch, guard) {
  if (guard) guardContent(id, ...guard);
  const columns = locate(id, watch);
  return columns === null ? null : [columns, glimpse(id)];
}

/**
 * The ids of all elements that a CSS selector matches, inside shadow roots too (a selector never reaches across their
 * edge): {ids} or {bad: true} when the browser cannot read it.
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
