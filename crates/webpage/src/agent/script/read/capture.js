// The capture: one walk of the flat tree into columns and tables (crates/webpage/src/capture/columns.rs reads them). A
// column has one number per row: its depth; its kind, which is an index into the table of (role, tag, states); its
// name, as the distance back from the last new name. The numbers of elements are stored as runs, alternately (first,
// count). Rare properties (level, value, attributes) are separate lists of (row, ...).

import {
  $assigned, $checkVisibility, $clientHeight, $clientWidth, $contains, $data, $documentElement, $firstChild,
  $firstElementChild, $hasAttributes, $innerText, $isConnected, $matches, $nextElementSibling, $nextSibling,
  $nodeType, $parentNode, $scrollHeight, $scrollWidth, $title, $url, ELEMENT, HOSTS, SQUEEZE_LIMIT, TEXT, VISIBLE,
  flatParent, forgetSole, hostLook, idOf, mayHideRoot, nextId, nodeOf, rootAsked, shadowOf, squeeze, styleOf,
  sweepIds, tagOf, textOf, wellFormed,
} from '../dom.js';
import { CONTROLS, LEAF_CONTROLS, NAME_PROHIBITED, SKIP, roleOf } from './roles.js';
import { AFTER, BEFORE, SCROLLS, enterScope, mayHavePseudo, newScope, readRoot, scope } from '../scope.js';
import {
  A_CONTENTEDITABLE, A_CURRENT, A_DESCRIBEDBY, A_DESCRIPTION, A_DISABLED, A_HIDDEN, A_INERT, A_LABEL, A_LABELLEDBY,
  A_LIST, A_ONCLICK, A_POPOVER, A_ROLE, A_SELECTED, A_SORT, A_TABINDEX, A_TITLE, readAttributes,
} from './attributes.js';
import { NAME_LIMIT, beginNames, fromContent, nameOf, nameWithin, transformed } from './names.js';
import { CHECKABLE_ROLES, S, level, statesOf, value } from './states.js';
import { iconOf } from './icons.js';
import { descriptionOf, generatedText, optionsPrint, rareAttributes, sourceOf } from './details.js';
import { hasParts } from './drawings.js';
import { noteCustom, seal } from './unchanged.js';
import { changeCount } from '../changes.js';

const NODE_LIMIT = 250000;
/** The maximum number of characters in all names, values and attributes together. */
const TEXT_BUDGET = 16 << 20;
/** The HTML parser nests at most 512 levels; the stack of a script in the page is full at about 1,300. */
const DEPTH_LIMIT = 700;
/** The maximum number of characters in an attribute. */
const ATTR_LIMIT = 2000;
/** The number of texts that are searched for a repeated text: in a list of thousands, most are new, and a larger map is
 * slow. */
const KNOWN_TEXTS = 4096;

// The columns of the current walk.
let out = null;
let strings = null;
let stringIndex = null;
let nameIndex = null;
/** tag -> [{role, states, kind}]. */
let kindsOf = null;
/** The number of this walk, and for each numbered node the last walk in which it had a row. */
export let walkNumber = 0;
export let walkOf = new Uint32Array(4096);
/** The number that continues the last run. */
let inRun = 0;
/** The number of characters in the texts so far. */
let textLength = 0;

/** Whether the capture accepts no more rows. */
const isFull = () => out.depth.length >= NODE_LIMIT || textLength > TEXT_BUDGET;

function str(s) {
  let i = stringIndex.get(s);
  if (i === undefined) {
    textLength += s.length;
    i = strings.length;
    strings.push(wellFormed(s));
    if (stringIndex.size >= KNOWN_TEXTS) stringIndex.clear();
    stringIndex.set(s, i);
  }
  return i;
}

function kindOf(role, tag, states) {
  let known = kindsOf.get(tag);
  if (known === undefined) kindsOf.set(tag, known = []);
  for (const k of known) if (k.states === states && k.role === role) return k.kind;
  const kind = out.kinds.length / 3;
  out.kinds.push(str(role), str(tag), states);
  known.push({ role, states, kind });
  return kind;
}

/** 0: no name; 1: the next name in the table; n: the name n - 1 places before that. */
function nameBack(name) {
  if (name === '') return 0;
  const { names } = out;
  const n = names.length;
  // The usual case: a link and the text in it.
  if (n > 0 && names[n - 1] === name) return 2;
  const at = nameIndex.get(name);
  if (at !== undefined) return n - at + 1;
  if (nameIndex.size >= KNOWN_TEXTS) nameIndex.clear();
  nameIndex.set(name, n);
  names.push(wellFormed(name));
  textLength += name.length;
  return 1;
}

function begin() {
  strings = [''];
  stringIndex = new Map([['', 0]]);
  nameIndex = new Map();
  kindsOf = new Map();
  walkNumber++;
  inRun = 0;
  textLength = 0;
  out = { depth: [], kind: [], kinds: [], name: [], names: [], ids: [], level: [], value: [], attrs: [], custom: [], hosts: [], truncated: false };
}

/** Adds a row. Only text has no number: its `id` is 0. */
function row(depth, role, tag, name, states, id) {
  const limit = role === 'text' ? SQUEEZE_LIMIT : NAME_LIMIT;
  if (name.length > limit) name = name.slice(0, limit);
  out.kind.push(kindOf(role, tag, states));
  out.name.push(nameBack(name));
  if (id !== 0) {
    const { ids } = out;
    if (id === inRun) ids[ids.length - 1]++;
    else ids.push(id, 1);
    inRun = id + 1;
    if (id >= walkOf.length) {
      const longer = new Uint32Array(id * 2);
      longer.set(walkOf);
      walkOf = longer;
    }
    walkOf[id] = walkNumber;
  }
  return out.depth.push(depth) - 1;
}

export const putAttr = (at, key, text) => { if (text) out.attrs.push(at, str(key), str(text.length > ATTR_LIMIT ? text.slice(0, ATTR_LIMIT) : text)); };

const PDF = 'application/pdf';

/** Captures the document. `options.watch`: queried ids, alternately (first, last). Frames are elements without content
 * here. */
export function capture(options) {
  const started = performance.now();
  sweepIds();
  begin();
  beginNames();
  enterScope(newScope(document));
  row(0, 'document', '', '', 0, idOf(document));
  const at = { depth: 1, pointer: false, inside: false, lean: false, disabled: false, block: true, label: null };
  const root = $documentElement.call(document);
  const body = scope.body;
  if (body) walk(body, at, false);
  else if (root) walk(root, at, false);
  // Siblings of the body are also part of the page: popups of careless libraries.
  if (body) for (let c = $firstElementChild.call(root); c; c = $nextElementSibling.call(c)) if (c !== body) walk(c, at, false);
  const hidden = [];
  const watch = (options && options.watch) || [];
  for (let i = 0; i < watch.length; i += 2) {
    const end = Math.min(watch[i + 1], nextId - 1);
    for (let id = watch[i]; id <= end; id++) {
      if (walkOf[id] === walkNumber) continue;
      // Connected but not in the tree: hidden, not gone.
      const node = nodeOf(id);
      if (node && $isConnected.call(node)) hidden.push(id);
    }
  }
  // The viewer's document contains nothing of the PDF.
  if (document.contentType === PDF) out.truncated = true;
  const result = { v: 2, url: $url.call(document), title: $title.call(document), ...out, hidden, strings, seal: seal(), changes: changeCount, ms: 0 };
  result.ms = Math.round((performance.now() - started) * 10) / 10;
  out = strings = stringIndex = nameIndex = kindsOf = null;
  enterScope(null);
  forgetSole();
  return JSON.stringify(result);
}

const COUNT = /^\s*\d+\s*\+?\s*$/;

/** Elements that flow with the surrounding text unless styled otherwise: their text leaves are not blocks. */
const INLINE = new Set('a abbr b bdi bdo cite code data del dfn em font i ins kbd label mark q s samp small span strike strong sub sup time tt u var slot'.split(' '));

/**
 * Walks one element. `at.depth`: its depth; `at.pointer`: the parent has a hand cursor; `at.inside`: inside an
 * actionable element; `at.lean`: wrappers are not reported here; `at.disabled`: an ancestor is disabled; `at.block`:
 * text here is in a block; `at.label`: the label that contains it.
 */
function walk(e, at, fromOwner) {
  const tag = tagOf(e);
  if (SKIP.has(tag)) return;
  if (scope.ownerOf !== null && !fromOwner && scope.ownerOf.has(e)) return;
  if (isFull() || at.depth > DEPTH_LIMIT) {
    out.truncated = true;
    return;
  }
  // Core-AAM 1.2, 3.1 "Excluding elements": not rendered, hidden by their author, or inert.
  let invisible = false;
  if (!$checkVisibility.call(e, VISIBLE) && tag !== 'area' && tag !== 'map') {
    const style = styleOf(e);
    if (style.display === 'contents') invisible = style.visibility !== 'visible';
    else if (!$checkVisibility.call(e)) {
      // Not in the flat tree at all: its parent has a shadow root without a slot that shows it.
      if (style.display === '') suspect($parentNode.call(e));
      return;
    } else invisible = true; // `visibility` can be undone below
  }
  const v = $hasAttributes.call(e) ? readAttributes(e) : null;
  if (v !== null) {
    // On the body, this is a mistake that browsers ignore.
    if (v[A_HIDDEN] !== null && v[A_HIDDEN].toLowerCase() === 'true' && tag !== 'body' && !holdsFocus(e)) return;
    if (v[A_INERT] !== null) return;
  }
  // HTML 6.7.4: while a modal dialog is open, everything else is inert; the ancestors of the dialog remain as wrappers.
  if (scope.modal !== null && !scope.modalPath.has(e) && !$contains.call(scope.modal, e) && !insideFlat(e, scope.modal)) return;
  if (invisible) {
    walkChildren(e, tag, at, true);
    return;
  }
  const style = scope.pointer && !at.inside ? styleOf(e) : null;
  report(e, tag, v, at, style);
}

const holdsFocus = e => scope.active !== null && scope.active !== scope.body && $contains.call(e, scope.active);

export function insideFlat(e, ancestor) {
  for (let p = flatParent(e); p; p = flatParent(p)) if (p === ancestor) return true;
  return false;
}

function report(e, tag, v, at, style) {
  let role = roleOf(e, tag, v === null ? null : v[A_ROLE]);
  if (role === 'generic' && v !== null && v[A_POPOVER] !== null) role = 'group'; // HTML-AAM 4.2 `popover`
  let states = statesOf(e, tag, role, v);
  // ARIA 1.2, 6.6 aria-disabled: "applies to the current element and all focusable descendant elements".
  const given = v === null || v[A_DISABLED] === null ? null : v[A_DISABLED].toLowerCase();
  const disabled = given === 'true' || (at.disabled && given !== 'false');
  if (disabled && CONTROLS.has(role)) states |= S.DISABLED;
  const shownLevel = level;
  const shownValue = value;
  let pointer = at.pointer;
  if (style !== null && !at.pointer) pointer = style.cursor === 'pointer';
  if (role === 'generic') {
    // Content that a person can edit is a text box, whatever its element (HTML-AAM has no role for it).
    if (states & S.EDIT_HOST) role = 'textbox';
    // Clickable without a role: outermost only.
    else if (!at.inside && tag !== 'html' && tag !== 'body' && ((v !== null && (v[A_ONCLICK] !== null || (v[A_TABINDEX] !== null && !(v[A_TABINDEX] < 0 && !pointer))))
      || (pointer && !at.pointer))) role = 'clickable';
  }
  const icon = role === 'generic' ? iconOf(e) : '';
  if (icon !== '') {
    // In a control that has a name without it, an icon is decoration; elsewhere it is an image.
    if (at.lean) return;
    role = 'img';
  }
  const generic = role === 'generic';
  if (tag.includes('-')) noteCustom(e);
  let name = '';
  if (!NAME_PROHIBITED.has(role) || (v !== null && (v[A_LABEL] !== null || v[A_LABELLEDBY] !== null))) {
    nameWithin(at.label);
    name = nameOf(e, tag, role, v) || icon;
    if (name !== '' && fromContent) states |= S.NAME_FROM_CONTENT;
  }
  if (CONTROLS.has(role)) states |= S.ACTIONABLE;
  else if (role === 'columnheader' && v !== null && (v[A_SORT] !== null || v[A_ONCLICK] !== null || v[A_TABINDEX] !== null)) states |= S.ACTIONABLE;
  else if (!generic && !at.inside && v !== null && (v[A_ONCLICK] !== null || (v[A_TABINDEX] !== null && !(v[A_TABINDEX] < 0)) || v[A_CONTENTEDITABLE] !== null && states & S.EDIT_HOST)) states |= S.ACTIONABLE;
  else if (role !== 'label' && !generic && pointer && !at.pointer && !at.inside) states |= S.ACTIONABLE;
  if (scope.scrolls && !INLINE.has(tag) && canScroll(e)) states |= S.SCROLLABLE;
  let depth = at.depth;
  const source = sourceOf(e, tag, v, at.lean);
  if (!(generic && at.lean && name === '' && source === '' && !tellsMore(v) && !isBadge(e))) {
    const index = row(depth, role, tag, name, states, idOf(e));
    depth++;
    if (shownLevel) out.level.push(index, shownLevel);
    if (shownValue) out.value.push(index, str(shownValue));
    if (v !== null) rareAttributes(e, tag, role, states, v, index);
    if (v !== null || role === 'img') putAttr(index, 'description', descriptionOf(e, tag, role, v, name));
    putAttr(index, 'source', source);
    if (tag === 'select') putAttr(index, 'options', optionsPrint(e.options, false));
    else if (tag === 'input' && v !== null && v[A_LIST] !== null && e.list) putAttr(index, 'options', optionsPrint(e.list.options, true));
    if (tag === 'pre') preformatted(e, index);
    // Only a defined element can have internals (HTML 4.13.7.1).
    if (tag.includes('-') && $matches.call(e, ':defined') && e instanceof HTMLElement) out.custom.push(index);
  }
  if (icon !== '') return;
  const actionable = (states & S.ACTIONABLE) !== 0;
  const below = {
    depth,
    pointer,
    inside: at.inside || actionable,
    lean: at.lean || (LEAF_CONTROLS.has(role) && ((CHECKABLE_ROLES.has(role) && scope.icons) || (name !== '' && (states & S.NAME_FROM_CONTENT) !== 0))),
    disabled,
    block: INLINE.has(tag) ? at.block && tag === 'slot' : true,
    label: tag === 'label' ? e : at.label,
  };
  if ((tag === 'object' || tag === 'embed') && showsPdf(e)) out.truncated = true;
  switch (tag) {
    case 'select': walkOptions(e, depth, e.multiple || e.size > 1); return;
    case 'textarea': case 'input': case 'img': case 'hr': case 'progress': case 'meter': case 'audio': case 'video': case 'embed':
    case 'iframe': case 'frame': return;
    case 'svg': if (!hasParts(e, below)) return; break;
    default: break;
  }
  walkChildren(e, tag, below, false);
}

/** Whether an `object` or `embed` shows a PDF, whose text only the viewer has. Without a viewer, the element shows its
 * fallback.
 */
function showsPdf(e) {
  if (!navigator.pdfViewerEnabled || !(e.type === PDF || /\.pdf([?#]|$)/i.test(e.data || e.src || ''))) return false;
  const fallback = $firstElementChild.call(e);
  return fallback === null || !$checkVisibility.call(fallback);
}

const PREFORMATTED_LIMIT = 50000;

/** Records preformatted text if it has more white space than a text leaf can represent. */
function preformatted(e, index) {
  const text = e instanceof HTMLElement ? $innerText.call(e) : '';
  if (/[\n\t]|  /.test(text)) putAttr(index, 'preformatted', text.slice(0, PREFORMATTED_LIMIT));
}

/** Whether a wrapper has information besides its content. */
const tellsMore = v => v !== null && (v[A_TITLE] !== null || v[A_DESCRIBEDBY] !== null || v[A_DESCRIPTION] !== null || v[A_CURRENT] !== null || v[A_SELECTED] !== null);

/** Whether an element is a separate count, as in a badge: the element around it has a name without the count. */
function isBadge(e) {
  const c = $firstChild.call(e);
  return c !== null && $nodeType.call(c) === TEXT && COUNT.test($data.call(c));
}

/** Whether a person can scroll inside an element. Compares sizes first: they are cheaper than style, and most elements
 * fit. */
function canScroll(e) {
  const down = $scrollHeight.call(e) > $clientHeight.call(e) + 1;
  const right = $scrollWidth.call(e) > $clientWidth.call(e) + 1;
  if (!down && !right) return false;
  const style = styleOf(e);
  return (down && SCROLLS.test(style.overflowY)) || (right && SCROLLS.test(style.overflowX));
}

/** Walks the children in the flat tree; consecutive text nodes of one parent are one leaf. */
function walkChildren(e, tag, at, invisible) {
  if (tag === 'slot') {
    const assigned = $assigned.call(e);
    if (assigned.length) {
      for (const c of assigned) {
        const type = $nodeType.call(c);
        if (type === ELEMENT) walk(c, at, false);
        else if (type === TEXT && !invisible) textLeaf(asShown(e, $data.call(c)), at);
      }
      return;
    }
  }
  const shadow = shadowOf(e);
  if (shadow !== null) readRoot(shadow);
  else if (mayHideRoot(e, tag)) out.hosts.push(idOf(e));
  const generated = scope.pseudo.on && !invisible ? mayHavePseudo(e, tag) : 0;
  // The text that style adds before the next text, as shown.
  let before = generated & BEFORE ? generatedText(e, '::before') : '';
  const after = generated & AFTER ? generatedText(e, '::after') : '';
  if (shadow === null) {
    const only = textOf(e);
    if (only !== null) {
      if (!invisible) textLeaf(before + asShown(e, only) + after, at);
      walkOwned(e, at);
      return;
    }
  }
  let text = '';
  for (let c = $firstChild.call(shadow || e); c; c = $nextSibling.call(c)) {
    const type = $nodeType.call(c);
    if (type === TEXT) {
      if (!invisible) text += $data.call(c);
    } else if (type === ELEMENT) {
      if (text !== '' || before !== '') {
        textLeaf(before + asShown(e, text), at);
        text = before = '';
      }
      walk(c, at, false);
    }
  }
  textLeaf(before + asShown(e, text) + after, at);
  walkOwned(e, at);
}

/** Walks the elements that an element owns through aria-owns, after its children. */
function walkOwned(e, at) {
  const owned = scope.owned === null ? undefined : scope.owned.get(e);
  if (owned) for (const c of owned) walk(c, at, true);
}

/** Records an element whose children are not shown although no slot of an open root explains this. */
function suspect(e) {
  if (!(e instanceof HTMLElement) || shadowOf(e) !== null || rootAsked.get(e) === hostLook(e, tagOf(e))) return;
  const id = idOf(e);
  if (HOSTS.has(tagOf(e)) && out.hosts[out.hosts.length - 1] !== id) out.hosts.push(id);
}

/** The text of an element as transformed by style. */
const asShown = (parent, text) => (scope.transform && text !== '' ? transformed(parent, text) : text);

function textLeaf(text, at) {
  const shown = squeeze(text);
  if (shown === '' || shown === ' ') return;
  if (isFull()) {
    out.truncated = true;
    return;
  }
  row(at.depth, 'text', '', shown, at.block ? S.BLOCK : 0, 0);
}

/** Walks the options of a native list. Those of a closed drop-down are not on the screen: they are selected, not
 * pressed. */
function walkOptions(select, depth, open) {
  const visit = (parent, d) => {
    for (let c = $firstElementChild.call(parent); c; c = $nextElementSibling.call(c)) {
      const tag = tagOf(c);
      if (tag === 'option' || tag === 'optgroup') {
        if (isFull()) {
          out.truncated = true;
          return;
        }
        if (styleOf(c).display === 'none') continue;
        const v = $hasAttributes.call(c) ? readAttributes(c) : null;
        if (tag === 'option') {
          const states = statesOf(c, tag, 'option', v) | (open ? S.ACTIONABLE : 0);
          const name = v !== null && v[A_LABEL] ? squeeze(v[A_LABEL]) : squeeze(c.label);
          const at = row(d, 'option', tag, name, states, idOf(c));
          if (v !== null) {
            rareAttributes(c, tag, 'option', states, v, at);
            putAttr(at, 'description', descriptionOf(c, tag, 'option', v, name));
          }
        } else {
          row(d, 'group', tag, squeeze((v !== null && v[A_LABEL]) || c.label), c.disabled ? S.DISABLED : 0, idOf(c));
          visit(c, d + 1);
        }
      } else visit(c, d);
    }
  };
  visit(select, depth);
}
