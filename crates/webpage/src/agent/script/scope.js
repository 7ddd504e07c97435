// What must be known about a whole document before its elements can be named: labels, aria-owns, and whether certain
// computed styles are needed at all. Built once per capture and document; shadow roots add to it when they are reached.

import {
  $adopted, $baseURI, $body, $checkVisibility, $docQueryAll, $hasAttributes, $matches, $nodeType, $sheets, $url,
  ELEMENT, attr, byIdIn, deepActive, flatParent, forgetSole, tagOf,
} from './dom.js';
import { nameWithin, unescapeCss } from './read/names.js';
import { hasIconFont } from './read/icons.js';
import { observe } from './changes.js';

/** The document that is being read. */
export let scope = null;

/** Sets the document that is read from now on to that of `s`; null: none. */
export const enterScope = s => { scope = s; };

/** Style sheet facts per document and root, kept while the number of rules in the sheets stays the same. */
const sheetFacts = new WeakMap();

export function newScope(doc) {
  const s = {
    doc,
    active: deepActive(doc),
    body: $body.call(doc),
    /** control -> its labels. Without this cache, reading `input.labels` takes quadratic time. */
    labels: new Map(),
    /** aria-owns (ARIA 1.2, 6.6): owner -> owned, and vice versa. */
    owned: null,
    ownerOf: null,
    /** The roles of elements with a role attribute, once computed. */
    roles: new Map(),
    /** Whether some table has a role attribute. */
    tableRoles: false,
    modal: null,
    modalPath: null,
    /** What an element must have for its ::before or ::after to have text: name -> BEFORE | AFTER. */
    pseudo: { any: 0, classes: new Map(), tags: new Map(), ids: new Map(), on: false },
    transform: false,
    /** Whether there is an icon font (icons.js). */
    icons: hasIconFont(doc),
    pointer: false,
    /** See counters.js. */
    counts: null,
    /** Whether something other than the page may scroll. */
    scrolls: false,
    /** Whether nothing was found that can change unnoticed (unchanged.js), and what must be checked again to confirm
     * this. */
    provable: true,
    unrendered: [],
    undefined: [],
    origin: originOf($url.call(doc)),
    /** Whether links are relative to the document's own origin. */
    plainBase: originOf($url.call(doc)) !== 'null' && originOf($baseURI.call(doc)) === originOf($url.call(doc)),
  };
  const before = scope;
  scope = s;
  forgetSole();
  nameWithin(null);
  readRoot(doc);
  s.modal = topModal(doc, s.active);
  if (s.modal) {
    s.modalPath = new Set();
    for (let p = s.modal; p; p = flatParent(p)) s.modalPath.add(p);
  }
  scope = before;
  return s;
}

/** Adds the information of a document or a shadow root to the scope. */
export function readRoot(root) {
  observe(root);
  const query = $nodeType.call(root) === 9 ? s => $docQueryAll.call(root, s) : s => root.querySelectorAll(s);
  for (const label of query('label')) {
    const control = label.control;
    if (!control) continue;
    const all = scope.labels.get(control);
    if (all) all.push(label);
    else scope.labels.set(control, [label]);
  }
  for (const owner of query('[aria-owns]')) {
    // An owner that shows no content, or is not shown itself, would remove what it owns from the tree.
    if (CHILDLESS.has(tagOf(owner)) || !$checkVisibility.call(owner)) continue;
    for (const id of attr(owner, 'aria-owns').split(/\s+/)) {
      const e = id && byIdIn(owner, id);
      // An element has one owner, and cannot own an ancestor.
      if (!e || (scope.ownerOf && scope.ownerOf.has(e)) || isInside(owner, e)) continue;
      scope.owned ??= new Map();
      scope.ownerOf ??= new Map();
      scope.ownerOf.set(e, owner);
      const list = scope.owned.get(owner);
      if (list) list.push(e);
      else scope.owned.set(owner, [e]);
    }
  }
  scope.tableRoles ||= query('table[role]').length > 0;
  const facts = factsOf(root);
  // Each query reads the whole document: four of them are skipped if no element has an inline style.
  const styled = query('[style]').length > 0;
  const own = part => styled && query(`[style*="${part}"]`).length > 0;
  scope.transform ||= facts.transform || own('text-transform');
  scope.pointer ||= facts.pointer || own('pointer');
  scope.scrolls ||= facts.scrolls || own('overflow');
  // Style below a skipped `content-visibility: auto` is computed only on request.
  if (facts.skips || own('content-visibility')) scope.provable = false;
  const p = scope.pseudo;
  p.on ||= facts.on;
  p.any |= facts.any;
  for (const k of ['classes', 'tags', 'ids']) for (const [x, which] of facts[k]) p[k].set(x, p[k].get(x) | which);
}

/** Elements whose content is not part of the tree. */
const CHILDLESS = new Set('input textarea select img hr progress meter audio video embed iframe frame canvas'.split(' '));

/** Whether an element is another one or is inside it, including through aria-owns. */
function isInside(e, other) {
  for (let p = e; p; p = (scope.ownerOf && scope.ownerOf.get(p)) || flatParent(p)) if (p === other) return true;
  return false;
}

/** Scans the style sheets of a root once for text in ::before or ::after, transformed text and hand cursors. */
export function factsOf(root) {
  const sheets = $nodeType.call(root) === 9 ? [...$sheets.call(root), ...$adopted.call(root)] : [...root.styleSheets, ...root.adoptedStyleSheets];
  let key = '';
  for (const sheet of sheets) {
    try {
      key += sheet.disabled ? 'd,' : sheet.cssRules.length + ',';
    } catch {
      key += '?,'; // of another origin: unreadable
    }
  }
  const known = sheetFacts.get(root);
  if (known && known.key === key) return known;
  const facts = { key, on: false, any: 0, classes: [], tags: [], ids: [], transform: false, pointer: false, scrolls: false, skips: false };
  for (const sheet of sheets) {
    try {
      if (!sheet.disabled) scanRules(sheet.cssRules, facts);
    } catch {
      facts.on = facts.transform = facts.pointer = facts.scrolls = facts.skips = true; // unreadable counts as yes
      facts.any = BEFORE | AFTER;
    }
  }
  sheetFacts.set(root, facts);
  return facts;
}

function scanRules(rules, facts) {
  for (const rule of rules) {
    const style = rule.style;
    if (style) {
      if (style.textTransform && style.textTransform !== 'none') facts.transform = true;
      if (style.cursor === 'pointer' || style.cursor.startsWith('var(')) facts.pointer = true;
      if (SCROLLS.test(style.overflowX) || SCROLLS.test(style.overflowY)) facts.scrolls = true;
      if (style.contentVisibility && style.contentVisibility !== 'visible') facts.skips = true;
      const selector = rule.selectorText;
      if (selector !== undefined && /:(before|after)/.test(selector) && makesText(style.content)) {
        facts.on = true;
        for (const one of bare(selector).split(',')) addSubject(one, facts);
      } else if (selector === undefined && rule.parentRule && makesText(style.content)) {
        facts.on = true; // declarations nested in a ::before rule
        facts.any = BEFORE | AFTER;
      }
    }
    if (rule.cssRules && rule.cssRules.length) scanRules(rule.cssRules, facts);
    if (rule.styleSheet) scanRules(rule.styleSheet.cssRules, facts);
  }
}

/** The values of `overflow` with which a person can scroll (`var()` may be anything). */
export const SCROLLS = /auto|scroll|overlay|var\(/;

/** Whether a `content` value can be text for a reader. Glyphs of icon fonts (private use) are not text. */
const makesText = content => !!content && !/^(none|normal|inherit|initial|unset)$/.test(content) && !/^(["'])[\s\ue000-\uf8ff]*\1$/.test(content);

export const BEFORE = 1;
export const AFTER = 2;

/** A selector list without the parts in parentheses and brackets, which only narrow the matches. */
function bare(list) {
  let text = list.replace(/\[(?:"[^"]*"|'[^']*'|\\.|[^\]])*\]/g, '[]');
  while (/\([^()]+\)/.test(text)) text = text.replace(/\((?:\\.|[^()])+\)/g, '()');
  return text;
}

/** The last compound of a selector. An escaped character is not a combinator. */
const LAST_COMPOUND = /(?:\\[0-9a-f]{1,6}\s?|\\.|[^\s>+~\\])+$/i;
const IDENT = '((?:[\\w-]|[^\\x00-\\x7f]|\\\\[0-9a-f]{1,6}\\s?|\\\\.)+)';
const CLASS_IN = new RegExp('\\.' + IDENT, 'i');
const ID_IN = new RegExp('#' + IDENT, 'i');
const TAG_IN = new RegExp('^' + IDENT, 'i');

/** Records what an element must have for its ::before or ::after to match: a class, id or tag of the last compound. */
function addSubject(selector, facts) {
  const made = /::?(before|after)(?![\w-])/.exec(selector);
  if (made === null) return;
  const which = made[1] === 'before' ? BEFORE : AFTER;
  const found = LAST_COMPOUND.exec(selector.slice(0, made.index).trim());
  const subject = found === null || /[&|]/.test(selector) ? '' : found[0];
  const note = (list, m) => list.push([unescapeCss(m[1]), which]);
  let m;
  if ((m = CLASS_IN.exec(subject)) !== null) note(facts.classes, m);
  else if ((m = ID_IN.exec(subject)) !== null) note(facts.ids, m);
  else if ((m = TAG_IN.exec(subject)) !== null) note(facts.tags, [m[0], m[1].toLowerCase()]);
  else facts.any |= which;
}

/** Which of ::before and ::after of an element may have text: BEFORE | AFTER. */
export function mayHavePseudo(e, tag) {
  const p = scope.pseudo;
  let which = p.any | p.tags.get(tag);
  if (which === (BEFORE | AFTER) || !$hasAttributes.call(e)) return which;
  if (p.classes.size) {
    const c = attr(e, 'class');
    if (c) for (const name of c.split(/\s+/)) which |= p.classes.get(name);
  }
  return p.ids.size > 0 ? which | p.ids.get(attr(e, 'id')) : which;
}

/** The modal dialog that makes the rest of the document inert (HTML 6.7.4, "blocked by a modal dialog"). */
function topModal(doc, active) {
  for (let p = active; p; p = flatParent(p)) if ($nodeType.call(p) === ELEMENT && tagOf(p) === 'dialog' && $matches.call(p, ':modal')) return p;
  const open = $docQueryAll.call(doc, 'dialog:modal');
  return open.length ? open[open.length - 1] : null;
}

const originOf = url => {
  try {
    return new URL(url).origin;
  } catch {
    return 'null';
  }
};
