// States and values (ARIA 1.2, 6.6 and 6.7; HTML-AAM 1.0, 4.2 "Mapping of attributes"). Bits equal States in crates/tree.

import { $matches, $nodeType, $parentNode, $textContent, ELEMENT, P, has, isEditable, squeeze } from '../dom.js';
import { scope } from '../scope.js';
import {
  A_BUSY, A_CHECKED, A_CONTENTEDITABLE, A_DISABLED, A_EXPANDED, A_HASPOPUP, A_INVALID, A_LEVEL, A_LIVE, A_MODAL,
  A_MULTILINE, A_MULTISELECTABLE, A_POPOVERTARGET, A_PRESSED, A_READONLY, A_REQUIRED, A_SELECTED, A_TABINDEX,
  A_VALUENOW,
} from './attributes.js';
import { addContent, collect, selectedText } from './names.js';
import { drawnState } from './icons.js';
import { codeEditor, shownLines } from '../act/editors.js';
import { fieldValue, isField } from '../act/input.js';

export const S = {
  DISABLED: 1, CHECKABLE: 1 << 1, CHECKED: 1 << 2, MIXED: 1 << 3, EXPANDABLE: 1 << 4, EXPANDED: 1 << 5, SELECTABLE: 1 << 6,
  SELECTED: 1 << 7, PRESSABLE: 1 << 8, PRESSED: 1 << 9, REQUIRED: 1 << 10, READONLY: 1 << 11, FOCUSED: 1 << 12,
  FOCUSABLE: 1 << 13, INVALID: 1 << 14, MULTISELECTABLE: 1 << 15, MODAL: 1 << 16, HIDDEN: 1 << 17, EDITABLE: 1 << 18,
  MULTILINE: 1 << 19, PROTECTED: 1 << 20, SCROLLABLE: 1 << 21, BUSY: 1 << 22, LIVE: 1 << 23, ACTIONABLE: 1 << 24,
  NAME_FROM_CONTENT: 1 << 25, HAS_POPUP: 1 << 26, EDIT_HOST: 1 << 27, TIME: 1 << 28, BLOCK: 1 << 29,
  CLIPPED: 1 << 30,
};

/** Longer values are cut and end with an ellipsis. `text` returns those of fields whole. */
const VALUE_LIMIT = 10000;

export const CHECKABLE_ROLES = new Set(['checkbox', 'radio', 'switch', 'menuitemcheckbox', 'menuitemradio']);
export const LIVE_ROLES = new Map([['alert', 'assertive'], ['status', 'polite'], ['log', 'polite'], ['timer', 'off']]);
const RANGE_ROLES = new Set(['slider', 'spinbutton', 'progressbar', 'meter', 'scrollbar', 'separator']);

// The results of statesOf besides the bits.
export let level = 0;
export let value = '';

/** The states of an element; `v` contains its attributes or is null. Sets `level` and `value`. */
export function statesOf(e, tag, role, v) {
  let s = 0;
  level = 0;
  value = '';
  switch (tag) {
    case 'input': {
      const type = e.type;
      if (type === 'checkbox' || type === 'radio') {
        s |= S.CHECKABLE;
        if (e.indeterminate && type === 'checkbox') s |= S.MIXED;
        else if (e.checked) s |= S.CHECKED;
      } else if (type === 'password') s |= S.PROTECTED;
      else if (type === 'file') value = fieldValue(e);
      else if (type !== 'button' && type !== 'submit' && type !== 'reset' && type !== 'image') value = e.value;
      if (e.required) s |= S.REQUIRED;
      if (e.readOnly && TYPED.has(type)) s |= S.READONLY;
      if (TYPED.has(type)) s |= S.EDITABLE;
      s |= formControl(e);
      break;
    }
    case 'textarea':
      if (e.required) s |= S.REQUIRED;
      if (e.readOnly) s |= S.READONLY;
      value = fieldValue(e);
      s |= S.EDITABLE | S.MULTILINE | S.EDIT_HOST | formControl(e);
      break;
    case 'select':
      if (e.required) s |= S.REQUIRED;
      if (e.multiple) s |= S.MULTISELECTABLE;
      value = selectedText(e);
      s |= formControl(e);
      break;
    case 'button': s |= formControl(e); break;
    case 'option':
      s |= S.SELECTABLE;
      if (e.selected) s |= S.SELECTED;
      if ($matches.call(e, ':disabled')) s |= S.DISABLED;
      break;
    case 'optgroup': case 'fieldset': if (has(e, 'disabled')) s |= S.DISABLED; break;
    case 'a': case 'area': if (role === 'link' || has(e, 'href')) s |= S.FOCUSABLE; break;
    case 'h1': case 'h2': case 'h3': case 'h4': case 'h5': case 'h6': if (role === 'heading') level = tag.charCodeAt(1) - 48; break;
    case 'summary': {
      const details = $parentNode.call(e);
      if (role === 'button' && details) s |= S.EXPANDABLE | S.FOCUSABLE | (details.open ? S.EXPANDED : 0);
      break;
    }
    case 'progress': if (e.position >= 0) value = String(e.value); break;
    case 'meter': value = String(e.value); break;
    case 'dialog': if ($matches.call(e, ':modal')) s |= S.MODAL; break;
    case 'time': s |= S.TIME; break;
    case 'iframe': case 'audio': case 'video': break;
    default: break;
  }
  if (v !== null) s = ariaStates(e, tag, role, v, s);
  else if (CHECKABLE_ROLES.has(role)) s |= S.CHECKABLE;
  if (role === 'heading' && level === 0) level = 2; // ARIA 1.2, 5.4 heading: the default
  if (LIVE_ROLES.has(role)) s |= S.LIVE;
  if (e === scope.active && e !== scope.body) s |= S.FOCUSED;
  if (value.length > VALUE_LIMIT) {
    value = `${value.slice(0, VALUE_LIMIT)}…`;
    if (isField(tag)) s |= S.CLIPPED;
  }
  return s;
}

/** Input types that a person types into. */
const TYPED = new Set(['text', 'search', 'email', 'tel', 'url', 'password', 'number', 'date', 'month', 'week', 'time', 'datetime-local']);

const formControl = e => ($matches.call(e, ':disabled') ? S.DISABLED : S.FOCUSABLE);

/** ARIA 1.2, 6.6: the roles that may have aria-selected, and the kinds of aria-haspopup. */
const SELECTABLE_ROLES = new Set(['gridcell', 'option', 'row', 'tab', 'columnheader', 'rowheader', 'treeitem']);
const POPUP_KINDS = new Set(['true', 'menu', 'listbox', 'tree', 'grid', 'dialog']);

/** Whether an attribute has this value, ignoring case. */
export const is = (given, word) => given === word || (given !== null && given.length === word.length && given.toLowerCase() === word);

/** ARIA 1.2, 6.6: states and properties by attribute; native ones take precedence if HTML has them (ARIA in HTML, 4).
 */
function ariaStates(e, tag, role, v, s) {
  if (v[A_TABINDEX] !== null && !(s & S.DISABLED)) s |= S.FOCUSABLE;
  if (is(v[A_DISABLED], 'true')) s |= S.DISABLED;
  if (CHECKABLE_ROLES.has(role) && !(s & S.CHECKABLE)) {
    s |= S.CHECKABLE;
    // Pages set `aria-pressed` on a checkbox, or set nothing and only draw the state.
    const given = v[A_CHECKED] === null ? v[A_PRESSED] : v[A_CHECKED];
    if (given === null) s |= drawnState(e);
    else if (is(given, 'true')) s |= S.CHECKED;
    // ARIA 1.2, 5.4: radio, menuitemradio and switch are on or off.
    else if (is(given, 'mixed') && (role === 'checkbox' || role === 'menuitemcheckbox')) s |= S.MIXED;
  } else if (v[A_CHECKED] !== null && (role === 'option' || role === 'treeitem')) {
    s |= S.CHECKABLE | (is(v[A_CHECKED], 'true') ? S.CHECKED : is(v[A_CHECKED], 'mixed') ? S.MIXED : 0);
  }
  if (is(v[A_EXPANDED], 'true')) s |= S.EXPANDABLE | S.EXPANDED;
  else if (is(v[A_EXPANDED], 'false')) s |= S.EXPANDABLE;
  else if (v[A_POPOVERTARGET] !== null && (tag === 'button' || tag === 'input')) {
    // HTML-AAM 4.2 `popovertarget`.
    const popover = e.popoverTargetElement;
    if (popover instanceof HTMLElement) s |= S.EXPANDABLE | ($matches.call(popover, ':popover-open') ? S.EXPANDED : 0);
  }
  if (SELECTABLE_ROLES.has(role) && tag !== 'option' && (is(v[A_SELECTED], 'true') || is(v[A_SELECTED], 'false'))) {
    s |= S.SELECTABLE | (is(v[A_SELECTED], 'true') ? S.SELECTED : 0);
  } else if (role === 'tab' || (role === 'option' && tag !== 'option')) s |= S.SELECTABLE;
  if (role === 'button' && v[A_PRESSED] !== null && v[A_PRESSED] !== 'undefined' && v[A_PRESSED] !== '') {
    s |= S.PRESSABLE | (is(v[A_PRESSED], 'true') ? S.PRESSED : is(v[A_PRESSED], 'mixed') ? S.MIXED : 0);
  }
  if (is(v[A_REQUIRED], 'true')) s |= S.REQUIRED;
  if (is(v[A_READONLY], 'true')) s |= S.READONLY;
  if (v[A_INVALID] !== null && !is(v[A_INVALID], 'false') && v[A_INVALID] !== '') s |= S.INVALID;
  if (is(v[A_MULTISELECTABLE], 'true')) s |= S.MULTISELECTABLE;
  if (is(v[A_MULTILINE], 'true')) s |= S.MULTILINE;
  if (is(v[A_MODAL], 'true') && (role === 'dialog' || role === 'alertdialog')) s |= S.MODAL;
  if (is(v[A_BUSY], 'true')) s |= S.BUSY;
  if (v[A_HASPOPUP] !== null && POPUP_KINDS.has(v[A_HASPOPUP].toLowerCase())) s |= S.HAS_POPUP;
  if (is(v[A_LIVE], 'polite') || is(v[A_LIVE], 'assertive')) s |= S.LIVE;
  if (v[A_LEVEL] !== null && (role === 'heading' || role === 'treeitem' || role === 'listitem' || role === 'row')) {
    const given = parseInt(v[A_LEVEL], 10);
    if (given > 0 && given < 256) level = given;
  }
  if (RANGE_ROLES.has(role) && tag !== 'input' && v[A_VALUENOW] !== null) value = v[A_VALUENOW];
  if ((v[A_CONTENTEDITABLE] !== null || role === 'textbox') && isEditHost(e)) {
    s |= S.EDITABLE | S.EDIT_HOST | S.FOCUSABLE;
    if (!is(v[A_MULTILINE], 'false')) s |= S.MULTILINE;
    const code = codeEditor(e);
    value = squeeze(code ? shownLines(code) : $textContent.call(e));
  } else if (role === 'combobox' && tag !== 'input' && tag !== 'select') {
    // ARIA 1.2, 5.4 combobox: the value of a drop-down list is what it shows; of a combobox around a field, that
    // field's value.
    const field = P.querySelector.call(e, 'input,textarea');
    value = field !== null ? (field.type === 'password' ? '' : field.value) : shownText(e, tag);
  } else if ((role === 'textbox' || role === 'searchbox') && tag !== 'input' && tag !== 'textarea') {
    value = squeeze($textContent.call(e));
  }
  return s;
}

/** The root of content that a person edits (HTML 6.8.1 "editing host"). */
export function isEditHost(e) {
  if (!isEditable(e)) return false;
  const parent = $parentNode.call(e);
  return !(parent && $nodeType.call(parent) === ELEMENT && isEditable(parent));
}

/** The text that a person reads in an element: its content as a name would contain it. */
const shownText = (e, tag) => collect(() => addContent(e, tag, new Set([e]), { byRef: false, hidden: false }, false));
