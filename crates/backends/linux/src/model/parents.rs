//! The ancestors of an object.

use crate::model::ObjectTree;
use crate::model::roles::{is_menu_item, number as n};

/// Returns the indices from an object up to its window, starting with the object itself.
pub(crate) fn chain(picture: &ObjectTree, at: usize) -> Vec<usize> {
    path_up(&parents(picture), at)
}

/// Returns the indices from an object up to its window, given the parent of each object.
pub(crate) fn path_up(above: &[usize], at: usize) -> Vec<usize> {
    std::iter::once(at).chain(ancestors(above, at).skip(1).take_while(|&at| at != 0).take(DEEP)).collect()
}

/// Returns the parent of each object; 0, the app, for those without one.
pub(crate) fn parents(picture: &ObjectTree) -> Vec<usize> {
    let mut above = vec![0; picture.objects.len()];
    for (parent, object) in picture.objects.iter().enumerate() {
        for &child in &object.children {
            above[child] = parent;
        }
    }
    above
}

/// Returns an object and its ancestors up to the app. `above` contains the parent of each object
/// ([`parents`]). Ends even if an app lists a hidden object below itself.
pub(crate) fn ancestors(above: &[usize], at: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(at), |&at| (at != 0).then(|| above[at])).take(above.len())
}

/// Returns the top-level window that contains an object or is the object; `None` for the app.
pub(crate) fn top(above: &[usize], at: usize) -> Option<usize> {
    ancestors(above, at).take_while(|&at| at != 0).last()
}

/// Returns the index, in a chain of ancestors, of the popup that shows the object at the start of
/// the chain; `None` if no popup shows it.
pub(crate) fn popup_in(picture: &ObjectTree, chain: &[usize]) -> Option<usize> {
    (1..chain.len()).find(|&i| holds_popup(picture, chain[i], chain[i - 1], chain.get(i + 1).copied()))
}

/// The maximum depth of nested objects.
pub(crate) const DEEP: usize = 64;

/// Returns whether an object is the popup that shows its `child`; `above` is the object's parent.
pub(crate) fn holds_popup(picture: &ObjectTree, at: usize, child: usize, above: Option<usize>) -> bool {
    if picture.profile().popover.is_some() {
        return picture.is_popover(&picture[at]);
    }
    let role = |at: usize| picture[at].role;
    match role(at) {
        n::MENU | n::POPUP_MENU => true,
        // GTK 3 puts the entries of a menu button's menu into the button.
        parent if is_menu_item(role(child)) => parent != n::MENU_BAR,
        n::LIST | n::LIST_BOX | n::TREE | n::TABLE => above.map(role) == Some(n::COMBO_BOX),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ancestors_end_where_objects_contain_each_other() {
        let above = [0, 0, 1, 4, 3];
        assert_eq!(ancestors(&above, 2).collect::<Vec<_>>(), [2, 1, 0]);
        assert_eq!(ancestors(&above, 3).count(), above.len());
        assert_eq!(top(&above, 2), Some(1));
    }
}
