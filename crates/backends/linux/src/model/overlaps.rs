//! Determines which objects may cover an object, and which belong to it.

use crate::model::{Object, ObjectTree, chain, popup_in, rect, role, roles, states};

/// Returns whether an object at the same position belongs to the target, wherever it is in the
/// tree.
pub(crate) fn belongs_to(object: &Object, target: &Object) -> bool {
    is_label_of(object, target) || is_frame(object, target)
}

/// Returns whether an object at the same position only labels the target. A focusable object, or
/// one with the same role, is another element that happens to have the same name.
pub(crate) fn is_label_of(object: &Object, target: &Object) -> bool {
    let named = !object.name.is_empty() && object.name == target.name;
    target.labelled_by.contains(&object.path)
        || (named && object.role != target.role && !object.is(states::FOCUSABLE))
}

/// Returns whether an object is merely the frame of an unnamed field. LibreOffice lists such a
/// frame next to the field's content.
pub(crate) fn is_frame(object: &Object, target: &Object) -> bool {
    let nameless = object.name.is_empty() && target.name.is_empty();
    nameless && object.role == role::PANEL && !object.is(states::FOCUSABLE) && target.is(states::EDITABLE)
}

/// Describes an object for messages, by the first name inside it if it has no name.
pub(crate) fn words(picture: &ObjectTree, at: usize) -> String {
    // Hidden objects have no meaningful names.
    let mut shown = picture.walk(at, |object| object.shown).map(|at| &picture[at]).filter(|o| o.shown);
    let named = shown.find(|object| !object.name.trim().is_empty());
    named.map_or_else(|| format!("{} without a name", roles::tag(picture[at].role)), Object::describe)
}

/// Returns the objects that may cover an object in its window: in GTK, later siblings of the object
/// and of its ancestors. Boxes of GTK 3 lay their children out side by side; only panels let them
/// overlap. Popups and scroll bars do not count.
pub(crate) fn possible_covers(picture: &ObjectTree, at: usize) -> Vec<usize> {
    let profile = picture.profile();
    if !profile.children_overlap {
        return Vec::new();
    }
    let chain = chain(picture, at);
    // A popup is above everything in the window.
    let end = popup_in(picture, &chain).map_or(chain.len(), |popup| popup + 1);
    let overlapping = |pair: &&[usize]| !profile.only_panels_overlap || picture[pair[1]].role == role::PANEL;
    let later = chain[..end].windows(2).filter(overlapping).flat_map(|pair| {
        picture[pair[1]].children.iter().copied().skip_while(|&child| child != pair[0]).skip(1)
    });
    let may_cover = |&other: &usize| {
        let object = &picture[other];
        let floats = object.role == role::SCROLL_BAR || is_popup(picture, other);
        // The rectangles of GTK 4 are known, so objects elsewhere in the window need not be
        // queried.
        let near = !profile.is_asked_for_places || overlap(object.extents, picture[at].extents);
        object.shown && !floats && near
    };
    later.filter(may_cover).collect()
}

/// Returns whether an object is or contains a popup.
pub(crate) fn is_popup(picture: &ObjectTree, at: usize) -> bool {
    let object = &picture[at];
    matches!(object.role, role::MENU | role::POPUP_MENU | role::WINDOW | role::DIALOG | role::TOOL_TIP)
        || picture.is_popover(object)
        || picture.children(object).any(|child| picture.is_popover(child))
}

pub(crate) fn overlap(a: Option<[i32; 4]>, b: Option<[i32; 4]>) -> bool {
    let shared = |a, b| rect(a)?.intersection(rect(b)?);
    a.zip(b).is_none_or(|(a, b)| shared(a, b).is_some())
}
