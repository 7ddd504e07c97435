//! What an object is in the tree: its role and its states, by what it says of itself, and what
//! stands in it and above it.

use crate::limits::TEXT;
use crate::model::roles::{self, Above, is_field, is_menu, is_menu_item, number as n};
use crate::model::rows::{LEADS, is_box, is_piece};
use crate::model::states as s;
use crate::model::{Interfaces, Object, Picture};
use crate::toolkit::Toolkit;
use stickpin_tree::{Role, States};

/// The role of an object. `number` is that of the role which it is meant to have ([`meant`]).
pub(super) fn role(picture: &Picture, object: &Object, number: u32, above: Above, named: bool) -> Role {
    // Of its dialogs GTK 4 says only that they are windows of the app.
    let dialog = above.top && object.role == n::FILLER && picture.toolkit.profile().dialogs_are_fillers;
    let number = if dialog { n::DIALOG } else { number };
    let mut role = roles::mapped(number, above, object.states, named, picture.toolkit);
    if object.role == n::LANDMARK {
        role = object.attribute("xml-roles").and_then(roles::landmark).unwrap_or(role);
    }
    if role == Role::Generic && clickable(object) {
        role = Role::Clickable;
    }
    role
}

/// The states of an object, by what it and those in it and above it say.
pub(super) fn states(picture: &Picture, object: &Object, role: Role, above: Above) -> States {
    let mut states =
        s::mapped(object.states, role, picture.toolkit) | roles::inherent(object.role, role, object.states);
    if object.role == n::TERMINAL {
        states.remove(States::READONLY);
    }
    if is_written_into(object, role) {
        states |= States::EDITABLE | States::ACTIONABLE;
        if role != Role::Combobox {
            states |= States::EDIT_HOST | States::MULTILINE;
        }
    }
    if !s::is_item(role) && takes_several(picture, object) {
        states |= States::MULTISELECTABLE;
    }
    let column = object.attribute("colindex");
    // A press on the header of a column sorts by it, or selects it.
    let sorts = object.role == n::TABLE_COLUMN_HEADER && column.is_some();
    // A press on the first cell of a row chooses the row; where there is one column the cell is the
    // row.
    let is_row =
        column.is_none() && object.role == n::TABLE_CELL && matches!(above.role, n::TABLE | n::TREE_TABLE);
    let chooses = object.is(s::SELECTABLE) && (is_row || object.attribute(LEADS).is_some());
    // What an app draws itself, and tells only in its name, takes presses where it takes the focus.
    let drawn = is_part(object, above) && object.is(s::FOCUSABLE) && object.count <= 0;
    let lists = is_grid_item(object, above, picture.toolkit) || takes_press(picture, object, above);
    if sorts || chooses || drawn || lists || is_box(object) {
        states |= States::ACTIONABLE;
    }
    if is_box(object) {
        states |= States::CHECKABLE;
    }
    // Chosen and focused is the cell that it stands in.
    if is_piece(picture, object, above.role) {
        states.remove(States::SELECTABLE | States::SELECTED | States::FOCUSABLE | States::FOCUSED);
    }
    // Qt says of all cells of a row that it opens.
    if role == Role::GridCell && column.is_some_and(|column| column != "1") {
        states.remove(States::EXPANDABLE | States::EXPANDED);
    }
    let long = is_field(object.role) && object.length.is_some_and(|length| length > TEXT);
    if long && !states.contains(States::PROTECTED) {
        states |= States::CLIPPED;
    }
    states
}

/// The number of the role that an object has by what stands in it and above it. Qt and GTK 4 call a
/// list box a list; Qt calls a tree with columns a tree, GTK 3 one without them a table, and both
/// call what stands in it a cell.
pub(super) fn meant(picture: &Picture, object: &Object, above: Above) -> u32 {
    let holds = |role| picture.children(object).any(|child| child.role == role);
    let (in_rows, cells) = (|| holds(n::TABLE_ROW), || holds(n::TABLE_CELL));
    match object.role {
        n::LIST if takes_choices(picture, object) => n::LIST_BOX,
        n::TABLE_ROW if is_line(object, above) => n::LIST_ITEM,
        n::TREE if in_rows() => n::TREE_TABLE,
        n::TREE_TABLE if cells() && !in_rows() => n::TREE,
        n::TABLE_CELL if above.role == n::TREE => n::TREE_ITEM,
        n::TABLE_CELL if is_piece(picture, object, above.role) && is_box(object) => n::CHECK_BOX,
        n::TABLE_CELL if is_piece(picture, object, above.role) => n::LABEL,
        role => role,
    }
}

/// Whether an object is a part of a window with a title of its own: a dock, a window inside the
/// window, or something that the app draws itself. The frames of Qt that only draw a line around
/// something have none.
pub(super) fn is_part(object: &Object, above: Above) -> bool {
    object.role == n::FRAME && !above.top && !object.name.trim().is_empty()
}

/// Whether an object is a line of a list that calls itself a row, as those of some apps of GTK 4
/// do.
pub(super) fn is_line(object: &Object, above: Above) -> bool {
    object.role == n::TABLE_ROW && matches!(above.role, n::LIST | n::LIST_BOX)
}

/// Whether an object is an item of a grid of GTK 4, which calls its items cells of a table, and
/// does not say that they can be selected.
pub(super) fn is_grid_item(object: &Object, above: Above, toolkit: Toolkit) -> bool {
    let cell = object.role == n::TABLE_CELL && above.role == n::TABLE;
    toolkit.profile().lines_say_no_press && cell && object.is(s::FOCUSABLE)
}

/// Whether a press on a line of a list may do something. GTK 4 says of no line that a press opens
/// it, and of those that cannot be chosen nothing at all, but that they take the focus. A line
/// around what holds a value is only its label.
pub(super) fn takes_press(picture: &Picture, object: &Object, above: Above) -> bool {
    let line = object.role == n::LIST_ITEM || is_line(object, above);
    let bare = line && object.is(s::FOCUSABLE) && !object.is(s::SELECTABLE);
    picture.toolkit.profile().lines_say_no_press && bare && !holds_value(picture, object, 0)
}

/// Whether something below an object holds a value that a person sets.
fn holds_value(picture: &Picture, object: &Object, depth: usize) -> bool {
    let boxes =
        |role| matches!(role, n::CHECK_BOX | n::RADIO_BUTTON | n::COMBO_BOX | n::SLIDER | n::SPIN_BUTTON);
    let mut shown = picture.children(object).filter(|child| child.shown && depth <= DEEP);
    shown.any(|child| boxes(child.role) || is_field(child.role) || holds_value(picture, child, depth + 1))
}

/// How far below a line of a list is looked for what it holds.
const DEEP: usize = 8;

/// Whether a list is one to choose from: the lines of others cannot be selected.
fn takes_choices(picture: &Picture, object: &Object) -> bool {
    let item = |o: &Object| matches!(o.role, n::LIST_ITEM | n::TABLE_ROW) && o.is(s::SELECTABLE);
    object.role == n::LIST && picture.children(object).any(item)
}

/// Whether several of what stands in something may be chosen: Qt says so of each of them instead.
fn takes_several(picture: &Picture, object: &Object) -> bool {
    let says = |object| picture.children(object).any(|child| child.is(s::MULTISELECTABLE));
    let mut rows = picture.children(object).filter(|child| child.role == n::TABLE_ROW);
    picture.toolkit.profile().items_say_that_several_may_be_chosen && (says(object) || rows.any(says))
}

/// Whether a press on it does something although its role does not say so.
fn clickable(object: &Object) -> bool {
    let does = |action: &String| matches!(action.as_str(), "click" | "press" | "activate" | "jump");
    object.actions.iter().any(does)
}

/// Whether text is written into something that is no mere field: the address bar of a browser, a
/// paragraph of a document.
fn is_written_into(object: &Object, role: Role) -> bool {
    let takes_text = object.is(s::EDITABLE) && object.is(s::FOCUSABLE) && object.has(Interfaces::EDITABLE);
    takes_text && matches!(role, Role::Combobox | Role::Paragraph | Role::Heading)
}

/// Whether what can be read in a cell stands in cells inside it.
pub(super) fn has_pieces(picture: &Picture, object: &Object) -> bool {
    picture.children(object).any(|child| is_piece(picture, child, object.role))
}

/// Whether what stands in a tab is the page that it chooses, not what the tab is made of.
pub(super) fn holds_page(object: &Object, toolkit: Toolkit) -> bool {
    object.role == n::PAGE_TAB && toolkit.profile().tabs_hold_pages
}

/// Whether a child is what a button opened.
pub(super) fn opens(object: &Object, child: &Object) -> bool {
    let button = matches!(object.role, n::PUSH_BUTTON | n::TOGGLE_BUTTON | n::PUSH_BUTTON_MENU);
    button && (is_popup(child.role) || is_menu_item(child.role))
}

/// Roles of what opens over a window and belongs to something in it.
pub(super) fn is_popup(number: u32) -> bool {
    is_menu(number) || matches!(number, n::WINDOW | n::DIALOG)
}
