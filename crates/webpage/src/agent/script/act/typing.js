// Text that is being sent to a field: at each event of the text, the field must be focused, and the content guarded
// with it must be unchanged.
//
// What the page does while it handles one of these events is its reaction to our own text (a counter of characters, a
// message about the value), and the guard is then copied again. A change between the events stops the rest. So does
// other text around the field that appears before the character of a key, because it is not a reaction.

import { $contains, $getRootNode, flatParent, getterOf, tagOf } from '../dom.js';
import { insideFlat } from '../read/capture.js';
import { words } from './aim.js';
import { contentChanged, guardAgain, holdAgain } from './guard.js';
import { innermost } from './press.js';
import { codeEditor } from './editors.js';
import { fieldKind } from './input.js';

/** The expected text. `event`: its last event; `moved`: where the page has moved the focus since; `down`: the keys held
 * down.
 */
export let awaited = null;
/** How long to wait for the next event of the text. */
const AWAITED_MS = 2000;
const TEXT_EVENTS = ['keydown', 'keypress', 'beforeinput', 'input', 'keyup'];
/** How many levels above a field to search for the other boxes of a one-time code. */
const BOXES = 2;
const $eventPhase = getterOf(Event.prototype, 'eventPhase');

/** Observes what the page does during an event of ours, even if it stops the event from propagating. */
const textObserver = new MutationObserver(() => {
  if (answersText() && awaited.guard) noteAnswer(awaited);
});

/** Accepts what the page did during an event of the text, unless it shows other content before a character is
 * inserted. */
function noteAnswer({ guard, field, last, event }) {
  const early = event.type !== 'input' && event.type !== 'keyup' && last.length === 1;
  if (!(early && contentChanged(guard, { field, numbers: true, states: true }))) guardAgain(guard);
}

function watchTexts() {
  for (const type of TEXT_EVENTS) {
    window.addEventListener(type, watchText, { capture: true });
    window.addEventListener(type, answeredText);
  }
  window.addEventListener('focusin', movedText, { capture: true });
}
watchTexts();

/** From now on, text is for `field`. `keys`: it is sent key by key, and the page may move the focus in between. */
export function expectText(field, guard, keys) {
  endText();
  awaited = { field, guard, keys, until: performance.now() + AWAITED_MS, verdict: null, stopping: false, delivered: false, event: null, moved: null, last: '', down: new Set() };
  watchTexts();
  if (guard === null) return;
  const roots = new Set([field, ...guard.entries.map(entry => entry.node)].map(node => $getRootNode.call(node)));
  for (const root of roots) textObserver.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
}

/** The result of the text: {landed: 'elsewhere' | 'changed', what, stopped}; null: nothing of it was stopped. Ends the
 * tracking. */
export function endText() {
  const verdict = awaited && awaited.verdict;
  awaited = null;
  textObserver.disconnect();
  return verdict;
}

function watchText(event) {
  if (awaited === null || !event.isTrusted) return;
  if (performance.now() > awaited.until) {
    endText();
    return;
  }
  awaited.until = performance.now() + AWAITED_MS;
  const { type } = event;
  const tells = type === 'input' || type === 'keyup';
  if (!tells && !awaited.stopping) judgeText(event);
  // The page receives the release of a key whose press it received.
  if (awaited.stopping && type !== 'input' && !(type === 'keyup' && awaited.down.has(event.code))) {
    event.stopImmediatePropagation();
    event.preventDefault();
    return;
  }
  awaited.event = event;
  if (type === 'keyup') awaited.down.delete(event.code);
  if (tells) return;
  awaited.delivered = true;
  awaited.moved = null;
  if (type === 'keydown') {
    awaited.last = event.key;
    awaited.down.add(event.code);
  }
}

/** Decides about an event of the text: whether it is for the field, and whether the field is unchanged since it was
 * judged. */
function judgeText(event) {
  const { field, guard, keys, delivered } = awaited;
  const at = innermost(event);
  if (at && at !== field && !$contains.call(field, at)) {
    if (keys ? !movesOn(at) : !delivered) {
      stopText('elsewhere', words(at));
      return;
    }
    awaited.field = at;
    // The field that the focus left may be removed now.
    if (guard) guard.target = null;
  }
  // The field of a code editor contains the caret position in its name.
  const numbers = codeEditor(awaited.field) !== null;
  if (guard && contentChanged(guard, { field: awaited.field, numbers })) stopText('changed', '');
}

function stopText(landed, what) {
  awaited.stopping = true;
  awaited.verdict = { landed, what, stopped: !awaited.delivered };
}

/** Whether the page or a key such as Tab moved the focus on from the field, so that the text follows the focus. */
function movesOn(at) {
  const { field, last, moved } = awaited;
  // A code editor is operated with command keys.
  if (fieldKind(field) === 'code') return false;
  if (!fieldKind(field) || last === 'Tab' || last === 'Enter') return true;
  return fieldKind(at) !== '' && (moved === at || isNextBox(field, at));
}

/** Whether a field is full and another one receives what follows, as the boxes of a one-time code do. */
function isNextBox(field, at) {
  if (tagOf(field) !== 'input' || tagOf(at) !== 'input') return false;
  if (field.maxLength > 0 && field.value.length >= field.maxLength) return true;
  let around = field;
  for (let n = 0; around && n < BOXES; n++) around = flatParent(around);
  return field.value.length === 1 && around !== null && insideFlat(at, around);
}

/** Whether the page is handling an event of the text. */
const answersText = () => awaited !== null && !awaited.stopping && awaited.event !== null && $eventPhase.call(awaited.event) !== 0;

function movedText(event) {
  if (answersText()) awaited.moved = innermost(event);
}

/** The page has handled an event: what it did until now is its reaction. */
function answeredText() {
  if (!answersText() || !awaited.guard) return;
  if (textObserver.takeRecords().length) noteAnswer(awaited);
  else holdAgain(awaited.guard);
}
