//! What is asked again of an element: itself, what its row holds, and of what lies above it what
//! may tell another record.

use crate::capture::ask::{Ask, Questions, may_be_socket};
use crate::capture::pages::Spot;
use crate::model::ids::Ids;
use crate::model::roles::{self, Facts, number as role};
use crate::model::rows::ROW;
use crate::model::states;
use crate::model::{Object, Picture, parents};
use hashbrown::HashSet;
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
    /// The place of the element in the picture.
    pub(super) fn target(&self) -> usize {
        self.objects.first().copied().unwrap_or_default()
    }

    /// What counts for an element: itself, all above it, its row, and what its record is told by.
    /// None where it is not in the picture, or it would be too much.
    pub(super) fn of(picture: &Picture, ids: &Ids, handle: Handle, context: &[Handle]) -> Option<Self> {
        // What is no child of anything, the app, lies above all the rest; its own place says so.
        let above = parents::parents(picture);
        let find = |h: Handle| shown(picture, &ids.path(h.id)?);
        let target = find(handle)?;
        let (mut again, mut seen) = (Self::default(), HashSet::new());
        again.spot = Spot::of(picture, &above, target);
        for start in std::iter::once(target).chain(context.iter().filter_map(|&h| find(h))) {
            for at in parents::up(&above, start) {
                if at != target {
                    again.above.insert(at);
                }
                let whole = is_row(&picture.objects[at]) || (at == target && names_itself(picture, at));
                again.add(picture, at, whole, &mut seen)?;
            }
        }
        (again.objects.len() <= MOST).then_some(again)
    }

    /// The element with what may name it: what is written inside, and what labels it; and the
    /// window that it stands in: an act may give that another title.
    pub(super) fn itself(picture: &Picture, ids: &Ids, handle: Handle) -> Option<Self> {
        let target = shown(picture, &ids.path(handle.id)?)?;
        let find = |path: &str| picture.objects.iter().position(|o| o.path == path);
        let (mut again, mut seen) = (Self::default(), HashSet::new());
        let labels = picture.objects[target].labelled_by.iter().filter_map(|label| find(label));
        for at in std::iter::once(target).chain(labels) {
            again.add(picture, at, at != target || names_itself(picture, at), &mut seen)?;
        }
        let window = parents::top(&parents::parents(picture), target);
        again.objects.extend(window.filter(|&window| seen.insert(window)));
        (again.objects.len() <= MOST).then_some(again)
    }

    /// Adds an object, or the whole of it: everything below, too.
    fn add(&mut self, picture: &Picture, at: usize, whole: bool, seen: &mut HashSet<usize>) -> Option<()> {
        if whole && self.objects.len() > MOST {
            return None;
        }
        if seen.insert(at) {
            self.objects.push(at);
        }
        let children = if whole { &*picture.objects[at].children } else { &[] };
        if !children.is_empty() {
            self.above.insert(at);
        }
        let mut children = children.iter().filter(|&&child| picture.objects[child].shown);
        children.try_for_each(|&child| self.add(picture, child, true, seen))
    }

    /// What is asked of each.
    pub(super) fn questions(&self, picture: &Picture, old: &[&Object]) -> Questions {
        let mut questions = Questions::default();
        for (at, (&object, &place)) in old.iter().zip(&self.objects).enumerate() {
            // The app knows no object for it.
            if object.path.is_empty() || object.path.ends_with(ROW) {
                continue;
            }
            let few = object.children.len() <= CHILDREN && !object.is(states::MANAGES_DESCENDANTS);
            let holds = few && self.above.contains(&place);
            let asks = [
                (place != 0, Ask::Name),
                (place != 0, Ask::States),
                (place != 0, Ask::Role),
                (object.text.as_ref().is_some_and(|text| text.len() <= CHARACTERS), Ask::Text),
                (object.number.is_some(), Ask::Number),
                (holds, Ask::Children),
                (holds && may_be_socket(picture, place), Ask::Plugged),
            ];
            asks.into_iter().filter(|(asked, _)| *asked).for_each(|(_, ask)| questions.add(at, ask));
        }
        questions
    }
}

/// The object with a path, where it is shown.
fn shown(picture: &Picture, path: &str) -> Option<usize> {
    picture.objects.iter().position(|object| object.path == path).filter(|&at| picture.objects[at].shown)
}

/// Whether what is written inside is little, and may be the name.
fn names_itself(picture: &Picture, at: usize) -> bool {
    let object = &picture.objects[at];
    // A cell of GTK 3 may be called what the cells in it read.
    let of_pieces = picture.toolkit.profile().cells_hold_cells && object.role == role::TABLE_CELL;
    roles::is(object.role, Facts::CONTENT) || of_pieces
}

/// What repeats, and tells its elements from those of its likes.
fn is_row(object: &Object) -> bool {
    matches!(object.role, role::LIST_ITEM | role::TABLE_ROW | role::TREE_ITEM | role::ARTICLE)
}

#[cfg(test)]
pub(super) mod tests;
