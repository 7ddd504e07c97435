// Code editors by name: Monaco, CodeMirror 5 and 6, Ace. They keep their text in their own model, draw only the lines
// in view, and receive keys through a field that is hidden or contains only a part of the text. They treat text that is
// inserted into that field as typed character by character: they close brackets and indent lines. They do not do this
// for pasted text.

import {
  $closest, $getSelection, $isConnected, $matches, $nodeType, $rect, $textContent, ELEMENT, P, deepActive,
  flatParent, hasEditContext, isEditable, nodeOf, squeeze, tagOf,
} from '../dom.js';
import { contentChanged, guardAgain, guards } from './guard.js';
import { awaited } from './typing.js';

/** The box of an editor, the field that receives its keys, and the lines that it draws. */
const CODE_EDITORS = [
  { box: '.monaco-editor', field: 'textarea.inputarea, .native-edit-context', lines: '.view-line' },
  { box: '.CodeMirror', field: '.CodeMirror > div > textarea, .CodeMirror-code', lines: '.CodeMirror-code .CodeMirror-line' },
  { box: '.cm-editor', field: '.cm-content', lines: '.cm-line' },
  { box: '.ace_editor', field: 'textarea.ace_text-input', lines: '.ace_line' },
];

/** The editor that a field receives keys for: its box, and the selector of its lines. null: none. */
export function codeEditor(e) {
  if (tagOf(e) !== 'textarea' && !isEditable(e)) return null;
  for (const { box: around, field, lines } of CODE_EDITORS) {
    if (!$matches.call(e, field)) continue;
    const editor = $closest.call(e, around);
    if (editor) return { editor, lines };
  }
  return null;
}

/** The caret position that Ace reports in place of a name. */
export const CARET_LABEL = /^Cursor at row \d+$/;

/** The element that a person sees and presses instead of a field that only receives the keys of an editor. null: the
 * field itself. */
export function surfaceOf(e) {
  if (tagOf(e) !== 'textarea' && !hasEditContext(e)) return null;
  const code = codeEditor(e);
  return code && code.editor;
}

/** Elements inside an editor that are pressed for their own sake: the buttons of its search, its suggestions. */
const IN_EDITOR = 'a[href],button,input,select,textarea,[role=button],[role=checkbox],[role=dialog],[role=link],[role=listbox],[role=menu],[role=option],[role=tooltip],[role=tree]';

/** Whether a press at `at` is on the text of an editor. */
export function reachesSurface(at, surface) {
  for (let p = at; p && $nodeType.call(p) === ELEMENT; p = flatParent(p)) {
    if (p === surface) return true;
    if ($matches.call(p, IN_EDITOR)) return false;
  }
  return false;
}

/** The lines that an editor draws, from the top, as one text. */
export function shownLines({ editor, lines }) {
  const drawn = Array.from(P.querySelectorAll.call(editor, lines), line => [$rect.call(line).top, $textContent.call(line)]);
  // Style positions them, so their order in the document is arbitrary.
  drawn.sort(([a], [b]) => a - b);
  return drawn.map(([, text]) => text.replace(/[\u200b\ufeff]/g, '').replace(/\u00a0/g, ' ')).join('\n');
}

/** Whether an editor shows that it is empty: one line without a character. */
function isBlank(code) {
  return P.querySelectorAll.call(code.editor, code.lines).length === 1 && squeeze(shownLines(code)) === '';
}

/** The selection of an editor, from its own reaction to a copy event; null: nothing is selected, or the editor does not
 * reveal it. The clipboard does not change. */
function copyFrom(field) {
  const data = new DataTransfer();
  const event = new ClipboardEvent('copy', { clipboardData: data, bubbles: true, cancelable: true, composed: true });
  EventTarget.prototype.dispatchEvent.call(field, event);
  const area = tagOf(field) === 'textarea';
  // CodeMirror 5 leaves the copy to the browser, which copies the selection of the field.
  const text = event.defaultPrevented ? data.getData('text/plain') : area ? field.value.slice(field.selectionStart, field.selectionEnd) : '';
  // Without a selection, some editors copy the line of the caret.
  const line = /"isFromEmptySelection":true/.test(data.getData('vscode-editor-data'));
  const caret = !area && !hasEditContext(field) && $getSelection.call(document).isCollapsed;
  return text === '' || line || caret ? null : text.replace(/\r\n?/g, '\n');
}

/**
 * Pastes text over the selection in the editor of a field. The selection must cover the whole content. {changed}: as in
 * focusField, or another field has the focus; {pasted: false}: not everything is selected, or the editor does not
 * accept pasting. null: gone.
 */
export function pasteText(id, text, key) {
  const field = nodeOf(id);
  const code = field && $isConnected.call(field) ? codeEditor(field) : null;
  if (!code) return null;
  const guard = key ? guards.get(key) : null;
  if ((awaited && awaited.stopping) || deepActive(document) !== field || (guard && contentChanged(guard, { field, numbers: true, states: true }))) return { changed: true, pasted: false };
  const selected = copyFrom(field);
  if (selected === null && !isBlank(code)) return { pasted: false };
  if (text === '') return { pasted: true };
  const data = new DataTransfer();
  data.setData('text/plain', text);
  const event = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true, composed: true });
  EventTarget.prototype.dispatchEvent.call(field, event);
  if (guard) guardAgain(guard);
  return { pasted: event.defaultPrevented };
}

/**
 * The content of an editor in which everything is selected: {text}; null if the editor does not reveal it. null instead
 * of the object: gone. `focused`: whether keys still go to the field.
 */
export function readCode(id) {
  const field = nodeOf(id);
  const code = field && $isConnected.call(field) ? codeEditor(field) : null;
  if (!code) return null;
  const text = copyFrom(field);
  return { text: text === null && isBlank(code) ? '' : text, focused: deepActive(document) === field };
}
