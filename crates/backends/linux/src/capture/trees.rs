//! What a page of Firefox says in one answer of all that stands in it: what each thing is called, where it is, and which
//! children it has. The bridge walks the page once for that (`Collection.GetTree`), and fetches the properties that it is
//! asked for (ADR 42).

use super::ask::{Ask, Said};
use crate::bus::body::{place, refer, whole};
use crate::bus::fault::Fault;
use crate::bus::{Args, Call, Cursor, Link, Message};
use crate::limits::OBJECTS;
use crate::model::Object;
use hashbrown::HashMap;

/// What is asked of everything in a page.
const PROPERTIES: [&str; 3] = ["Name", "ChildCount", "Component.ScreenExtents"];

/// A page that names more than so many common things is not asked: it would tell of what nobody sees, too, while nothing
/// else is answered.
const MOST: usize = 4_000;

/// What pages have told of what stands in them.
#[derive(Debug, Default)]
pub(crate) struct Trees {
    told: HashMap<String, Told>,
    /// Each page that was asked last has told.
    pub(crate) known: bool,
}

#[derive(Debug, PartialEq)]
struct Told {
    name: Option<String>,
    count: Option<i32>,
    extents: Option<[i32; 4]>,
    /// By bus name and path.
    children: Option<Vec<(String, String)>>,
}

impl Trees {
    /// Whether a page that names so many things is asked for all of them at once.
    pub(super) fn are_for(named: usize) -> bool {
        named <= MOST
    }

    /// Whether a page answers this along with its tree.
    pub(super) fn tell(ask: Ask) -> bool {
        matches!(ask, Ask::Name | Ask::Count | Ask::Children | Ask::Extents)
    }

    /// Asks these pages. One in another one is told with that.
    ///
    /// # Errors
    /// When the app is gone or silent.
    pub(crate) async fn ask(link: &Link, pages: &[String]) -> Result<Self, Fault> {
        let calls: Vec<Call<'_>> = pages.iter().map(|page| in_page(page)).collect();
        let mut trees = Self { known: !pages.is_empty(), ..Self::default() };
        for (page, answer) in pages.iter().zip(link.calls(&calls).await) {
            match answer.and_then(|answer| told(&answer, |reference| link.named(page, reference))) {
                Ok(told) => trees.told.extend(told),
                Err(fault @ (Fault::Closed(_) | Fault::Silent(_))) => return Err(fault),
                // Then each is asked itself.
                Err(e) => {
                    tracing::debug!("{page} does not tell what stands in it: {e}");
                    trees.known = false;
                }
            }
        }
        Ok(trees)
    }

    /// Takes over what other pages have told.
    pub(super) fn add(&mut self, other: Self) {
        self.told.extend(other.told);
        self.known = other.known;
    }

    /// Whether this is a page that has told, or stands in one.
    pub(super) fn has(&self, path: &str) -> bool {
        self.told.contains_key(path)
    }

    /// The answer to a question, once.
    pub(crate) fn take(&mut self, object: &Object, ask: Ask) -> Option<Said> {
        let told = self.told.get_mut(object.path.as_str())?;
        match ask {
            Ask::Name => told.name.take().map(Said::Name),
            Ask::Count => told.count.take().map(Said::Count),
            Ask::Extents => told.extents.take().map(Said::Extents),
            Ask::Children => told.children.take().map(Said::Children),
            _ => None,
        }
    }
}

/// The question for all that stands in a page.
fn in_page(path: &str) -> Call<'_> {
    let args = Args::new().of_roles(&[]).texts(&PROPERTIES);
    Call { path, interface: "org.a11y.atspi.Collection", member: "GetTree", args }
}

/// What an object says of itself in the answer.
struct Entry<'a> {
    own: (&'a str, &'a str),
    name: Option<&'a str>,
    count: Option<i32>,
    extents: Option<[i32; 4]>,
}

/// What an answer tells, by what its objects are called here.
fn told(
    answer: &Message,
    named: impl Fn((String, String)) -> String,
) -> Result<HashMap<String, Told>, Fault> {
    let entries = answer.body().items(8, entry)?;
    if entries.len() > OBJECTS {
        return Err(Fault::corrupt("a page of too many objects"));
    }
    let mut children = children(&entries)?.into_iter();
    let told = |entry: Entry<'_>| {
        let Entry { own, name, count, extents } = entry;
        let told = Told { name: name.map(str::to_owned), count, extents, children: children.next() };
        (named(owned(own)), told)
    };
    Ok(entries.into_iter().map(told).collect())
}

/// The children of each. The bridge names an object, then its children, each with all that stands in it; what manages its
/// descendants is left without them, and so is whatever is too much. Then they are fewer than they say.
fn children(entries: &[Entry<'_>]) -> Result<Vec<Vec<(String, String)>>, Fault> {
    let count = |entry: &Entry<'_>| entry.count.and_then(|count| usize::try_from(count).ok());
    let counts: Option<Vec<usize>> = entries.iter().map(count).collect();
    let mut children = vec![Vec::new(); entries.len()];
    // Those whose children have not all been named.
    let mut open: Vec<usize> = Vec::new();
    let counts = counts.ok_or(Fault::Corrupt("an object that does not say how many children it has"))?;
    for (at, entry) in entries.iter().enumerate() {
        while open.pop_if(|above| children[*above].len() == counts[*above]).is_some() {}
        match open.last() {
            Some(&above) => children[above].push(owned(entry.own)),
            None if at == 0 => {}
            None => return Err(Fault::Corrupt("more objects than stand in a page")),
        }
        open.push(at);
    }
    match open.iter().all(|&above| children[above].len() == counts[above]) {
        true => Ok(children),
        false => Err(Fault::Corrupt("fewer objects than stand in a page")),
    }
}

fn owned((bus, path): (&str, &str)) -> (String, String) {
    (bus.to_owned(), path.to_owned())
}

fn entry<'a>(c: &mut Cursor<'a>) -> Result<Entry<'a>, Fault> {
    c.fields()?;
    let mut entry = Entry { own: refer(c)?, name: None, count: None, extents: None };
    let property = |c: &mut Cursor<'a>| {
        c.fields()?;
        match c.text()? {
            "Name" => entry.name = Some(c.variant_text()?),
            "ChildCount" => entry.count = Some(whole(c.variant_number()?)),
            "Component.ScreenExtents" => entry.extents = place(c)?,
            _ => c.variant_text().map(drop)?,
        }
        Ok(())
    };
    c.items(8, property)?;
    Ok(entry)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Heard;
    use crate::tests::peer::App;
    use std::collections::BTreeMap;
    use std::sync::Arc;
    use zbus::{ObjectPath, Variant};

    type Properties = BTreeMap<&'static str, Variant<'static>>;

    /// What the bridge says of an object that has so many children.
    fn object(path: &'static str, count: i32) -> (&'static str, Properties) {
        let extents = Variant::from(((-count).cast_unsigned(), 20_u32, 30_u32, 40_u32));
        let properties = [
            ("Name", Variant::from(format!("the {path}"))),
            ("ChildCount", Variant::I32(count)),
            ("Component.ScreenExtents", extents),
        ];
        (path, properties.into())
    }

    fn answer(objects: Vec<(&'static str, Properties)>) -> Message {
        let path = |path| ObjectPath::try_from(path).unwrap();
        let body: Vec<_> =
            objects.into_iter().map(|(own, properties)| ((":1.3", path(own)), properties)).collect();
        Message::new(zbus::Message::signal("/a", "b.c", "D").build(&body).unwrap())
    }

    fn trees(objects: Vec<(&'static str, Properties)>) -> Result<Trees, Fault> {
        let told = told(&answer(objects), |(bus, path)| format!("{bus}{path}"))?;
        Ok(Trees { told, known: true })
    }

    fn at(path: &str) -> Object {
        Object { path: format!(":1.3{path}"), ..Object::default() }
    }

    fn children(trees: &mut Trees, path: &str) -> Vec<String> {
        let Some(Said::Children(children)) = trees.take(&at(path), Ask::Children) else {
            panic!("{path} tells no children");
        };
        children.into_iter().map(|(bus, path)| bus + &path).collect()
    }

    #[test]
    fn a_page_tells_what_stands_in_what_and_is_believed_once() {
        let objects = vec![object("/page", 2), object("/row", 2), object("/a", 0), object("/b", 0)];
        let mut trees = trees([objects, vec![object("/c", 1), object("/d", 0)]].concat()).unwrap();
        assert_eq!(children(&mut trees, "/page"), [":1.3/row", ":1.3/c"]);
        assert_eq!(children(&mut trees, "/row"), [":1.3/a", ":1.3/b"]);
        assert_eq!(children(&mut trees, "/c"), [":1.3/d"]);
        assert_eq!(children(&mut trees, "/d"), [""; 0]);
        let name = |said: Option<Said>| matches!(said, Some(Said::Name(name)) if name == "the /row");
        assert!(name(trees.take(&at("/row"), Ask::Name)));
        let extents = trees.take(&at("/row"), Ask::Extents);
        assert!(matches!(extents, Some(Said::Extents([-2, 20, 30, 40]))), "{extents:?}");
        assert!(matches!(trees.take(&at("/row"), Ask::Count), Some(Said::Count(2))));
        for ask in [Ask::Name, Ask::Children, Ask::Extents, Ask::Count] {
            assert!(Trees::tell(ask) && trees.take(&at("/row"), ask).is_none(), "{ask:?}");
        }
        assert!(!Trees::tell(Ask::States) && trees.take(&at("/a"), Ask::States).is_none());
        assert!(trees.has(":1.3/a") && !trees.has(":1.4/a"));
    }

    /// What manages its descendants is told without them: who comes next is not one of them.
    #[test]
    fn a_page_that_leaves_something_out_tells_nothing() {
        let all = || vec![object("/page", 2), object("/list", 1), object("/item", 0), object("/after", 0)];
        assert!(trees(all()).is_ok());
        for out in 2..4 {
            let mut fewer = all();
            fewer.remove(out);
            assert!(trees(fewer).is_err(), "{out}");
        }
        assert!(trees([all(), all()].concat()).is_err());
        let unsaid = vec![object("/page", 1), ("/silent", Properties::new())];
        assert!(trees(unsaid).is_err());
        assert!(trees(vec![object("/page", -1)]).is_err());
    }

    #[test]
    fn what_has_no_place_and_what_nobody_asked_for_are_no_hindrance() {
        let said = [("ChildCount", Variant::I32(0)), ("Locale", Variant::from(vec![1_u8]))];
        let mut trees = trees(vec![object("/page", 1), ("/bare", said.into())]).unwrap();
        assert!(trees.take(&at("/bare"), Ask::Extents).is_none());
        assert!(trees.take(&at("/bare"), Ask::Name).is_none());
        assert_eq!(children(&mut trees, "/bare"), [""; 0]);
        let odd = [("Component.ScreenExtents", Variant::from("here")), ("ChildCount", Variant::I32(0))];
        let mut trees = self::trees(vec![("/page", odd.into())]).unwrap();
        assert!(trees.take(&at("/page"), Ask::Extents).is_none());
    }

    #[tokio::test]
    async fn an_app_that_tells_no_trees_is_asked_once_for_each_page() {
        let app = App::start();
        let link = app.link(&Arc::new(Heard::new())).await;
        let mut trees = Trees::ask(&link, &["/one".to_owned(), "/two".to_owned()]).await.unwrap();
        assert_eq!((app.calls(), trees.known, trees.told.len()), (2, false, 0));
        assert!(trees.take(&Object { path: "/one".to_owned(), ..Object::default() }, Ask::Name).is_none());
        app.hold();
        let silent = Trees::ask(&link, &["/one".to_owned()]).await;
        assert!(matches!(silent, Err(Fault::Silent(_))), "{silent:?}");
    }
}
