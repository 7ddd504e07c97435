//! What a reading asked, for the next one to ask at once.
//!
//! A reading goes down level by level, because what is asked of an object depends on what it and those above it answered.
//! Each level is a trip to the app, in which it waits for us. What the last reading came to ask is mostly what the next one
//! comes to ask, so all of it goes out together, and the reading takes its answers from there as it gets to them; what it
//! finds no answer to it asks. Nothing but questions is taken over: each answer was given in this reading (ADR 37).

use super::ask::Ask;
use super::gecko;
use crate::bus::fault::Fault;
use crate::bus::{Link, Message, guest};
use crate::capture::ask::Said;
use crate::capture::trees::Trees;
use crate::limits::DEPTH;
use crate::model::{Object, Picture};
use crate::roles::number as role;
use crate::states;
use crate::toolkit::Toolkit;
use hashbrown::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

/// From so many questions on it is first asked whether what they are about is there as it was: a page may be another one,
/// or a tab may have gone behind its neighbour.
const LARGE: usize = 128;

/// A page looks through so many objects for those of a role in the time of one answer.
const WALK: usize = 24;

/// What says how much of something can be seen, and whether its children may be asked for.
const OUTLINE: u64 =
    states::DEFUNCT | states::SHOWING | states::VISIBLE | states::MANAGES_DESCENDANTS | states::COLLAPSED;

/// What a reading asked, in the order of the tree.
#[derive(Debug, Clone, Default)]
pub(crate) struct Agenda {
    entries: Arc<Vec<Entry>>,
    /// The roles that pages are asked for at once: those of so many things there that each need not be asked for its own.
    roles: Vec<u32>,
    /// Pages told of all that stands in them.
    trees: bool,
}

#[derive(Debug)]
struct Entry {
    path: Arc<str>,
    role: u32,
    states: u64,
    /// It is a page of Firefox that can be seen: it names what stands in it.
    is_page: bool,
    /// It stands in one.
    in_page: bool,
    asks: Vec<Ask>,
    /// The entries from here to there are about this object and what stands in it,
    end: usize,
    /// and hold so many questions.
    questions: usize,
}

impl Agenda {
    /// What was asked of the objects of a picture, and whether its pages told of all that stands in them.
    pub(super) fn of(picture: &Picture, asked: &[(usize, Ask)], trees: bool) -> Self {
        let mut asks = vec![Vec::new(); picture.objects.len()];
        for &(at, ask) in asked {
            let object = &picture.objects[at];
            if is_the_same_again(object, ask) {
                asks[at].push(ask);
            }
        }
        let mut listing = Listing { picture, asks, listed: HashSet::new(), entries: Vec::new() };
        listing.list(0, false, 0);
        let mut entries = listing.entries;
        let roles = frequent(&entries);
        for entry in entries.iter_mut().filter(|entry| entry.in_page) {
            entry.asks.retain(|&ask| ask != Ask::Role);
            if !roles.contains(&entry.role) {
                entry.asks.push(Ask::Role);
            }
        }
        Self { entries: Arc::new(entries), roles, trees }
    }

    /// What is asked first whether it is as it was.
    fn large(&self) -> Vec<usize> {
        let large = |&at: &usize| at != 0 && self.entries[at].questions >= LARGE;
        (0..self.entries.len()).filter(large).collect()
    }

    /// The pages that could be seen.
    fn pages(&self) -> Vec<String> {
        let pages = self.entries.iter().filter(|entry| entry.is_page);
        pages.map(|entry| entry.path.to_string()).collect()
    }

    /// Those of them that do not stand in others.
    fn outer_pages(&self) -> Vec<String> {
        let pages = self.entries.iter().filter(|entry| entry.is_page && !entry.in_page);
        pages.map(|entry| entry.path.to_string()).collect()
    }

    /// What is left when some of it is not as it was, and of what pages name only what they have named now.
    fn left(&self, changed: &HashSet<usize>, named: &HashMap<String, u32>) -> Vec<usize> {
        let mut out = Vec::with_capacity(self.entries.len());
        let mut at = 0;
        while let Some(entry) = self.entries.get(at) {
            let unnamed =
                entry.in_page && self.roles.contains(&entry.role) && !named.contains_key(&*entry.path);
            if unnamed || changed.contains(&at) {
                at = entry.end;
            } else {
                out.push(at);
                at += 1;
            }
        }
        out
    }
}

/// The roles of so much of what stands in pages that these are asked which things have them.
fn frequent(entries: &[Entry]) -> Vec<u32> {
    let all: Vec<u32> = entries.iter().filter(|entry| entry.in_page).map(|entry| entry.role).collect();
    let frequent = |role: &u32| all.iter().filter(|other| *other == role).count() * WALK > all.len();
    gecko::COMMON.into_iter().filter(frequent).collect()
}

/// Whether the next reading may ask this without knowing anything. The children of what manages them are asked for only
/// where it says that they are few; how much of a long text is asked depends on its length.
fn is_the_same_again(object: &Object, ask: Ask) -> bool {
    let depends = match ask {
        Ask::Children => object.is(states::MANAGES_DESCENDANTS),
        Ask::Text => object.length.is_some(),
        _ => false,
    };
    // A guest is asked on its own way.
    !depends && !object.path.is_empty() && guest(&object.path).is_none()
}

/// Lists objects with what stands in them.
struct Listing<'a> {
    picture: &'a Picture,
    asks: Vec<Vec<Ask>>,
    listed: HashSet<usize>,
    entries: Vec<Entry>,
}

impl Listing<'_> {
    /// Lists one; how many questions that makes. What is deeper than it is read, no question of it is known.
    fn list(&mut self, at: usize, in_page: bool, depth: usize) -> usize {
        if depth > DEPTH || !self.listed.insert(at) {
            return 0;
        }
        let picture = self.picture;
        let object = &picture.objects[at];
        let (place, asks) = (self.entries.len(), std::mem::take(&mut self.asks[at]));
        let mut questions = asks.len();
        let is_page = picture.toolkit == Toolkit::Gecko && is_page(object.role, object.states);
        self.entries.push(Entry {
            path: object.path.as_str().into(),
            role: object.role,
            states: object.states,
            is_page,
            in_page,
            asks,
            end: 0,
            questions: 0,
        });
        let in_page = in_page || is_page;
        for &child in object.children.iter().chain(&object.aside) {
            questions += self.list(child, in_page, depth + 1);
        }
        (self.entries[place].end, self.entries[place].questions) = (self.entries.len(), questions);
        questions
    }
}

/// Whether what has this role and said these states is a page of Firefox that can be seen: it names what stands in it.
pub(super) fn is_page(number: u32, said: u64) -> bool {
    number == role::DOCUMENT_WEB && said & states::VISIBLE != 0
}

/// What an app answered before it was its turn.
#[derive(Debug, Default)]
pub(crate) struct Early {
    /// Pages that have named what stands in them before it was their turn,
    pub(crate) pages: Vec<String>,
    /// and the roles of that, and of what others have named since.
    pub(crate) roles: HashMap<String, u32>,
    /// What they have told of it besides.
    pub(crate) trees: Trees,
    /// Where the answers of an object are.
    pub(crate) places: HashMap<Arc<str>, Range<usize>>,
    pub(crate) answers: Vec<(Ask, Option<Result<Said, Fault>>)>,
}

impl Early {
    /// Asks all of an agenda that is still to be seen.
    ///
    /// # Errors
    /// When the app is gone or silent.
    pub(crate) async fn ask(link: &Link, agenda: &Agenda) -> Result<Self, Fault> {
        let (entries, blank) = (&*agenda.entries, Object::default());
        let call = |at: usize, ask: Ask| ask.call(&entries[at].path, &blank, link.toolkit);
        let (large, pages) = (agenda.large(), agenda.pages());
        let states: Vec<_> = large.iter().map(|&at| call(at, Ask::States)).collect();
        let (answers, roles) = tokio::join!(link.calls(&states), gecko::roles(link, &pages, &agenda.roles));
        let mut early = Self { pages, roles: roles?, ..Self::default() };
        let mut changed = HashSet::new();
        for (at, answer) in large.into_iter().zip(answers) {
            match answer.and_then(|answer| Ask::States.read(link, "", &answer)) {
                Err(fault @ (Fault::Closed(_) | Fault::Silent(_))) => return Err(fault),
                Ok(Said::States(now)) if (now ^ entries[at].states) & OUTLINE == 0 => {}
                _ => {
                    changed.insert(at);
                }
            }
        }
        let trees = agenda.trees && Trees::are_for(early.roles.len());
        let mut open = Vec::new();
        for at in agenda.left(&changed, &early.roles) {
            let (from, entry) = (open.len(), &entries[at]);
            let told = |ask| trees && (entry.is_page || entry.in_page) && Trees::tell(ask);
            open.extend(entry.asks.iter().filter(|&&ask| !told(ask)).map(|&ask| (at, ask)));
            early.places.insert(Arc::clone(&entries[at].path), from..open.len());
        }
        let said = |n: usize, answer: Result<Message, Fault>| {
            let (at, ask) = open[n];
            (ask, Some(answer.and_then(|answer| ask.read(link, &entries[at].path, &answer))))
        };
        let outer = if trees { agenda.outer_pages() } else { Vec::new() };
        let answers = link.spread(open.len(), |n| call(open[n].0, open[n].1), said);
        let (told, answers) = tokio::join!(Trees::ask(link, &outer), answers);
        (early.trees, early.answers) = (told?, answers);
        early.trees.known |= agenda.trees && !trees;
        Ok(early)
    }

    /// The answer to a question, if it was asked.
    pub(crate) fn take(&mut self, object: &Object, ask: Ask) -> Option<Result<Said, Fault>> {
        if let Some(said) = self.trees.take(object, ask) {
            return Some(Ok(said));
        }
        let place = self.places.get(object.path.as_str())?.clone();
        let mut answers = self.answers[place].iter_mut().filter(|_| is_the_same_again(object, ask));
        answers.find(|(asked, answer)| *asked == ask && answer.is_some())?.1.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Heard;
    use crate::tests::peer::App;

    const SEEN: u64 = states::VISIBLE | states::SHOWING;

    /// An app with a window, in which there are a list, a page with two cells, and a spreadsheet.
    fn picture() -> Picture {
        let object = |path: &str, role, states, children: &[usize]| Object {
            path: path.to_owned(),
            role,
            states,
            children: children.to_vec(),
            ..Object::default()
        };
        let mut objects = vec![
            object("/root", 75, 0, &[1]),
            object("/window", role::FRAME, SEEN, &[2, 4, 7]),
            object("/list", role::LIST, SEEN, &[3]),
            object("/item", role::LIST_ITEM, SEEN, &[]),
            object("/page", role::DOCUMENT_WEB, SEEN, &[5]),
            object("/cell", role::TABLE_CELL, SEEN, &[]),
            object("/hidden", role::TABLE_CELL, 0, &[]),
            object("/sheet", role::TABLE, SEEN | states::MANAGES_DESCENDANTS, &[]),
        ];
        objects[4].aside = vec![6];
        objects[3].length = Some(9_000);
        // It stands in itself, whatever that is.
        objects[5].children = vec![1];
        Picture { toolkit: Toolkit::Gecko, objects, truncated: false }
    }

    fn paths(agenda: &Agenda, places: &[usize]) -> Vec<String> {
        places.iter().map(|&at| agenda.entries[at].path.to_string()).collect()
    }

    #[test]
    fn what_is_asked_stands_in_the_order_of_the_tree_with_what_holds_it_and_without_what_depends() {
        let picture = picture();
        let all: Vec<(usize, Ask)> =
            (0..8).flat_map(|at| [Ask::States, Ask::Children, Ask::Text].map(|ask| (at, ask))).collect();
        let agenda = Agenda::of(&picture, &all, false);
        let order = ["/root", "/window", "/list", "/item", "/page", "/cell", "/hidden", "/sheet"];
        assert_eq!(paths(&agenda, &(0..8).collect::<Vec<_>>()), order);
        let asks = |at: usize| agenda.entries[at].asks.clone();
        assert_eq!(asks(1), [Ask::States, Ask::Children, Ask::Text]);
        assert_eq!(asks(3), [Ask::States, Ask::Children], "how much of its text depends on how long it is");
        assert_eq!(asks(7), [Ask::States, Ask::Text], "they may be a thousand million");
        let count = |at: usize| (agenda.entries[at].end, agenda.entries[at].questions);
        assert_eq!((count(0), count(2), count(4)), ((8, 22), (4, 5), (7, 9)));
        assert_eq!(agenda.pages(), ["/page"]);
    }

    #[test]
    fn what_is_not_as_it_was_is_left_out_with_all_in_it_and_so_is_what_its_page_does_not_name() {
        let agenda = Agenda::of(&picture(), &[], false);
        let named = |paths: &[&str]| paths.iter().map(|&path| (path.to_owned(), role::TABLE_CELL)).collect();
        let left = |changed: &[usize], all: &[&str]| {
            paths(&agenda, &agenda.left(&changed.iter().copied().collect(), &named(all)))
        };
        let all = ["/root", "/window", "/list", "/item", "/page", "/cell", "/hidden", "/sheet"];
        assert_eq!(left(&[], &["/cell", "/hidden"]), all);
        assert_eq!(left(&[2], &["/cell"]), ["/root", "/window", "/page", "/cell", "/sheet"]);
        // Outside of a page nothing names what there is.
        assert_eq!(left(&[], &[]), ["/root", "/window", "/list", "/item", "/page", "/sheet"]);
        assert_eq!(left(&[0], &[]), [""; 0]);
    }

    /// What the picture's objects are asked everywhere.
    const USUAL: [Ask; 4] = [Ask::States, Ask::Role, Ask::Name, Ask::Children];

    fn usual(picture: &Picture, trees: bool) -> Agenda {
        let asked = (0..picture.objects.len()).flat_map(|at| USUAL.map(|ask| (at, ask)));
        Agenda::of(picture, &asked.collect::<Vec<_>>(), trees)
    }

    #[test]
    fn a_page_is_asked_at_once_for_the_roles_of_much_of_it_and_the_rest_for_their_own() {
        let mut picture = picture();
        let cells = (0..2 * WALK).map(|at| Object {
            path: format!("/cell/{at}"),
            role: role::TABLE_CELL,
            states: SEEN,
            ..Object::default()
        });
        let from = picture.objects.len();
        picture.objects.extend(cells);
        picture.objects.push(Object {
            path: "/heading".to_owned(),
            role: role::HEADING,
            ..Object::default()
        });
        let to = picture.objects.len();
        picture.objects[4].children.extend(from..to);
        let agenda = usual(&picture, false);
        assert_eq!(agenda.roles, [role::TABLE_CELL]);
        let asks = |path: &str| &agenda.entries.iter().find(|entry| &*entry.path == path).unwrap().asks;
        assert!(!asks("/cell/7").contains(&Ask::Role) && asks("/cell/7").len() == USUAL.len() - 1);
        assert!(asks("/heading").contains(&Ask::Role) && asks("/heading").len() == USUAL.len());
        assert!(asks("/item").contains(&Ask::Role), "outside of pages everything is asked for its own");
        // What has a role that nobody was asked for is not gone because nobody named it.
        assert!(
            paths(&agenda, &agenda.left(&HashSet::new(), &HashMap::new())).contains(&"/heading".to_owned())
        );
        // A page of another toolkit names nothing.
        picture.toolkit = Toolkit::Chromium;
        let agenda = usual(&picture, false);
        assert_eq!((agenda.roles.len(), agenda.pages().len(), agenda.outer_pages().len()), (0, 0, 0));
    }

    #[test]
    fn of_pages_in_pages_the_outer_one_tells_all() {
        let mut picture = picture();
        picture.objects[5] = Object { role: role::DOCUMENT_WEB, ..picture.objects[5].clone() };
        let agenda = usual(&picture, true);
        assert_eq!(
            (agenda.pages(), agenda.outer_pages()),
            (vec!["/page".to_owned(), "/cell".to_owned()], vec!["/page".to_owned()],)
        );
    }

    #[tokio::test]
    async fn what_a_page_tells_along_with_its_tree_is_not_asked_of_each_thing_in_it() {
        let calls = async |trees| {
            let app = App::start();
            let link = app.link(&Arc::new(Heard::new())).await;
            let agenda = usual(&picture(), trees);
            let early = Early::ask(&link, &agenda).await.unwrap();
            // It tells none, so the next reading does not count on that.
            assert!(!early.trees.known);
            app.calls()
        };
        // The page, and one cell that it has not named, so that nothing of it is asked at all.
        let page = USUAL.iter().filter(|&&ask| Trees::tell(ask)).count();
        assert_eq!(calls(true).await, calls(false).await - page + 1);
    }

    /// The cache of an app may say what it likes.
    #[test]
    fn a_chain_without_end_is_listed_as_far_as_it_is_read() {
        let object =
            |at: usize| Object { path: format!("/{at}"), children: vec![at + 1], ..Object::default() };
        let mut objects: Vec<Object> = (0..20_000).map(object).collect();
        objects.last_mut().unwrap().children.clear();
        let picture = Picture { toolkit: Toolkit::Gtk3, objects, truncated: false };
        assert_eq!(Agenda::of(&picture, &[], false).entries.len(), DEPTH + 1);
    }

    #[test]
    fn what_takes_many_questions_is_looked_at_first() {
        let picture = picture();
        let of = |at: usize, many: usize| vec![(at, Ask::Name); many];
        let large = |asked: Vec<(usize, Ask)>| {
            let agenda = Agenda::of(&picture, &asked, false);
            paths(&agenda, &agenda.large())
        };
        assert_eq!(large(of(3, LARGE - 1)), [""; 0]);
        assert_eq!(large(of(3, LARGE)), ["/window", "/list", "/item"]);
        assert_eq!(large([of(3, LARGE / 2), of(5, LARGE / 2)].concat()), ["/window"]);
    }
}
