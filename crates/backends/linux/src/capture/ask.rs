//! The questions that objects are asked, and what becomes of the answers.

use crate::bus::{
    self, ACCESSIBLE, ACTION, Args, CACHE, COMPONENT, Call, Cursor, DOCUMENT, Fault, Link, Message,
    TEXT as TEXT_INTERFACE, Toolkit, VALUE, guest,
};
use crate::capture::TEXT;
use crate::model::{Interfaces, Object, Picture};
use crate::states;

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

/// Coordinates relative to the screen (`AtspiCoordType`).
pub(crate) const SCREEN: u32 = 0;

/// Attributes and labels of one object that are kept.
const KEPT: usize = 64;

/// Actions of one object that are kept: GTK 4 lists those of the window before its own.
const ACTIONS: usize = 1_000;

impl Ask {
    fn call<'a>(self, path: &'a str, object: &Object, toolkit: Toolkit) -> Call<'a> {
        let plain = |interface, member| Call { path, interface, member, args: Args::new() };
        match self {
            Self::States => plain(ACCESSIBLE, "GetState"),
            Self::Role => plain(ACCESSIBLE, "GetRole"),
            Self::Name => bus::property(path, ACCESSIBLE, "Name"),
            Self::Description => bus::property(path, ACCESSIBLE, "Description"),
            Self::Interfaces => plain(ACCESSIBLE, "GetInterfaces"),
            Self::Count => bus::property(path, ACCESSIBLE, "ChildCount"),
            Self::Children => plain(ACCESSIBLE, "GetChildren"),
            Self::Plugged => {
                Call { path, interface: ACCESSIBLE, member: "GetChildAtIndex", args: Args::new().int(0) }
            }
            Self::Extents => {
                Call { path, interface: COMPONENT, member: "GetExtents", args: Args::new().unsigned(SCREEN) }
            }
            Self::Length => bus::property(path, TEXT_INTERFACE, "CharacterCount"),
            Self::Text => {
                let end = object.length.map_or_else(|| toolkit.text_end(), |length| length.min(TEXT));
                Call { path, interface: TEXT_INTERFACE, member: "GetText", args: Args::new().int(0).int(end) }
            }
            Self::Number => bus::property(path, VALUE, "CurrentValue"),
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

    /// Writes an answer down. Children are not: they are objects of their own.
    fn keep(self, link: &Link, object: &mut Object, answer: &Message) -> Result<(), Fault> {
        let mut c = answer.body();
        match self {
            Self::States => object.states = states::joined(&c.items(4, Cursor::unsigned)?),
            Self::Role => object.role = c.unsigned()?,
            Self::Name => object.name = c.variant_text()?.to_owned(),
            Self::Description => object.description = c.variant_text()?.to_owned(),
            Self::Interfaces => {
                object.interfaces = Interfaces::default();
                for name in c.items(4, Cursor::text)? {
                    object.interfaces.add(name);
                }
            }
            Self::Count => object.count = whole(c.variant_number()?),
            Self::Children | Self::Plugged => {}
            Self::Extents => {
                c.fields()?;
                object.extents = Some([c.int()?, c.int()?, c.int()?, c.int()?]);
            }
            Self::Length => object.length = Some(whole(c.variant_number()?).max(0)),
            Self::Text => object.text = Some(c.text()?.to_owned()),
            Self::Number => object.number = c.variant_number()?.filter(|n| n.is_finite()),
            Self::Attributes => {
                let pair = |c: &mut Cursor<'_>| {
                    c.fields()?;
                    Ok((c.text()?.to_owned(), c.text()?.to_owned()))
                };
                object.attributes = c.items(8, pair)?;
                object.attributes.truncate(KEPT);
            }
            Self::Relations => {
                let relation = |c: &mut Cursor<'_>| {
                    c.fields()?;
                    Ok((c.unsigned()?, c.items(8, |c| reference(c))?))
                };
                let relations = c.items(8, relation)?;
                let of = |kind| {
                    let of = relations.iter().filter(move |(other, _)| *other == kind);
                    of.flat_map(|(_, of)| of).map(|of| link.named(&object.path, of.clone()))
                };
                let labelled_by = of(LABELLED_BY).take(KEPT).collect();
                object.child_of = of(NODE_CHILD_OF).next().unwrap_or_default();
                object.labelled_by = labelled_by;
            }
            Self::Actions => {
                object.actions = actions(answer)?;
            }
            Self::Link | Self::Address => object.address = c.text()?.to_owned(),
        }
        Ok(())
    }
}

#[expect(clippy::cast_possible_truncation, reason = "counts are whole numbers of 32 bits on the wire")]
fn whole(number: Option<f64>) -> i32 {
    number.map_or(-1, |n| n as i32)
}

/// The names of actions, in their order.
fn actions(answer: &Message) -> Result<Vec<String>, Fault> {
    let mut names = answer.body().items(8, |c| {
        c.fields()?;
        let name = c.text()?.to_owned();
        c.text()?;
        c.text()?;
        Ok(name)
    })?;
    names.truncate(ACTIONS);
    Ok(names)
}

/// Asks which actions an object has.
///
/// # Errors
/// Why there is no answer.
pub(crate) async fn listed(link: &Link, path: &str) -> Result<Vec<String>, Fault> {
    actions(&link.call(path, ACTION, "GetActions", Args::new()).await?)
}

/// A reference to an object: bus name and path.
pub(crate) fn reference(c: &mut Cursor<'_>) -> Result<(String, String), Fault> {
    c.fields()?;
    Ok((c.text()?.to_owned(), c.text()?.to_owned()))
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
        self.keep(link, answers, picture)
    }

    /// The same, where it does not matter which of them is answered first.
    ///
    /// # Errors
    /// As [`Questions::ask`].
    pub(crate) async fn ask_in_any_order(self, link: &Link, picture: &mut Picture) -> Result<Answers, Fault> {
        // A guest is asked on its own way, which is slow enough.
        let answers = match self.0.iter().any(|&(at, _)| guest(&picture.objects[at].path).is_some()) {
            true => link.calls(&self.calls(picture)).await,
            false => link.spread(self.0.len(), |n| self.call(n, picture)).await,
        };
        self.keep(link, answers, picture)
    }

    /// The same; what the app signalled before it answered has been heard then.
    ///
    /// # Errors
    /// As [`Questions::ask`].
    pub(crate) async fn ask_in_order(self, link: &Link, picture: &mut Picture) -> Result<Answers, Fault> {
        let answers = link.calls_in_order(&self.calls(picture)).await?;
        self.keep(link, answers, picture)
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
        link: &Link,
        answers: Vec<Result<Message, Fault>>,
        picture: &mut Picture,
    ) -> Result<Answers, Fault> {
        let mut out = Answers::default();
        for ((at, ask), answer) in self.0.into_iter().zip(answers) {
            match answer {
                Ok(answer) if ask == Ask::Children => {
                    let children = answer.body().items(8, |c| reference(c));
                    out.children.push((at, children.unwrap_or_default()));
                }
                Ok(answer) if ask == Ask::Plugged => {
                    let child =
                        reference(&mut answer.body()).ok().filter(|(_, path)| !path.ends_with("/null"));
                    out.plugged.extend(child.map(|child| (at, child)));
                }
                Ok(answer) => {
                    if let Err(e) = ask.keep(link, &mut picture.objects[at], &answer) {
                        tracing::debug!("{ask:?} of {}: {e}", picture.objects[at].path);
                    }
                }
                Err(fault @ (Fault::Closed(_) | Fault::Silent(_))) => return Err(fault),
                Err(Fault::Vanished) => out.vanished.push(at),
                // What one object does not know is left as it was.
                Err(_) => {}
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
}

/// An object as the cache of an app describes it, and where it stands.
#[derive(Debug)]
pub(crate) struct Cached {
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
pub(crate) async fn cached(link: &Link) -> Result<Vec<Cached>, Fault> {
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
