// CSS counters in generated text (CSS Lists 3, 4): style reveals what a pseudo-element counts, but not the current
// value. All counters are therefore computed once, when a name first needs it.

import { $documentElement, $firstElementChild, $nextElementSibling, shadowOf, styleOf } from '../dom.js';
import { scope } from '../scope.js';
import { unescapeCss } from './names.js';

/** In longer documents, counters are not computed and have no text. */
const COUNTED_LIMIT = 3000;

/** The text of counter(name) or counters(name, separator) in a pseudo-element. */
export function counterText(e, which, name, separator) {
  scope.counts ??= countAll();
  const found = scope.counts.get(e);
  const values = found && found[which] && found[which].get(name.trim());
  return values ? (separator === undefined ? String(values[values.length - 1]) : values.join(unescapeCss(separator))) : '';
}

/** For each element, the counters that its ::before and ::after see: {'::before': name -> values, outermost first}. */
function countAll() {
  const seen = new Map();
  /** name -> counters in scope, innermost last: {value, depth}. */
  const counters = new Map();
  let left = COUNTED_LIMIT;
  const touch = (style, depth) => {
    for (const [name, value] of pairs(style.counterReset, 0)) {
      const list = counters.get(name) || [];
      if (list.length && list[list.length - 1].depth === depth) list.pop();
      list.push({ value, depth });
      counters.set(name, list);
    }
    for (const [name, value] of pairs(style.counterIncrement, 1)) top(name, depth).value += value;
    for (const [name, value] of pairs(style.counterSet, 0)) top(name, depth).value = value;
  };
  const top = (name, depth) => {
    let list = counters.get(name);
    if (!list || !list.length) counters.set(name, list = [{ value: 0, depth }]);
    return list[list.length - 1];
  };
  const close = depth => {
    for (const list of counters.values()) while (list.length && list[list.length - 1].depth > depth) list.pop();
  };
  const pseudo = (e, which, depth) => {
    const style = styleOf(e, which);
    if (style.content === 'none' || style.content === 'normal' || style.display === 'none') return;
    touch(style, depth);
    if (!style.content.includes('counter')) return;
    const values = new Map();
    for (const [name, list] of counters) if (list.length) values.set(name, list.map(c => c.value));
    const found = seen.get(e) || {};
    found[which] = values;
    seen.set(e, found);
  };
  const visit = (e, depth) => {
    if (left-- <= 0 || depth > 300) return;
    const style = styleOf(e);
    if (style.display === 'none') return;
    touch(style, depth);
    pseudo(e, '::before', depth + 1);
    for (let c = $firstElementChild.call(shadowOf(e) || e); c; c = $nextElementSibling.call(c)) visit(c, depth + 1);
    pseudo(e, '::after', depth + 1);
    close(depth);
  };
  const root = $documentElement.call(scope.doc);
  if (root) visit(root, 0);
  return left > 0 ? seen : new Map();
}

/** `a 1 b 2` as [['a', 1], ['b', 2]]. */
function pairs(list, missing) {
  if (!list || list === 'none') return [];
  const found = [];
  for (const word of list.split(/\s+/)) {
    if (/^-?\d+$/.test(word)) found[found.length - 1][1] = Number(word);
    else found.push([word, missing]);
  }
  return found;
}
