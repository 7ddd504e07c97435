//! The way from an object up to its window.

use crate::model::Picture;
use crate::model::roles::{is_menu_item, number as n};

/// Indices from an object up to its window, itself first.
pub(crate) fn chain(picture: &Picture, at: usize) -> Vec<usize> {
    way(&parents(picture), at)
}

/// The way up from an object, where it is known what each object lies in.
pub(crate) fn way(above: &[usize], at: usize) -> Vec<usize> {
    std::iter::once(at).chain(up(above, at).skip(1).take_while(|&at| at != 0).take(DEEP)).collect()
}

/// What each object lies in; 0, the app, for those that lie in nothing.
pub(crate) fn parents(picture: &Picture) -> Vec<usize> {
    let mut above = vec![0; picture.objects.len()];
    for (parent, object) in picture.objects.iter().enumerate() {
        for &child in &object.children {
            above[child] = parent;
        }
    }
    above
}

/// An object and all that it lies in, up to the app. `above` is what each lies in ([`parents`]).
pub(crate) fn up(above: &[usize], at: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(at), |&at| (at != 0).then(|| above[at]))
}

/// The window that an object is or lies in: the last below the app.
pub(crate) fn top(above: &[usize], at: usize) -> Option<usize> {
    up(above, at).take_while(|&at| at != 0).last()
}

/// Where in a way up the pop-up begins that shows the object, if one does: the place of what that
/// pop-up holds.
pub(crate) fn popup_in(picture: &Picture, chain: &[usize]) -> Option<usize> {
    (1..chain.len()).find(|&i| holds_popup(picture, chain[i], chain[i - 1], chain.get(i + 1).copied()))
}

/// What GTK 4 calls the content of a popover, until 4.10.
pub(crate) const POPOVER: &str = "GtkPopoverContent";

/// How deep elements may lie in one another.
pub(crate) const DEEP: usize = 64;

/// Whether a child of an object, which lies in another one, is shown in a pop-up.
pub(crate) fn holds_popup(picture: &Picture, at: usize, child: usize, above: Option<usize>) -> bool {
    let role = |at: usize| picture.objects[at].role;
    match picture.toolkit.profile().popovers_by_class {
        true => picture.objects[at].name == POPOVER,
        false => match role(at) {
            n::MENU | n::POPUP_MENU => true,
            // GTK 3 puts the entries of a menu that a button opened into the button.
            parent if is_menu_item(role(child)) => parent != n::MENU_BAR,
            n::LIST | n::LIST_BOX | n::TREE | n::TABLE => above.map(role) == Some(n::COMBO_BOX),
            _ => false,
        },
    }
}
