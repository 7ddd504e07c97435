//! What is asked again of an element: itself, what its row holds, and of what lies above it what may tell another record.

use crate::capture::ask::{Ask, Questions};
use crate::capture::pages::Spot;
use crate::model::asked::may_be_socket;
use crate::model::roles::{self, number as role};
use crate::model::rows::ROW;
use crate::model::states;
use crate::model::{Object, Picture, parents};
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
    /// Where it is on a page that may have been turned without a word.
    pub(super) spot: Option<Spot>,
}

impl Again {
    /// What counts for an element: itself, all above it, its row, and what its record is told by. None where it is not in
    /// the picture, or it would be too much.
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
        let (mut again, mut seen) = (Self::default(), HashSet::new());
        again.spot = Spot::of(picture, &above, target);
        for start in std::iter::once(target).chain(context.iter().filter_map(|&h| find(h))) {
            for at in parents::up(&above, start) {
                if at != target {
                    again.above.insert(at);
                }
                if is_row(&picture.objects[at]) || (at == target && names_itself(picture, at)) {
                    again.whole(picture, at, &mut seen)?;
                } else if seen.insert(at) {
                    again.objects.push(at);
                }
            }
        }
        (again.objects.len() <= MOST).then_some(again)
    }

    /// The element with what may name it: what is written inside, and what labels it; and the window that it stands in: an
    /// act may give that another title.
    pub(super) fn itself(
        picture: &Picture,
        path: impl Fn(Handle) -> Option<Arc<str>>,
        handle: Handle,
    ) -> Option<Self> {
        let path = path(handle)?;
        let find = |path: &str| picture.objects.iter().position(|o| o.path == path);
        let target = find(&path).filter(|&at| picture.objects[at].shown)?;
        let mut again = Self::default();
        let mut seen = HashSet::new();
        let labels = picture.objects[target].labelled_by.iter().filter_map(|label| find(label));
        for at in std::iter::once(target).chain(labels) {
            if at != target || names_itself(picture, at) {
                again.whole(picture, at, &mut seen)?;
            } else if seen.insert(at) {
                again.objects.push(at);
            }
        }
        let window = parents::top(&parents::parents(picture), target);
        again.objects.extend(window.filter(|&window| seen.insert(window)));
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
        for (at, (&object, &place)) in old.iter().zip(&self.objects).enumerate() {
            // The app knows no object for it.
            if object.path.is_empty() || object.path.ends_with(ROW) {
                continue;
            }
            if place != 0 {
                [Ask::Name, Ask::States, Ask::Role].into_iter().for_each(|ask| questions.add(at, ask));
            }
            if object.text.as_ref().is_some_and(|text| text.len() <= CHARACTERS) {
                questions.add(at, Ask::Text);
            }
            if object.number.is_some() {
                questions.add(at, Ask::Number);
            }
            if self.above.contains(&place)
                && object.children.len() <= CHILDREN
                && !object.is(states::MANAGES_DESCENDANTS)
            {
                questions.add(at, Ask::Children);
                if may_be_socket(picture, place) {
                    questions.add(at, Ask::Plugged);
                }
            }
        }
        questions
    }
}

/// Whether what is written inside is little, and may be the name.
fn names_itself(picture: &Picture, at: usize) -> bool {
    let object = &picture.objects[at];
    // A cell of GTK 3 may be called what the cells in it read.
    let of_pieces = picture.toolkit.profile().cells_hold_cells && object.role == role::TABLE_CELL;
    roles::is_named_by_content(object.role) || of_pieces
}

/// What repeats, and tells its elements from those of its likes.
fn is_row(object: &Object) -> bool {
    matches!(object.role, role::LIST_ITEM | role::TABLE_ROW | role::TREE_ITEM | role::ARTICLE)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::toolkit::Toolkit;

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
    fn all_that_is_compared_is_asked_what_it_is_but_the_app_itself() {
        let asked = asked_of(&picture(), 9, &[]);
        let own = [Ask::Name, Ask::States, Ask::Role];
        let expected = [
            vec![(0, Ask::Children)],
            own.iter().map(|&ask| (1, ask)).collect(),
            vec![(1, Ask::Children)],
            own.iter().map(|&ask| (9, ask)).collect(),
        ];
        assert_eq!(asked, expected.concat());
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
    fn an_element_by_itself_is_asked_with_what_names_it() {
        let mut picture = picture();
        picture.objects[9].labelled_by = vec!["/7".to_owned(), "/nowhere".to_owned()];
        let itself = |picture: &Picture, at: u64| {
            let path = format!("/{at}");
            let handle = Handle { scope: 1, id: at };
            Again::itself(picture, |_| Some(path.as_str().into()), handle).map(|again| again.objects)
        };
        assert_eq!(itself(&picture, 9), Some(vec![9, 7, 1]), "and its window");
        assert_eq!(itself(&picture, 2), Some(vec![2, 1]));
        // A row is named by what is written inside it.
        assert_eq!(itself(&picture, 3).map(|objects| objects[0]), Some(3));
        assert_eq!(itself(&picture, 77), None);
        // A button that a label lies in.
        picture.objects[8].children = vec![7];
        assert_eq!(itself(&picture, 8), Some(vec![8, 7, 1]));
        picture.objects[8].labelled_by = vec!["/4".to_owned()];
        assert_eq!(itself(&picture, 8), Some(vec![8, 7, 4, 1]), "another names it");
    }
}
