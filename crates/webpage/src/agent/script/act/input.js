// The part of actions that runs inside the page: focus and selection for filling, native lists and fields that typing
// cannot set, scrolling, and queries about one element.

import {
  $attributeNames, $body, $checkVisibility, $clientHeight, $clientWidth, $documentElement, $getSelection,
  $innerText, $isConnected, $matches, $nodeType, $outerHTML, $scrollHeight, $scrollLeft, $scrollTop, $scrollWidth,
  $scrolling, $textContent, DOC, ELEMENT, P, VISIBLE, attr, deepActive, flatParent, giveFocus, has, hasEditContext,
  idOf, nodeOf, shadowOf, squeeze, styleOf, tagOf,
} from '../dom.js';
import { selectedText } from '../read/names.js';
import { isEditHost } from '../read/states.js';
import { deepAt, frame, pointOf } from './aim.js';
import { contentChanged, guards, leaveEditor, takeGuard } from './guard.js';
import { endText, expectText } from './typing.js';
import { codeEditor, shownLines } from './editors.js';

// ---- Fields ----

const valueSetter = proto => Object.getOwnPropertyDescriptor(proto, 'value').set;
const $setInput = valueSetter(HTMLInputElement.prototype);
const $setArea = valueSetter(HTMLTextAreaElement.prototype);

/** Input types whose value cannot be set by typing. */
const SET_TYPES = new Set(['color', 'range', 'date', 'month', 'week', 'time', 'datetime-local']);
const NO_TEXT = new Set(['checkbox', 'radio', 'button', 'submit', 'reset', 'image', 'file', 'hidden']);

/** The element that receives the text: the element itself, or the only field inside it (a combobox around its input).
 */
function fieldIn(e) {
  if (fieldKind(e)) return e;
  const inside = [];
  const look = node => {
    for (const c of node.querySelectorAll('*')) {
      if (inside.length > 1) return;
      if (fieldKind(c) && $checkVisibility.call(c, VISIBLE)) inside.push(c);
      const shadow = shadowOf(c);
      if (shadow) look(shadow);
    }
  };
  const shadow = shadowOf(e);
  if (shadow) look(shadow);
  look({ querySelectorAll: s => P.querySelectorAll.call(e, s) });
  if (inside.length === 1) return inside[0];
  const control = tagOf(e) === 'label' ? e.control : null;
  return control && fieldKind(control) ? control : null;
}

/** `type`: select all and insert text; `set`: through the native setter; `edit`: an editing host; `code`: editors.js;
 * '' if it is not a field. */
export function fieldKind(e) {
  const tag = tagOf(e);
  if (codeEditor(e)) return 'code';
  if (tag === 'textarea') return 'type';
  if (tag === 'input') return NO_TEXT.has(e.type) ? '' : SET_TYPES.has(e.type) ? 'set' : 'type';
  return (has(e, 'contenteditable') || hasEditContext(e)) && isEditHost(e) ? 'edit' : '';
}

/**
 * Focuses a field and selects its content, so that inserted text replaces it. null: gone. `fill`: `text` by inserting
 * text, `set` by setValue, `code` by pasteText after a key has selected everything, `none`: it cannot be filled,
 * because of `why`. `id`: the field itself. `changed`: the content guarded with it (`asked`, see takeGuard) has
 * changed, and nothing was done.
 */
export function focusField(id, asked) {
  const e = nodeOf(id);
  if (!e || !$isConnected.call(e)) return null;
  const field = fieldIn(e);
  if (!field) return { focused: false, fill: 'none', why: 'notField' };
  const tag = tagOf(field);
  if ($matches.call(field, ':disabled') || attr(field, 'aria-disabled') === 'true') return { focused: false, fill: 'none', why: 'disabled' };
  if ((tag === 'input' || tag === 'textarea') && field.readOnly) return { focused: false, fill: 'none', why: 'readOnly' };
  const guard = takeGuard(id, asked);
  if (guard && contentChanged(guard)) return { changed: true };
  const kind = fieldKind(field);
  const code = codeEditor(field);
  if (guard && code) leaveEditor(guard, code.editor);
  endText();
  giveFocus(field);
  if (kind === 'type') field.select();
  else if (kind === 'edit') $getSelection.call(document).selectAllChildren(field);
  if (kind !== 'set') expectText(field, guard, kind === 'code');
  return { focused: deepActive(document) === field, fill: kind === 'set' || kind === 'code' ? kind : 'text', id: idOf(field), value: fieldValue(field), editor: kind === 'edit', accepts: accepts(field) };
}

/**
 * Focuses an element; in a field, the caret goes to the end, and keys are expected. null: gone; else {focused, fill,
 * changed} as in focusField.
 */
export async function focusOn(id, asked) {
  endText();
  const e = nodeOf(id);
  if (!e || !$isConnected.call(e)) return null;
  const guard = takeGuard(id, asked);
  if (guard && contentChanged(guard)) return { changed: true };
  const field = fieldIn(e) || e;
  const kind = fieldKind(field);
  const code = codeEditor(field);
  if (guard && code) leaveEditor(guard, code.editor);
  giveFocus(field);
  if (kind === 'type') {
    try {
      field.setSelectionRange(field.value.length, field.value.length);
    } catch {
      // Number and e-mail fields have no selection to set; focusing put the caret in a reasonable position.
    }
  } else if (kind === 'edit') {
    placeCaret(field);
    await frame();
    // Editors restore their selection in a frame of their own if one of their buttons was pressed before.
    if (!$getSelection.call(document).isCollapsed && deepActive(document) === field) {
      placeCaret(field);
      await frame();
    }
  }
  if (guard) expectText(field, guard, true);
  return { focused: deepActive(document) === field, fill: kind === 'set' || kind === 'code' ? kind : kind ? 'text' : 'none', id: idOf(field) };
}

/** Puts the caret at the end of the edited content. */
function placeCaret(field) {
  const selection = $getSelection.call(document);
  selection.selectAllChildren(field);
  selection.collapseToEnd();
}

/** The values that a field accepts, in words; empty for any text. */
function accepts(field) {
  const kinds = {
    date: 'a date like 2026-11-22', time: 'a time like 09:30', 'datetime-local': 'a date and time like 2026-11-22T09:30', month: 'a month like 2026-11',
    week: 'a week like 2026-W47', color: 'a color like #00ff7f', range: 'a number', number: 'a number like 12.5',
  };
  const parts = tagOf(field) === 'input' && kinds[field.type] ? [kinds[field.type]] : [];
  if (parts.length) for (const name of ['min', 'max', 'step']) if (has(field, name)) parts.push(`${name} ${attr(field, name).slice(0, 40)}`);
  if (field.maxLength > 0) parts.push(`at most ${field.maxLength} characters`);
  return parts.join(', ');
}

/** Whether an element with this tag has a value of its own. */
export const isField = tag => tag === 'input' || tag === 'textarea' || tag === 'select';

/**
 * Sets a field through the browser's own setter and dispatches the events that the browser's picker would. null: gone;
 * {value}; {refused: true, value, accepts}: the field cannot have that value, and the page received nothing; {changed}:
 * as in focusField.
 */
export function setValue(id, text, key) {
  const e = nodeOf(id);
  if (!e || !$isConnected.call(e)) return null;
  const field = fieldIn(e) || e;
  if (tagOf(field) !== 'input') return null;
  const want = field.type === 'datetime-local' ? text.trim().replace(' ', 'T') : text.trim();
  const guard = key ? guards.get(key) : null;
  if (guard && contentChanged(guard)) return { changed: true, value: '' };
  // An invisible field of the same type shows how the value is converted.
  const probe = DOC.createElement.call(document, 'input');
  for (const name of ['type', 'min', 'max', 'step', 'value']) if (has(field, name)) probe.setAttribute(name, attr(field, name));
  $setInput.call(probe, want);
  const holds = probe.value;
  const same = holds.toLowerCase() === want.toLowerCase() || (holds !== '' && want !== '' && (field.type === 'range' ? Number(holds) === Number(want)
    : field.type !== 'color' && want.startsWith(holds) && /^(:00|\.0+)+$/.test(want.slice(holds.length))));
  if (!same) return { refused: true, value: holds, accepts: accepts(field) };
  if (fieldValue(field) !== holds) {
    $setInput.call(field, holds);
    fire(field, 'input');
    fire(field, 'change');
  }
  return { value: fieldValue(field) };
}

function fire(e, type) {
  const event = type === 'input' ? new InputEvent(type, { bubbles: true, composed: true }) : new Event(type, { bubbles: true });
  EventTarget.prototype.dispatchEvent.call(e, event);
}

export function fieldValue(e) {
  const tag = tagOf(e);
  const code = codeEditor(e);
  if (code) return shownLines(code);
  if (tag === 'input' && e.type === 'file') return Array.from(e.files || [], f => f.name).join(', ');
  if (tag === 'input' || tag === 'textarea') return e.value;
  if (tag === 'select') return selectedText(e);
  return ((e instanceof HTMLElement && $innerText.call(e)) || '').replace(/\n$/, '');
}

/** The current content of a field, and the result for its text: [value, verdict of endText]; value null: gone. Ends the
 * tracking of the text. */
export function readValue(id) {
  const verdict = endText();
  const e = nodeOf(id);
  return [e && $isConnected.call(e) ? fieldValue(fieldIn(e) || e) : null, verdict];
}

/**
 * Chooses options of a native list by label or value. {handled: false}: no native list; {missing, options}, {several},
 * {why} or {changed} (as in focusField): nothing was changed; {value}: done. null: gone.
 */
export function select(id, wanted, asked) {
  let e = nodeOf(id);
  if (!e || !$isConnected.call(e)) return null;
  if (tagOf(e) === 'label' && e.control) e = e.control;
  if (tagOf(e) !== 'select') return { handled: false };
  const guard = takeGuard(id, asked);
  const changed = () => guard !== null && contentChanged(guard);
  if (changed()) return { handled: true, changed: true };
  if ($matches.call(e, ':disabled')) return { handled: true, why: 'disabled' };
  const options = Array.from(e.options);
  const chosen = [];
  const missing = [];
  for (const text of wanted) {
    const want = squeeze(text);
    // By label, then by value, then by label ignoring case: the first comparison with a match decides.
    const ways = [o => squeeze(o.label) === want, o => o.value === text, o => squeeze(o.label).toLowerCase() === want.toLowerCase()];
    const found = ways.map(way => options.filter(way)).find(list => list.length) || [];
    const usable = found.filter(o => !$matches.call(o, ':disabled'));
    // The value decides between equal labels.
    const one = usable.length > 1 ? only(usable.filter(o => o.value === text)) : usable[0];
    if (one) chosen.push(one);
    else if (usable.length) return { handled: true, several: text, options: usable.slice(0, 50).map(o => o.value) };
    else if (found.length) return { handled: true, why: { optionDisabled: text } };
    else missing.push(text);
  }
  if (missing.length) return { handled: true, missing, options: options.slice(0, 50).map(o => squeeze(o.label)) };
  if (!e.multiple && chosen.length !== 1) return { handled: true, why: 'oneOption' };
  giveFocus(e);
  // The page was notified of the focus.
  if (changed()) return { handled: true, changed: true };
  const before = options.filter(o => o.selected);
  if (e.multiple) for (const o of options) o.selected = chosen.includes(o);
  else chosen[0].selected = true;
  const after = options.filter(o => o.selected);
  if (before.length !== after.length || before.some((o, i) => o !== after[i])) {
    fire(e, 'input');
    fire(e, 'change');
  }
  const now = Array.from(e.selectedOptions);
  const kept = now.length === new Set(chosen).size && chosen.every(o => now.includes(o));
  return { handled: true, value: selectedText(e), refused: $isConnected.call(e) && !kept };
}

const only = list => (list.length === 1 ? list[0] : undefined);

// ---- Scrolling ----

/** The nearest container around an element that scrolls along that axis; otherwise, or without an element, the page. */
function scrollerOf(e, dx, dy) {
  for (let p = e; p && $nodeType.call(p) === ELEMENT; p = flatParent(p)) {
    if (p === $documentElement.call(document) || p === $body.call(document)) break;
    const style = styleOf(p);
    const scrolls = o => o === 'auto' || o === 'scroll' || o === 'overlay' || o === 'hidden';
    if ((dy && $scrollHeight.call(p) > $clientHeight.call(p) + 1 && scrolls(style.overflowY)) || (dx && $scrollWidth.call(p) > $clientWidth.call(p) + 1 && scrolls(style.overflowX))) return p;
  }
  return $scrolling.call(document);
}

/** How far the container that would scroll is scrolled, and a point where the wheel would reach it (null: there is no
 * such point). null: gone. */
export function scroller(id, dx, dy) {
  const e = id ? nodeOf(id) : null;
  if (id && (!e || !$isConnected.call(e))) return null;
  const container = scrollerOf(e, dx, dy);
  if (!container) return { point: null, left: 0, top: 0 };
  const point = container === $scrolling.call(document) ? [innerWidth / 2, innerHeight / 2] : pointOf(container, container);
  // Another scroller under the pointer would receive the wheel.
  const under = point && deepAt(point[0], point[1]);
  const reached = under && scrollerOf(under, dx, dy) === container;
  return { point: reached ? point : null, left: $scrollLeft.call(container), top: $scrollTop.call(container) };
}

/** The scroll offset of the page. */
export const scrolled = () => [scrollX, scrollY];

/** Immediately scrolls the container of an element, or the page (0), by pixels. null: gone. */
export function scrollBy(id, dx, dy) {
  const e = id ? nodeOf(id) : null;
  if (id && (!e || !$isConnected.call(e))) return null;
  const container = scrollerOf(e, dx, dy);
  if (!container) return { moved: false };
  const left = $scrollLeft.call(container), top = $scrollTop.call(container);
  P.scrollBy.call(container, { left: dx, top: dy, behavior: 'instant' });
  return { moved: $scrollLeft.call(container) !== left || $scrollTop.call(container) !== top, left: $scrollLeft.call(container), top: $scrollTop.call(container) };
}

// ---- Queries ----

export function attrs(id) {
  const e = nodeOf(id);
  if (!e || !$isConnected.call(e)) return null;
  const out = {};
  // A secret that the server filled in remains secret.
  const secret = tagOf(e) === 'input' && e.type === 'password';
  for (const name of $attributeNames.call(e)) if (!(secret && name === 'value')) out[name] = attr(e, name);
  return out;
}

/** The maximum number of characters that are returned; the caller truncates further, and reports that. */
const HTML_LIMIT = 8 << 20;

export function html(id) {
  const e = nodeOf(id);
  if (!e || !$isConnected.call(e)) return null;
  const root = $nodeType.call(e) === 9 ? $documentElement.call(e) : e;
  return root ? $outerHTML.call(root).slice(0, HTML_LIMIT) : '';
}

/** The text that a person sees. */
export function text(id) {
  const e = nodeOf(id);
  if (!e || !$isConnected.call(e)) return null;
  if ($nodeType.call(e) === 9) return $body.call(e) ? $innerText.call($body.call(e)).slice(0, HTML_LIMIT) : '';
  const code = codeEditor(e);
  if (code) return shownLines(code).slice(0, HTML_LIMIT);
  const shown = isField(tagOf(e)) && e.type !== 'password' ? fieldValue(e) : e instanceof HTMLElement ? $innerText.call(e) : $textContent.call(e);
  return shown.slice(0, HTML_LIMIT);
}
