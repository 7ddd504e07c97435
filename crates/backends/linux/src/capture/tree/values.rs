//! Values of controls as a person sees them: the text of a field, the position of a slider, the
//! selected option of a combo box.

use super::object_name::text_below;
use crate::limits::TEXT;
use crate::model::{Object, ObjectTree, is_field, names, role as n, states as s};
use stickpin_tree::{Role, States};

/// Returns the value of a control.
pub(super) fn value(picture: &ObjectTree, object: &Object, role: Role, states: States) -> String {
    let profile = picture.profile();
    let inside = |is: fn(u32) -> bool| picture.children(object).find(|child| child.shown && is(child.role));
    if role == Role::Combobox && profile.combo_boxes_list_nothing {
        // The button that opens the list shows the selected option.
        let button = inside(|role| matches!(role, n::PUSH_BUTTON | n::TOGGLE_BUTTON));
        return button.map(|button| text_below(picture, button, 0)).unwrap_or_default();
    }
    let combo = object.role == n::COMBO_BOX;
    if combo
        && profile.combo_boxes_hold_their_field
        && let Some(field) = inside(is_field)
    {
        // The selected option may differ from the text.
        return field.text.clone().unwrap_or_default();
    }
    let value = reported_value(object, role, states);
    if !value.is_empty() {
        value
    } else if combo && profile.combo_boxes_have_no_other_name {
        object.name.trim().to_owned()
    } else if role == Role::Combobox {
        selected_below(picture, object, 0).unwrap_or_default().to_owned()
    } else {
        value
    }
}

/// Returns the value that an object itself reports.
fn reported_value(object: &Object, role: Role, states: States) -> String {
    let clipped = |text: &str| mark_clipped(text, object.length);
    if states.contains(States::PROTECTED) {
        return String::new();
    }
    match (&object.text, object.number) {
        (Some(text), _) if is_field(object.role) => clipped(text),
        (_, Some(number)) => names::number(number),
        (Some(text), _) if role == Role::Combobox && !text.trim().is_empty() => clipped(text),
        _ if role == Role::Combobox && !object.labelled_by.is_empty() => object.name.trim().to_owned(),
        _ => String::new(),
    }
}

/// Appends `…` to a text that was truncated. `length` is the number of characters of the whole
/// text.
pub(super) fn mark_clipped(text: &str, length: Option<i32>) -> String {
    if length.is_some_and(|length| length > TEXT) { format!("{text}…") } else { text.to_owned() }
}

/// Returns the selected option inside a combo box.
fn selected_below<'p>(picture: &'p ObjectTree, object: &'p Object, depth: usize) -> Option<&'p str> {
    let chosen = |o: &'p Object| Some(o.name.trim()).filter(|name| o.is(s::SELECTED) && !name.is_empty());
    let below = |o| chosen(o).or_else(|| selected_below(picture, o, depth + 1));
    picture.children(object).filter(|_| depth <= 4).find_map(below)
}
