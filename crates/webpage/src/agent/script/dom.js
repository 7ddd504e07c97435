// Primitives: the DOM as the browser built it, whatever names a page gives its fields.
//
// The script runs in an isolated world, so prototypes and globals are ours. Named properties are not: a form with
// `<input name="firstChild">` returns that input for `firstChild`, and `<img name="body">` does so for the document.
// Every read of a node therefore uses the getters and methods of the prototypes.

import { countChange } from './changes.js';

export const getterOf = (proto, name) => Object.getOwnPropertyDescriptor(proto, name).get;
export const P = Element.prototype;
const NODE = Node.prototype;
export const DOC = Document.prototype;
export const $firstChild = getterOf(NODE, 'firstChild');
export const $nextSibling = getterOf(NODE, 'nextSibling');
export const $parentNode = getterOf(NODE, 'parentNode');
export const $scrollHeight = getterOf(P, 'scrollHeight');
export const $clientHeight = getterOf(P, 'clientHeight');
export const $scrollWidth = getterOf(P, 'scrollWidth');
export const $clientWidth = getterOf(P, 'clientWidth');
export const $nodeType = getterOf(NODE, 'nodeType');
export const $isConnected = getterOf(NODE, 'isConnected');
export const $ownerDocument = getterOf(NODE, 'ownerDocument');
export const $textContent = getterOf(NODE, 'textContent');
export const $getRootNode = NODE.getRootNode;
export const $contains = NODE.contains;
export const $data = getterOf(CharacterData.prototype, 'data');
export const $localName = getterOf(P, 'localName');
const $shadowRoot = getterOf(P, 'shadowRoot');
export const $firstElementChild = getterOf(P, 'firstElementChild');
export const $nextElementSibling = getterOf(P, 'nextElementSibling');
export const $hasAttributes = P.hasAttributes;
export const $getAttribute = P.getAttribute;
const $hasAttribute = P.hasAttribute;
export const $attributeNames = P.getAttributeNames;
export const $checkVisibility = P.checkVisibility;
export const $closest = P.closest;
export const $matches = P.matches;
export const $rect = P.getBoundingClientRect;
export const $rects = P.getClientRects;
export const $assigned = HTMLSlotElement.prototype.assignedNodes;
const $assignedSlot = getterOf(P, 'assignedSlot');
const $offsetWidth = getterOf(HTMLElement.prototype, 'offsetWidth');
const $offsetHeight = getterOf(HTMLElement.prototype, 'offsetHeight');
export const $body = getterOf(DOC, 'body');
export const $documentElement = getterOf(DOC, 'documentElement');
const $active = getterOf(DOC, 'activeElement');
export const $shadowActive = getterOf(ShadowRoot.prototype, 'activeElement');
export const $scrolling = getterOf(DOC, 'scrollingElement');
export const $title = getterOf(DOC, 'title');
export const $url = getterOf(DOC, 'URL');
export const $baseURI = getterOf(NODE, 'baseURI');
export const $sheets = getterOf(DOC, 'styleSheets');
export const $docQuery = DOC.querySelector;
export const $docQueryAll = DOC.querySelectorAll;
export const $rootQueryAll = DocumentFragment.prototype.querySelectorAll;
export const $host = getterOf(ShadowRoot.prototype, 'host');

const $namespace = getterOf(P, 'namespaceURI');
const $editable = getterOf(HTMLElement.prototype, 'isContentEditable');
/** The getter of `editContext`; null in browsers that do not support it. */
const $editContext = 'editContext' in HTMLElement.prototype ? getterOf(HTMLElement.prototype, 'editContext') : null;
export const $labelledBy = getterOf(P, 'ariaLabelledByElements');
export const $innerText = getterOf(HTMLElement.prototype, 'innerText');
export const $outerHTML = getterOf(P, 'outerHTML');
export const $clientLeft = getterOf(P, 'clientLeft');
export const $clientTop = getterOf(P, 'clientTop');
export const $scrollLeft = getterOf(P, 'scrollLeft');
export const $scrollTop = getterOf(P, 'scrollTop');
export const $adopted = getterOf(DOC, 'adoptedStyleSheets');
export const $getSelection = DOC.getSelection;
export const $createRange = DOC.createRange;
export const $listen = EventTarget.prototype.addEventListener;

/** Text without lone surrogates, in browsers that support this; the output of other browsers is corrected later. */
export const wellFormed = s => (s.toWellFormed ? s.toWellFormed() : s);

/** @type {{ postTask(f: () => void, options: { delay: number }): Promise<void> } | undefined} */
const $scheduler = Reflect.get(globalThis, 'scheduler');
/** A document that may not run scripts, as in a sandboxed frame, does not run timers either, including ours. Tasks do
 * run. */
const TIMERLESS = matchMedia('(scripting: none)').matches && $scheduler !== undefined;
/** Like a timer that is never cleared: running twice has no effect. */
function afterTask(f, delay = 0) {
  $scheduler.postTask(f, { delay });
  return ownTimers;
}

export let ownTimers = 0;
export let ownFrames = 0;
/** Our timers and frame callbacks are counted: the rest of the document's are the page's. */
export const later = (f, ms) => (ownTimers++, TIMERLESS ? afterTask(f, ms) : setTimeout(f, ms));
export const inFrame = f => (ownFrames++, requestAnimationFrame(f));

export const ELEMENT = 1;
export const TEXT = 3;
export const FRAGMENT = 11;

/** HTML elements with properties that are read here and that not every element has. In another namespace, elements with
 * these names are different elements. */
const OF_HTML = new Set(('input textarea select option optgroup label button details dialog progress meter output img area table fieldset '
  + 'iframe frame audio video ol td th slot canvas object embed summary').split(' '));

/** Elements that can show a document of their own (HTML 7.3.1 "content navigables"). */
export const FRAMES = new Set(['iframe', 'frame', 'object', 'embed']);

/** The tag of an element. If an element of another namespace has the name of one of these HTML elements, its tag is
 * that name after a colon. */
export function tagOf(e) {
  const tag = $localName.call(e);
  return OF_HTML.has(tag) && $namespace.call(e) !== 'http://www.w3.org/1999/xhtml' ? ':' + tag : tag;
}

/** Whether a person can edit the content of an element (HTML 6.8.1). */
export const isEditable = e => e instanceof HTMLElement && ($editable.call(e) || hasEditContext(e));

/** Whether an element receives text through an EditContext: its content is drawn by a script (EditContext API, 3). */
export const hasEditContext = e => $editContext !== null && e instanceof HTMLElement && $editContext.call(e) !== null;

/** Focuses an element without scrolling. */
export const giveFocus = e => (e instanceof SVGElement ? SVGElement : HTMLElement).prototype.focus.call(e, { preventScroll: true });

/** Options for checkVisibility that also count `visibility: hidden`. */
export const VISIBLE = { visibilityProperty: true };

/** Closed shadow roots that the debugger provided, by host: scripts have no access to them. */
export const closedRoots = new WeakMap();
export let anyClosed = false;
export const shadowOf = e => $shadowRoot.call(e) || (anyClosed && closedRoots.get(e)) || null;

/** Registers a closed shadow root; from then on it is read like an open one. */
export function adoptRoot(root) {
  const host = root instanceof ShadowRoot ? $host.call(root) : null;
  if (!host || closedRoots.has(host)) return false;
  closedRoots.set(host, root);
  anyClosed = true;
  countChange();
  return true;
}

/**
 * Built-in HTML elements that can have a shadow root (DOM 4.2.14 "valid shadow host name"), limited to those that pages
 * use.
 */
export const HOSTS = new Set('div span section article aside main nav header footer p'.split(' '));
/** What an element looked like when the debugger was queried for its root; the query is repeated when that changes. */
export const rootAsked = new WeakMap();
export const hostLook = (e, tag) => (tag.includes('-') && $matches.call(e, ':defined') ? 'd' : '') + $offsetWidth.call(e) + 'x' + $offsetHeight.call(e);

/**
 * Whether an element without an open shadow root may have a closed one: a custom element, or one that shows content
 * although it is empty. Images from style do not count.
 */
export function mayHideRoot(e, tag) {
  const custom = tag.includes('-');
  if (!custom && (!HOSTS.has(tag) || $firstChild.call(e) !== null)) return false;
  if (!(e instanceof HTMLElement) || (anyClosed && closedRoots.has(e))) return false;
  const look = hostLook(e, tag);
  if (rootAsked.get(e) === look || (!custom && (look.startsWith('0x') || look.endsWith('x0')))) return false;
  if (custom) return true;
  const style = styleOf(e);
  if (style.backgroundImage === 'none' && style.maskImage === 'none' && styleOf(e, '::before').content === 'none' && styleOf(e, '::after').content === 'none') return true;
  rootAsked.set(e, look);
  return false;
}

/** Records that the debugger was queried for the shadow roots of these elements. */
export function rootsAsked(list) {
  for (const id of list) {
    const e = nodeOf(id);
    if (e) rootAsked.set(e, hostLook(e, tagOf(e)));
  }
}

/** The slot of a closed root that shows a child of its host: only the slot reveals this. */
function closedSlot(node, host) {
  const root = closedRoots.get(host);
  if (root) for (const slot of $rootQueryAll.call(root, 'slot')) if ($assigned.call(slot).includes(node)) return slot;
  return null;
}

export const attr = (e, name) => $getAttribute.call(e, name);
export const has = (e, name) => $hasAttribute.call(e, name);
export const styleOf = (e, pseudo) => getComputedStyle(e, pseudo);

/** The maximum number of characters that are examined in one text of a page, which may have millions. */
export const SQUEEZE_LIMIT = 100000;

/** Collapses ASCII white space to single spaces and trims both ends, as HTML and AccName define white space. */
export const squeeze = text => {
  const s = text.length > SQUEEZE_LIMIT ? text.slice(0, SQUEEZE_LIMIT) : text;
  return (/[\t\n\f\r]|^ | $|  /.test(s) ? s.replace(/[\t\n\f\r ]+/g, ' ').replace(/^ | $/g, '') : s);
};

// The element whose text was requested last, and that text.
let soleOf = null;
let soleText = null;
export const forgetSole = () => { soleOf = null; };

/**
 * The text of an element without child elements, otherwise null. Requested twice: for its name, and for the leaf below
 * it. Takes two reads, whereas its nodes one by one take four, and creates no object for each text node.
 */
export function textOf(e) {
  if (soleOf !== e) {
    soleOf = e;
    soleText = $firstElementChild.call(e) === null ? $textContent.call(e) : null;
  }
  return soleText;
}

/** The parent in the flat tree, including slots and shadow hosts. */
export function flatParent(node) {
  if ($nodeType.call(node) === ELEMENT) {
    const slot = $assignedSlot.call(node);
    if (slot) return slot;
  }
  const parent = $parentNode.call(node);
  if (!parent) return null;
  if (anyClosed && closedRoots.has(parent)) return closedSlot(node, parent) || parent;
  return $nodeType.call(parent) === FRAGMENT ? (parent instanceof ShadowRoot ? $host.call(parent) : null) : parent;
}

/** The element with an id in the same tree scope. */
export function byIdIn(e, id) {
  const root = $getRootNode.call(e);
  return $nodeType.call(root) === 9 ? DOC.getElementById.call(root, id) : root instanceof ShadowRoot ? root.getElementById(id) : null;
}

/** The focused element, including inside shadow roots. */
export function deepActive(doc) {
  let e = $active.call(doc);
  while (e) {
    const root = shadowOf(e);
    const inner = root && $shadowActive.call(root);
    if (!inner) return e;
    e = inner;
  }
  return null;
}

// ---- Identity (grade NeverReused): a number per element for as long as this world exists ----

const ids = new WeakMap();
export let nextId = 1;
/** id -> WeakRef; entries of collected elements are removed when half of the map may be dead. */
const byId = new Map();
let sweepAt = 4096;
/**
 * Nodes that were numbered recently, the first with the number `newFrom`. A WeakRef costs more than everything else
 * about a number, so WeakRefs are created when no walk is pending. Until then, the nodes are held strongly.
 */
const newNodes = [];
let newFrom = 1;
let weakening = false;
/** The number of WeakRefs that are created at once: about a millisecond. */
const WEAKEN = 1000;

export function idOf(node) {
  let id = ids.get(node);
  if (id === undefined) {
    id = nextId++;
    ids.set(node, id);
    newNodes.push(node);
    if (!weakening) {
      weakening = true;
      later(weaken);
    }
  }
  return id;
}

/** Releases numbered nodes in batches. */
function weaken() {
  const end = Math.min(newNodes.length, WEAKEN);
  for (let i = 0; i < end; i++) byId.set(newFrom + i, new WeakRef(newNodes[i]));
  newNodes.splice(0, end);
  newFrom += end;
  weakening = newNodes.length > 0;
  if (weakening) later(weaken);
}

/** The node with a number, even if detached; undefined if it was collected or never numbered. */
export function nodeOf(id) {
  if (id >= newFrom) return newNodes[id - newFrom];
  const ref = byId.get(id);
  return ref && ref.deref();
}

export function sweepIds() {
  if (byId.size < sweepAt) return;
  for (const [id, ref] of byId) if (!ref.deref()) byId.delete(id);
  sweepAt = Math.max(4096, byId.size * 2);
}
