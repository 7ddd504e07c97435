//! Reading the objects of the last capture again, in one round trip. Without it, an app that has no
//! cache is read in two round trips for each level of its objects.

use crate::bus::{BusResult, Link, Reference, embedded_path};
use crate::capture::question::{ALL_QUESTIONS, Question, Questions};
use crate::model::{Object, ObjectTree, is_real, states};
use hashbrown::HashMap;

/// An object of the last capture, as the app describes it now.
#[derive(Debug)]
pub(super) struct KnownObject {
    pub(super) object: Object,
    /// The children; `None` if the object is hidden, or may have too many of them.
    pub(super) children: Option<Vec<Reference>>,
}

/// Reads the objects that the last capture showed, by path. Objects that leave a query unanswered
/// are omitted: if the app still lists them, they are read like new ones.
///
/// # Errors
/// Returns an error if the app is gone or silent.
pub(super) async fn read_known(link: &Link, last: &ObjectTree) -> BusResult<HashMap<String, KnownObject>> {
    // Which queries are sent depends on the answers to others.
    if link.toolkit.profile().reads_text_late {
        return Ok(HashMap::new());
    }
    let is_own = |path: &str| is_real(path) && embedded_path(path).is_none();
    let before = last.objects.iter().skip(1).filter(|object| object.shown && is_own(&object.path));
    let mut picture = ObjectTree { toolkit: link.toolkit, objects: Vec::new(), truncated: false };
    let mut questions = Questions::default();
    for object in before {
        questions.add_all(picture.objects.len(), ALL_QUESTIONS.iter().map(|&ask| listing(ask, object)));
        picture.objects.push(Object { path: object.path.clone(), count: -1, ..Object::default() });
    }
    let mut answers = questions.ask(link, &mut picture).await?;
    if picture.truncated {
        return Ok(HashMap::new());
    }
    let mut children: HashMap<usize, Vec<Reference>> = answers.children.drain(..).collect();
    let unread = answers.without_answer();
    let objects = picture.objects.into_iter().enumerate().filter(|(at, _)| !unread.contains(at));
    let known = objects.map(|(at, object)| {
        let known = match is_hidden(&object) {
            true => {
                let Object { path, states, .. } = object;
                let object = Object { path, states, count: -1, ..Object::default() };
                KnownObject { object, children: None }
            }
            false => KnownObject { object, children: children.remove(&at) },
        };
        (known.object.path.clone(), known)
    });
    Ok(known.collect())
}

/// Returns the query to send instead of one for the number of children: the children are listed in
/// the same round trip, unless there may be too many.
pub(super) fn listing(ask: Question, object: &Object) -> Question {
    match ask {
        Question::Count if !object.is(states::MANAGES_DESCENDANTS) => Question::Children,
        ask => ask,
    }
}

/// Returns whether an object is not read any further. VISIBLE is enough, because objects in a
/// scroll container may be out of view.
pub(super) fn is_hidden(object: &Object) -> bool {
    !object.is(states::VISIBLE | states::SHOWING)
}
