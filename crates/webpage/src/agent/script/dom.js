// Primitives: the DOM as the browser made it, whatever a page named its fields.
//
// The script lives in an isolated world, so prototypes and globals are ours. Named properties are not: a form with
// `<input name="firstChild">` answers with that input, and `<img name="body">` does it to the document. So every
// read of a node goes through the getters and methods of the prototypes.

const getterOf = (proto, name) => Object.getOwnPropertyDescriptor(proto, name).get;
const P = Element.prototype;
const NODE = Node.prototype;
const DOC = Document.prototype;
const $firstChild = getterOf(NODE, 'firstChild');
const $nextSibling = getterOf(NODE, 'nextSibling');
const $parentNode = getterOf(NODE, 'parentNode');
const $scrollHeight = getterOf(P, 'scrollHeight');
const $clientHeight = getterOf(P, 'clientHeight');
const $scrollWidth = getterOf(P, 'scrollWidth');
const $clientWidth = getterOf(P, 'clientWidth');
const $nodeType = getterOf(NODE, 'nodeType');
const $isConnected = getterOf(NODE, 'isConnected');
const $ownerDocument = getterOf(NODE, 'ownerDocument');
const $textContent = getterOf(NODE, 'textContent');
const $getRootNode = NODE.getRootNode;
const $contains = NODE.contains;
const $data = getterOf(CharacterData.prototype, 'data');
const $localName = getterOf(P, 'localName');
const $shadowRoot = getterOf(P, 'shadowRoot');
const $firstElementChild = getterOf(P, 'firstElementChild');
const $nextElementSibling = getterOf(P, 'nextElementSibling');
const $hasAttributes = P.hasAttributes;
const $getAttribute = P.getAttribute;
const $hasAttribute = P.hasAttribute;
const $attributeNames = P.getAttributeNames;
const $checkVisibility = P.checkVisibility;
const $closest = P.closest;
const $matches = P.matches;
const $rect = P.getBoundingClientRect;
const $rects = P.getClientRects;
const $assigned = HTMLSlotElement.prototype.assignedNodes;
const $assignedSlot = getterOf(P, 'assignedSlot');
const $offsetWidth = getterOf(HTMLElement.prototype, 'offsetWidth');
const $offsetHeight = getterOf(HTMLElement.prototype, 'offsetHeight');
const $body = getterOf(DOC, 'body');
const $documentElement = getterOf(DOC, 'documentElement');
const $active = getterOf(DOC, 'activeElement');
const $shadowActive = getterOf(ShadowRoot.prototype, 'activeElement');
const $scrolling = getterOf(DOC, 'scrollingElement');
const $title = getterOf(DOC, 'title');
const $url = getterOf(DOC, 'URL');
const $baseURI = getterOf(NODE, 'baseURI');
const $sheets = getterOf(DOC, 'styleSheets');
const $docQuery = DOC.querySelector;
const $docQueryAll = DOC.querySelectorAll;
const $rootQueryAll = DocumentFragment.prototype.querySelectorAll;
const $host = getterOf(ShadowRoot.prototype, 'host');

const $namespace = getterOf(P, 'namespaceURI');
const $editable = getterOf(HTMLElement.prototype, 'isContentEditable');
/** In browsers that have it. */
const $editContext = 'editContext' in HTMLElement.prototype ? getterOf(HTMLElement.prototype, 'editContext') : null;
const $labelledBy = getterOf(P, 'ariaLabelledByElements');
const $innerText = getterOf(HTMLElement.prototype, 'innerText');
const $outerHTML = getterOf(P, 'outerHTML');
const $clientLeft = getterOf(P, 'clientLeft');
const $clientTop = getterOf(P, 'clientTop');
const $scrollLeft = getterOf(P, 'scrollLeft');
const $scrollTop = getterOf(P, 'scrollTop');
const $adopted = getterOf(DOC, 'adoptedStyleSheets');
const $getSelection = DOC.getSelection;
const $createRange = DOC.createRange;
const $listen = EventTarget.prototype.addEventListener;

/** A text without halves of surrogate pairs, in browsers that can say so; what they send otherwise is mended later. */
const wellFormed = s => (s.toWellFormed ? s.toWellFormed() : s);

/** @type {{ postTask(f: () => void, options: { delay: number }): Promise<void> } | undefined} */
const $scheduler = Reflect.get(globalThis, 'scheduler');
/** A document that may run no scripts, as in a sandboxed frame, runs no timers either, ours included; tasks it does. */
const TIMERLESS = matchMedia('(scripting: none)').matches && $scheduler !== undefined;
/** As a timer that nobody clears: what it does a second time is idle. */
function afterTask(f, delay = 0) {
  $scheduler.postTask(f, { delay });
  return ownTimers;
}

let ownTimers = 0;
let ownFrames = 0;
/** Timers and callbacks for frames of ours are counted: what is left of the document's is the page's. */
const later = (f, ms) => (ownTimers++, TIMERLESS ? afterTask(f, ms) : setTimeout(f, ms));
const inFrame = f => (ownFrames++, requestAnimationFrame(f));

const ELEMENT = 1;
const TEXT = 3;
const FRAGMENT = 11;

/** HTML elements that are asked for more than any element has: of another namespace they are something else. */
const OF_HTML = new Set(('input textarea select option optgroup label button details dialog progress meter output img area table fieldset '
  + 'iframe frame audio video ol td th slot canvas object embed summary').split(' '));

/** Elements that can show a document of its own (HTML 7.3.1 "content navigables"). */
const FRAMES = new Set(['iframe', 'frame', 'object', 'embed']);

/** The tag of an element; of one that only has the name of an HTML element, that name after a colon. */
function tagOf(e) {
  const tag = $localName.call(e);
  return OF_HTML.has(tag) && $namespace.call(e) !== 'http://www.w3.org/1999/xhtml' ? ':' + tag : tag;
}

/** Whether a person can edit what is in an element (HTML 6.8.1). */
const isEditable = e => e instanceof HTMLElement && ($editable.call(e) || hasEditContext(e));

/** Whether an element takes text through an EditContext: its content is drawn by a script (EditContext API, 3). */
const hasEditContext = e => $editContext !== null && e instanceof HTMLElement && $editContext.call(e) !== null;

/** The focus goes to an element; nothing scrolls. */
const giveFocus = e => (e instanceof SVGElement ? SVGElement : HTMLElement).prototype.focus.call(e, { preventScroll: true });

/** Options of checkVisibility that also count `visibility: hidden`. */
const VISIBLE = { visibilityProperty: true };

/** Closed shadow roots that the debugger handed over, by their host: no script could ask for them. */
const closedRoots = new WeakMap();
let anyClosed = false;
const shadowOf = e => $shadowRoot.call(e) || (anyClosed && closedRoots.get(e)) || null;

/** Makes a closed shadow root known; from then on it is read like an open one. */
function adoptRoot(root) {
  const host = root instanceof ShadowRoot ? $host.call(root) : null;
  if (!host || closedRoots.has(host)) return false;
  closedRoots.set(host, root);
  anyClosed = true;
  changeCount++;
  return true;
}

/**
 * HTML elements besides custom ones that can have a shadow root (DOM 4.2.14 "valid shadow host name"), as far as
 * pages give them one.
 */
const HOSTS = new Set('div span section article aside main nav header footer p'.split(' '));
/** What an element looked like when the debugger was asked for its root; asked again when it looks different. */
const rootAsked = new WeakMap();
const hostLook = (e, tag) => (tag.includes('-') && $matches.call(e, ':defined') ? 'd' : '') + $offsetWidth.call(e) + 'x' + $offsetHeight.call(e);

/**
 * Whether an element without an open shadow root may have a closed one: a custom element, or one that shows something
 * though nothing is in it. Pictures made of style are no sign.
 */
function mayHideRoot(e, tag) {
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

/** The debugger was asked for the shadow roots of these. */
function rootsAsked(list) {
  for (const id of list) {
    const e = nodeOf(id);
    if (e) rootAsked.set(e, hostLook(e, tagOf(e)));
  }
}

/** The slot of a closed root that shows a child of its host: only from the slot's side can it be asked for. */
function closedSlot(node, host) {
  const root = closedRoots.get(host);
  if (root) for (const slot of $rootQueryAll.call(root, 'slot')) if ($assigned.call(slot).includes(node)) return slot;
  return null;
}

const attr = (e, name) => $getAttribute.call(e, name);
const has = (e, name) => $hasAttribute.call(e, name);
const styleOf = (e, pseudo) => getComputedStyle(e, pseudo);

/** Characters of a page that are looked at in one text: it may have millions. */
const SQUEEZE_LIMIT = 100000;

/** ASCII white space to single spaces, ends cut: what HTML and AccName call white space. */
const squeeze = text => {
  const s = text.length > SQUEEZE_LIMIT ? text.slice(0, SQUEEZE_LIMIT) : text;
  return (/[\t\n\f\r]|^ | $|  /.test(s) ? s.replace(/[\t\n\f\r ]+/g, ' ').replace(/^ | $/g, '') : s);
};

// The element whose text was asked for last, and that text.
let soleOf = null;
let soleText = null;

/**
 * The text of an element that holds no elements, else null. Asked for twice: by its name, and by the leaf below it.
 * Two reads, where its nodes one by one are four, and each text node gets an object of its own.
 */
function textOf(e) {
  if (soleOf !== e) {
    soleOf = e;
    soleText = $firstElementChild.call(e) === null ? $textContent.call(e) : null;
  }
  return soleText;
}

/** The parent in the flat tree: slots and shadow hosts included. */
function flatParent(node) {
  if ($nodeType.call(node) === ELEMENT) {
    const slot = $assignedSlot.call(node);
    if (slot) return slot;
  }
  const parent = $parentNode.call(node);
  if (!parent) return null;
  if (anyClosed && closedRoots.has(parent)) return closedSlot(node, parent) || parent;
  return $nodeType.call(parent) === FRAGMENT ? (parent instanceof ShadowRoot ? $host.call(parent) : null) : parent;
}

/** The element of the same tree scope with an id. */
function byIdIn(e, id) {
  const root = $getRootNode.call(e);
  return $nodeType.call(root) === 9 ? DOC.getElementById.call(root, id) : root instanceof ShadowRoot ? root.getElementById(id) : null;
}

/** The focused element, through shadow roots. */
function deepActive(doc) {
  let e = $active.call(doc);
  while (e) {
    const root = shadowOf(e);
    const inner = root && $shadowActive.call(root);
    if (!inner) return e;
    e = inner;
  }
  return null;
}

// ---- Identity (refs.md 1, grade NeverReused): a number per element for as long as this world lives ----

const ids = new WeakMap();
let nextId = 1;
/** id -> WeakRef; entries of collected elements are swept when half of the map may be dead. */
const byId = new Map();
let sweepAt = 4096;
/**
 * Nodes that were numbered a moment ago, the first with the number `newFrom`. A WeakRef costs more than all else about
 * a number, so that they are made when nobody waits for a walk; until then the nodes are held.
 */
const newNodes = [];
let newFrom = 1;
let weakening = false;
/** WeakRefs that are made in one go: about a millisecond. */
const WEAKEN = 1000;

function idOf(node) {
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

/** Lets go of nodes that were numbered, some at a time. */
function weaken() {
  const end = Math.min(newNodes.length, WEAKEN);
  for (let i = 0; i < end; i++) byId.set(newFrom + i, new WeakRef(newNodes[i]));
  newNodes.splice(0, end);
  newFrom += end;
  weakening = newNodes.length > 0;
  if (weakening) later(weaken);
}

/** The node with a number, also a detached one; undefined when it was collected or never numbered. */
function nodeOf(id) {
  if (id >= newFrom) return newNodes[id - newFrom];
  const ref = byId.get(id);
  return ref && ref.deref();
}

function sweepIds() {
  if (byId.size < sweepAt) return;
  for (const [id, ref] of byId) if (!ref.deref()) byId.delete(id);
  sweepAt = Math.max(4096, byId.size * 2);
}
