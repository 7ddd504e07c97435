// One pass over the attributes of an element: the values that the capture needs are written to one reused array.

import { $attributeNames, $getAttribute } from '../dom.js';

const WANTED = [
  'role', 'id', 'class', 'title', 'tabindex', 'href', 'xlink:href', 'placeholder', 'contenteditable', 'onclick', 'inert',
  'aria-label', 'aria-labelledby', 'aria-hidden', 'aria-owns', 'aria-controls', 'aria-expanded', 'aria-checked',
  'aria-selected', 'aria-pressed', 'aria-disabled', 'aria-required', 'aria-readonly', 'aria-invalid',
  'aria-multiselectable', 'aria-multiline', 'aria-modal', 'aria-busy', 'aria-live', 'aria-level', 'aria-haspopup', 'aria-current',
  'aria-valuenow', 'aria-valuetext', 'aria-placeholder', 'aria-roledescription', 'aria-describedby', 'aria-description',
  'aria-activedescendant', 'list', 'style',
  'aria-sort', 'aria-rowindex', 'data-index', 'popover', 'popovertarget', 'colspan', 'rowspan', 'start',
  'data-testid', 'data-test', 'data-cy', 'data-test-id', 'data-id', 'data-key', 'data-row-key', 'data-item-id',
];
export const [
  A_ROLE, A_ID, A_CLASS, A_TITLE, A_TABINDEX, A_HREF, A_XLINK, A_PLACEHOLDER, A_CONTENTEDITABLE, A_ONCLICK, A_INERT,
  A_LABEL, A_LABELLEDBY, A_HIDDEN, A_OWNS, A_CONTROLS, A_EXPANDED, A_CHECKED,
  A_SELECTED, A_PRESSED, A_DISABLED, A_REQUIRED, A_READONLY, A_INVALID,
  A_MULTISELECTABLE, A_MULTILINE, A_MODAL, A_BUSY, A_LIVE, A_LEVEL, A_HASPOPUP, A_CURRENT,
  A_VALUENOW, A_VALUETEXT, A_ARIA_PLACEHOLDER, A_ROLEDESCRIPTION, A_DESCRIBEDBY, A_DESCRIPTION,
  A_ACTIVE_DESCENDANT, A_LIST, A_STYLE,
  A_SORT, A_ROWINDEX, A_DATA_INDEX, A_POPOVER, A_POPOVERTARGET, A_COLSPAN, A_ROWSPAN, A_START,
  A_TESTID, A_DATA_TEST, A_DATA_CY, A_DATA_TEST_ID, A_DATA_ID, A_DATA_KEY, A_DATA_ROW_KEY, A_DATA_ITEM_ID,
] = WANTED.map((_, i) => i);

const SLOT_OF = new Map(WANTED.map((name, i) => [name, i]));
const values = WANTED.map(() => null);
const filled = [];

/** The needed attributes of `e`, by A_*. The next call overwrites the array. */
export function readAttributes(e) {
  while (filled.length) values[filled.pop()] = null;
  for (const name of $attributeNames.call(e)) {
    const slot = SLOT_OF.get(name);
    if (slot === undefined) continue;
    values[slot] = $getAttribute.call(e, name);
    filled.push(slot);
  }
  return values;
}

/** The Attr of crates/tree for each attribute that is reported unchanged. */
export const KEY_ATTRS = [
  [A_ID, 'id'], [A_TESTID, 'testId'], [A_DATA_TEST, 'dataTest'], [A_DATA_CY, 'dataCy'], [A_DATA_TEST_ID, 'dataTestId'],
  [A_DATA_ID, 'dataId'], [A_DATA_KEY, 'dataKey'], [A_DATA_ROW_KEY, 'dataRowKey'], [A_DATA_ITEM_ID, 'dataItemId'],
];
