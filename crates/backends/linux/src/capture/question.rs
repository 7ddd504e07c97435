//! Sends queries about objects and stores the answers.

use crate::bus::{
    ACCESSIBLE, ACTION, Answer, BusError, BusResult, CACHE, Call, DOCUMENT, Link, Message, Reference,
    TEXT as TEXT_INTERFACE, VALUE, calls, whole,
};
use crate::limits::{TEXT, TEXTS};
use crate::model::{Interfaces, Object, ObjectTree, role, states};
use crate::toolkit::profile::Toolkit;

/// A query about an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Question {
    States,
    Role,
    Name,
    Description,
    Interfaces,
    Count,
    Children,
    /// The only child of a socket, which the socket does not list.
    Plugged,
    Extents,
    Length,
    Text,
    Number,
    Attributes,
    Relations,
    Actions,
    Link,
    Address,
}

/// The queries that describe an object, apart from its children.
pub(crate) const ALL_QUESTIONS: &[Question] = &[
    Question::States,
    Question::Role,
    Question::Name,
    Question::Description,
    Question::Interfaces,
    Question::Count,
];

/// Relation numbers (`AtspiRelationType`).
const LABELLED_BY: u32 = 2;
const NODE_CHILD_OF: u32 = 7;

/// The maximum number of attributes, and of labels, that are kept for one object.
const MAX_KEPT: usize = 64;

impl Question {
    /// Returns the call for a query.
    fn call(self, object: &Object, toolkit: Toolkit) -> Call<'_> {
        let path = object.path.as_str();
        let plain = |interface, member| Call::new(path, interface, member);
        match self {
            Self::States => plain(ACCESSIBLE, "GetState"),
            Self::Role => plain(ACCESSIBLE, "GetRole"),
            Self::Name => calls::property(path, ACCESSIBLE, "Name"),
            Self::Description => calls::property(path, ACCESSIBLE, "Description"),
            Self::Interfaces => plain(ACCESSIBLE, "GetInterfaces"),
            Self::Count => calls::property(path, ACCESSIBLE, "ChildCount"),
            Self::Children => plain(ACCESSIBLE, "GetChildren"),
            Self::Plugged => calls::child(path, 0),
            Self::Extents => calls::extents(path, toolkit),
            Self::Length => calls::property(path, TEXT_INTERFACE, "CharacterCount"),
            Self::Text => {
                let end = object.length.map_or_else(|| toolkit.profile().text_end, |length| length.min(TEXT));
                plain(TEXT_INTERFACE, "GetText").with((0, end))
            }
            Self::Number => calls::property(path, VALUE, "CurrentValue"),
            Self::Attributes => plain(ACCESSIBLE, "GetAttributes"),
            Self::Relations => plain(ACCESSIBLE, "GetRelationSet"),
            Self::Actions => plain(ACTION, "GetActions"),
            Self::Link => plain("org.a11y.atspi.Hyperlink", "GetURI").with((0,)),
            Self::Address => plain(DOCUMENT, "GetAttributeValue").with(("DocURL",)),
        }
    }

    /// Returns whether the answer contains texts whose length the app determines.
    fn is_for_text(self) -> bool {
        use Question::{Actions, Address, Attributes, Description, Link, Name, Relations, Text};
        matches!(self, Name | Description | Text | Attributes | Relations | Actions | Link | Address)
    }

    /// Stores an answer in its object.
    ///
    /// # Errors
    /// Returns an error if the answer has the wrong type.
    fn keep(
        self,
        link: &Link,
        answer: &Message,
        at: usize,
        picture: &mut ObjectTree,
        out: &mut Answers,
    ) -> BusResult<()> {
        let object = &mut picture[at];
        let resolve = |named: Reference| link.resolve_path(&object.path, named);
        match self {
            Self::States => object.states = states::join_words(&answer.read::<Vec<u32>>()?),
            Self::Role => object.role = answer.read()?,
            Self::Name => object.name = answer.property_text()?,
            Self::Description => object.description = answer.property_text()?,
            Self::Interfaces => object.interfaces = Interfaces::of(&answer.read::<Vec<String>>()?),
            Self::Count => object.count = whole(answer.property_number()?),
            // Children are separate objects.
            Self::Children => {
                let named = answer.read::<Vec<Reference>>()?.into_iter();
                out.children.push((at, named.map(resolve).collect()));
            }
            Self::Plugged => {
                // An object that is no socket names its own first child.
                let elsewhere = |child: &String| !Link::same_process(&object.path, child);
                let child = answer.read().ok().map(resolve).filter(elsewhere);
                out.plugged.extend(child.map(|child| (at, child)));
            }
            Self::Extents => object.extents = Some(answer.read()?),
            Self::Length => object.length = Some(whole(answer.property_number()?).max(0)),
            Self::Text => object.text = Some(answer.read()?),
            Self::Number => object.number = answer.property_number()?.filter(|n| n.is_finite()),
            Self::Attributes => {
                object.attributes = answer.read()?;
                object.attributes.truncate(MAX_KEPT);
            }
            Self::Relations => {
                let relations: Vec<(u32, Vec<Reference>)> = answer.read()?;
                let of = |kind| {
                    let of = relations.iter().filter(move |(other, _)| *other == kind);
                    of.flat_map(|(_, of)| of.iter().cloned()).map(resolve)
                };
                let labels = of(LABELLED_BY).take(MAX_KEPT).collect();
                let above = of(NODE_CHILD_OF).next().unwrap_or_default();
                (object.labelled_by, object.child_of) = (labels, above);
            }
            Self::Actions => object.actions = calls::actions(answer)?,
            Self::Link | Self::Address => object.address = answer.read()?,
        }
        Ok(())
    }
}

/// Queries about many objects, sent in one batch.
#[derive(Debug, Default)]
pub(crate) struct Questions(pub(crate) Vec<(usize, Question)>);

impl Questions {
    /// Adds several queries about one object.
    pub(crate) fn add_all(&mut self, object: usize, asks: impl IntoIterator<Item = Question>) {
        self.0.extend(asks.into_iter().map(|ask| (object, ask)));
    }

    /// Sends all queries and stores the answers in the objects. Returns answers that refer to other
    /// objects, and the objects that have vanished.
    ///
    /// # Errors
    /// Returns an error if the app is gone or silent. Missing answers from single objects are
    /// omitted.
    pub(crate) async fn ask(self, link: &Link, picture: &mut ObjectTree) -> BusResult<Answers> {
        if self.0.is_empty() {
            return Ok(Answers::default());
        }
        let answers = link.calls(&self.calls(picture)).await;
        self.read(link, answers, picture)
    }

    /// Repeats queries that were answered before. Signals that preceded the answers have been
    /// received when this returns. An object that now answers with an error counts as vanished.
    ///
    /// # Errors
    /// Returns the errors of [`Questions::ask`].
    pub(crate) async fn ask_in_order(self, link: &Link, picture: &mut ObjectTree) -> BusResult<Answers> {
        let answers = link.calls_in_order(&self.calls(picture)).await?;
        let mut answers = self.read(link, answers, picture)?;
        answers.vanished.append(&mut answers.unanswered);
        Ok(answers)
    }

    fn calls<'p>(&self, picture: &'p ObjectTree) -> Vec<Call<'p>> {
        self.0.iter().map(|&(at, ask)| ask.call(&picture[at], picture.toolkit)).collect()
    }

    fn read(self, link: &Link, answers: Vec<Answer>, picture: &mut ObjectTree) -> BusResult<Answers> {
        let mut out = Answers::default();
        let mut room = TEXTS.saturating_sub(picture.objects.iter().map(Object::text_size).sum());
        for ((at, ask), answer) in self.0.into_iter().zip(answers) {
            if ask.is_for_text()
                && let Ok(answer) = &answer
            {
                let left = room.checked_sub(answer.size());
                picture.truncated |= left.is_none();
                let Some(left) = left else { continue };
                room = left;
            }
            match answer.and_then(|answer| ask.keep(link, &answer, at, picture, &mut out)) {
                Ok(()) => {}
                Err(fault) if fault.is_lost() => return Err(fault),
                Err(BusError::Vanished) => out.vanished.push(at),
                // Facts that an object no longer provides keep their values.
                Err(e) => {
                    tracing::trace!("{ask:?} of {}: {e}", picture[at].path);
                    // An unsupported query counts as answered, but after an error, it is unknown
                    // what the object shows.
                    let unread = matches!(e, BusError::Refused(_) | BusError::Corrupt(_));
                    picture.truncated |= unread && matches!(ask, Question::States | Question::Children);
                    // These queries are also sent to objects that may not support them.
                    if !matches!(ask, Question::Plugged | Question::Actions) {
                        out.unanswered.push(at);
                    }
                }
            }
        }
        Ok(out)
    }
}

/// Answers that are not stored in their object.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    /// The paths of children.
    pub(crate) children: Vec<(usize, Vec<String>)>,
    /// The content of sockets, which is in another process.
    pub(crate) plugged: Vec<(usize, String)>,
    pub(crate) vanished: Vec<usize>,
    /// Objects that answered with an error.
    pub(super) unanswered: Vec<usize>,
}

/// Reads the cache of an app (`Cache.GetItems`): objects, each with its parent and index.
///
/// # Errors
/// Returns an error if there is no cache in a known format, or the app is gone or silent.
pub(super) async fn cached(link: &Link) -> BusResult<Vec<(Object, String, i32)>> {
    let answer = link.call(Call::new("/org/a11y/atspi/cache", CACHE, "GetItems")).await?;
    // The caches of older bridges list children. For such bridges, each object is queried instead.
    if answer.signature() != "a((so)(so)(so)iiassusau)" {
        return Err(BusError::Corrupt("a cache in an unknown format"));
    }
    let cached = |item: Item| {
        let ((_, path), _, (_, parent), place, count, interfaces, name, role, description, states) = item;
        let (interfaces, states) = (Interfaces::of(&interfaces), states::join_words(&states));
        let object = Object { path, count, interfaces, name, role, description, states, ..Object::default() };
        (object, parent, place)
    };
    Ok(answer.read::<Vec<Item>>()?.into_iter().map(cached).collect())
}

/// An entry of the cache: the object, its app and its parent; its index in the parent; its number
/// of children; its interfaces, name, role, description and states.
type Item = (Reference, Reference, Reference, i32, i32, Vec<String>, String, u32, String, Vec<u32>);

/// Returns whether an object may be a socket for another process (`AtkSocket`): it has no children
/// from its own process. A socket does not list the object that is embedded in it.
pub(crate) fn may_be_socket(picture: &ObjectTree, at: usize) -> bool {
    let object = &picture[at];
    let elsewhere = |&child: &usize| !Link::same_process(&object.path, &picture[child].path);
    picture.profile().has_sockets && object.role == role::FILLER && object.children.iter().all(elsewhere)
}

/// Returns whether an object reports nothing about itself, not even that it is shown, as sockets
/// and their content may.
pub(crate) fn is_mute(object: &Object, toolkit: Toolkit) -> bool {
    toolkit.profile().has_sockets && object.states == 0 && object.role == role::FILLER
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::AppEvents;
    use crate::tests::peer::App;
    use std::sync::Arc;

    fn said(text: &str) -> Result<Message, BusError> {
        let signal = zbus::Message::signal("/a", "a.b", "C");
        Ok(Message::new(signal.build(&zbus::Variant::from(text)).unwrap()))
    }

    #[tokio::test]
    async fn texts_of_a_capture_are_bounded_together() {
        let link = App::start().link(&Arc::new(AppEvents::default())).await;
        let objects = vec![Object::default(); 3];
        let mut picture = ObjectTree { toolkit: Toolkit::Other, objects, truncated: false };
        let half = "a".repeat(TEXTS / 2 - 100);
        let mut ask = |places: &[usize]| {
            let mut questions = Questions::default();
            places.iter().for_each(|&at| questions.0.push((at, Question::Name)));
            let answers = places.iter().map(|_| said(&half)).collect();
            questions.read(&link, answers, &mut picture).unwrap();
            let sizes: Vec<usize> = picture.objects.iter().map(Object::text_size).collect();
            (sizes, picture.truncated)
        };
        assert_eq!(ask(&[0, 1]), (vec![half.len(), half.len(), 0], false));
        assert_eq!(ask(&[2]), (vec![half.len(), half.len(), 0], true), "what is held counts");
    }
}
