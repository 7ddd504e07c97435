//! The questions that objects are asked, and what becomes of the answers.

use crate::bus::actions::actions;
use crate::bus::body::{extents, reference, whole};
use crate::bus::fault::Fault;
use crate::bus::names::{
    ACCESSIBLE, ACTION, CACHE, COMPONENT, DOCUMENT, SCREEN, TEXT as TEXT_INTERFACE, VALUE,
};
use crate::bus::{Args, Call, Cursor, Link, Message, calls, guest};
use crate::capture::agenda::Early;
use crate::limits::TEXT;
use crate::model::{Interfaces, Object, Picture};
use crate::states;
use crate::toolkit::Toolkit;

/// One question about one object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ask {
    States,
    Role,
    Name,
    Description,
    Interfaces,
    Count,
    Children,
    /// The only child of a socket, which it does not list.
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

/// All that makes an object, apart from its children.
pub(crate) const WHOLE: &[Ask] =
    &[Ask::States, Ask::Role, Ask::Name, Ask::Description, Ask::Interfaces, Ask::Count];

/// Relations (`AtspiRelationType`).
const LABELLED_BY: u32 = 2;
const NODE_CHILD_OF: u32 = 7;

/// Attributes and labels of one object that are kept.
const KEPT: usize = 64;

impl Ask {
    /// The question about an object.
    pub(super) fn call<'a>(self, path: &'a str, object: &Object, toolkit: Toolkit) -> Call<'a> {
        let plain = |interface, member| Call { path, interface, member, args: Args::new() };
        match self {
            Self::States => plain(ACCESSIBLE, "GetState"),
            Self::Role => plain(ACCESSIBLE, "GetRole"),
            Self::Name => calls::property(path, ACCESSIBLE, "Name"),
            Self::Description => calls::property(path, ACCESSIBLE, "Description"),
            Self::Interfaces => plain(ACCESSIBLE, "GetInterfaces"),
            Self::Count => calls::property(path, ACCESSIBLE, "ChildCount"),
            Self::Children => plain(ACCESSIBLE, "GetChildren"),
            Self::Plugged => {
                Call { path, interface: ACCESSIBLE, member: "GetChildAtIndex", args: Args::new().int(0) }
            }
            Self::Extents => {
                Call { path, interface: COMPONENT, member: "GetExtents", args: Args::new().unsigned(SCREEN) }
            }
            Self::Length => calls::property(path, TEXT_INTERFACE, "CharacterCount"),
            Self::Text => {
                let end = object.length.map_or_else(|| toolkit.text_end(), |length| length.min(TEXT));
                Call { path, interface: TEXT_INTERFACE, member: "GetText", args: Args::new().int(0).int(end) }
            }
            Self::Number => calls::property(path, VALUE, "CurrentValue"),
            Self::Attributes => plain(ACCESSIBLE, "GetAttributes"),
            Self::Relations => plain(ACCESSIBLE, "GetRelationSet"),
            Self::Actions => plain(ACTION, "GetActions"),
            Self::Link => Call {
                path,
                interface: "org.a11y.atspi.Hyperlink",
                member: "GetURI",
                args: Args::new().int(0),
            },
            Self::Address => Call {
                path,
                interface: DOCUMENT,
                member: "GetAttributeValue",
                args: Args::new().text("DocURL"),
            },
        }
    }

    /// What an answer says of the object with this path.
    ///
    /// # Errors
    /// When it is no answer to that.
    pub(super) fn read(self, link: &Link, path: &str, answer: &Message) -> Result<Said, Fault> {
        let mut c = answer.body();
        Ok(match self {
            Self::States => Said::States(states::joined(&c.items(4, Cursor::unsigned)?)),
            Self::Role => Said::Role(c.unsigned()?),
            Self::Name => Said::Name(c.variant_text()?.to_owned()),
            Self::Description => Said::Description(c.variant_text()?.to_owned()),
            Self::Interfaces => {
                let mut interfaces = Interfaces::default();
                c.items(4, Cursor::text)?.into_iter().for_each(|name| interfaces.add(name));
                Said::Interfaces(interfaces)
            }
            Self::Count => Said::Count(whole(c.variant_number()?)),
            Self::Children => Said::Children(c.items(8, |c| reference(c))?),
            Self::Plugged => {
                Said::Plugged(reference(&mut c).ok().filter(|(_, path)| !path.ends_with("/null")))
            }
            Self::Extents => Said::Extents(extents(&mut c)?),
            Self::Length => Said::Length(whole(c.variant_number()?).max(0)),
            Self::Text => Said::Text(c.text()?.to_owned()),
            Self::Number => Said::Number(c.variant_number()?.filter(|n| n.is_finite())),
            Self::Attributes => {
                let pair = |c: &mut Cursor<'_>| {
                    c.fields()?;
                    Ok((c.text()?.to_owned(), c.text()?.to_owned()))
                };
                let mut attributes = c.items(8, pair)?;
                attributes.truncate(KEPT);
                Said::Attributes(attributes)
            }
            Self::Relations => {
                let relation = |c: &mut Cursor<'_>| {
                    c.fields()?;
                    Ok((c.unsigned()?, c.items(8, |c| reference(c))?))
                };
                let relations = c.items(8, relation)?;
                let of = |kind| {
                    let of = relations.iter().filter(move |(other, _)| *other == kind);
                    of.flat_map(|(_, of)| of).map(|of| link.named(path, of.clone()))
                };
                Said::Relations {
                    labelled_by: of(LABELLED_BY).take(KEPT).collect(),
                    child_of: of(NODE_CHILD_OF).next().unwrap_or_default(),
                }
            }
            Self::Actions => Said::Actions(actions(answer)?),
            Self::Link | Self::Address => Said::Address(c.text()?.to_owned()),
        })
    }
}

/// What an object says of itself.
#[derive(Debug, Clone)]
pub(crate) enum Said {
    States(u64),
    Role(u32),
    Name(String),
    Description(String),
    Interfaces(Interfaces),
    Count(i32),
    /// By bus name and path.
    Children(Vec<(String, String)>),
    Plugged(Option<(String, String)>),
    Extents([i32; 4]),
    Length(i32),
    Text(String),
    Number(Option<f64>),
    Attributes(Vec<(String, String)>),
    /// Paths of what labels it, and of the item that it stands below.
    Relations {
        labelled_by: Vec<String>,
        child_of: String,
    },
    Actions(Vec<String>),
    Address(String),
}

/// Questions for many objects, asked in one go.
#[derive(Debug, Default)]
pub(crate) struct Questions(Vec<(usize, Ask)>);

impl Questions {
    pub(crate) fn add(&mut self, object: usize, ask: Ask) {
        self.0.push((object, ask));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Of which object what is asked.
    pub(crate) fn all(&self) -> &[(usize, Ask)] {
        &self.0
    }

    /// Asks, and writes the answers into the objects. The answers that name other objects come back, and which objects
    /// are not there any more.
    ///
    /// # Errors
    /// When the app is gone or silent. What one object does not answer is left out.
    pub(crate) async fn ask(self, link: &Link, picture: &mut Picture) -> Result<Answers, Fault> {
        let answers = link.calls(&self.calls(picture)).await;
        self.read(link, answers, picture)
    }

    /// The same, where it does not matter which of them is answered first, and without what was answered early.
    ///
    /// # Errors
    /// As [`Questions::ask`].
    pub(super) async fn ask_the_rest(
        self,
        link: &Link,
        early: &mut Early,
        picture: &mut Picture,
    ) -> Result<Answers, Fault> {
        let early: Vec<_> = self.0.iter().map(|&(at, ask)| early.take(&picture.objects[at], ask)).collect();
        let open = self.0.iter().zip(&early).filter(|(_, early)| early.is_none());
        let open = Self(open.map(|(&question, _)| question).collect());
        // A guest is asked on its own way, which is slow enough.
        let late = match open.0.iter().any(|&(at, _)| guest(&picture.objects[at].path).is_some()) {
            true => {
                let answers = link.calls(&open.calls(picture)).await.into_iter().enumerate();
                answers.map(|(n, answer)| open.said(n, link, picture, answer)).collect()
            }
            false => {
                let said = |n, answer| open.said(n, link, picture, answer);
                link.spread(open.0.len(), |n| open.call(n, picture), said).await
            }
        };
        let mut late = late.into_iter();
        let answers: Vec<_> = early.into_iter().filter_map(|early| early.or_else(|| late.next())).collect();
        self.keep(answers, picture)
    }

    /// The same once more of what has answered before; what the app signalled before it answers has been heard then.
    /// What answers with an error now is not what it was: it is told with what is not there any more.
    ///
    /// # Errors
    /// As [`Questions::ask`].
    pub(crate) async fn ask_in_order(self, link: &Link, picture: &mut Picture) -> Result<Answers, Fault> {
        let answers = link.calls_in_order(&self.calls(picture)).await?;
        let mut answers = self.read(link, answers, picture)?;
        answers.vanished.append(&mut answers.unanswered);
        Ok(answers)
    }

    fn read(
        self,
        link: &Link,
        answers: Vec<Result<Message, Fault>>,
        picture: &mut Picture,
    ) -> Result<Answers, Fault> {
        let answers: Vec<_> =
            answers.into_iter().enumerate().map(|(n, a)| self.said(n, link, picture, a)).collect();
        self.keep(answers, picture)
    }

    /// What the answer to a question says.
    fn said(
        &self,
        n: usize,
        link: &Link,
        picture: &Picture,
        answer: Result<Message, Fault>,
    ) -> Result<Said, Fault> {
        let (at, ask) = self.0[n];
        ask.read(link, &picture.objects[at].path, &answer?)
    }

    fn calls<'p>(&self, picture: &'p Picture) -> Vec<Call<'p>> {
        (0..self.0.len()).map(|n| self.call(n, picture)).collect()
    }

    fn call<'p>(&self, n: usize, picture: &'p Picture) -> Call<'p> {
        let (at, ask) = self.0[n];
        let object = &picture.objects[at];
        ask.call(&object.path, object, picture.toolkit)
    }

    fn keep(
        self,
        answers: impl IntoIterator<Item = Result<Said, Fault>>,
        picture: &mut Picture,
    ) -> Result<Answers, Fault> {
        let mut out = Answers::default();
        for ((at, ask), answer) in self.0.into_iter().zip(answers) {
            let object = &mut picture.objects[at];
            match answer {
                Ok(Said::States(states)) => object.states = states,
                Ok(Said::Role(role)) => object.role = role,
                Ok(Said::Name(name)) => object.name = name,
                Ok(Said::Description(description)) => object.description = description,
                Ok(Said::Interfaces(interfaces)) => object.interfaces = interfaces,
                Ok(Said::Count(count)) => object.count = count,
                // They are objects of their own.
                Ok(Said::Children(named)) => out.children.push((at, named)),
                Ok(Said::Plugged(child)) => out.plugged.extend(child.map(|child| (at, child))),
                Ok(Said::Extents(extents)) => object.extents = Some(extents),
                Ok(Said::Length(length)) => object.length = Some(length),
                Ok(Said::Text(text)) => object.text = Some(text),
                Ok(Said::Number(number)) => object.number = number,
                Ok(Said::Attributes(attributes)) => object.attributes = attributes,
                Ok(Said::Relations { labelled_by, child_of }) => {
                    (object.labelled_by, object.child_of) = (labelled_by, child_of);
                }
                Ok(Said::Actions(actions)) => object.actions = actions,
                Ok(Said::Address(address)) => object.address = address,
                Err(fault @ (Fault::Closed(_) | Fault::Silent(_))) => return Err(fault),
                Err(Fault::Vanished) => out.vanished.push(at),
                // What one object does not know is left as it was.
                Err(e) => {
                    tracing::trace!("{ask:?} of {}: {e}", object.path);
                    // That it knows no such question is an answer. Of what answers with an error nobody knows what it shows.
                    let unread = matches!(e, Fault::Refused(_) | Fault::Corrupt(_));
                    picture.truncated |= unread && matches!(ask, Ask::States | Ask::Children);
                    // These are asked of what may have no such thing.
                    if !matches!(ask, Ask::Plugged | Ask::Actions) {
                        out.unanswered.push(at);
                    }
                }
            }
        }
        Ok(out)
    }
}

/// What does not fit into one object.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    /// Children as they were named: bus name and path.
    pub(crate) children: Vec<(usize, Vec<(String, String)>)>,
    /// What stands in what may be a socket; in others the first child.
    pub(crate) plugged: Vec<(usize, (String, String))>,
    pub(crate) vanished: Vec<usize>,
    /// What answered a question with an error.
    unanswered: Vec<usize>,
}

/// An object as the cache of an app describes it, and where it stands.
#[derive(Debug)]
pub(super) struct Cached {
    pub(crate) object: Object,
    pub(crate) parent: String,
    /// Its place among its siblings; none where the cache lists children instead.
    pub(crate) place: Option<i32>,
    /// Paths of its children, where the cache lists them.
    pub(crate) children: Vec<String>,
}

/// Asks for the cache of an app (`Cache.GetItems`).
///
/// # Errors
/// When there is none, or the app is gone.
pub(super) async fn cached(link: &Link) -> Result<Vec<Cached>, Fault> {
    let answer = link.call("/org/a11y/atspi/cache", CACHE, "GetItems", Args::new()).await?;
    // Two formats: the older one lists children, the newer says place and count.
    let older = match answer.signature().as_str() {
        "a((so)(so)(so)iiassusau)" => false,
        "a((so)(so)(so)a(so)assusau)" => true,
        _ => return Err(Fault::corrupt("a cache of an unknown format")),
    };
    answer.body().items(8, |c| item(c, older))
}

fn item(c: &mut Cursor<'_>, older: bool) -> Result<Cached, Fault> {
    c.fields()?;
    let mut path = || -> Result<String, Fault> {
        c.fields()?;
        c.text()?;
        Ok(c.text()?.to_owned())
    };
    let own = path()?;
    path()?;
    let parent = path()?;
    let mut object = Object { path: own, count: -1, ..Object::default() };
    let (mut place, mut children) = (None, Vec::new());
    if older {
        children = c.items(8, |c| reference(c))?.into_iter().map(|(_, path)| path).collect();
        object.count = i32::try_from(children.len()).unwrap_or(i32::MAX);
    } else {
        place = Some(c.int()?);
        object.count = c.int()?;
    }
    for name in c.items(4, Cursor::text)? {
        object.interfaces.add(name);
    }
    object.name = c.text()?.to_owned();
    object.role = c.unsigned()?;
    object.description = c.text()?.to_owned();
    object.states = states::joined(&c.items(4, Cursor::unsigned)?);
    Ok(Cached { object, parent, place, children })
}
