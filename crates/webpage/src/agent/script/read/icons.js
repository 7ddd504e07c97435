// Icon fonts that draw a word as an icon (a ligature): `delete` in Material Icons is a bin. A person sees no word
// there, and the icon often shows the state of a control.

import { P, shadowOf, styleOf, textOf } from '../dom.js';
import { scope } from '../scope.js';
import { S } from './states.js';

/** Families of fonts that draw icons for words (ligatures): `home` is a house. Only the first family of a list counts.
 */
export const ICON_FONT = /^["']?[^,]*(?:icon|symbols|glyph|awesome|icomoon|fontello)/i;
export const LIGATURE = /^\s*[a-z][a-z0-9_]*\s*$/;

/** Whether a document declares an icon font: if not, no style needs to be examined. */
export function hasIconFont(doc) {
  for (const { family } of doc.fonts) if (ICON_FONT.test(family)) return true;
  return false;
}

/** The word that an icon font draws if an element has this text; '' if a person reads the text. */
export const ligature = (e, text) => (scope.icons && LIGATURE.test(text) && ICON_FONT.test(styleOf(e).fontFamily) ? text.trim() : '');

/** The word of an element that is only an icon; '' for any other. */
export function iconOf(e) {
  if (!scope.icons || shadowOf(e) !== null) return '';
  const text = textOf(e);
  return text === null ? '' : ligature(e, text);
}

/** The states that the icons of checkboxes, radios and switches show, by the words of Material Icons and Symbols. */
const DRAWN_STATES = new Map([
  ['check_box', S.CHECKED], ['check_box_outline_blank', 0], ['indeterminate_check_box', S.MIXED],
  ['radio_button_checked', S.CHECKED], ['radio_button_unchecked', 0],
  ['toggle_on', S.CHECKED], ['toggle_off', 0],
]);

/** The state that an icon in a control shows; 0 if none does. */
export function drawnState(e) {
  if (!scope.icons) return 0;
  for (const c of P.querySelectorAll.call(e, '*')) {
    const state = DRAWN_STATES.get(iconOf(c));
    if (state !== undefined) return state;
  }
  return 0;
}
