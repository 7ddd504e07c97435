// Roles: the role attribute (ARIA 1.2, 5.4 and 7.1), otherwise the element's own role (HTML-AAM 1.0, 4 "Mapping of
// elements"). `generic` means no role, in the names of crates/tree (`img` for `image`).

import {
  $closest, $documentElement, $firstElementChild, $hasAttributes, $matches, $nextElementSibling, $nodeType,
  $ownerDocument, $parentNode, $textContent, ELEMENT, P, attr, byIdIn, flatParent, has, isEditable, tagOf,
} from '../dom.js';
import { scope } from '../scope.js';

/** Elements that are never rendered as content. */
export const SKIP = new Set('script style template noscript head meta link title base param source track col colgroup datalist br wbr'.split(' '));

// HTML-AAM 4.1: elements whose role does not depend on attributes or context.
const TAG_ROLE = new Map(Object.entries({
  address: 'group', article: 'article', aside: 'complementary', audio: 'audio', blockquote: 'blockquote',
  button: 'button', canvas: 'canvas', caption: 'caption', code: 'code', dd: 'definition', del: 'deletion',
  details: 'group', dfn: 'term', dialog: 'dialog', dir: 'list', dt: 'term', em: 'emphasis', fieldset: 'group',
  figure: 'figure', form: 'form', frame: 'iframe', h1: 'heading', h2: 'heading', h3: 'heading', h4: 'heading',
  h5: 'heading', h6: 'heading', hgroup: 'group', hr: 'separator', iframe: 'iframe', ins: 'insertion',
  label: 'label', legend: 'legend', main: 'main', mark: 'mark', math: 'math', menu: 'list', meter: 'meter',
  nav: 'navigation', ol: 'list', optgroup: 'group', option: 'option', output: 'status', p: 'paragraph',
  progress: 'progressbar', s: 'deletion', search: 'search', strong: 'strong', sub: 'subscript', sup: 'superscript',
  table: 'table', tbody: 'rowgroup', textarea: 'textbox', tfoot: 'rowgroup', thead: 'rowgroup', time: 'time',
  tr: 'row', ul: 'list', video: 'video',
}));

// HTML-AAM 4.1 `input`. Types without an ARIA role (such as color and date) are text boxes here: they are filled.
const INPUT_ROLE = new Map(Object.entries({
  button: 'button', submit: 'button', reset: 'button', image: 'button', file: 'button', checkbox: 'checkbox',
  radio: 'radio', range: 'slider', number: 'spinbutton', search: 'searchbox',
}));

// ARIA 1.2, 5.4: the roles that authors may use, without the abstract ones of 5.3.1.
const ARIA_ROLES = new Set(('alert alertdialog application article banner blockquote button caption cell checkbox code '
  + 'columnheader combobox complementary contentinfo definition deletion dialog directory document emphasis feed figure '
  + 'form generic grid gridcell group heading image img insertion link list listbox listitem log main mark marquee math '
  + 'menu menubar menuitem menuitemcheckbox menuitemradio meter navigation none note option paragraph presentation '
  + 'progressbar radio radiogroup region row rowgroup rowheader scrollbar search searchbox separator slider spinbutton '
  + 'status strong subscript suggestion superscript switch tab table tablist tabpanel term textbox time timer toolbar '
  + 'tooltip tree treegrid treeitem').split(' '));

// DPUB-ARIA 1.1, 4 and Graphics ARIA 1.0, 4: each as the ARIA role that it is derived from, which determines what a
// person can do with it. Roles derived from `section` have no role in ARIA 1.2.
/** @type {Map<string, string>} */
const OTHER_ROLES = new Map();
for (const [role, kinds] of Object.entries({
  region: 'acknowledgments afterword appendix bibliography chapter conclusion credits endnotes epilogue errata foreword '
    + 'glossary introduction part preface prologue',
  navigation: 'index pagelist toc',
  link: 'backlink biblioref glossref noteref',
  listitem: 'biblioentry endnote',
  note: 'notice tip',
  generic: 'abstract colophon credit dedication epigraph footnote pagefooter pageheader pullquote qna',
  figure: 'example', img: 'cover', separator: 'pagebreak', heading: 'subtitle',
})) for (const kind of kinds.split(' ')) OTHER_ROLES.set('doc-' + kind, role);
for (const [kind, role] of [['document', 'document'], ['object', 'group'], ['symbol', 'img']]) OTHER_ROLES.set('graphics-' + kind, role);

// ARIA 1.2, 6.5: global attributes; with one of them, `none` is ignored (ARIA 1.2, 7.1 conflict resolution).
const GLOBAL_ARIA = ['aria-atomic', 'aria-busy', 'aria-controls', 'aria-current', 'aria-describedby', 'aria-details',
  'aria-flowto', 'aria-keyshortcuts', 'aria-label', 'aria-labelledby', 'aria-live', 'aria-owns', 'aria-relevant',
  'aria-roledescription', 'aria-description', 'aria-haspopup', 'aria-errormessage'];

// ARIA 1.2, 5.2.7 "Required Accessibility Parent Role".
const NEEDS_PARENT = new Map(Object.entries({
  listitem: 'list directory', option: 'listbox combobox group', menuitem: 'menu menubar group',
  menuitemcheckbox: 'menu menubar group', menuitemradio: 'menu menubar group', treeitem: 'tree group treeitem',
}).map(([role, parents]) => [role, new Set(parents.split(' '))]));

/** The parts of a table, without a role if the table has another role (HTML-AAM 4.1; ARIA 1.2, 5.4 presentation). */
const TABLE_PARTS = new Set('tr td th tbody thead tfoot caption'.split(' '));
const LISTS = new Set('ul ol menu dir'.split(' '));
const TABLES = new Set('table grid treegrid'.split(' '));

/** The roles that take their name from their content (ARIA 1.2, 5.2.8.4). */
export const NAME_FROM_CONTENT = new Set(('button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox '
  + 'menuitemradio option radio rowheader switch tab term tooltip treeitem').split(' '));

/** Whether a row belongs to a grid: ARIA 1.2, 5.4 row is named by its content; browsers do this if the row can be
 * selected. */
export function ofGrid(row) {
  for (let p = flatParent(row); p && $nodeType.call(p) === ELEMENT; p = flatParent(p)) {
    const tag = tagOf(p);
    const role = roleOf(p, tag, attr(p, 'role'));
    if (role !== 'generic' && role !== 'rowgroup') return role === 'grid' || role === 'treegrid';
  }
  return false;
}

/**
 * Containers of many elements: they contribute only their own name to the name of their container. AccName 1.2 leaves
 * open what a container contributes to a name; this is what the browser does, and cells of nested tables would
 * otherwise repeat the page.
 */
const CONTAINERS = new Set(('alert alertdialog application article banner blockquote complementary contentinfo dialog '
  + 'feed figure form grid group iframe listbox log main marquee menu menubar navigation note radiogroup row search '
  + 'status table tablist tabpanel timer toolbar tree treegrid').split(' '));

/** Whether an element keeps its content from the names of its ancestors. */
export function isContainer(e, tag, role) {
  if (!CONTAINERS.has(role) || tag === 'details' || has(e, 'tabindex')) return false;
  // Tables without headers are layout.
  if (tag === 'table' && !has(e, 'role')) return P.querySelector.call(e, 'caption,th') !== null;
  return tag !== 'tr';
}

/** ARIA 1.2, 5.2.8.6: roles that have no name; a title describes them instead. */
export const NAME_PROHIBITED = new Set(('caption code definition deletion emphasis generic insertion legend mark paragraph strong '
  + 'subscript superscript suggestion time').split(' '));

/** What a person presses, sets or types into; equals Role::is_control. */
export const CONTROLS = new Set(('button link checkbox radio switch menuitem menuitemcheckbox menuitemradio option tab treeitem '
  + 'textbox searchbox combobox listbox slider spinbutton clickable').split(' '));

/** Controls whose children are presentational (ARIA 1.2, 5.2.9): wrappers inside them are not reported. */
export const LEAF_CONTROLS = new Set('button checkbox radio switch option tab menuitemcheckbox menuitemradio menuitem'.split(' '));

/** HTML 4.4: whether `header` and `footer` belong to a section instead of the page. */
const inSection = e => {
  const parent = $parentNode.call(e);
  return !!(parent && $nodeType.call(parent) === ELEMENT
    && $closest.call(parent, 'article,aside,main,nav,section,[role=article],[role=complementary],[role=main],[role=navigation],[role=region]'));
};

const hasAuthorName = e => !!((attr(e, 'aria-label') || '').trim() || refersToSomething(e) || (attr(e, 'title') || '').trim());

/** Whether aria-labelledby refers to an existing element. */
function refersToSomething(e) {
  const list = attr(e, 'aria-labelledby');
  return list !== null && list.split(/[ \t\n\f\r]+/).some(id => id && byIdIn(e, id));
}

/** Whether the element can take the focus at all (HTML 6.6.2), regardless of rendering. */
function focusable(e, tag) {
  if (has(e, 'tabindex')) return true;
  switch (tag) {
    case 'a': case 'area': return has(e, 'href');
    case 'button': case 'input': case 'select': case 'textarea': return !$matches.call(e, ':disabled') && attr(e, 'type') !== 'hidden';
    case 'summary': return true;
    case 'iframe': return true;
    case 'audio': case 'video': return has(e, 'controls');
    default: return has(e, 'contenteditable') && isEditable(e);
  }
}

/** Whether an ancestor has one of these roles. Wrappers with other roles in between are common and harmless. */
function hasParentRole(e, allowed) {
  const owner = scope.ownerOf && scope.ownerOf.get(e);
  for (let p = owner || flatParent(e); p && $nodeType.call(p) === ELEMENT; p = flatParent(p)) {
    const given = $hasAttributes.call(p) ? attr(p, 'role') : null;
    if (given === null ? allowed.has(TAG_ROLE.get(tagOf(p))) : allowed.has(roleOf(p, tagOf(p), given))) return true;
  }
  return false;
}

/** The role of an element; `given` is its role attribute or null. */
export function roleOf(e, tag, given) {
  if (!given) return roleBy(e, tag, null);
  // Requested again for names and by descendants, and the result may depend on all ancestors.
  let role = scope.roles.get(e);
  if (role === undefined) {
    role = roleBy(e, tag, given);
    scope.roles.set(e, role);
  }
  return role;
}

function roleBy(e, tag, given) {
  if (given) {
    // ARIA 1.2, 5.4.1: the first token that is a role the element may have.
    for (const token of given.toLowerCase().split(/[ \t\n\f\r]+/)) {
      if (!ARIA_ROLES.has(token)) {
        if (OTHER_ROLES.has(token)) return OTHER_ROLES.get(token);
        continue;
      }
      if (token === 'none' || token === 'presentation') {
        if (focusable(e, tag) || GLOBAL_ARIA.some(name => has(e, name))) break;
        return 'generic';
      }
      // ARIA 1.2, 5.4 form, region: "authors MUST give a name"; without one, the next token counts.
      if ((token === 'form' || token === 'region') && !hasAuthorName(e)) continue;
      // An orphan falls back to the role of its element (ARIA 1.3, 5.2.7). If the element has none, a given role other
      // than `listitem` stays, because popups are full of menu items without a menu.
      const parents = NEEDS_PARENT.get(token);
      if (parents && !hasParentRole(e, parents) && (token === 'listitem' || nativeRole(e, tag) !== 'generic')) continue;
      return token === 'image' ? 'img' : token === 'directory' ? 'list' : token;
    }
  }
  if (scope.tableRoles && TABLE_PARTS.has(tag)) {
    const table = $closest.call(e, 'table');
    if (table && !TABLES.has(roleOf(table, 'table', attr(table, 'role')))) return 'generic';
  }
  return nativeRole(e, tag);
}

/** HTML-AAM 4.1: the role of an element by its tag, attributes and position. */
export function nativeRole(e, tag) {
  switch (tag) {
    case 'html': case 'body': case 'div': case 'span': return 'generic';
    case 'a': case 'area': return has(e, 'href') || has(e, 'xlink:href') ? 'link' : 'generic';
    case 'input': {
      const type = e.type;
      if (type === 'hidden') return 'generic';
      if ((type === 'text' || type === 'search' || type === 'email' || type === 'tel' || type === 'url') && has(e, 'list') && e.list) return 'combobox';
      return INPUT_ROLE.get(type) || 'textbox';
    }
    case 'select': return e.multiple || e.size > 1 ? 'listbox' : 'combobox';
    case 'img': return attr(e, 'alt') === '' && !hasAuthorName(e) && !has(e, 'tabindex') ? 'generic' : 'img';
    // The root of an SVG document is the page itself.
    case 'svg': return e !== $documentElement.call($ownerDocument.call(e)) && (svgTitle(e) || hasAuthorName(e)) ? 'img' : 'generic';
    case 'header': return inSection(e) ? 'generic' : 'banner';
    case 'footer': return inSection(e) ? 'generic' : 'contentinfo';
    case 'section': return hasAuthorName(e) ? 'region' : 'generic';
    case 'aside': {
      // HTML-AAM `aside`: inside sectioning content, it needs a name.
      const parent = $parentNode.call(e);
      const nested = parent && $nodeType.call(parent) === ELEMENT && $closest.call(parent, 'article,aside,nav,section');
      return nested && !hasAuthorName(e) ? 'generic' : 'complementary';
    }
    case 'li':
      // HTML-AAM `li`: in a list; wrappers without a role may be in between.
      for (let p = flatParent(e); p && $nodeType.call(p) === ELEMENT; p = flatParent(p)) {
        const list = tagOf(p);
        if (list === 'li') return 'generic';
        const role = roleOf(p, list, attr(p, 'role'));
        if (role !== 'generic' || LISTS.has(list)) return role === 'list' ? 'listitem' : 'generic';
      }
      return 'generic';
    case 'td': return inGrid(e) ? 'gridcell' : 'cell';
    case 'th': {
      // HTML-AAM `th`: by its scope; without one, a row header if the row has data cells.
      const s = (attr(e, 'scope') || '').toLowerCase();
      if (s === 'row' || s === 'rowgroup') return 'rowheader';
      if (s === 'col' || s === 'colgroup') return 'columnheader';
      const row = $parentNode.call(e);
      for (let c = row && $firstElementChild.call(row); c; c = $nextElementSibling.call(c)) if (tagOf(c) === 'td') return 'rowheader';
      return 'columnheader';
    }
    case 'summary': {
      const parent = $parentNode.call(e);
      if (!parent || $nodeType.call(parent) !== ELEMENT || tagOf(parent) !== 'details') return 'generic';
      for (let c = $firstElementChild.call(parent); c !== e; c = $nextElementSibling.call(c)) if (tagOf(c) === 'summary') return 'generic';
      return 'button';
    }
    default: return e instanceof SVGElement ? svgRole(e, tag) : TAG_ROLE.get(tag) || 'generic';
  }
}

/** SVG-AAM 1.0, 5.3: a shape has a role if its author named it. */
function svgRole(e, tag) {
  if (tag === 'image') return 'img';
  if (!SVG_DRAWN.has(tag) || !(svgTitle(e) || hasAuthorName(e))) return 'generic';
  return tag === 'g' ? 'group' : 'img';
}
const SVG_DRAWN = new Set('g circle ellipse line path polygon polyline rect use'.split(' '));

const inGrid = cell => {
  const table = $closest.call(cell, 'table');
  const role = table && attr(table, 'role');
  return !!role && /^\s*(tree)?grid\b/i.test(role);
};

export function svgTitle(e) {
  for (let c = $firstElementChild.call(e); c; c = $nextElementSibling.call(c)) if (tagOf(c) === 'title') return $textContent.call(c).trim();
  return '';
}
