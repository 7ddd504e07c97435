// Accessible names: AccName 1.2, 4.3.2 "Computation steps"; letters refer to that section. Native mechanisms follow
// HTML-AAM 1.0, 5 "Accessible name and description computation".

import {
  $assigned, $checkVisibility, $closest, $data, $firstChild, $firstElementChild, $hasAttributes, $labelledBy,
  $nextElementSibling, $nextSibling, $nodeType, $textContent, ELEMENT, P, TEXT, VISIBLE, attr, byIdIn, flatParent,
  has, shadowOf, squeeze, styleOf, tagOf, textOf,
} from '../dom.js';
import {
  NAME_FROM_CONTENT, NAME_PROHIBITED, SKIP, isContainer, nativeRole, ofGrid, roleOf, svgTitle,
} from './roles.js';
import { AFTER, BEFORE, mayHavePseudo, scope } from '../scope.js';
import { A_ARIA_PLACEHOLDER, A_LABEL, A_LABELLEDBY, A_PLACEHOLDER, A_TITLE } from './attributes.js';
import { counterText } from './counters.js';
import { CHECKABLE_ROLES } from './states.js';
import { ICON_FONT, LIGATURE, ligature } from './icons.js';
import { noteUnrendered } from './unchanged.js';
import { CARET_LABEL } from '../act/editors.js';

/** Longer names are cut: a name distinguishes elements, and nested cells would repeat the page. */
export const NAME_LIMIT = 4000;

/** Content that is nested deeper contributes nothing. */
const NAME_DEPTH = 150;
let nameDepth = 0;

/** Whether the last name came from the element's content. */
export let fromContent = false;

/** Whether the words of icons count: only if nothing else names an element. */
let wordsOfIcons = false;

// The text being composed, and the elements whose boundaries lie between its end and what follows.
let buffer = '';
let borders = [];

/** Resets the state: nothing is being named. Also needed after a walk that threw. */
export function beginNames() {
  nameDepth = 0;
  buffer = '';
  borders = [];
}

/** Appends text. If the boundary of a non-inline element is in between, words are separated (2F.ii). */
function pushText(text) {
  if (text === '' || buffer.length > NAME_LIMIT) return;
  if (borders.length && buffer !== '' && !endsInSpace(buffer) && !startsWithSpace(text) && borders.some(apart)) buffer += ' ';
  borders.length = 0;
  buffer += text;
}

const isSpace = c => c === 32 || c === 9 || c === 10 || c === 13 || c === 12;
const endsInSpace = s => isSpace(s.charCodeAt(s.length - 1));
const startsWithSpace = s => isSpace(s.charCodeAt(0));

/** Whether an element is separate from its neighbors in a line of text. */
function apart(e) {
  const tag = tagOf(e);
  if (tag === 'br' || tag === 'input' || tag === 'select' || tag === 'textarea' || tag === 'button' || tag === 'img' || tag === 'svg') return true;
  const display = styleOf(e).display;
  return display !== 'inline' && display !== 'none' && display !== 'contents' && !display.startsWith('ruby');
}

/** Runs `fill` with an empty buffer and returns the text that it composed. */
export function collect(fill) {
  const outer = buffer, outerBorders = borders;
  buffer = '';
  borders = [];
  fill();
  const text = buffer;
  buffer = outer;
  borders = outerBorders;
  return squeeze(text);
}

/** The name of an element. `v` contains its attributes (see attributes.js), `role` its role. Sets `fromContent`. */
export function nameOf(e, tag, role, v) {
  fromContent = false;
  if (v !== null) {
    // 2B LabelledBy.
    if (v[A_LABELLEDBY] !== null) {
      const name = referenced(e, v[A_LABELLEDBY]);
      if (name) return name;
    }
    // 2D AriaLabel.
    if (v[A_LABEL] !== null) {
      const name = squeeze(v[A_LABEL].slice(0, NAME_LIMIT));
      if (name.trim() && !(tag === 'textarea' && CARET_LABEL.test(name))) return name;
    }
  }
  // 2E Host language label.
  const native = nativeName(e, tag, null);
  if (native !== null) return native;
  // 2F Name from content.
  if ((NAME_FROM_CONTENT.has(role) || (role === 'row' && ofGrid(e))) && !EMBEDDED.has(tag)) {
    const name = contentName(e, tag);
    if (name) {
      fromContent = true;
      return name;
    }
  }
  // 2I Tooltip; then the placeholder (HTML-AAM 5.1) or the summary (5.8).
  if (v !== null) {
    if (v[A_TITLE] !== null && !NAME_PROHIBITED.has(role) && !(tag === 'img' && attr(e, 'alt') === '')) {
      const name = squeeze(v[A_TITLE]);
      if (name) return name;
    }
    if (tag === 'table' && has(e, 'summary')) return squeeze(attr(e, 'summary'));
    if ((tag === 'input' && HAS_PLACEHOLDER.has(e.type)) || tag === 'textarea' || role === 'textbox' || role === 'searchbox' || role === 'combobox') {
      if (v[A_PLACEHOLDER] !== null && (tag === 'input' || tag === 'textarea')) return squeeze(v[A_PLACEHOLDER]);
      if (v[A_ARIA_PLACEHOLDER] !== null) return squeeze(v[A_ARIA_PLACEHOLDER]);
    }
  }
  return scope.icons && NAME_FROM_CONTENT.has(role) && !CHECKABLE_ROLES.has(role) && !EMBEDDED.has(tag) ? iconName(e, tag) : '';
}

/** The name of a control that shows only an icon: its word. A checkbox icon shows a state, which is not a name. */
function iconName(e, tag) {
  wordsOfIcons = true;
  const name = contentName(e, tag);
  wordsOfIcons = false;
  fromContent = name !== '';
  return name;
}

/** HTML 4.10.5.3.10: input types with a placeholder. */
const HAS_PLACEHOLDER = new Set(['text', 'search', 'url', 'tel', 'email', 'password', 'number']);
const EMBEDDED = new Set(['input', 'select', 'textarea']);

export function contentName(e, tag) {
  // The usual case, a single text: nothing to compose.
  const text = isPlain(e, tag) ? textOf(e) : null;
  if (text !== null && !wordsOfIcons && ligature(e, text)) return '';
  return text === null ? collect(() => addContent(e, tag, new Set([e]), { byRef: false, hidden: false }, false)) : squeeze(text);
}

/** Whether an element contributes only the text in its document to a name: nothing styled, slotted or owned. */
const isPlain = (e, tag) => !scope.transform && !(scope.pseudo.on && mayHavePseudo(e, tag)) && tag !== 'slot' && scope.owned === null && shadowOf(e) === null;

/** 2B: the texts of the elements that aria-labelledby names, in that order, each once. */
export function referenced(e, list) {
  const targets = [];
  const given = list.trim() === '' ? $labelledBy.call(e) : null;
  if (given) targets.push(...given);
  else for (const id of list.split(/[ \t\n\f\r]+/)) {
    const target = id && byIdIn(e, id);
    if (target) targets.push(target);
  }
  const out = [];
  for (const target of targets) {
    // 2A: a hidden target counts with all of its content. The content of a hidden target is hidden because of the
    // target.
    const hidden = !isRendered(target) || hiddenByAria(target);
    if (hidden) noteUnrendered(target);
    const text = collect(() => addNode(target, new Set([target]), { byRef: true, hidden }, true));
    if (text) out.push(text);
  }
  return out.join(' ');
}

const hiddenByAria = e => $closest.call(e, '[aria-hidden=true i]') !== null;

function isRendered(e) {
  if ($checkVisibility.call(e, VISIBLE)) return true;
  const style = styleOf(e);
  if (style.display !== 'contents' || style.visibility !== 'visible') return false;
  for (let p = flatParent(e); p && $nodeType.call(p) === ELEMENT; p = flatParent(p)) {
    if ($checkVisibility.call(p)) return true;
    if (styleOf(p).display !== 'contents') return false;
  }
  return true;
}

/** The label that the walk is currently in, which is rendered. */
let withinLabel = null;
export const nameWithin = label => { withinLabel = label; };

/** The text of a control's labels (HTML-AAM 5.1); null without a label. */
function labelText(e, seen) {
  const labels = scope.labels.get(e);
  if (labels === undefined) return null;
  const out = [];
  for (const label of labels) {
    if (seen !== null && seen.has(label)) continue;
    if (label !== withinLabel && !isRendered(label)) continue;
    const text = seen === null ? plainLabel(label, e) : null;
    const full = text === null ? collect(() => addNode(label, new Set(seen === null ? [e, label] : [...seen, e, label]), { byRef: true, hidden: false }, true)) : text;
    if (full) out.push(full);
  }
  return out.length ? out.join(' ') : null;
}

/** The text of a label that contains nothing but text and the control, the usual case; null for any other. */
function plainLabel(label, control) {
  if ($hasAttributes.call(label) || !isPlain(label, 'label')) return null;
  let text = '';
  for (let c = $firstChild.call(label); c; c = $nextSibling.call(c)) {
    const type = $nodeType.call(c);
    if (type === TEXT) text += $data.call(c);
    else if (type === ELEMENT && c !== control) return null;
  }
  return squeeze(text);
}

/** 2E by HTML-AAM 5.1-5.13: the name from the host language; null if there is none. */
function nativeName(e, tag, seen) {
  switch (tag) {
    case 'input': {
      const type = e.type;
      const label = scope.labels.size ? labelText(e, seen) : null;
      if (label !== null) return label;
      if (type === 'submit' || type === 'reset' || type === 'button') {
        const value = attr(e, 'value');
        if (value) return squeeze(value);
        if (value === null && !attr(e, 'title')) return type === 'submit' ? 'Submit' : type === 'reset' ? 'Reset' : null;
        return null;
      }
      if (type === 'image') {
        const alt = attr(e, 'alt');
        if (alt) return squeeze(alt);
        return attr(e, 'title') ? null : squeeze(attr(e, 'value') || '') || 'Submit';
      }
      if (type === 'file') return attr(e, 'title') ? null : e.multiple ? 'Choose Files' : 'Choose File';
      return null;
    }
    case 'select': case 'textarea': case 'meter': case 'progress': case 'output': case 'button':
      return scope.labels.size ? labelText(e, seen) : null;
    case 'img': case 'area': {
      const alt = attr(e, 'alt');
      return alt ? squeeze(alt) : null;
    }
    case 'fieldset': return childText(e, 'legend');
    case 'table': return childText(e, 'caption');
    case 'svg': return svgTitle(e) ? squeeze(svgTitle(e)) : null;
    case 'optgroup': case 'option': {
      const label = attr(e, 'label');
      return label ? squeeze(label) : null;
    }
    default:
      // SVG-AAM 1.0, 8.1: a title child names any graphics element.
      if (e instanceof SVGElement) return squeeze(svgTitle(e)) || null;
      // Form-associated custom elements have labels.
      return tag.includes('-') && scope.labels.has(e) ? labelText(e, seen) : null;
  }
}

/** HTML-AAM 5.8, 5.11: the text of the first child with a tag. */
export function childText(e, tag) {
  for (let c = $firstElementChild.call(e); c; c = $nextElementSibling.call(c)) {
    if (tagOf(c) !== tag) continue;
    if (!isRendered(c)) return null;
    return collect(() => addContent(c, tag, new Set([e, c]), { byRef: false, hidden: false }, false)) || null;
  }
  return null;
}

/**
 * Adds what one element contributes to the name of another. `how.byRef`: the walk began at aria-labelledby or a label,
 * so references are not followed again (2B); `how.hidden`: it began at a hidden element (2A); `root`: `e` is that first
 * element.
 */
function addNode(e, seen, how, root) {
  const tag = tagOf(e);
  let invisible = false;
  if (!root && !how.hidden) {
    if (SKIP.has(tag) || tag === 'rt') {
      if (tag === 'br') pushText(' ');
      return;
    }
    // 2A Hidden not referenced.
    if (!$checkVisibility.call(e, VISIBLE)) {
      const style = styleOf(e);
      if (style.display === 'contents') invisible = style.visibility !== 'visible';
      else if (!$checkVisibility.call(e)) return;
      else invisible = true; // visibility is inherited, but a child may be visible again
    }
  } else if (SKIP.has(tag) && !root) return;
  if (invisible) {
    if (!EMBEDDED.has(tag)) addContent(e, tag, seen, how, true);
    return;
  }
  if (!$hasAttributes.call(e) && !EMBEDDED.has(tag)) {
    const native = root ? null : nativeInContent(e, tag, seen);
    if (native !== null) pushText(native);
    else if (root || how.byRef || !isContainer(e, tag, nativeRole(e, tag))) addContent(e, tag, seen, how, false);
    return;
  }
  if (!root && !how.hidden && ((attr(e, 'aria-hidden') || '').toLowerCase() === 'true' || has(e, 'inert'))) return;
  // Slots have no role and accept no name (ARIA in HTML, "slot": no aria-*).
  if (tag !== 'slot') {
    const role = roleOf(e, tag, attr(e, 'role'));
    // 2C Embedded control: its value replaces its name, even if the control itself is referenced.
    if (!root || how.byRef) {
      const value = embeddedValue(e, tag, role);
      if (value || (value !== null && !root)) {
        pushText(value);
        return;
      }
    }
    // 2B, once per walk.
    if (!how.byRef) {
      const list = attr(e, 'aria-labelledby');
      if (list) {
        const text = referenced(e, list);
        if (text) {
          pushText(text);
          return;
        }
      }
    }
    // 2D.
    const label = squeeze(attr(e, 'aria-label') || '');
    if (label.trim()) {
      pushText(label);
      return;
    }
    if (root && EMBEDDED.has(tag)) {
      pushText(nativeName(e, tag, seen) || embeddedValue(e, tag, role) || attr(e, 'title') || '');
      return;
    }
    // 2E.
    const native = nativeInContent(e, tag, seen);
    if (native !== null) {
      pushText(native);
      return;
    }
    if (!root && !how.byRef && isContainer(e, tag, role)) {
      pushText(attr(e, 'title') || '');
      return;
    }
  }
  const before = buffer.length;
  addContent(e, tag, seen, how, false);
  // 2I, only if the content gave nothing.
  if (buffer.length === before || buffer.slice(before).trim() === '') {
    const title = attr(e, 'title');
    if (title && !(tag === 'img' && attr(e, 'alt') === '')) pushText(title);
  }
}

/** The native name of an element inside another's name: like nativeName, but without labels elsewhere. */
function nativeInContent(e, tag, seen) {
  switch (tag) {
    case 'input': case 'img': case 'area': case 'svg': case 'fieldset': case 'table': case 'optgroup': case 'option': return nativeName(e, tag, seen);
    default: return null;
  }
}

/** 2C: the value of a control inside the label of another one; null for any other element. */
function embeddedValue(e, tag, role) {
  switch (role) {
    case 'textbox': case 'searchbox':
      return tag === 'input' || tag === 'textarea' ? (e.type === 'password' ? '' : e.value) : $textContent.call(e);
    case 'combobox': case 'listbox': {
      if (tag === 'select') return selectedText(e);
      if (tag === 'input') return e.value;
      let text = '';
      for (const option of P.querySelectorAll.call(e, '[role=option][aria-selected=true]')) text += ' ' + $textContent.call(option);
      return text || (role === 'combobox' ? $textContent.call(e) : '');
    }
    case 'slider': case 'spinbutton': case 'progressbar': case 'meter': case 'scrollbar': {
      const text = attr(e, 'aria-valuetext') || attr(e, 'aria-valuenow');
      if (text !== null && text !== '') return text;
      if (tag === 'input') return e.value;
      return tag === 'progress' || tag === 'meter' ? String(e.value) : null;
    }
    default: return null;
  }
}

export function selectedText(select) {
  let text = '';
  for (const option of select.selectedOptions) text += (text && ', ') + squeeze(option.label);
  return text;
}

/** 2F-2H: the content in the order of the flat tree, with generated text and the elements that aria-owns adds. */
export function addContent(e, tag, seen, how, invisible) {
  const generated = scope.pseudo.on && !invisible ? mayHavePseudo(e, tag) : 0;
  if (generated & BEFORE) pushText(pseudoText(e, '::before'));
  if (tag === 'slot') {
    const assigned = $assigned.call(e);
    if (assigned.length) for (const c of assigned) addChild(e, c, seen, how, invisible, false);
    else addChildren(e, e, seen, how, invisible);
  } else addChildren(e, shadowOf(e) || e, seen, how, invisible);
  const owned = scope.owned && scope.owned.get(e);
  if (owned) for (const c of owned) addChild(e, c, seen, how, invisible, true);
  if (generated & AFTER) pushText(pseudoText(e, '::after'));
}

function addChildren(e, parent, seen, how, invisible) {
  for (let c = $firstChild.call(parent); c; c = $nextSibling.call(c)) addChild(e, c, seen, how, invisible, false);
}

function addChild(e, c, seen, how, invisible, owned) {
  const type = $nodeType.call(c);
  if (type === TEXT) {
    if (!invisible && (wordsOfIcons || !ligature(e, $data.call(c)))) pushText(scope.transform ? transformed(e, $data.call(c)) : $data.call(c));
    return;
  }
  if (type !== ELEMENT || seen.has(c) || buffer.length > NAME_LIMIT) return;
  if (!owned && scope.ownerOf !== null && scope.ownerOf.has(c)) return;
  // The items below a tree item are not part of its name (ARIA 1.2, 5.4 treeitem).
  if ($hasAttributes.call(c) && attr(c, 'role') === 'group' && attr(e, 'role') === 'treeitem') return;
  if (nameDepth > NAME_DEPTH) return;
  seen.add(c);
  borders.push(c);
  nameDepth++;
  addNode(c, seen, how, false);
  nameDepth--;
  borders.push(c);
}

/** 2F.ii: text of CSS generated content. An alternative text (`content: x / "alt"`) replaces it; `counted`: with
 * counters. */
export function pseudoText(e, which, counted = true) {
  const style = styleOf(e, which);
  const content = style.content;
  if (!content || content === 'none' || content === 'normal') return '';
  let text = '';
  let alternative = false;
  for (const m of content.matchAll(CONTENT)) {
    if (m[0] === '/') {
      text = '';
      alternative = true;
    } else if (m[1] !== undefined) text += unescapeCss(m[1]);
    else if (m[2] !== undefined && counted) text += counterText(e, which, m[2], m[3]);
  }
  if (scope.icons && LIGATURE.test(text) && ICON_FONT.test(style.fontFamily)) return '';
  text = recase(text.replace(/[\ue000-\uf8ff]/g, ''), style.textTransform);
  return text && (alternative || style.display !== 'inline') ? ' ' + text + ' ' : text;
}

/** A part of a computed `content`: a string, a counter, the slash before the alternative. Other functions produce no
 * text.
 */
const CONTENT = /"((?:[^"\\]|\\.)*)"|counters?\(([^(),]+)(?:, "((?:[^"\\]|\\.)*)")?[^()]*\)|[\w-]+\([^()]*\)|\//g;

export const unescapeCss = s => s.replace(/\\(?:([0-9a-f]{1,6}) ?|(.))/gi, (_, code, c) => (code ? String.fromCodePoint(Math.min(parseInt(code, 16), 0x10ffff)) : c));

/** Text as shown by `text-transform`. */
export const transformed = (parent, text) => recase(text, styleOf(parent).textTransform);

function recase(text, transform) {
  switch (transform) {
    case 'uppercase': return text.toUpperCase();
    case 'lowercase': return text.toLowerCase();
    case 'capitalize': return text.replace(/(^|[\s\p{Pd}])(\p{L})/gu, (_, before, letter) => before + letter.toUpperCase());
    default: return text;
  }
}
