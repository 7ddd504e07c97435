// The inside half of acting: the net that confirms where a press landed, focus and selection for filling, native
// lists and fields that typing cannot set, scrolling, and questions about one element.

// ---- Presses: the second net behind the hit test ----

let expected = null;
const GESTURE = ['pointerdown', 'mousedown', 'touchstart', 'pointerup', 'mouseup', 'touchend', 'click', 'auxclick', 'dblclick', 'contextmenu'];

/** The windows of this document and the frames in it that can be looked into. */
function windowsOf(doc, out) {
  const view = $view.call(doc);
  if (view) out.push(view);
  for (const frame of $docQueryAll.call(doc, 'iframe,frame')) {
    const inner = frameDocument(frame, $localName.call(frame));
    if (inner) windowsOf(inner, out);
  }
  return out;
}

/** From now on the first press must land on `id`, its label or its inside; what lands elsewhere is stopped. */
function expectClick(id) {
  clickVerdict();
  const target = nodeOf(id);
  if (!target || !$isConnected.call(target)) return false;
  expected = { target, landed: null, what: '', windows: windowsOf(document, []) };
  for (const w of expected.windows) for (const type of GESTURE) w.addEventListener(type, watchGesture, { capture: true, passive: false });
  return true;
}

function watchGesture(event) {
  if (expected === null || !event.isTrusted) return;
  if (expected.landed === null) {
    const at = event.composedPath().find(n => n.nodeType === ELEMENT);
    if (!at) return;
    expected.landed = reaches(at, expected.target);
    if (!expected.landed) expected.what = words(at);
  }
  if (!expected.landed) {
    event.stopImmediatePropagation();
    event.preventDefault();
  }
}

/** How the press that was expected went: {landed: true|false|null, what}; null: no event came. Ends the watch. */
function clickVerdict() {
  if (expected === null) return null;
  const verdict = { landed: expected.landed, what: expected.what };
  for (const w of expected.windows) {
    try {
      for (const type of GESTURE) w.removeEventListener(type, watchGesture, { capture: true });
    } catch {
      // The frame went to another origin since: its listeners went with its document.
    }
  }
  expected = null;
  return verdict;
}

// ---- Fields ----

const valueSetter = proto => Object.getOwnPropertyDescriptor(proto, 'value').set;
const $setInput = valueSetter(HTMLInputElement.prototype);
const $setArea = valueSetter(HTMLTextAreaElement.prototype);

/** Types that typing cannot set, or not by their value. */
const SET_TYPES = new Set(['color', 'range', 'date', 'month', 'week', 'time', 'datetime-local']);
const NO_TEXT = new Set(['checkbox', 'radio', 'button', 'submit', 'reset', 'image', 'file', 'hidden']);

/** The element that takes the text: it itself, or the only field inside it (a combobox around its input). */
function fieldIn(e) {
  if (fieldKind(e)) return e;
  const inside = [];
  const look = node => {
    for (const c of node.querySelectorAll('*')) {
      if (inside.length > 1) return;
      if (fieldKind(c) && $checkVisibility.call(c, VISIBLE)) inside.push(c);
      const shadow = $shadowRoot.call(c);
      if (shadow) look(shadow);
    }
  };
  const shadow = $shadowRoot.call(e);
  if (shadow) look(shadow);
  look({ querySelectorAll: s => P.querySelectorAll.call(e, s) });
  if (inside.length === 1) return inside[0];
  const control = $localName.call(e) === 'label' ? e.control : null;
  return control && fieldKind(control) ? control : null;
}

/** `type`: select all and insert text; `set`: through the native setter; `edit`: an editing host; '' for no field. */
function fieldKind(e) {
  const tag = $localName.call(e);
  if (tag === 'textarea') return 'type';
  if (tag === 'input') return NO_TEXT.has(e.type) ? '' : SET_TYPES.has(e.type) ? 'set' : 'type';
  return has(e, 'contenteditable') && isEditHost(e) ? 'edit' : '';
}

/**
 * Focuses a field and selects what is in it. null: gone; {why}: it cannot be filled; {kind, id, value}: ready; the
 * text then goes by Input.insertText (`type`, `edit`) or by setValue (`set`).
 */
function prepareField(id) {
  const e = nodeOf(id);
  if (!e || !$isConnected.call(e)) return null;
  const field = fieldIn(e);
  if (!field) return { why: 'no field' };
  const tag = $localName.call(field);
  if ($matches.call(field, ':disabled') || $closest.call(field, '[aria-disabled=true]') === field) return { why: 'disabled' };
  if ((tag === 'input' || tag === 'textarea') && field.readOnly) return { why: 'read-only' };
  const kind = fieldKind(field);
  field.focus({ preventScroll: true });
  if (kind === 'type') field.select();
  else if (kind === 'edit') $ownerDocument.call(field).getSelection().selectAllChildren(field);
  const focused = deepActive($ownerDocument.call(field)) === field;
  return { kind, id: idOf(field), value: fieldValue(field), focused };
}

/** Puts the caret at the end of a field (for typing into it), or only focuses what is none. */
function focusOn(id) {
  const e = nodeOf(id);
  if (!e || !$isConnected.call(e)) return null;
  const field = fieldIn(e) || e;
  field.focus({ preventScroll: true });
  if (fieldKind(field) === 'type') {
    try {
      field.setSelectionRange(field.value.length, field.value.length);
    } catch {
      // Number and e-mail fields have no selection to set; focusing put the caret somewhere sensible.
    }
  } else if (fieldKind(field) === 'edit') {
    const selection = $ownerDocument.call(field).getSelection();
    selection.selectAllChildren(field);
    selection.collapseToEnd();
  }
  return deepActive($ownerDocument.call(field)) === field;
}

/** Sets a field through the browser's own setter and says so to the page, as the browser's picker would. */
function setValue(id, text) {
  const field = nodeOf(id);
  if (!field || !$isConnected.call(field)) return null;
  const tag = $localName.call(field);
  if (tag === 'input') $setInput.call(field, text);
  else if (tag === 'textarea') $setArea.call(field, text);
  else return null;
  fire(field, 'input');
  fire(field, 'change');
  return fieldValue(field);
}

function fire(e, type) {
  const view = $view.call($ownerDocument.call(e));
  const event = type === 'input' ? new view.InputEvent(type, { bubbles: true, composed: true }) : new view.Event(type, { bubbles: true });
  EventTarget.prototype.dispatchEvent.call(e, event);
}

function fieldValue(e) {
  const tag = $localName.call(e);
  if (tag === 'input' || tag === 'textarea') return e.value;
  if (tag === 'select') return selectedText(e);
  return (e.innerText || '').replace(/\n$/, '');
}

/** What a field holds now; null: gone. */
function readValue(id) {
  const e = nodeOf(id);
  if (!e || !$isConnected.call(e)) return null;
  return fieldValue(fieldIn(e) || e);
}

/**
 * Chooses options of a native list by label or value. {handled: false}: no native list; {missing, options}: nothing
 * was changed; {value}: done.
 */
function selectOptions(id, wanted) {
  let e = nodeOf(id);
  if (!e || !$isConnected.call(e)) return null;
  if ($localName.call(e) === 'label' && e.control) e = e.control;
  if ($localName.call(e) !== 'select') return { handled: false };
  if ($matches.call(e, ':disabled')) return { handled: true, why: 'disabled' };
  const options = Array.from(e.options);
  const chosen = [];
  const missing = [];
  for (const text of wanted) {
    const want = squeeze(text);
    const usable = options.filter(o => !$matches.call(o, ':disabled'));
    const found = usable.find(o => squeeze(o.label) === want) || usable.find(o => o.value === text)
      || only(usable.filter(o => squeeze(o.label).toLowerCase() === want.toLowerCase()));
    if (found) chosen.push(found);
    else missing.push(text);
  }
  if (missing.length) return { handled: true, missing, options: options.slice(0, 50).map(o => squeeze(o.label)) };
  if (!e.multiple && chosen.length !== 1) return { handled: true, why: 'takes one option' };
  e.focus({ preventScroll: true });
  const before = options.filter(o => o.selected);
  if (e.multiple) for (const o of options) o.selected = chosen.includes(o);
  else chosen[0].selected = true;
  const after = options.filter(o => o.selected);
  if (before.length !== after.length || before.some((o, i) => o !== after[i])) {
    fire(e, 'input');
    fire(e, 'change');
  }
  return { handled: true, value: selectedText(e) };
}

const only = list => (list.length === 1 ? list[0] : undefined);

// ---- Scrolling ----

/** The scroll container of an element that can still move that way; of none (0), the page. */
function scrollerOf(e, dx, dy) {
  for (let p = e; p && $nodeType.call(p) === ELEMENT; p = flatParent(p)) {
    const doc = $ownerDocument.call(p);
    if (p === $documentElement.call(doc) || p === $body.call(doc)) break;
    const style = styleOf(p);
    const scrolls = o => o === 'auto' || o === 'scroll' || o === 'overlay' || o === 'hidden';
    if ((dy && p.scrollHeight > p.clientHeight + 1 && scrolls(style.overflowY)) || (dx && p.scrollWidth > p.clientWidth + 1 && scrolls(style.overflowX))) return p;
  }
  return (e ? $ownerDocument.call(e) : document).scrollingElement;
}

/** Scrolls by pixels; null: gone. `x`, `y`: a point over the container, for wheel input. */
function scrollBy(id, dx, dy) {
  const e = id ? nodeOf(id) : null;
  if (id && (!e || !$isConnected.call(e))) return null;
  const container = scrollerOf(e, dx, dy);
  if (!container) return { moved: false };
  const left = container.scrollLeft, top = container.scrollTop;
  P.scrollBy.call(container, { left: dx, top: dy, behavior: 'instant' });
  return { moved: container.scrollLeft !== left || container.scrollTop !== top, left: container.scrollLeft, top: container.scrollTop };
}

// ---- Questions ----

function attrs(id) {
  const e = nodeOf(id);
  if (!e || !$isConnected.call(e)) return null;
  const out = {};
  for (const name of $attributeNames.call(e)) out[name] = attr(e, name);
  return out;
}

const HTML_LIMIT = 200000;

function html(id) {
  const e = nodeOf(id);
  if (!e || !$isConnected.call(e)) return null;
  const source = e.nodeType === 9 ? $documentElement.call(e).outerHTML : e.outerHTML;
  return source.length > HTML_LIMIT ? source.slice(0, HTML_LIMIT) + '…' : source;
}

/** The text that a person sees. */
function text(id) {
  const e = nodeOf(id);
  if (!e || !$isConnected.call(e)) return null;
  if (e.nodeType === 9) return $body.call(e) ? $body.call(e).innerText : '';
  return fieldKind(e) === 'type' && e.type !== 'password' ? e.value : e.innerText ?? $textContent.call(e);
}
