//! Verifying one element without reading the whole app. The last capture still holds if nothing has
//! been signaled since, and all objects that are relevant to the element answer as before.
//!
//! Silence alone proves nothing, because toolkits do not signal everything. The element, the
//! content of its row, and the objects whose changes may change its record are therefore queried
//! again. If anything differs, the whole app is read again.

use crate::aim::{position, press};
use crate::app::{ActionPrefetch, AppView, LastCapture, LinuxDevice, WindowStack, capture, lifecycle};
use crate::bus::calls::query_actions;
use crate::bus::{BusResult, Link, embedded_path};
use crate::capture::question::{Question, Questions, may_be_socket};
use crate::capture::tree;
use crate::model::{Facts, Object, ObjectTree, PathNumbers, is_real, parents, role, roles, states};
use crate::toolkit::{PagePoint, page_point};
use futures_util::future::OptionFuture;
use hashbrown::HashSet;
use indexmap::IndexSet;
use std::sync::Arc;
use std::time::Instant;
use stickpin_device::{Result, Ticket};
use stickpin_tree::{Handle, Tree};

/// The maximum number of objects that are queried again; beyond that, the whole app is read.
const MOST: usize = 120;

/// The number of children of an object above which the children are not compared.
const CHILDREN: usize = 200;

/// The maximum length of a text that is read again, in bytes.
const CHARACTERS: usize = 2_000;

/// Returns the last tree, if it still holds for this element, and a ticket with the prefetched
/// answers.
///
/// For an element that is pressed through its own action, the same batch queries its position
/// before its identity, and its actions afterwards. Meanwhile, the X server lists its windows.
///
/// # Errors
/// Returns `BACKEND_LOST` or `TIMEOUT`.
pub(crate) async fn reuse_last_tree(
    view: AppView<'_>,
    handle: Handle,
    context: &[Handle],
) -> Result<Option<(Arc<Tree>, Ticket)>> {
    let AppView { app, last } = view;
    let seen = last.changes_when_read;
    let unchanged = app.events.state().changes == seen;
    let tree = last.tree.as_ref().filter(|_| unchanged);
    let again = tree.and_then(|tree| Some((tree, RecheckedObjects::of(last, &app.ids, handle, context)?)));
    if let Some((tree, again)) = again {
        let (link, picture, at) = (&app.link, &last.picture, again.objects[0]);
        let by_action = press::presses_by_action(view, at);
        let rects = OptionFuture::from(by_action.then(|| position::aim_rects(view, at)));
        let actions = OptionFuture::from(by_action.then(|| query_actions(link, &picture[at].path)));
        let stack = OptionFuture::from(by_action.then(|| WindowStack::of(app)));
        let (rects, now, actions, stack) =
            tokio::join!(biased; rects, again.ask(link, picture), actions, stack);
        let now = lifecycle::check_answer(app, now).await?;
        if now.same && app.events.state().changes == seen {
            // Unanswered queries are repeated when needed, which reports the error.
            let answers = rects.and_then(Result::ok).zip(actions.and_then(Result::ok));
            let ahead = answers.zip(stack.and_then(Result::ok)).map(|((rects, actions), stack)| {
                let (of, changes, at, context) = (handle, seen, Instant::now(), context.to_vec());
                ActionPrefetch { of, changes, at, context, rects, stack, actions }
            });
            return Ok(Some((Arc::clone(tree), Ticket::from_option(ahead))));
        }
    }
    // Signals that have arrived so far belong to the next capture.
    lifecycle::barrier(app).await.map(|()| None)
}

/// Returns the last tree, updated with the current answers about the element, whatever else has
/// changed; `None` if a new capture is necessary.
///
/// # Errors
/// Returns `BACKEND_LOST` or `TIMEOUT`, and `INTERNAL` if the answers do not form a valid tree.
pub(crate) async fn recheck_element(device: &mut LinuxDevice, handle: Handle) -> Result<Option<Arc<Tree>>> {
    let LinuxDevice { app, last, .. } = device;
    let Some(again) = RecheckedObjects::itself(last, &app.ids, handle) else {
        return lifecycle::barrier(app).await.map(|()| None);
    };
    let mut now = lifecycle::check_answer(app, again.ask(&app.link, &last.picture).await).await?;
    if now.same {
        return Ok(last.tree.clone());
    }
    if !again.fits(&now, &last.picture) {
        return Ok(None);
    }
    // Exchange the objects only while the tree is built, because a copy of the whole capture would
    // cost as much as the tree.
    again.exchange(&mut now, &mut last.picture);
    let tree = tree::build(&last.picture, &app.ids, &app.url, &[]);
    again.exchange(&mut now, &mut last.picture);
    tree.map(|tree| Some(Arc::new(tree))).map_err(|e| capture::not_a_tree(app, &e))
}

/// The objects that are queried again.
#[derive(Debug, Default, PartialEq, Eq)]
struct RecheckedObjects {
    /// The indices of the objects. The first one is the element.
    objects: IndexSet<usize>,
    /// The objects whose children are compared as well.
    above: HashSet<usize>,
    /// The element's position on a page that may be switched without a signal.
    spot: Option<PagePoint>,
}

/// The current state of the objects that were queried again.
#[derive(Debug)]
struct RecheckAnswers {
    /// The objects, in the order of the queries.
    objects: Vec<Object>,
    /// Whether all objects still exist, with the same children.
    there: bool,
    /// Whether nothing differs at all.
    same: bool,
}

impl RecheckedObjects {
    /// Collects the objects that are relevant to an element: the element itself, its ancestors, its
    /// row, and the context of its record. Returns `None` if the element is not in the capture, or
    /// if there are too many objects.
    fn of(last: &LastCapture, ids: &PathNumbers, handle: Handle, context: &[Handle]) -> Option<Self> {
        let picture = &last.picture;
        let find = |handle| find_shown(last, ids, handle);
        let target = find(handle)?;
        let spot = page_point(picture, &last.parents, target);
        let mut again = Self { spot, ..Self::default() };
        for start in std::iter::once(target).chain(context.iter().filter_map(|&h| find(h))) {
            for at in parents::ancestors(&last.parents, start) {
                if at != target {
                    again.above.insert(at);
                }
                let whole = is_row(&picture[at]) || (at == target && names_itself(picture, at));
                again.add(picture, at, whole)?;
            }
        }
        (again.objects.len() <= MOST).then_some(again)
    }

    /// Collects the element, the objects that may name it (its content and labels), and its window,
    /// whose title an action may change. Returns `None` if the element is not in the capture, or if
    /// there are too many objects.
    fn itself(last: &LastCapture, ids: &PathNumbers, handle: Handle) -> Option<Self> {
        let (picture, target) = (&last.picture, find_shown(last, ids, handle)?);
        let mut again = Self::default();
        let labels = picture[target].labelled_by.iter().filter_map(|label| last.at(label));
        for at in std::iter::once(target).chain(labels) {
            again.add(picture, at, at != target || names_itself(picture, at))?;
        }
        again.objects.extend(parents::top(&last.parents, target));
        (again.objects.len() <= MOST).then_some(again)
    }

    /// Adds an object and, if `whole` is set, its shown descendants. Returns `None` if there are
    /// too many objects.
    fn add(&mut self, picture: &ObjectTree, at: usize, whole: bool) -> Option<()> {
        if whole && self.objects.len() > MOST {
            return None;
        }
        self.objects.insert(at);
        let children = if whole { &*picture[at].children } else { &[] };
        if !children.is_empty() {
            self.above.insert(at);
        }
        let mut children = children.iter().filter(|&&child| picture[child].shown);
        children.try_for_each(|&child| self.add(picture, child, true))
    }

    /// Returns the queries about each object.
    fn questions(&self, picture: &ObjectTree) -> Questions {
        let mut questions = Questions::default();
        let roles_change = !picture.profile().roles_are_fixed;
        for (at, &place) in self.objects.iter().enumerate() {
            let object = &picture[place];
            // The app has no such object.
            if !is_real(&object.path) {
                continue;
            }
            let few = object.children.len() <= CHILDREN && !object.is(states::MANAGES_DESCENDANTS);
            let holds = few && self.above.contains(&place);
            let asks = [
                (place != 0, Question::Name),
                (place != 0, Question::States),
                (place != 0 && roles_change, Question::Role),
                (object.text.as_ref().is_some_and(|text| text.len() <= CHARACTERS), Question::Text),
                (object.number.is_some(), Question::Number),
                (holds, Question::Children),
                (holds && may_be_socket(picture, place), Question::Plugged),
            ];
            questions.add_all(at, asks.into_iter().filter_map(|(asked, ask)| asked.then_some(ask)));
        }
        questions
    }

    /// Repeats the queries and compares the answers. All signals that preceded the answers have
    /// been received when this returns.
    async fn ask(&self, link: &Link, picture: &ObjectTree) -> BusResult<RecheckAnswers> {
        let old: Vec<&Object> = self.objects.iter().map(|&at| &picture[at]).collect();
        let objects = old.iter().map(|&object| object.clone()).collect();
        let mut now = ObjectTree { toolkit: picture.toolkit, objects, truncated: false };
        let questions = self.questions(picture);
        let shown = async {
            let Some(spot) = &self.spot else { return Ok(true) };
            spot.is_shown(link, picture).await
        };
        let answers = questions.ask_in_order(link, &mut now);
        let (shown, answers) = tokio::try_join!(biased; shown, answers)?;
        let objects = now.objects;
        let path = |at: &usize| picture[*at].path.as_str();
        let same_children = |(at, named): &(usize, Vec<String>)| {
            let host = &old[*at].path;
            let own = |path: &str| Link::same_process(host, path);
            let mut named: Vec<&str> = named.iter().map(String::as_str).filter(|path| own(path)).collect();
            // Children that another parent shows must still be listed.
            let aside = old[*at].duplicate_children.iter().map(path).all(|aside| {
                named.iter().position(|path| *path == aside).map(|at| named.remove(at)).is_some()
            });
            aside && old[*at].children.iter().map(path).filter(|path| own(path)).eq(named)
        };
        // A plugged-in process may be named differently from how it names itself.
        let same_plugged = |(at, named): &(usize, String)| {
            let known = old[*at].children.iter().map(path).find_map(embedded_path).map(|(_, path)| path);
            known == embedded_path(named).map(|(_, path)| path)
        };
        let there = shown
            && answers.vanished.is_empty()
            && answers.children.iter().all(same_children)
            && answers.plugged.iter().all(same_plugged);
        let same = there && objects.iter().eq(old.iter().copied());
        Ok(RecheckAnswers { objects, there, same })
    }

    /// Returns whether the answers can replace the old objects: all of them still exist with the
    /// same children, and none has become visible or invisible.
    fn fits(&self, now: &RecheckAnswers, picture: &ObjectTree) -> bool {
        let seen = |object: &Object| states::is_visible(object.states, picture.toolkit);
        let kept = |(object, &at): (&Object, &usize)| seen(object) == seen(&picture[at]);
        now.there && now.objects.iter().zip(&self.objects).all(kept)
    }

    /// Swaps the answers with the old objects of the capture.
    fn exchange(&self, now: &mut RecheckAnswers, picture: &mut ObjectTree) {
        for (object, &at) in now.objects.iter_mut().zip(&self.objects) {
            std::mem::swap(object, &mut picture[at]);
        }
    }
}

/// Returns the index of a handle's object, if it is shown.
fn find_shown(last: &LastCapture, ids: &PathNumbers, handle: Handle) -> Option<usize> {
    last.at(&ids.path(handle.id)?).filter(|&at| last[at].shown)
}

/// Returns whether the content of an object may be its name.
fn names_itself(picture: &ObjectTree, at: usize) -> bool {
    let object = &picture[at];
    // In GTK 3, the name of a cell may come from the cells inside it.
    let of_pieces = picture.profile().cells_hold_cells && object.role == role::TABLE_CELL;
    roles::is(object.role, Facts::CONTENT) || of_pieces
}

/// Returns whether an object is a row, which distinguishes its elements from similar ones.
fn is_row(object: &Object) -> bool {
    matches!(object.role, role::LIST_ITEM | role::TABLE_ROW | role::TREE_ITEM | role::ARTICLE)
}

#[cfg(test)]
mod tests;
