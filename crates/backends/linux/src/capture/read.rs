//! Reading an app in a few rounds: its cache, then what the cache lacks, then what no cache
//! contains (rectangles, texts, values). If an app has no cache, the objects of the last capture
//! are read first.
//!
//! States come first. Hidden objects are not read any further. The children of an object that may
//! have too many of them are never listed: a spreadsheet has a billion.

mod details;
mod known;

use super::question::{ALL_QUESTIONS, Answers, Question, Questions, cached, is_mute, may_be_socket};
use super::{duplicates, tables};
use crate::bus::{BusResult, Link, ROOT, embedded_path};
use crate::limits::{CHILDREN, DEPTH, OBJECTS, TEXTS};
use crate::model::{Facts, Object, ObjectTree, role, roles, states};
use crate::toolkit;
use hashbrown::HashMap;
use known::{KnownObject, is_hidden, listing, read_known};

/// Reads what the app shows. `last` is the previous capture. `cells` contains the table cells from
/// it, and is updated. `shown` contains the paths of the objects that have signaled that they are
/// shown.
///
/// # Errors
/// Returns an error if the app is gone or silent.
pub(crate) async fn read(
    link: &Link,
    last: &ObjectTree,
    cells: &mut tables::Cells,
    shown: &[String],
) -> BusResult<ObjectTree> {
    let mut reading = ObjectReader::begin(link, last).await?;
    reading.descend(link, vec![0]).await?;
    let popups = reading.popups(link, shown).await?;
    reading.descend(link, popups).await?;
    duplicates::remove_duplicates(&mut reading.picture, &reading.named);
    tables::read(link, &mut reading.picture, cells).await?;
    reading.details(link).await?;
    toolkit::complete(link, &mut reading.picture).await?;
    Ok(reading.picture)
}

/// A capture in progress.
struct ObjectReader {
    picture: ObjectTree,
    by_path: HashMap<String, usize>,
    /// The objects of the last capture that have not been reached yet, by path.
    known: HashMap<String, KnownObject>,
    /// The paths of the children of objects that have not been reached yet.
    listed: HashMap<usize, Vec<String>>,
    /// The parents that objects name, if the cache contains them.
    named: HashMap<usize, usize>,
}

impl ObjectReader {
    /// Creates the root, and reads the cache of the app, or the objects of the last capture if the
    /// app has no cache.
    async fn begin(link: &Link, last: &ObjectTree) -> BusResult<Self> {
        let root = Object { path: ROOT.to_owned(), count: -1, role: 75, ..Object::default() };
        let mut picture = ObjectTree { toolkit: link.toolkit, objects: vec![root], truncated: false };
        let itself = Questions(vec![(0, Question::Name), (0, Question::Children)]);
        let (itself, items) = tokio::join!(itself.ask(link, &mut picture), cached(link));
        let mut reading = Self {
            picture,
            by_path: HashMap::from_iter([(ROOT.to_owned(), 0)]),
            known: HashMap::new(),
            listed: HashMap::new(),
            named: HashMap::new(),
        };
        reading.keep_children(itself?.children);
        match items {
            Ok(items) => reading.fill(items),
            Err(fault) if fault.is_lost() => return Err(fault),
            Err(e) => {
                tracing::debug!("{} has no cache: {e}", link.name);
                reading.known = read_known(link, last).await?;
            }
        }
        let missing = reading.picture.objects.iter().enumerate().skip(1).filter_map(|(at, object)| {
            let seen = states::is_visible(object.states, link.toolkit);
            match object.count {
                // The cache lacks the number of children of objects that manage their descendants.
                ..0 if holds_few(object.role) => Some((at, Question::Count)),
                0 => None,
                _ => (seen && !object.complete && !is_vast(object)).then_some((at, Question::Children)),
            }
        });
        let answers = Questions(missing.collect()).ask(link, &mut reading.picture).await?;
        reading.keep_children(answers.children);
        Ok(reading)
    }

    /// Adds the objects of a cache to the capture.
    fn fill(&mut self, items: Vec<(Object, String, i32)>) {
        let mut placed: Vec<(String, i32, usize)> = Vec::with_capacity(items.len());
        let mut size = 0;
        for (object, parent, place) in items {
            size += object.text_size();
            if self.picture.objects.len() >= OBJECTS || size > TEXTS {
                self.picture.truncated = true;
                break;
            }
            match self.by_path.get(&object.path) {
                Some(0) => {
                    let Object { name, count, .. } = std::mem::replace(&mut self.picture[0], object);
                    (self.picture[0].name, self.picture[0].count) = (name, count);
                }
                // Of duplicates, the first one counts.
                Some(_) => {}
                None => placed.push((parent, place, self.push(object))),
            }
        }
        placed.sort_by_key(|(_, place, _)| *place);
        let mut last: HashMap<usize, i32> = HashMap::new();
        let mut doubtful = Vec::new();
        for (parent, place, at) in placed {
            let Some(&parent) = self.by_path.get(&parent) else { continue };
            // If an index is missing or taken, the children are queried from the parent.
            if last.insert(parent, place).is_some_and(|before| before == place) || place < 0 {
                doubtful.push(parent);
            }
            self.picture[parent].children.push(at);
            self.named.insert(at, parent);
        }
        for object in &mut self.picture.objects {
            object.complete = usize::try_from(object.count).is_ok_and(|count| count == object.children.len());
        }
        doubtful.into_iter().for_each(|at| self.picture[at].complete = false);
    }

    /// Keeps the children of objects until the objects are reached.
    fn keep_children(&mut self, of: impl IntoIterator<Item = (usize, Vec<String>)>) {
        for (at, children) in of {
            self.picture[at].count = i32::try_from(children.len()).unwrap_or(i32::MAX);
            self.listed.insert(at, children);
        }
    }

    /// Adds an object. Returns its index.
    fn push(&mut self, object: Object) -> usize {
        let new = self.picture.objects.len();
        self.by_path.insert(object.path.clone(), new);
        self.picture.objects.push(object);
        new
    }

    /// Adds popups that the app does not list among its windows.
    async fn popups(&mut self, link: &Link, shown: &[String]) -> BusResult<Vec<usize>> {
        let paths = toolkit::unlisted_popups(link, shown, &self.by_path).await?;
        let from = self.picture.objects.len();
        let mut questions = Questions::default();
        for path in paths {
            let new = self.push(Object { path, count: -1, ..Object::default() });
            questions.add_all(new, ALL_QUESTIONS.iter().copied());
        }
        let gone = questions.ask(link, &mut self.picture).await?.vanished;
        let pops_up = |at: &usize| {
            let object = &self.picture[*at];
            // The box around the list of a combo box is not a popup: its list is known.
            let list = matches!(object.role, role::LIST | role::LIST_BOX | role::TREE | role::TABLE);
            let listed = list || roles::is_menu(object.role);
            listed && !gone.contains(at) && states::is_visible(object.states, link.toolkit)
        };
        let shown: Vec<usize> = (from..self.picture.objects.len()).filter(pops_up).collect();
        shown.iter().for_each(|&at| self.picture[at].shown = true);
        self.picture[0].children.extend(&shown);
        Ok(shown)
    }

    /// Descends level by level through visible objects, and queries what the cache did not contain.
    async fn descend(&mut self, link: &Link, from: Vec<usize>) -> BusResult<()> {
        self.picture[0].shown = true;
        // Each object, and whether it is inside a scroll container, which may scroll hidden objects
        // into view.
        let mut level: Vec<_> = from.into_iter().map(|at| (at, false)).collect();
        for _ in 0..DEPTH {
            let mut questions = Questions::default();
            let mut listed = Vec::new();
            for &(at, _) in &level {
                let object = &self.picture[at];
                if !object.complete && !is_vast(object) && object.count != 0 {
                    match self.listed.remove(&at) {
                        Some(children) => listed.push((at, children)),
                        None => questions.0.push((at, Question::Children)),
                    }
                }
                if may_be_socket(&self.picture, at) {
                    questions.0.push((at, Question::Plugged));
                }
            }
            if !questions.0.is_empty() || !listed.is_empty() {
                let mut answers = questions.ask(link, &mut self.picture).await?;
                answers.children.append(&mut listed);
                self.adopt(link, answers).await?;
            }
            level = self.below(&level);
            if level.is_empty() {
                return Ok(());
            }
        }
        self.picture.truncated = true;
        Ok(())
    }

    /// Adds the children that objects named, and reads the new ones.
    async fn adopt(&mut self, link: &Link, answers: Answers) -> BusResult<()> {
        let mut fresh = Vec::new();
        let plugged = answers.plugged.into_iter().map(|(at, child)| (at, vec![child]));
        for (at, named) in answers.children.into_iter().chain(plugged) {
            let mut children = Vec::with_capacity(named.len());
            for child in named {
                let host = self.picture[at].path.as_str();
                let own = Link::same_process(host, &child);
                let path = if own { Some(child) } else { link.embedded_child(host, &child).await };
                let Some(path) = path else { continue };
                let enough = children.len() >= CHILDREN || self.picture.objects.len() >= OBJECTS;
                match self.by_path.get(&path) {
                    // An object inside itself would cause endless recursion.
                    Some(0) => {}
                    Some(&known) => children.push(known),
                    None if enough => self.picture.truncated = true,
                    None => {
                        let known = self.known.remove(&path);
                        let is_fresh = known.is_none();
                        let unread = || (Object { path, count: -1, ..Object::default() }, None);
                        let (object, named) = known.unwrap_or_else(unread);
                        let new = self.push(object);
                        fresh.extend(is_fresh.then_some(new));
                        self.keep_children(named.map(|named| (new, named)));
                        children.push(new);
                    }
                }
            }
            let object = &mut self.picture[at];
            object.children = children;
            object.complete = true;
        }
        let by_role = link.toolkit.profile().reads_text_late;
        // The next queries depend on the answers to these.
        let early: &[Question] =
            if by_role { &[Question::States, Question::Role] } else { &[Question::States] };
        let mut first = Questions::default();
        fresh.iter().for_each(|&at| first.add_all(at, early.iter().copied()));
        first.ask(link, &mut self.picture).await?;
        let mut rest = Questions::default();
        let mut plain = Vec::new();
        for &at in &fresh {
            let object = &self.picture[at];
            let mute = object.states == 0 || embedded_path(&object.path).is_some();
            if is_hidden(object) && !mute {
                continue;
            }
            let plain_questions = toolkit::plain_questions(link.toolkit, object);
            plain.extend(plain_questions.map(|_| at));
            let asks = plain_questions.unwrap_or(ALL_QUESTIONS);
            let late = asks.iter().filter(|ask| !early.contains(ask));
            rest.add_all(at, late.map(|&ask| listing(ask, object)));
        }
        let answers = rest.ask(link, &mut self.picture).await?;
        self.keep_children(answers.children);
        plain.into_iter().for_each(|at| toolkit::keep_plain(&mut self.picture[at]));
        Ok(())
    }

    /// Marks the visible children of a level's objects as shown, and returns those that were not
    /// marked before.
    fn below(&mut self, level: &[(usize, bool)]) -> Vec<(usize, bool)> {
        let toolkit = self.picture.toolkit;
        let mut next = Vec::new();
        for &(at, above) in level {
            let parent = &self.picture[at];
            // Folded content, such as menus and pages of a notebook, cannot be scrolled into view.
            let pane = matches!(parent.role, role::SCROLL_PANE | role::DOCUMENT_FRAME | role::DOCUMENT_WEB);
            let scrolls = pane || above && !roles::is(parent.role, Facts::FOLDS);
            for child in parent.children.clone() {
                let object = &mut self.picture[child];
                // An object with several parents is shown at the first one.
                if object.shown {
                    continue;
                }
                let defunct = object.is(states::DEFUNCT);
                let scrolled = scrolls && object.is(states::VISIBLE) && !defunct;
                object.shown = states::is_visible(object.states, toolkit)
                    || scrolled
                    || is_mute(object, toolkit)
                    // The WebKit pane in which a page scrolls reports all states except SHOWING.
                    || object.role == role::SCROLL_PANE && embedded_path(&object.path).is_some() && !defunct;
                if object.shown {
                    next.push((child, scrolls));
                }
            }
        }
        next
    }
}

/// Returns whether an object may have more children than can be read: it manages them itself and
/// creates them on request. List boxes of GTK 3 also report this, but contain only their rows.
/// LibreOffice documents do so too, but contain only the paragraphs and shapes on the screen.
fn is_vast(object: &Object) -> bool {
    let few = usize::try_from(object.count).is_ok_and(|count| count <= CHILDREN);
    object.is(states::MANAGES_DESCENDANTS) && !(few && holds_few(object.role))
}

/// Returns whether objects with this role manage their children and report how many there are.
fn holds_few(number: u32) -> bool {
    matches!(number, role::LIST_BOX | role::DOCUMENT_TEXT | role::DOCUMENT_PRESENTATION)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::speaker::{FIRST, Now, SECOND, Speaker};
    use crate::toolkit::profile::Toolkit;

    #[test]
    fn small_managed_containers_are_read_completely() {
        let object =
            |role, count| Object { role, count, states: states::MANAGES_DESCENDANTS, ..Object::default() };
        assert!(!is_vast(&object(role::LIST_BOX, 7)) && !is_vast(&object(role::DOCUMENT_TEXT, 7)));
        assert!(is_vast(&object(role::DOCUMENT_TEXT, -1)), "it has not said how many");
        assert!(is_vast(&object(role::DOCUMENT_TEXT, 1 << 30)) && is_vast(&object(role::TABLE, 7)));
    }

    /// The capture before the first one.
    fn nothing() -> ObjectTree {
        ObjectTree { toolkit: Toolkit::Other, objects: Vec::new(), truncated: false }
    }

    #[tokio::test]
    async fn objects_of_the_last_capture_are_read_together() {
        let app = Speaker::start();
        let (mut device, _) = app.device().await;
        let (link, cells) = (&device.app.link, &mut device.cells);
        let first = super::read(link, &nothing(), cells, &[]).await.unwrap();
        app.asked();
        assert_eq!(super::read(link, &first, cells, &[]).await.unwrap(), first);
        let asked = app.asked();
        let position =
            |path: &str, what: &str| asked.iter().position(|(of, asked, _)| of == path && asked == what);
        assert!(position(FIRST, "GetRole").unwrap() < position(SECOND, "GetState").unwrap(), "{asked:?}");
        let roles = asked.iter().filter(|(_, what, _)| what == "GetRole").count();
        assert_eq!(roles, first.objects.len() - 1, "nothing is read twice: {asked:?}");
    }

    #[tokio::test]
    async fn capture_after_another_equals_one_without() {
        let changes: [fn(&mut Now); 3] = [
            |now| "Send".clone_into(&mut now.name),
            |now| now.twin = Some(true),
            |now| now.forgets = vec![(SECOND, "GetState"), (SECOND, "GetRole")],
        ];
        for change in changes {
            let app = Speaker::start();
            let (mut device, _) = app.device().await;
            let (link, cells) = (&device.app.link, &mut device.cells);
            let before = super::read(link, &nothing(), cells, &[]).await.unwrap();
            app.becomes(change);
            let after = super::read(link, &before, cells, &[]).await.unwrap();
            assert_eq!(after, super::read(link, &nothing(), cells, &[]).await.unwrap());
            assert_ne!(after, before);
        }
    }

    #[tokio::test]
    async fn role_is_asked_early_where_questions_depend_on_it() {
        for (toolkit, early) in [(Toolkit::Gecko, true), (Toolkit::Gtk3, false)] {
            let app = Speaker::start();
            let (mut device, _) = app.device().await;
            device.app.link.toolkit = toolkit;
            super::read(&device.app.link, &nothing(), &mut device.cells, &[]).await.unwrap();
            let asked = app.asked();
            let position = |path: &str, what: &str| {
                asked.iter().position(|(of, asked, _)| of == path && asked == what).expect(what)
            };
            assert_eq!(position(FIRST, "GetRole") < position(SECOND, "GetState"), early, "{asked:?}");
        }
    }
}
