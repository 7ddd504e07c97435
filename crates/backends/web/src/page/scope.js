// What has to be known of a whole document before its elements can be named: labels, aria-owns, and which looks at
// computed style are needed at all. Built once per capture and document; shadow roots add to it as they are met.

/** The document that is being read. */
let scope = null;

/** Style sheet facts per document and root, kept while the sheets have as many rules as they had. */
const sheetFacts = new WeakMap();

function newScope(doc) {
  const s = {
    doc,
    active: deepActive(doc),
    body: $body.call(doc),
    /** control -> its labels. `input.labels` is quadratic when it is cold. */
    labels: new Map(),
    /** aria-owns (ARIA 1.2, 6.6): owner -> owned, and back. */
    owned: null,
    ownerOf: null,
    /** Roles of elements with a role attribute, once they were asked for. */
    roles: new Map(),
    /** Whether some table has a role attribute. */
    tableRoles: false,
    modal: null,
    modalPath: null,
    pseudo: { any: false, classes: new Set(), tags: new Set(), ids: new Set(), on: false },
    transform: false,
    pointer: false,
    /** See counters.js. */
    counts: null,
    /** Whether something may scroll besides the page. */
    scrolls: false,
    /** Whether nothing was met that can change unnoticed (unchanged.js); what has to be looked at again for that. */
    provable: true,
    unrendered: [],
    undefined: [],
    origin: originOf($url.call(doc)),
    /** Whether links are relative to the document's own origin. */
    plainBase: originOf($url.call(doc)) !== 'null' && originOf($baseURI.call(doc)) === originOf($url.call(doc)),
  };
  const before = scope;
  scope = s;
  soleOf = withinLabel = null;
  readRoot(doc);
  s.modal = topModal(doc, s.active);
  if (s.modal) {
    s.modalPath = new Set();
    for (let p = s.modal; p; p = flatParent(p)) s.modalPath.add(p);
  }
  scope = before;
  return s;
}

/** Adds what a document or a shadow root contributes to the scope. */
function readRoot(root) {
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
    // What shows no content, or is not shown itself, would take what it owns out of the tree.
    if (CHILDLESS.has(tagOf(owner)) || !$checkVisibility.call(owner)) continue;
    for (const id of attr(owner, 'aria-owns').split(/\s+/)) {
      const e = id && byIdIn(owner, id);
      // An element has one owner, and cannot own what it is inside of.
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
  // Each question reads the whole document: four of them are not asked where no element has a style of its own.
  const styled = query('[style]').length > 0;
  const own = part => styled && query(`[style*="${part}"]`).length > 0;
  scope.transform ||= facts.transform || own('text-transform');
  scope.pointer ||= facts.pointer || own('pointer');
  scope.scrolls ||= facts.scrolls || own('overflow');
  // Style below a skipped `content-visibility: auto` is worked out only when it is asked for.
  if (facts.skips || own('content-visibility')) scope.provable = false;
  const p = scope.pseudo;
  p.on ||= facts.on;
  p.any ||= facts.any;
  for (const k of ['classes', 'tags', 'ids']) for (const x of facts[k]) p[k].add(x);
}

/** Elements whose content is no part of the tree. */
const CHILDLESS = new Set('input textarea select img hr progress meter audio video embed iframe frame canvas'.split(' '));

/** Whether an element is another one or inside of it, by aria-owns too. */
function isInside(e, other) {
  for (let p = e; p; p = (scope.ownerOf && scope.ownerOf.get(p)) || flatParent(p)) if (p === other) return true;
  return false;
}

/** One scan of the style sheets of a root: may ::before or ::after make text, is text transformed, are there hand cursors? */
function factsOf(root) {
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
  const facts = { key, on: false, any: false, classes: [], tags: [], ids: [], transform: false, pointer: false, scrolls: false, skips: false };
  for (const sheet of sheets) {
    try {
      if (!sheet.disabled) scanRules(sheet.cssRules, facts);
    } catch {
      facts.on = facts.any = facts.transform = facts.pointer = facts.scrolls = facts.skips = true; // unreadable counts as yes
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
        for (const one of splitSelectors(selector)) addSubject(one, facts);
      } else if (selector === undefined && rule.parentRule && makesText(style.content)) {
        facts.on = facts.any = true; // declarations nested in a ::before rule
      }
    }
    if (rule.cssRules && rule.cssRules.length) scanRules(rule.cssRules, facts);
    if (rule.styleSheet) scanRules(rule.styleSheet.cssRules, facts);
  }
}

/** Values of `overflow` with which a person can scroll (`var()` may be anything). */
const SCROLLS = /auto|scroll|overlay|var\(/;

/** Whether a `content` can be text for a reader. Glyphs of icon fonts (private use) are no text. */
const makesText = content => !!content && !/^(none|normal|inherit|initial|unset)$/.test(content) && !/^(["'])[\s\ue000-\uf8ff]*\1$/.test(content);

const splitSelectors = list => (list.includes('(') ? [list] : list.split(','));

/** Notes what an element must have for its ::before to match: a class, id or tag of the last compound. */
function addSubject(selector, facts) {
  const subject = selector.replace(/::?(before|after).*$/, '').trim().split(/[\s>+~]+/).pop();
  const m = /[([&\\]/.test(selector) ? null : /\.([\w-]+)/.exec(subject) || /#([\w-]+)/.exec(subject) || /^([\w-]+)/.exec(subject);
  if (!m) facts.any = true;
  else if (m[0][0] === '.') facts.classes.push(m[1]);
  else if (m[0][0] === '#') facts.ids.push(m[1]);
  else facts.tags.push(m[1].toLowerCase());
}

/** Whether ::before or ::after of an element may make text. */
function mayHavePseudo(e, tag) {
  const p = scope.pseudo;
  if (p.any || p.tags.has(tag)) return true;
  if (!$hasAttributes.call(e)) return false;
  if (p.classes.size) {
    const c = attr(e, 'class');
    if (c) for (const name of c.split(/\s+/)) if (p.classes.has(name)) return true;
  }
  return p.ids.size > 0 && p.ids.has(attr(e, 'id'));
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
