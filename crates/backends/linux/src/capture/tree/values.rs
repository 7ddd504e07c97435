//! Values of controls as a person sees them: the text of a field, the position of a slider, the
//! selected option of a combo box.

use super::object_name::text_below;
use crate::limits::TEXT;
use crate::model::{Object, ObjectTree, is_field, names, role as n, states as s};
use stickpin_tree::{Role, States};

/// Returns the value of a control.
pub(super) fn value(picture: &ObjectTree, object: &Object, role: Role, states: States) -> String {
    let mut value = reported_value(object, role, states);
    if role == Role::Combobox && picture.profile().combo_boxes_list_nothing {
        // The button that opens the list shows the selected option.
        let is_button = |o: &&Object| o.shown && matches!(o.role, n::PUSH_BUTTON | n::TOGGLE_BUTTON);
        let button = picture.children(object).find(is_button);
        value = button.map(|button| text_below(picture, button, 0)).unwrap_or_default();
    } else if object.role == n::COMBO_BOX
        && picture.profile().combo_boxes_hold_their_field
        && let Some(field) = picture.children(object).find(|child| child.shown && is_field(child.role))
    {
        // The selected option may differ from the text.
        value = field.text.clone().unwrap_or_default();
    } else if object.role == n::COMBO_BOX
        && picture.profile().combo_boxes_have_no_other_name
        && value.is_empty()
    {
        object.name.trim().clone_into(&mut value);
    } else if role == Role::Combobox && value.is_empty() {
        selected_below(picture, object, 0).unwrap_or_default().clone_into(&mut value);
    }
    value
}

/// Returns the value that an object itself reports.
fn reported_value(object: &Object, role: Role, states: States) -> String {
    if states.contains(States::PROTECTED) {
        return String::new();
    }
    if is_field(object.role)
        && let Some(text) = &object.text
    {
        return mark_clipped(text, object.length);
    }
    match (object.number, role) {
        (Some(number), _) => names::number(number),
        (None, Role::Combobox) => match &object.text {
            Some(text) if !text.trim().is_empty() => mark_clipped(text, object.length),
            _ if !object.labelled_by.is_empty() => object.name.trim().to_owned(),
            _ => String::new(),
        },
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
