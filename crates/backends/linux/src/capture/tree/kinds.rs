//! Roles and states in the tree, determined by an object, its descendants and its ancestors.

use crate::limits::TEXT;
use crate::model::{
    Interfaces, LEADS, Object, ObjectTree, ParentContext, is_field, is_menu, is_menu_item, role as n, roles,
    states as s,
};
use crate::toolkit::profile::Toolkit;
use stickpin_tree::{Role, States};

/// Returns the role of an object. `own` is its intended role ([`effective_role`]).
pub(super) fn role(object: &Object, own: u32, above: ParentContext, named: bool, toolkit: Toolkit) -> Role {
    let landmark = object.attribute("xml-roles").filter(|_| object.role == n::LANDMARK);
    let role = landmark.and_then(roles::landmark);
    let role = role.unwrap_or_else(|| roles::aria_role(own, above, object.states, named, toolkit));
    let does = |action: &String| matches!(action.as_str(), "click" | "press" | "activate" | "jump");
    if role == Role::Generic && object.actions.iter().any(does) { Role::Clickable } else { role }
}

/// Returns the states of an object, given its descendants and its ancestors.
pub(super) fn states(picture: &ObjectTree, object: &Object, role: Role, above: ParentContext) -> States {
    let reported = s::aria_states(object.states, role, picture.toolkit)
        | roles::inherent_states(object.role, role, object.states);
    // Text can be typed into the address bar of a browser or a paragraph of a document.
    let takes_text = object.is(s::EDITABLE)
        && object.is(s::FOCUSABLE)
        && object.has(Interfaces::EDITABLE)
        && matches!(role, Role::Combobox | Role::Paragraph | Role::Heading);
    let column = object.attribute("colindex");
    // A press on a column header sorts or selects the column.
    let sorts = object.role == n::TABLE_COLUMN_HEADER && column.is_some();
    // A press on the first cell of a row selects the row. If there is only one column, the cell is
    // the row.
    let is_row =
        column.is_none() && object.role == n::TABLE_CELL && matches!(above.role, n::TABLE | n::TREE_TABLE);
    let chooses = object.is(s::SELECTABLE) && (is_row || object.attribute(LEADS).is_some());
    // A part that the app itself draws accepts presses if it is focusable.
    let drawn = is_part(object, above) && object.is(s::FOCUSABLE) && object.count <= 0;
    let actionable = sorts || chooses || drawn || object.is_box() || takes_press(picture, object, above);
    let is_piece = picture.is_piece(object, above.role);
    let later_cell = role == Role::GridCell && column.is_some_and(|column| column != "1");
    let clipped = is_field(object.role) && object.length.is_some_and(|length| length > TEXT);
    let added = [
        (takes_text, States::EDITABLE | States::ACTIONABLE),
        (takes_text && role != Role::Combobox, States::EDIT_HOST | States::MULTILINE),
        (!s::is_item(role) && takes_several(picture, object), States::MULTISELECTABLE),
        (actionable, States::ACTIONABLE),
        (object.is_box(), States::CHECKABLE),
        (clipped && !reported.contains(States::PROTECTED), States::CLIPPED),
    ];
    let removed = [
        (object.role == n::TERMINAL, States::READONLY),
        // Selection and focus belong to the outer cell.
        (is_piece, States::SELECTABLE | States::SELECTED | States::FOCUSABLE | States::FOCUSED),
        // In Qt, all cells of an expandable row report that they are expandable.
        (later_cell, States::EXPANDABLE | States::EXPANDED),
    ];
    let that_hold = |states: &[(bool, States)]| -> States {
        states.iter().filter(|(holds, _)| *holds).map(|(_, states)| *states).collect()
    };
    (reported | that_hold(&added)) - that_hold(&removed)
}

/// Returns the intended role of an object, given its children and its ancestors. Qt and GTK 4
/// report list boxes as lists. Qt reports a tree with columns as a tree, GTK 3 reports a tree
/// without columns as a tree table, and both report the items as cells.
pub(super) fn effective_role(picture: &ObjectTree, object: &Object, above: ParentContext) -> u32 {
    let holds = |role| picture.children(object).any(|child| child.role == role);
    let chooses = |o: &Object| matches!(o.role, n::LIST_ITEM | n::TABLE_ROW) && o.is(s::SELECTABLE);
    match object.role {
        // GTK 4 reports dialogs as ordinary windows of the app.
        n::FILLER if above.top && picture.profile().dialogs_are_fillers => n::DIALOG,
        // A list is a list box if its lines are selectable.
        n::LIST if picture.children(object).any(chooses) => n::LIST_BOX,
        n::TABLE_ROW if is_line(object, above) => n::LIST_ITEM,
        n::TREE if holds(n::TABLE_ROW) => n::TREE_TABLE,
        n::TREE_TABLE if holds(n::TABLE_CELL) && !holds(n::TABLE_ROW) => n::TREE,
        n::TABLE_CELL if above.role == n::TREE => n::TREE_ITEM,
        n::TABLE_CELL if picture.is_piece(object, above.role) && object.is_box() => n::CHECK_BOX,
        n::TABLE_CELL if picture.is_piece(object, above.role) => n::LABEL,
        role => role,
    }
}

/// Returns whether an object is a titled part of a window: a dock, a window inside the window, or a
/// part that the app itself draws. Frames of Qt that only draw a border have no title.
pub(super) fn is_part(object: &Object, above: ParentContext) -> bool {
    object.role == n::FRAME && !above.top && !object.name.trim().is_empty()
}

/// Returns whether an object is a list item. Some GTK 4 apps report it as a row.
pub(super) fn is_line(object: &Object, above: ParentContext) -> bool {
    let in_list = matches!(above.role, n::LIST | n::LIST_BOX);
    object.role == n::LIST_ITEM || object.role == n::TABLE_ROW && in_list
}

/// Returns whether an object is an item of a GTK 4 grid, or a line of a GTK 4 list that cannot be
/// selected, but on which a press may have an effect. GTK 4 reports items of grids as table cells,
/// and never that they can be selected or that a press opens a line; it only reports that they are
/// focusable. A line around a control is only the control's label.
pub(super) fn takes_press(picture: &ObjectTree, object: &Object, above: ParentContext) -> bool {
    let grid_item = object.role == n::TABLE_CELL && above.role == n::TABLE;
    let line = is_line(object, above) && !object.is(s::SELECTABLE);
    let focusable = picture.profile().lines_say_no_press && object.is(s::FOCUSABLE);
    focusable && (grid_item || line && !holds_value(picture, object, 0))
}

/// Returns whether a descendant of an object is a control with a value.
fn holds_value(picture: &ObjectTree, object: &Object, depth: usize) -> bool {
    let boxes =
        |role| matches!(role, n::CHECK_BOX | n::RADIO_BUTTON | n::COMBO_BOX | n::SLIDER | n::SPIN_BUTTON);
    let mut shown = picture.children(object).filter(|child| child.shown && depth <= DEEP);
    shown.any(|child| boxes(child.role) || is_field(child.role) || holds_value(picture, child, depth + 1))
}

/// The maximum depth of the search for a control with a value.
const DEEP: usize = 8;

/// Returns whether the items of an object report that several of them may be selected, as in Qt.
/// Other toolkits report this on the object itself.
fn takes_several(picture: &ObjectTree, object: &Object) -> bool {
    let says = |object| picture.children(object).any(|child| child.is(s::MULTISELECTABLE));
    let mut rows = picture.children(object).filter(|child| child.role == n::TABLE_ROW);
    picture.profile().items_say_that_several_may_be_chosen && (says(object) || rows.any(says))
}

/// Returns whether the text of a cell is in cells inside it.
pub(super) fn has_pieces(picture: &ObjectTree, object: &Object) -> bool {
    picture.children(object).any(|child| picture.is_piece(child, object.role))
}

/// Returns whether the content of a tab is its page, not its label.
pub(super) fn holds_page(object: &Object, toolkit: Toolkit) -> bool {
    object.role == n::PAGE_TAB && toolkit.profile().tabs_hold_pages
}

/// Returns whether a child is the content that a button has opened.
pub(super) fn opens(object: &Object, child: &Object) -> bool {
    let button = matches!(object.role, n::PUSH_BUTTON | n::TOGGLE_BUTTON | n::PUSH_BUTTON_MENU);
    button && (is_popup(child.role) || is_menu_item(child.role))
}

/// Returns whether objects of a role open over a window and belong to an element in it.
pub(super) fn is_popup(number: u32) -> bool {
    is_menu(number) || matches!(number, n::WINDOW | n::DIALOG)
}
