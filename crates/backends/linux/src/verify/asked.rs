//! What is asked again of an element: itself, what its row holds, and of what lies above it what may tell another record.

use crate::capture::ask::{Ask, Questions};
use crate::capture::pages::Spot;
use crate::model::asked::may_be_socket;
use crate::model::rows::ROW;
use crate::model::{Object, Picture, parents};
use crate::roles::{self, number as role};
use crate::toolkit::Toolkit;
use crate::{names, states};
use hashbrown::HashSet;
use std::sync::Arc;
use stickpin_tree::Handle;

/// Objects that are asked again at most; more, and the app is read anew.
const MOST: usize = 120;

/// Children of one object that are compared.
const CHILDREN: usize = 200;

/// Characters of a text that are read again.
const CHARACTERS: usize = 2_000;

/// The objects that are asked again.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Again {
    /// The element is the first.
    pub(super) objects: Vec<usize>,
    /// Those whose children are compared, too.
    pub(super) above: HashSet<usize>,
    /// Those that only lie above it, or above what its record is told by: they are asked for less, see [`Again::of`].
    pub(super) around: HashSet<usize>,
    /// Where it is on a page that may have been turned without a word.
    pub(super) spot: Option<Spot>,
}

impl Again {
    /// The place of the element in the picture.
    pub(super) fn target(&self) -> usize {
        self.objects.first().copied().unwrap_or_default()
    }

    /// What counts for an element; none where it is not in the picture, or it would be too much.
    ///
    /// What only lies above it is not asked for its role, nor the app for its name: neither tells one record from another
    /// (ADR 43).
    ///
    /// GTK 4 takes the path of an object away as soon as it, or anything above it, is taken out of its window
    /// (`gtk_widget_unroot`, `gtk_at_context_unrealize`). So an object that answers lies in what it lay in, and what is
    /// above it is asked only for what it would not signal: a name that comes from elsewhere, and what was added or has
    /// changed places where that may tell another record (ADR 39).
    pub(super) fn of(
        picture: &Picture,
        path: impl Fn(Handle) -> Option<Arc<str>>,
        handle: Handle,
        context: &[Handle],
    ) -> Option<Self> {
        // What is no child of anything, the app, lies above all the rest; its own place says so.
        let above = parents::parents(picture);
        let find = |h: Handle| {
            let path = path(h)?;
            picture
                .objects
                .iter()
                .position(|object| *object.path == *path)
                .filter(|&at| picture.objects[at].shown)
        };
        let target = find(handle)?;
        let context: Vec<usize> = context.iter().filter_map(|&h| find(h)).collect();
        let ordered = (picture.toolkit == Toolkit::Gtk4).then(|| between(&above, target, &context));
        let starts = [&[target], &context[..]].concat();
        let (mut again, mut seen) = (Self::default(), HashSet::new());
        again.spot = Spot::of(picture, &above, target);
        for &start in &starts {
            for at in parents::up(&above, start) {
                let object = &picture.objects[at];
                let listed = |ordered: &HashSet<usize>| at == start || at == 0 || ordered.contains(&at);
                if at != target && ordered.as_ref().is_none_or(listed) {
                    again.above.insert(at);
                }
                if is_row(object) || (at == target && is_named_inside(picture, at)) {
                    again.whole(picture, at, &mut seen)?;
                } else if seen.insert(at) {
                    again.objects.push(at);
                    if !starts.contains(&at) {
                        again.around.insert(at);
                    }
                }
            }
        }
        (again.objects.len() <= MOST).then_some(again)
    }

    /// The element with what may name it: what is written inside, and what labels it. Unless it is asked briefly, with the
    /// window that it stands in, too: an act may give that another title.
    pub(super) fn itself(
        picture: &Picture,
        path: impl Fn(Handle) -> Option<Arc<str>>,
        handle: Handle,
        brief: bool,
    ) -> Option<Self> {
        let path = path(handle)?;
        let find = |path: &str| picture.objects.iter().position(|o| o.path == path);
        let target = find(&path).filter(|&at| picture.objects[at].shown)?;
        let mut again = Self::default();
        let own = &picture.objects[target];
        if brief && !own.name.is_empty() && own.labelled_by.is_empty() {
            again.objects.push(target);
            return Some(again);
        }
        let mut seen = HashSet::new();
        let labels = own.labelled_by.iter().filter_map(|label| find(label));
        for at in std::iter::once(target).chain(labels) {
            if at != target || names_itself(picture, at) {
                again.whole(picture, at, &mut seen)?;
            } else if seen.insert(at) {
                again.objects.push(at);
            }
        }
        if !brief
            && let Some(window) = parents::top(&parents::parents(picture), target)
            && seen.insert(window)
        {
            again.objects.push(window);
            again.around.insert(window);
        }
        (again.objects.len() <= MOST).then_some(again)
    }

    /// Adds an object with everything below it.
    fn whole(&mut self, picture: &Picture, at: usize, seen: &mut HashSet<usize>) -> Option<()> {
        if self.objects.len() > MOST {
            return None;
        }
        if seen.insert(at) {
            self.objects.push(at);
        }
        let object = &picture.objects[at];
        if !object.children.is_empty() {
            self.above.insert(at);
        }
        object
            .children
            .iter()
            .filter(|&&c| picture.objects[c].shown)
            .try_for_each(|&c| self.whole(picture, c, seen))
    }

    /// What is asked of each.
    pub(super) fn questions(&self, picture: &Picture, old: &[&Object]) -> Questions {
        let mut questions = Questions::default();
        let gtk4 = picture.toolkit == Toolkit::Gtk4;
        for (at, (&object, &place)) in old.iter().zip(&self.objects).enumerate() {
            // The app knows no object for it.
            if object.path.is_empty() || object.path.ends_with(ROW) {
                continue;
            }
            let parent = self.above.contains(&place)
                && object.children.len() <= CHILDREN
                && !object.is(states::MANAGES_DESCENDANTS);
            let around = self.around.contains(&place);
            let signalled = gtk4 && around;
            // GTK 4 shows what lies in a wrapper by its children, and signals a name that is given to it. The app keeps its own.
            let wraps = gtk4 && at != 0 && !is_named(picture, place) && roles::is_wrapper(object.role);
            let nameless = wraps && (parent || signalled) || around && place == 0;
            if !nameless {
                questions.add(at, Ask::Name);
            }
            if place != 0 && !nameless && !signalled {
                questions.add(at, Ask::States);
                // GTK 4: "cannot be changed once set" (`GtkAccessible:accessible-role`).
                if !gtk4 && !around {
                    questions.add(at, Ask::Role);
                }
            }
            if object.text.as_ref().is_some_and(|text| text.len() <= CHARACTERS) && !signalled {
                questions.add(at, Ask::Text);
            }
            if object.number.is_some() && !signalled {
                questions.add(at, Ask::Number);
            }
            if parent {
                questions.add(at, Ask::Children);
                if may_be_socket(picture, place) {
                    questions.add(at, Ask::Plugged);
                }
            }
        }
        questions
    }
}

/// Where the order of what lies there may tell which record an element belongs to: its parent, what its row and all that
/// lies between stands in, and what lies between it and whatever else its record is told by, as far as what they lie in
/// together.
fn between(above: &[usize], target: usize, context: &[usize]) -> HashSet<usize> {
    let own: Vec<usize> = parents::up(above, target).collect();
    let mut out: HashSet<usize> = [above[target]].into();
    for &at in context {
        let top = match own.contains(&at) {
            true => above[at],
            false => parents::up(above, at).find(|at| own.contains(at)).unwrap_or_default(),
        };
        out.insert(top);
        for from in [at, target] {
            out.extend(parents::up(above, from).skip(1).take_while(|&at| at != top));
        }
    }
    out
}

/// Whether an object has a name, and not only that of its class.
fn is_named(picture: &Picture, at: usize) -> bool {
    let object = &picture.objects[at];
    let wrapper = roles::is_wrapper(object.role);
    !names::cleaned(&object.name, picture.toolkit, wrapper, "").is_empty()
}

/// Whether what is written inside has to be asked for to know an element's name. GTK 4 makes the name from what is inside
/// each time that it is asked for it, and signals what is written there.
fn is_named_inside(picture: &Picture, at: usize) -> bool {
    names_itself(picture, at) && !(picture.toolkit == Toolkit::Gtk4 && is_named(picture, at))
}

/// Whether what is written inside is little, and may be the name.
fn names_itself(picture: &Picture, at: usize) -> bool {
    let object = &picture.objects[at];
    // A cell of GTK 3 may be called what the cells in it read.
    let of_pieces = picture.toolkit == Toolkit::Gtk3 && object.role == role::TABLE_CELL;
    roles::is_named_by_content(object.role) || of_pieces
}

/// What repeats, and tells its elements from those of its likes.
fn is_row(object: &Object) -> bool {
    matches!(object.role, role::LIST_ITEM | role::TABLE_ROW | role::TREE_ITEM | role::ARTICLE)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A window with a list of two rows of two cells each, and a button.
    pub(in crate::verify) fn picture() -> Picture {
        let object = |role, children: &[usize]| Object {
            role,
            children: children.to_vec(),
            shown: true,
            ..Object::default()
        };
        let mut objects = vec![
            object(75, &[1]),
            object(role::FRAME, &[2, 9]),
            object(role::LIST, &[3, 6]),
            object(role::LIST_ITEM, &[4, 5]),
            object(role::LABEL, &[]),
            object(role::PUSH_BUTTON, &[]),
            object(role::LIST_ITEM, &[7, 8]),
            object(role::LABEL, &[]),
            object(role::PUSH_BUTTON, &[]),
            object(role::PUSH_BUTTON, &[]),
        ];
        for (at, object) in objects.iter_mut().enumerate() {
            object.path = format!("/{at}");
        }
        Picture { toolkit: Toolkit::Gtk3, objects, truncated: false }
    }

    /// What counts for an element of a picture whose paths are its places.
    fn again_of(picture: &Picture, target: u64, context: &[u64]) -> Option<Again> {
        let paths: Vec<String> = picture.objects.iter().map(|object| object.path.clone()).collect();
        let handle = |id| Handle { scope: 1, id };
        let context: Vec<Handle> = context.iter().copied().map(handle).collect();
        let path = |h: Handle| paths.get(h.id as usize).map(|path| path.as_str().into());
        Again::of(picture, path, handle(target), &context)
    }

    /// What is asked for it, by place.
    fn asked_of(picture: &Picture, target: u64, context: &[u64]) -> Vec<(usize, Ask)> {
        let again = again_of(picture, target, context).expect("it is there");
        let old: Vec<&Object> = again.objects.iter().map(|&at| &picture.objects[at]).collect();
        let questions = again.questions(picture, &old);
        let mut asked: Vec<(usize, Ask)> =
            questions.all().iter().map(|&(at, ask)| (again.objects[at], ask)).collect();
        asked.sort_by_key(|&(at, _)| at);
        asked
    }

    fn again(target: u64, context: &[u64]) -> Option<(Vec<usize>, Vec<usize>)> {
        let again = again_of(&picture(), target, context)?;
        let mut objects = again.objects;
        let mut above: Vec<usize> = again.above.into_iter().collect();
        objects.sort_unstable();
        above.sort_unstable();
        Some((objects, above))
    }

    #[test]
    fn the_row_of_an_element_is_asked_whole_and_what_is_above_it_for_its_children() {
        assert_eq!(again(5, &[]), Some((vec![0, 1, 2, 3, 4, 5], vec![0, 1, 2, 3])));
        assert_eq!(again(9, &[]), Some((vec![0, 1, 9], vec![0, 1])));
    }

    #[test]
    fn what_only_lies_above_is_not_asked_for_its_role() {
        let asked = |target, context: &[u64]| {
            let asked = asked_of(&picture(), target, context);
            let of = |ask| asked.iter().filter(|asked| asked.1 == ask).map(|&(at, _)| at).collect::<Vec<_>>();
            (of(Ask::Role), of(Ask::Name))
        };
        // The row and what is in it tell the record; the list and the window do not by what they are.
        assert_eq!(asked(5, &[]), (vec![3, 4, 5], vec![1, 2, 3, 4, 5]));
        assert_eq!(asked(9, &[2]), (vec![2, 9], vec![1, 2, 9]));
    }

    #[test]
    fn what_the_record_is_told_by_is_asked_too() {
        assert_eq!(again(9, &[4]), Some((vec![0, 1, 2, 3, 4, 5, 9], vec![0, 1, 2, 3, 4])));
    }

    #[test]
    fn what_is_not_in_the_picture_proves_nothing() {
        assert_eq!(again(77, &[]), None);
    }

    #[test]
    fn a_wrapper_of_gtk_4_is_asked_for_its_children_alone_and_nothing_there_for_its_role() {
        let mut picture = picture();
        // The list is a box without a name.
        picture.objects[2].role = role::PANEL;
        let asked = |toolkit, named: &str| {
            let mut picture = Picture { toolkit, ..picture.clone() };
            picture.objects[2].name = named.to_owned();
            let again = Again { objects: vec![9, 2], above: [2].into(), ..Again::default() };
            let old = [&picture.objects[9], &picture.objects[2]];
            again.questions(&picture, &old).all().to_vec()
        };
        let own = [(0, Ask::Name), (0, Ask::States)];
        assert_eq!(asked(Toolkit::Gtk4, ""), [&own[..], &[(1, Ask::Children)]].concat());
        let all = [(1, Ask::Name), (1, Ask::States), (1, Ask::Children)];
        assert_eq!(
            asked(Toolkit::Gtk4, "Keys"),
            [&own[..], &all].concat(),
            "its name may tell elements apart"
        );
        let roles = [(0, Ask::Role), (1, Ask::Name), (1, Ask::States), (1, Ask::Role), (1, Ask::Children)];
        assert_eq!(asked(Toolkit::Gtk3, ""), [&own[..], &roles].concat());
    }

    #[test]
    fn what_is_above_an_element_of_gtk_4_is_asked_as_far_as_it_may_tell_another_record() {
        // A window with a heading, and two boxes in a box, each in a box of its own, with a label and a button.
        let object = |role, children: &[usize], name: &str| Object {
            role,
            children: children.to_vec(),
            shown: true,
            name: name.to_owned(),
            ..Object::default()
        };
        let mut objects = vec![
            object(75, &[1], "App"),
            object(role::FRAME, &[2, 3], "Orders"),
            object(role::HEADING, &[], "All"),
            object(role::PANEL, &[4], "GtkBox"),
            object(role::PANEL, &[5, 8], ""),
            object(role::PANEL, &[6, 7], ""),
            object(role::LABEL, &[], "Anna"),
            object(role::PUSH_BUTTON, &[10], "Delete Delete"),
            object(role::PANEL, &[9], ""),
            object(role::PUSH_BUTTON, &[], "Delete"),
            object(role::LABEL, &[], "Delete"),
        ];
        for (at, object) in objects.iter_mut().enumerate() {
            object.path = format!("/{at}");
        }
        let picture = Picture { toolkit: Toolkit::Gtk4, objects, truncated: false };
        let asked = |picture: &Picture, context: &[u64]| asked_of(picture, 7, context);
        let own = [(7, Ask::Name), (7, Ask::States)];
        let above = [(0, Ask::Children), (1, Ask::Name)];
        let children = |of: &[usize]| of.iter().map(|&at| (at, Ask::Children)).collect::<Vec<_>>();
        assert_eq!(asked(&picture, &[]), [&above[..], &children(&[5]), &own].concat());
        let row = [&above[..], &children(&[4, 5]), &own].concat();
        assert_eq!(asked(&picture, &[5]), row, "its row, and what else stands where that stands");
        let heading = [
            &above[..],
            &children(&[1]),
            &[(2, Ask::Name), (2, Ask::States), (2, Ask::Children)],
            &children(&[3, 4, 5]),
            &own,
        ];
        assert_eq!(asked(&picture, &[2]), heading.concat(), "whether it still stands under its heading");
        let mut nameless = picture.clone();
        nameless.objects[7].name = "GtkButton".to_owned();
        let inside = [(7, Ask::Children), (10, Ask::Name), (10, Ask::States)];
        assert_eq!(
            asked(&nameless, &[]),
            [&above[..], &children(&[5]), &own, &inside].concat(),
            "what is written inside is its name"
        );
        let mut named = picture;
        named.objects[4].name = "Order Anna".to_owned();
        assert!(asked(&named, &[]).contains(&(4, Ask::Name)), "a relation may give it another");
    }

    #[test]
    fn an_element_by_itself_is_asked_with_what_names_it() {
        let mut picture = picture();
        picture.objects[9].labelled_by = vec!["/7".to_owned(), "/nowhere".to_owned()];
        let asked = |picture: &Picture, at: u64, brief| {
            let path = format!("/{at}");
            let handle = Handle { scope: 1, id: at };
            Again::itself(picture, |_| Some(path.as_str().into()), handle, brief).map(|again| again.objects)
        };
        let itself = |at| asked(&picture, at, false);
        assert_eq!(itself(9), Some(vec![9, 7, 1]), "and its window");
        assert_eq!(itself(2), Some(vec![2, 1]));
        // A row is named by what is written inside it.
        assert_eq!(itself(3).map(|objects| objects[0]), Some(3));
        assert_eq!(itself(77), None);
        // A button that a label lies in.
        picture.objects[8].children = vec![7];
        assert_eq!(asked(&picture, 8, true), Some(vec![8, 7]), "it has no name but that");
        picture.objects[8].name = "Save".to_owned();
        assert_eq!(asked(&picture, 8, false), Some(vec![8, 7, 1]));
        assert_eq!(asked(&picture, 8, true), Some(vec![8]));
        picture.objects[8].labelled_by = vec!["/4".to_owned()];
        assert_eq!(asked(&picture, 8, true), Some(vec![8, 7, 4]), "another names it");
    }
}
