//! Peculiarities of Qt: focus, parked parts, and unlisted popups.
//!
//! # Focus
//! Several objects report the focus. A widget does so even if it passes the focus on to another
//! widget (`QWidget::setFocusProxy`), like a button of a status bar that passes it to the editor.
//! The current item of every list does so as well, whether or not that list receives keys.
//!
//! # Parked parts
//! Docks behind another dock, and the tabs of former docks, are moved to a position to the left of
//! and above their window. They nevertheless report that they are shown. A floating dock is a
//! separate window; only windows report that they are resizable.
//!
//! # Popups
//! Qt does not list windows that are popups. The menu of a menu bar is below the entry that opens
//! it. Other popups are not listed at all: context menus, menus of buttons that are not the menus'
//! parents, and completion lists. They signal that they are shown, and name the app as their
//! parent. They are therefore listed with the windows while they are shown.

use crate::bus::{BusResult, Link, ROOT, Reference};
use crate::model::parents::{parents, path_up};
use crate::model::{Facts, ObjectTree, is_menu_item, rect, role as n, roles, states as s};
use crate::toolkit::profile::Toolkit;
use hashbrown::{HashMap, HashSet};

/// Returns the paths of popups that the app shows but does not list. `shown` contains the paths of
/// objects that have signaled that they are shown, and `known` contains the objects that were read.
///
/// # Errors
/// Returns an error if the app is gone or silent.
pub(crate) async fn unlisted_popups(
    link: &Link,
    shown: &[String],
    known: &HashMap<String, usize>,
) -> BusResult<Vec<String>> {
    if link.toolkit != Toolkit::Qt {
        return Ok(Vec::new());
    }
    let unread: Vec<_> = shown.iter().map(String::as_str).filter(|path| !known.contains_key(*path)).collect();
    // An object without an answer is gone.
    let parents = link.parents(&unread).await?;
    let is_popup = |parent: Option<Reference>| parent.is_some_and(|(_, parent)| parent == ROOT);
    let popups = unread.iter().zip(parents).filter_map(|(path, parent)| is_popup(parent).then_some(*path));
    Ok(popups.map(str::to_owned).collect())
}

/// Returns the objects whose rectangles show whether they are visible.
pub(crate) fn positioned(picture: &ObjectTree) -> Vec<usize> {
    if picture.toolkit != Toolkit::Qt {
        return Vec::new();
    }
    folded_lists(picture).chain(parked_docks(picture)).collect()
}

/// Hides objects whose rectangles are not visible.
pub(crate) fn hide_by_position(picture: &mut ObjectTree) {
    if picture.toolkit != Toolkit::Qt {
        return;
    }
    for window in picture.root().children.clone() {
        let Some(frame) = picture[window].extents.take() else { continue };
        for part in parts(picture, window).collect::<Vec<_>>() {
            let place = picture[part].extents.take().and_then(rect);
            if place.zip(rect(frame)).is_some_and(|(place, frame)| place.intersection(frame).is_none()) {
                let inside: Vec<usize> = picture.inside(part).collect();
                inside.into_iter().for_each(|at| picture[at].shown = false);
            }
        }
    }
}

/// Returns the objects that wrongly report the focus.
pub(crate) fn unfocused(picture: &ObjectTree) -> HashSet<usize> {
    let mut out = HashSet::new();
    if picture.toolkit != Toolkit::Qt {
        return out;
    }
    let above = parents(picture);
    let around = |at: usize| path_up(&above, at).into_iter().skip(1);
    let focused = picture.walk(0, |object| object.shown).filter(|&at| {
        let object = &picture[at];
        // A tab reports the focus when it is selected, and an open menu takes the keys from all
        // others.
        let anyway = object.role == n::PAGE_TAB || is_menu_item(object.role);
        object.shown && object.is(s::FOCUSED) && !anyway && above[at] != 0
    });
    // The innermost list, table or tree around an item.
    let list_of = |at: usize| {
        let is_item = roles::is(picture[at].role, Facts::ITEM);
        let is_list = |role| matches!(role, n::LIST | n::LIST_BOX | n::TABLE | n::TREE | n::TREE_TABLE);
        around(at).find(|&list| is_item && is_list(picture[list].role))
    };
    let (items, widgets): (Vec<usize>, Vec<usize>) = focused.partition(|&at| list_of(at).is_some());
    // Of widgets inside each other, only the innermost may have the focus.
    let outer: HashSet<usize> = widgets.iter().flat_map(|&at| around(at)).collect();
    let holders: Vec<usize> = widgets.iter().copied().filter(|at| !outer.contains(at)).collect();
    // It is unknown which of several widgets passes the focus on, unless exactly one is a text
    // field.
    let mut fields = holders.iter().filter(|&&at| picture[at].is(s::EDITABLE));
    if let (Some(&field), None) = (fields.next(), fields.next()) {
        let around = path_up(&above, field);
        out.extend(widgets.into_iter().filter(|at| !around.contains(at)));
    }
    // Tables of Qt 5 never report the focus. If there is only one list or table, the claim of its
    // item is accepted.
    let lists: HashSet<usize> = items.iter().filter_map(|&at| list_of(at)).collect();
    let believed = holders.is_empty() && lists.len() == 1;
    let has_it = |list: usize| believed || picture[list].is(s::FOCUSED);
    out.extend(items.into_iter().filter(|&at| !list_of(at).is_some_and(has_it)));
    out
}

/// Returns the lists inside combo boxes. Such a list always reports that it is shown, but has no
/// rectangle while its combo box is closed.
fn folded_lists(picture: &ObjectTree) -> impl Iterator<Item = usize> + '_ {
    let boxes = picture.objects.iter().filter(|object| object.shown && object.role == n::COMBO_BOX);
    let lists = boxes.flat_map(|object| object.children.iter().copied());
    lists.filter(|&child| picture[child].role == n::LIST)
}

/// Returns the parts of windows that may be parked, and the windows that have such parts. The
/// rectangles of both are needed.
fn parked_docks(picture: &ObjectTree) -> Vec<usize> {
    let of_window = |&window: &usize| {
        let parts: Vec<usize> = parts(picture, window).collect();
        let window = (!parts.is_empty()).then_some(window);
        parts.into_iter().chain(window)
    };
    picture.root().children.iter().flat_map(of_window).collect()
}

fn parts(picture: &ObjectTree, window: usize) -> impl Iterator<Item = usize> + '_ {
    let part = |role| matches!(role, n::FRAME | n::PAGE_TAB_LIST);
    let objects = &picture.objects;
    let children = objects[window].children.iter().copied();
    let lies = move |at: usize| objects[at].shown && part(objects[at].role) && !objects[at].floats();
    children.filter(move |&at| objects[window].shown && lies(at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Object;

    /// Returns an app with one window that contains these objects: role, states, and the children
    /// among them.
    fn app(inside: &[(u32, u64, &[usize])]) -> ObjectTree {
        let object = |&(role, states, children): &(u32, u64, &[usize])| Object {
            role,
            states,
            children: children.to_vec(),
            shown: true,
            ..Object::default()
        };
        let lower: HashSet<usize> =
            inside.iter().flat_map(|(_, _, children)| children.iter().copied()).collect();
        let top: Vec<usize> = (2..inside.len() + 2).filter(|at| !lower.contains(at)).collect();
        let mut objects = vec![object(&(75, 0, &[1])), object(&(n::FRAME, s::ACTIVE, &top))];
        objects.extend(inside.iter().map(object));
        ObjectTree { toolkit: Toolkit::Qt, objects, truncated: false }
    }

    fn without_it(picture: &ObjectTree) -> Vec<usize> {
        let mut out: Vec<usize> = unfocused(picture).into_iter().collect();
        out.sort_unstable();
        out
    }

    #[test]
    fn what_hands_the_focus_on_to_a_field_has_it_not() {
        let (here, field) = (s::FOCUSED, s::FOCUSED | s::EDITABLE);
        let mut picture = app(&[
            (n::FILLER, here, &[3]),
            (n::TEXT, field, &[]),
            (n::FILLER, here, &[5]),
            (n::PUSH_BUTTON, here, &[]),
            (n::PAGE_TAB, here, &[]),
        ]);
        assert_eq!(without_it(&picture), [4, 5], "what is around the field has it with the field");
        // If nothing distinguishes two objects, both are accepted.
        picture.objects[3].states = here;
        assert!(without_it(&picture).is_empty());
        picture.objects[3].states = field;
        picture.toolkit = Toolkit::Gtk3;
        assert!(without_it(&picture).is_empty());
    }

    #[test]
    fn the_current_item_of_a_list_has_it_where_its_list_has() {
        let here = s::FOCUSED;
        let lists = |first, second, button| {
            app(&[
                (n::LIST, first, &[3]),
                (n::LIST_ITEM, here, &[]),
                (n::TREE, second, &[5]),
                (n::TABLE_CELL, here, &[]),
                (n::PUSH_BUTTON, button, &[]),
            ])
        };
        assert_eq!(without_it(&lists(here, 0, 0)), [5]);
        assert_eq!(without_it(&lists(0, 0, here)), [3, 5]);
        // None of the lists reports the focus, so it is unknown which of their items has it.
        assert_eq!(without_it(&lists(0, 0, 0)), [3, 5]);
        let one = app(&[(n::TABLE, 0, &[3]), (n::TABLE_CELL, here, &[])]);
        assert!(without_it(&one).is_empty(), "Qt 5 says it of cells only");
    }
}

#[cfg(test)]
mod popup_tests {
    use super::*;
    use crate::model::role;
    use crate::tests::heap::{Heap, Thing, read};

    #[tokio::test]
    async fn shown_object_of_the_app_itself_is_an_unlisted_popup() {
        let popup = Thing { listed: false, ..Thing::new("/popup", "Copy", role::POPUP_MENU, ROOT) };
        let heap = Heap(vec![
            Thing::new("/window", "Window", role::FRAME, ROOT),
            Thing::new("/inside", "Send", role::PUSH_BUTTON, "/window"),
            popup,
        ]);
        let (_app, device) = read(Toolkit::Qt, heap).await;
        let shown = ["/window", "/inside", "/popup", "/gone"].map(str::to_owned);
        let known = HashMap::from_iter([("/window".to_owned(), 1)]);
        let found = unlisted_popups(&device.app.link, &shown, &known).await;
        assert_eq!(found, Ok(vec!["/popup".to_owned()]));
    }
}

#[cfg(test)]
mod parked_tests {
    use super::*;
    use crate::model::Object;

    #[test]
    fn a_dock_outside_of_its_window_is_not_to_be_seen() {
        let object = |role, children: &[usize], extents| Object {
            role,
            children: children.to_vec(),
            extents,
            shown: true,
            ..Object::default()
        };
        let objects = vec![
            object(75, &[1], None),
            object(n::FRAME, &[2, 4, 5], Some([100, 80, 600, 400])),
            object(n::FRAME, &[3], Some([-675, -539, 296, 144])),
            object(n::PUSH_BUTTON, &[], None),
            object(n::FRAME, &[], Some([650, 90, 100, 50])),
            object(n::PUSH_BUTTON, &[], Some([-675, -539, 296, 144])),
        ];
        let mut picture = ObjectTree { toolkit: Toolkit::Qt, objects, truncated: false };
        assert_eq!(parked_docks(&picture), [2, 4, 1]);
        hide_by_position(&mut picture);
        let shown: Vec<usize> = (0..6).filter(|&at| picture.objects[at].shown).collect();
        assert_eq!(shown, [0, 1, 4, 5], "one that reaches out of its window, and a button, may be seen");
        assert!(picture.objects[4].extents.is_none());
    }

    #[test]
    fn a_dock_that_floats_lies_where_its_own_window_is() {
        let object = |states, children: &[usize], extents| Object {
            role: n::FRAME,
            states,
            children: children.to_vec(),
            extents,
            shown: true,
            ..Object::default()
        };
        let objects = vec![
            object(0, &[1], None),
            object(s::RESIZABLE, &[2], Some([100, 80, 600, 400])),
            object(s::RESIZABLE, &[], Some([800, 80, 200, 100])),
        ];
        let mut picture = ObjectTree { toolkit: Toolkit::Qt, objects, truncated: false };
        assert!(parked_docks(&picture).is_empty());
        hide_by_position(&mut picture);
        assert!(picture.objects[2].shown);
    }
}
