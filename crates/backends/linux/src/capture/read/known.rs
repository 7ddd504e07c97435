//! Reading the objects of the last capture again, in one round trip. Without it, an app that has no
//! cache is read in two round trips for each level of its objects.

use crate::bus::{BusResult, Link, embedded_path};
use crate::capture::question::{ALL_QUESTIONS, Question, Questions};
use crate::model::{Object, ObjectTree, is_real, states};
use hashbrown::{HashMap, HashSet};

/// An object of the last capture, as the app describes it now, and the paths of its children;
/// `None` if the object is hidden, or may have too many of them.
pub(super) type KnownObject = (Object, Option<Vec<String>>);

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
    let answers = questions.ask(link, &mut picture).await?;
    if picture.truncated {
        return Ok(HashMap::new());
    }
    let mut children: HashMap<usize, Vec<String>> = answers.children.into_iter().collect();
    let unread: HashSet<usize> = answers.vanished.into_iter().chain(answers.unanswered).collect();
    let objects = picture.objects.into_iter().enumerate().filter(|(at, _)| !unread.contains(at));
    let known = objects.map(|(at, object)| {
        let (path, states) = (object.path.clone(), object.states);
        if is_hidden(&object) {
            return (path, (Object { path: object.path, states, count: -1, ..Object::default() }, None));
        }
        (path, (object, children.remove(&at)))
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
