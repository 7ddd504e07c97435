// The interface of the agent: the functions that the Rust side calls, as `__stickpin.NAME(...)` in the isolated world
// of each document (the tab's and each frame's own). Ids are the element numbers in the columns. Given the id of an
// element that is gone (not connected), a function returns null. Points and rectangles are CSS pixels of the document's
// own viewport.
//
// Reading (capture.js, locate.js)
//   capture({watch: [id, id]})  -> JSON text for Columns::parse; `watch` has ranges of ids, alternately first and last
//   locate(id, [id, id])        -> the same, or null; the ranges include `id`
//   find(id, [id, id], guard?)  -> [locate, glimpse] or null
//   unchanged(seal)             -> whether a capture would equal the one with this seal, provided that the browser's
//                                  counts of style and layout are also equal (unchanged.js)
//   uncollected()               -> whether no garbage was collected between the last two calls of `unchanged`
//   css(selector)               -> {ids: [id]} | {bad: true}
//   adoptRoot(root)             -> whether a closed shadow root, resolved into this world, was new
//   rootsAsked([id])            the debugger was queried for the roots of these
//   idOf(element), nodeOf(id)   -> convert between numbers and objects that the debugger resolved into this world
//   heard([element])            -> [[id], whether a drawing is read now that was not before]: these elements listen for presses
//
// Aiming (aim.js)
//   aim(id, guard?)             -> {rect: [x,y,w,h] | null, point: [x,y] | null, hit?, at?}; scrolls into view if needed
//   glimpse(id)                 -> the same without scrolling; null unless it is in view and free
//   arrived(id, x, y, at, guard) -> Promise of [hit, rect], once the page has reacted to the pointer
//   arrivedLook(id, x, y, at, press, [id, id], guard) -> Promise of [hit, rect, look, watched]: with `locate` at that moment
//   frame()                     -> Promise: a frame was drawn, or 100 ms passed without one
//   hit(id, x, y)               -> {target: true} | {target: false, by: id or 0, what: `dialog "Cookies"`}
//   elementAt(x, y)             -> {id, frame: whether it shows a frame} | null
//   rects([id])                 -> [[x,y,w,h] | null]
//   frameBox(id)                -> [x, y, scale x, scale y] of the content of a frame
//   words(id)                   -> `dialog "Cookies"`, `div.overlay`
//
// The content guard (guard.js): `guard` is [key, [id, id], wide]; for an input, [key] if it was copied
//   guardContent(id | 0, key, [id, id], wide) copies the content guarded with a target; 0: the target is in another document
//   aroundHolds(key)            -> whether the content that this document guards for a target in another one is unchanged
//
// Acting (press.js, typing.js, input.js)
//   expectClick(id, until, guard, [id | 0, guard]) -> true: tracking the next press; id -1: stop any, 0: stop none;
//                                  false: gone; null: guarded content has changed. The last argument: the end of a drag
//   clickVerdict()              -> {landed: 'target' | 'elsewhere' | 'changed' | 'none', what, stopped, complete, drawn?: 'canvas'}
//   answered()                  -> Promise: the page has done what it deferred at a press
//   pressed(id, [id, id])       -> Promise of the result of `locate` after that; ends the tracking
//   pointerAt(forget)           -> [x, y] where the pointer was last seen, or null; `forget`: forgets it afterwards
//   focusField(id, guard)       -> {changed?, focused, fill: 'text' | 'set' | 'code' | 'none', id, value, editor, accepts, why?: 'notField' | 'disabled' | 'readOnly'}; selects all
//   focus(id, guard)            -> {changed?, focused, fill, id}; caret at the end
//   setValue(id, text, key)     -> {value} | {refused: true, value, accepts} | {changed}; for fill 'set'
//   pasteText(id, text, key)    -> {pasted, changed?}; readCode(id) -> {text: null if unknown, focused}; for fill 'code'
//   readValue(id)               -> [text, endText]
//   endText()                   -> {landed: 'elsewhere' | 'changed', what, stopped} | null: nothing of the text was stopped
//   select(id, [text], guard)   -> {handled, changed?, value?, refused?, missing?, several?, options?, why?: 'disabled' | {optionDisabled} | 'oneOption'}
//   scroller(id | 0, dx, dy)    -> {point: [x,y] | null, left, top}: what would scroll, and where the wheel reaches it
//   scrollBy(id | 0, dx, dy)    -> {moved, left, top}
//   scrolled()                  -> [x, y]: the scroll offset of the page
//   attrs(id), html(id), text(id)
//
// Closing a list that was opened in vain (fold.js)
//   opened(id, [id])            -> {expanded, press, key}: how the list that an element opened can be closed | null: it is not open
//   takesKeys(id)               -> whether it has the focus
//   expectEscape(id, [id])      Escape reaches only the dialog, row or the like around the element, until `folded`
//   folded(id, [id], expanded)  -> Promise of whether it is closed
//
// Files (files.js)
//   fileInput(id, loose)        -> {id, multiple, directory, accept, holds: [{name, size, modified}]} | {} | null: gone
//   expectFiles(id, loose), filesTaken() -> whether an input is in use, and whether it was when it got its files
//   expectDrop(id, x, y, guard), dropVerdict() -> {landed, taken, what, changed}: what the last dragover of files reached
//   dropStopped()               -> whether the drop was stopped
//
// Observing (changes.js); signals go to the binding `__stickpinSignal`: {changed: count}, {said: text}, {press: verdict}
//   changes()                   -> {count, quiet_for (ms), animations: [words], mutated: words}
//   changed(since, ms)          -> Promise of the counter, as soon as it differs from `since` or after `ms`
//   settled(quiet, cap)         -> Promise of {settled, still: [words]}
//   turn()                      -> Promise: the page's overdue timers have run
//   tell()                      reports what has changed, and the next change as soon as it happens
//   announcements()             -> [text] since the last call

// The modules are concatenated in this order (bundle.rs): cycles are allowed among functions only.
import './dom.js';
import './read/roles.js';
import './scope.js';
import './read/attributes.js';
import './read/names.js';
import './read/counters.js';
import './read/states.js';
import './read/icons.js';
import './read/details.js';
import './read/drawings.js';
import './read/capture.js';
import './read/unchanged.js';
import './read/locate.js';
import './act/aim.js';
import './act/guard.js';
import './act/press.js';
import './act/typing.js';
import './act/editors.js';
import './act/input.js';
import './act/fold.js';
import './act/files.js';
import './changes.js';
import { $isConnected, adoptRoot, idOf, nodeOf, rootsAsked } from './dom.js';
import { heard } from './read/drawings.js';
import { capture } from './read/capture.js';
import { unchanged, uncollected } from './read/unchanged.js';
import { css, find, locate } from './read/locate.js';
import { aim, arrived, arrivedLook, elementAt, frame, frameBox, glimpse, hit, rects, words } from './act/aim.js';
import { aroundHolds, guardContent } from './act/guard.js';
import { answered, clickVerdict, expectClick, pointerAt, pressed } from './act/press.js';
import { endText } from './act/typing.js';
import { pasteText, readCode } from './act/editors.js';
import {
  attrs, focusField, focusOn, html, readValue, scrollBy, scrolled, scroller, select, setValue, text,
} from './act/input.js';
import { expectEscape, folded, opened, takesKeys } from './act/fold.js';
import { dropStopped, dropVerdict, expectDrop, expectFiles, fileInput, filesTaken } from './act/files.js';
import { announcements, changed, changes, settled, tell, turn } from './changes.js';

const wordsOf = id => {
  const e = nodeOf(id);
  return e && $isConnected.call(e) ? words(e) : null;
};

globalThis.__stickpin = Object.freeze({
  capture, locate, css, idOf, nodeOf, heard, adoptRoot, rootsAsked, find, aim, glimpse, arrived, arrivedLook, frame, hit, elementAt, rects, frameBox, words: wordsOf, guardContent, aroundHolds, expectClick,
  clickVerdict, answered, pressed, pointerAt, focusField, focus: focusOn, setValue, pasteText, readCode, readValue, endText, select, scroller, scrollBy, scrolled, attrs, html, text,
  opened, takesKeys, expectEscape, folded, fileInput, expectFiles, filesTaken, expectDrop, dropVerdict, dropStopped, changes,
  unchanged, uncollected, changed, settled, turn, tell, announcements,
});
