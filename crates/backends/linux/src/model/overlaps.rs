//! What of a picture may lie over an object, and whether it belongs to it.

use crate::model::extents;
use crate::model::parents::{POPOVER, chain, popup_in};
use crate::model::roles;
use crate::model::roles::number as role;
use crate::model::states;
use crate::model::{Object, Picture};
use stickpin_tree::Rect;

/// Whether an object that lies where another one is belongs to it, wherever it stands in the tree.
pub(crate) fn is_of(object: &Object, target: &Object) -> bool {
    labels(object, target) || is_frame(object, target)
}

/// Whether an object that lies where another one is only says what that one is called. What can
/// have the focus, or is of the same kind, is another one with the same name.
pub(crate) fn labels(object: &Object, target: &Object) -> bool {
    let named = !object.name.is_empty() && object.name == target.name;
    target.labelled_by.contains(&object.path)
        || (named && object.role != target.role && !object.is(states::FOCUSABLE))
}

/// Whether an object is a mere frame of a field without a name, which LibreOffice lists beside what
/// is in it.
pub(crate) fn is_frame(object: &Object, target: &Object) -> bool {
    let nameless = object.name.is_empty() && target.name.is_empty();
    nameless && object.role == role::PANEL && !object.is(states::FOCUSABLE) && target.is(states::EDITABLE)
}

/// An object as it is named in a message: by the first name in it where it has none itself.
pub(crate) fn words(picture: &Picture, at: usize) -> String {
    let mut next = vec![&picture.objects[at]];
    while let Some(object) = next.pop() {
        if !object.name.trim().is_empty() && object.shown {
            return object.words();
        }
        // What is not shown has no name here, and may stand in itself.
        next.extend(picture.children(object).rev().filter(|child| child.shown));
    }
    format!("{} without a name", roles::tag(picture.objects[at].role))
}

/// What may lie over an object in the same window: the later siblings of it and of what holds it,
/// where GTK lets children overlap. Its boxes lay them out side by side; its panels may be
/// anything. What has its place only in pop-ups, and what scrolls, is not over it.
pub(crate) fn above_it(picture: &Picture, at: usize) -> Vec<usize> {
    let objects = &picture.objects;
    let profile = picture.toolkit.profile();
    if !profile.children_overlap {
        return Vec::new();
    }
    let mut out = Vec::new();
    let chain = chain(picture, at);
    // A pop-up lies above the window, whatever that has there.
    let end = popup_in(picture, &chain).map_or(chain.len(), |popup| popup + 1);
    for pair in chain[..end].windows(2) {
        let (child, parent) = (pair[0], &objects[pair[1]]);
        if profile.only_panels_overlap && parent.role != role::PANEL {
            continue;
        }
        let later = parent.children.iter().skip_while(|&&c| c != child).skip(1);
        let beside = later.copied().filter(|&other| {
            let object = &objects[other];
            let floats = object.role == role::SCROLL_BAR || is_popup(picture, other);
            // GTK 4 was asked where everything is: what was elsewhere in its window needs no
            // question.
            let near = !profile.is_asked_for_places || overlap(object.extents, objects[at].extents);
            object.shown && !floats && near
        });
        out.extend(beside);
    }
    out
}

/// Whether an object is shown in a pop-up of its own, or is there for one.
pub(crate) fn is_popup(picture: &Picture, at: usize) -> bool {
    let object = &picture.objects[at];
    matches!(object.role, role::MENU | role::POPUP_MENU | role::WINDOW | role::DIALOG | role::TOOL_TIP)
        || object.name == POPOVER
        || picture.children(object).any(|child| child.name == POPOVER)
}

pub(crate) fn overlap(a: Option<[i32; 4]>, b: Option<[i32; 4]>) -> bool {
    let rect = |place: [i32; 4]| {
        let [x, y, width, height] = place.map(f64::from);
        Rect { x, y, width, height }
    };
    a.zip(b).is_none_or(|(a, b)| extents::common(rect(a), rect(b)).is_some())
}
