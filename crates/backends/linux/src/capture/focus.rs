//! What has the keyboard's focus, where a toolkit says it of more than one thing.
//!
//! Qt says it of every widget that hands the focus on to another one (`QWidget::setFocusProxy`, the buttons of a status bar
//! that hand it to the editor), and of the current item of every list, whether or not the keys go to that list.

use crate::limits;
use crate::model::Picture;
use crate::model::parents::chain;
use crate::model::roles::{self, Facts, number as n};
use crate::model::states as s;
use hashbrown::HashSet;

/// Objects that say that they have the focus, and have it not.
pub(super) fn elsewhere(picture: &Picture) -> HashSet<usize> {
    let mut out = HashSet::new();
    if !picture.toolkit.profile().several_say_focused {
        return out;
    }
    let mut found = Found::default();
    for &window in &picture.root().children {
        found.look(picture, window, None, 0);
    }
    let Found { widgets, holders, items } = found;
    // Nobody can say which of several hands it on, unless one is where text is written.
    let mut fields = holders.iter().copied().filter(|&at| picture.objects[at].is(s::EDITABLE));
    if let (Some(field), None) = (fields.next(), fields.next()) {
        let around = chain(picture, field);
        out.extend(widgets.into_iter().filter(|at| !around.contains(at)));
    }
    let has_it = |list: Option<usize>| list.is_some_and(|list| picture.objects[list].is(s::FOCUSED));
    // Tables of Qt 5 never say that they have it, so that of one alone the item is believed.
    let lists: HashSet<Option<usize>> = items.iter().map(|&(_, list)| list).collect();
    let believed = holders.is_empty() && lists.len() == 1;
    out.extend(items.into_iter().filter(|&(_, list)| !believed && !has_it(list)).map(|(at, _)| at));
    out
}

/// Objects that say that they have the focus.
#[derive(Default)]
struct Found {
    /// Widgets.
    widgets: Vec<usize>,
    /// The innermost of those in one another.
    holders: Vec<usize>,
    /// Things in lists, tables and trees, each with the one that it is in.
    items: Vec<(usize, Option<usize>)>,
}

impl Found {
    /// Looks through an object and what is in it; `list` is what it is an item of. Whether a widget in it has the focus.
    fn look(&mut self, picture: &Picture, at: usize, list: Option<usize>, depth: usize) -> bool {
        let object = &picture.objects[at];
        if !object.shown || depth > limits::DEPTH {
            return false;
        }
        let below = if is_list(object.role) { Some(at) } else { list };
        let mut inside = false;
        for &child in &object.children {
            inside |= self.look(picture, child, below, depth + 1);
        }
        if !object.is(s::FOCUSED) || depth == 0 {
            return inside;
        }
        match object.role {
            // A tab says that it is chosen by this, and an open menu takes the keys from all others.
            n::PAGE_TAB | n::MENU_ITEM | n::CHECK_MENU_ITEM | n::RADIO_MENU_ITEM => inside,
            _ if list.is_some() && roles::is(object.role, Facts::ITEM) => {
                self.items.push((at, list));
                inside
            }
            _ => {
                self.widgets.push(at);
                if !inside {
                    self.holders.push(at);
                }
                true
            }
        }
    }
}

fn is_list(role: u32) -> bool {
    matches!(role, n::LIST | n::LIST_BOX | n::TABLE | n::TREE | n::TREE_TABLE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Object;
    use crate::toolkit::Toolkit;

    /// An app with one window that holds these: role, states, children among them.
    fn app(inside: &[(u32, u64, &[usize])]) -> Picture {
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
        Picture { toolkit: Toolkit::Qt, objects, truncated: false }
    }

    fn without_it(picture: &Picture) -> Vec<usize> {
        let mut out: Vec<usize> = elsewhere(picture).into_iter().collect();
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
        // Of two that nothing tells apart both are believed.
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
        // None of the lists says that it has it: it is not known which.
        assert_eq!(without_it(&lists(0, 0, 0)), [3, 5]);
        let one = app(&[(n::TABLE, 0, &[3]), (n::TABLE_CELL, here, &[])]);
        assert!(without_it(&one).is_empty(), "Qt 5 says it of cells only");
    }
}
