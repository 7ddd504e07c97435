// Details that distinguish nodes with equal text: the source of an image, the values of a list's options, the
// description of an element, and the selected item of a list. Keys are those of Attr in crates/tree.

import {
  $baseURI, $firstElementChild, $localName, $nextElementSibling, $nodeType, $parentNode, $textContent, ELEMENT, P,
  attr, squeeze, styleOf, tagOf,
} from '../dom.js';
import { svgTitle } from './roles.js';
import { scope } from '../scope.js';
import {
  A_ACTIVE_DESCENDANT, A_ARIA_PLACEHOLDER, A_CHECKED, A_CLASS, A_COLSPAN, A_CONTROLS, A_CURRENT, A_DATA_INDEX,
  A_DESCRIBEDBY, A_DESCRIPTION, A_HREF, A_LABELLEDBY, A_LIVE, A_OWNS, A_PLACEHOLDER, A_PRESSED, A_ROLEDESCRIPTION,
  A_ROWINDEX, A_ROWSPAN, A_SELECTED, A_START, A_STYLE, A_TITLE, A_VALUETEXT, A_XLINK, KEY_ATTRS,
} from './attributes.js';
import { childText, contentName, fromContent, pseudoText, referenced } from './names.js';
import { LIVE_ROLES, S, is } from './states.js';
import { ICON_FONT } from './icons.js';
import { putAttr } from './capture.js';

/** The maximum number of characters in an image source; a longer one is represented by its end and a fingerprint of the
 * whole source. */
const SOURCE_LIMIT = 48;
const SOURCE_END = 30;
/** The maximum number of characters in an active descendant's text. */
const ACTIVE_LIMIT = 200;

// ---- Attributes ----

/** Records attributes that few elements have; names are those of Attr in crates/tree. */
export function rareAttributes(e, tag, role, states, v, at) {
  for (const [slot, key] of KEY_ATTRS) if (v[slot] !== null) putAttr(at, key, v[slot]);
  const index = v[A_ROWINDEX] ?? v[A_DATA_INDEX];
  if (index !== null) putAttr(at, 'rowIndex', index);
  const href = v[A_HREF] ?? v[A_XLINK];
  if (href !== null && (tag === 'a' || tag === 'area')) putAttr(at, 'href', address(e, href));
  if ((v[A_CONTROLS] !== null || v[A_OWNS] !== null) && states & S.EXPANDED) putAttr(at, 'controls', v[A_CONTROLS] ?? v[A_OWNS]);
  if (v[A_LABELLEDBY] !== null && POPUPS.has(role)) putAttr(at, 'labelledBy', v[A_LABELLEDBY]);
  if (v[A_CLASS] !== null && (role === 'generic' || role === 'clickable')) putAttr(at, 'class', v[A_CLASS].slice(0, 80));
  const placeholder = v[A_PLACEHOLDER] ?? v[A_ARIA_PLACEHOLDER];
  if (placeholder !== null && role !== 'generic') putAttr(at, 'placeholder', squeeze(placeholder));
  if (v[A_CURRENT] !== null && !is(v[A_CURRENT], 'false')) putAttr(at, 'current', v[A_CURRENT]);
  else putAttr(at, 'chosen', chosenBy(states, v));
  // ARIA 1.2, 6.6: the item that receives the keys while the focus stays on its container.
  if (v[A_ACTIVE_DESCENDANT]) putAttr(at, 'activeDescendant', (referenced(e, v[A_ACTIVE_DESCENDANT]) || v[A_ACTIVE_DESCENDANT]).slice(0, ACTIVE_LIMIT));
  const live = v[A_LIVE] ?? LIVE_ROLES.get(role);
  if (live && live !== 'off') putAttr(at, 'live', live);
  if (v[A_VALUETEXT] !== null) putAttr(at, 'valueText', v[A_VALUETEXT]);
  // HTML 4.9.11 and 4.4.5: attributes that state the position of a cell or an item.
  if (tag === 'td' || tag === 'th') {
    if (v[A_COLSPAN] !== null && e.colSpan > 1) putAttr(at, 'colSpan', String(e.colSpan));
    if (v[A_ROWSPAN] !== null && e.rowSpan !== 1) putAttr(at, 'rowSpan', String(e.rowSpan || 65534));
  } else if (tag === 'ol' && v[A_START] !== null && e.start !== 1) putAttr(at, 'start', String(e.start));
  if (v[A_ROLEDESCRIPTION] !== null) putAttr(at, 'roleDescription', squeeze(v[A_ROLEDESCRIPTION]));
}

const POPUPS = new Set(['menu', 'dialog', 'alertdialog', 'listbox']);

/** The path and query of a link, with the origin if it differs; a mere fragment is kept as it is. */
function address(e, href) {
  if (href.startsWith('#')) return href;
  // The usual case needs no parsing: an absolute path on this origin.
  if (scope.plainBase && /^\/(?![/\\])[^#.\s\\]*$/.test(href)) return href;
  // A document without an origin cannot resolve a path.
  if (scope.origin === 'null' && !/^[a-z][a-z0-9+.-]*:/i.test(href)) return href.slice(0, 500);
  try {
    const url = new URL(href, $baseURI.call(e));
    if (url.protocol === 'javascript:') return 'javascript:';
    const here = url.origin === scope.origin && url.origin !== 'null';
    const path = url.pathname + url.search + (url.hash.startsWith('#/') ? url.hash : '');
    return here ? path : url.origin === 'null' ? url.href.slice(0, 500) : url.origin + path;
  } catch {
    return href.slice(0, 500);
  }
}

// ---- Fingerprints ----

/** Adds text to a running fingerprint: [state, state]. */
function feed(state, text) {
  let [a, b] = state;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    a = Math.imul(a ^ c, 0x9e3779b1);
    b = Math.imul(b ^ c, 0x5f356495) + (a >>> 15);
  }
  state[0] = a;
  state[1] = b;
}

/** @returns {[number, number]} */
const newPrint = () => [0x2545f491, 0x41c6ce57];
const printed = ([a, b]) => ((a ^ (a >>> 16)) >>> 0).toString(36) + ((b ^ (b >>> 13)) >>> 0).toString(36);

/** Fingerprints of long attribute values, per element: an image in a `data:` address may have a million characters. */
const longPrints = new WeakMap();

function fingerprint(e, text) {
  const known = longPrints.get(e);
  if (known !== undefined && known.text === text) return known.print;
  const state = newPrint();
  feed(state, text);
  const print = printed(state);
  longPrints.set(e, { text, print });
  return print;
}

// ---- Images ----

/**
 * The source of an image: path and query, or the fingerprint of a `data:` address; '' if an element shows none. Read
 * from attributes only: which candidate of `srcset` the browser chose depends on the window, but the image that it
 * shows does not.
 */
export function sourceOf(e, tag, v, lean) {
  switch (tag) {
    case 'img': return pictureAt(e, imageAddress(e));
    case 'input': return v !== null && e.type === 'image' ? pictureAt(e, attr(e, 'src')) : '';
    case 'video': case 'audio': return pictureAt(e, attr(e, 'poster') || attr(e, 'src') || childSource(e, 'src'));
    case 'image': return e instanceof SVGElement ? pictureAt(e, hrefOf(e)) : '';
    case 'svg': {
      // In a control with a name, the drawing is decoration that follows the control's own state.
      const use = lean ? null : P.querySelector.call(e, 'use');
      return use === null ? '' : pictureAt(e, hrefOf(use));
    }
    default: return v === null || v[A_STYLE] === null ? '' : backgroundOf(e, v[A_STYLE]);
  }
}

const hrefOf = e => attr(e, 'href') || attr(e, 'xlink:href');

/** The address of an image; the first candidate if it has several. */
function imageAddress(e) {
  const parent = $parentNode.call(e);
  const picture = parent && $nodeType.call(parent) === ELEMENT && $localName.call(parent) === 'picture';
  const set = (picture && childSource(parent, 'srcset')) || attr(e, 'srcset');
  return (set && firstCandidate(set)) || attr(e, 'src');
}

/** The first address of a `srcset`: it ends at white space, and commas at its end separate candidates (HTML
 * 4.8.4.2.1). */
function firstCandidate(set) {
  const found = /[^\s,]\S*/.exec(set);
  return found === null ? '' : found[0].replace(/,+$/, '');
}

/** An attribute of the first `source` child that has it. */
function childSource(e, name) {
  for (let c = $firstElementChild.call(e); c; c = $nextElementSibling.call(c)) {
    if ($localName.call(c) === 'source' && attr(c, name)) return attr(c, name);
  }
  return '';
}

/** The first image in an inline style: `background`, `background-image` or similar. */
function backgroundOf(e, style) {
  if (!style.includes('url(')) return '';
  const found = /(?:background|mask|content|list-style)[\w-]*\s*:[^;]*?url\(\s*(?:"([^"]*)"|'([^']*)'|([^)'"]*))\s*\)/i.exec(style);
  return found === null ? '' : pictureAt(e, found[1] ?? found[2] ?? found[3].trim());
}

/** Transparent placeholder images that are shown until the real one is loaded. */
const BLANK = /^data:image\/gif[^,]*,.{0,110}$/i;

function pictureAt(e, address) {
  if (!address) return '';
  if (address.length > 5 && /^data:/i.test(address)) {
    return BLANK.test(address) ? '' : 'data:' + /^[^;,]{0,40}/.exec(address.slice(5, 60))[0] + '#' + fingerprint(e, address);
  }
  let path = address;
  // An absolute path needs no parsing.
  if (!/^\/(?![/\\])[^\s\\#]*$/.test(address) && !address.startsWith('#')) {
    try {
      const url = new URL(address, $baseURI.call(e));
      // The fragment in a file of symbols identifies the symbol.
      path = url.protocol === 'blob:' ? url.href : url.pathname + url.search + (e instanceof SVGElement ? url.hash : '');
    } catch {
      path = address; // not a valid address, but it still tells pictures apart
    }
  }
  return path.length > SOURCE_LIMIT ? '…' + path.slice(-SOURCE_END) + '#' + fingerprint(e, path) : path;
}

// ---- Options ----

/** The fingerprint of values and labels of native options; '' if every value equals its label, which is in the tree. */
export function optionsPrint(options, always) {
  const state = newPrint();
  let differs = always;
  for (const option of options) {
    const { value, label } = option;
    if (value !== label) differs = true;
    feed(state, value);
    feed(state, '\x1f');
    feed(state, label);
    feed(state, '\x1e');
  }
  return differs ? printed(state) : '';
}

// ---- Descriptions ----

/**
 * The description of an element (AccName 1.2, 4.3.1; ARIA 1.3 aria-description; HTML-AAM 1.0, 5): the elements that it
 * refers to, its own attribute, its host language, and a title that is not already its name.
 */
export function descriptionOf(e, tag, role, v, name) {
  if (v !== null) {
    const referred = v[A_DESCRIBEDBY] === null ? '' : referenced(e, v[A_DESCRIBEDBY]);
    if (referred) return referred;
    const given = v[A_DESCRIPTION] === null ? '' : squeeze(v[A_DESCRIPTION]);
    if (given) return given;
  }
  const native = nativeDescription(e, tag, role, v);
  if (native !== '' && native !== name) return native;
  const title = v === null || v[A_TITLE] === null ? '' : squeeze(v[A_TITLE]);
  return title === name ? '' : title;
}

function nativeDescription(e, tag, role, v) {
  switch (tag) {
    case 'input': {
      const type = v === null ? '' : e.type;
      return type === 'submit' || type === 'reset' || type === 'button' ? squeeze(attr(e, 'value') || '') : '';
    }
    case 'table': return v === null ? '' : childText(e, 'caption') || '';
    case 'summary': return v !== null && role === 'button' && !fromContent ? contentName(e, tag) : '';
    default: return role !== 'generic' && e instanceof SVGElement ? svgDescription(e) : '';
  }
}

/** SVG-AAM 1.0, 8.2: a `desc` child, otherwise the `title` child if the name comes from elsewhere. */
function svgDescription(e) {
  for (let c = $firstElementChild.call(e); c; c = $nextElementSibling.call(c)) if (tagOf(c) === 'desc') return squeeze($textContent.call(c));
  return squeeze(svgTitle(e));
}

// ---- The selected item ----

/** Words at the end of class names that mark the selected item of a list: `is-active`, `Mui-selected`,
 * `item--current`. */
const CHOSEN = /(?:^|[\s_-])(active|selected|sel|current)(?=$|\s)/i;

/**
 * How an element shows that it is selected if its role has no state for that: by an attribute that ARIA gives to other
 * roles, or by its class. '' if it does not.
 */
function chosenBy(states, v) {
  if (states & (S.SELECTABLE | S.CHECKABLE | S.PRESSABLE)) return '';
  if (is(v[A_SELECTED], 'true') || is(v[A_CHECKED], 'true') || is(v[A_PRESSED], 'true')) return 'true';
  const word = v[A_CLASS] === null ? null : CHOSEN.exec(v[A_CLASS]);
  return word === null ? '' : word[1].toLowerCase();
}

// ---- Generated text ----

/** Readable content: a letter, a number, or a sign that is not a separator, arrow or shape. */
const READABLE = /[\p{L}\p{N}]|(?![\x00-\x7f\u2190-\u21ff\u25a0-\u25ff\u2b00-\u2b4f])\p{S}/u;

/**
 * The text of ::before or ::after that a person reads as part of the page, '' if there is none. Counters are omitted:
 * they show a position, not content, and counting takes a separate walk.
 */
export function generatedText(e, which) {
  const text = pseudoText(e, which, false);
  if (text === '' || !READABLE.test(text)) return '';
  const style = styleOf(e, which);
  return style.visibility !== 'visible' || style.display === 'none' || ICON_FONT.test(style.fontFamily) ? '' : text;
}
