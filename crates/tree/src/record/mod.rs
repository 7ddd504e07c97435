//! Which thing among its likes is this element, and does what was issued still hold?
//!
//! "Delete" of mail 1 and "Delete" of mail 11 are the same node, role and name in a list that recycles its rows.
//! What tells them apart is the *record*: the key, the text, the numbers or the place of the row, or the heading
//! above, or what opened the menu. [`Records`] reads it from a tree, [`Meaning`] keeps it, and
//! [`Records::judge`] says of a node in a later tree whether it still is what was issued. [`content_match`]
//! finds the node that took the place of one that is gone.
//!
//! `docs/records.md` explains the rule, what each clause is worth, and what it cannot know.

mod basis;
mod book;
mod groups;
mod keys;
mod matching;
mod meaning;
mod name;
mod openers;
mod parts;
mod place;
mod popups;
mod print;
mod reading;
mod rows;
mod sight;
mod structure;
mod switches;
mod text;
mod told;
mod verdict;
mod volatile;
mod words;
mod work;

#[cfg(test)]
mod tests;

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use hashbrown::HashMap;

pub use book::RecordBook;
pub(crate) use keys::is_machine_made;
pub use matching::{came_back_with_its_list, content_match};
pub use meaning::Meaning;
pub use openers::{Opener, Openers};
pub(crate) use place::steady_title;
pub(crate) use popups::is_popup;
#[doc(hidden)]
pub use switches::Switches;
pub(crate) use text::{is_field, joined_text};
pub(crate) use told::Rows;
pub use verdict::{Clause, Refused, Verdict};
#[doc(hidden)]
pub use volatile::is_volatile;
pub(crate) use volatile::{TimeUnit, time_unit, without_counts};
pub use words::words;

use basis::{Basis, Sight};
use book::{Known, Source};
use groups::Titled;
use meaning::{Inner, Record, Section};
use openers::Opened;
use parts::Whole;
use popups::Speech;
use print::{Part, Print, kept};
use reading::Reading;
use sight::Live;
use structure::RowAt;

use crate::{Handle, NodeId, NodeRef, Role, Tree};

/// The records of one tree. Build one per capture: what it learns about a container serves all its elements. For a tree
/// that is asked about again there is [`RecordBook`].
///
/// ```
/// use stickpin_tree::{Document, IdentityGrade, NodeSpec, Openers, Records, Role, TreeBuilder};
/// let mut b = TreeBuilder::new(IdentityGrade::NeverReused);
/// b.document(0, Document { scope: 1, frame: String::new(), url: "/mail".into(), title: String::new() }, 1)?;
/// b.node(1, NodeSpec { role: Some(Role::List), id: 2, ..Default::default() })?;
/// for (id, mail) in [(10, "Invoice"), (20, "Meeting")] {
///     b.node(2, NodeSpec { role: Some(Role::ListItem), id, ..Default::default() })?;
///     b.node(3, NodeSpec { role: Some(Role::Text), name: mail, id: id + 1, ..Default::default() })?;
///     b.node(3, NodeSpec { role: Some(Role::Button), name: "Delete", id: id + 2, ..Default::default() })?;
/// }
/// let tree = b.finish()?;
/// let openers = Openers::default();
/// let records = Records::new(&tree, &openers);
/// let [first, second] = [12, 22].map(|id| tree.nodes().find(|n| n.address().unwrap().id == id).unwrap().id());
/// let meaning = records.meaning(first);
/// assert_eq!(meaning.to_string(), r#"button "Delete" in row "Invoice""#);
/// assert!(records.judge(&meaning, first).is_same());
/// assert!(!records.judge(&meaning, second).is_same());
/// # Ok::<(), stickpin_tree::TreeError>(())
/// ```
#[derive(Debug)]
pub struct Records<'t> {
    tree: &'t Tree,
    openers: &'t Openers,
    on: Switches,
    known: Source<'t>,
    popup_openers: RefCell<HashMap<NodeId, Option<Opener>>>,
    kept_rows: RefCell<matching::KeptRows>,
    drawn_anew: RefCell<matching::DrawnAnew>,
    named: OnceCell<matching::Named>,
    likes: RefCell<HashMap<(Role, Print), Rc<matching::Likes>>>,
    readings: RefCell<HashMap<NodeId, Rc<Reading>>>,
    comparisons: RefCell<reading::Comparisons>,
    document_texts: RefCell<HashMap<NodeId, Print>>,
    /// Stands for these records where another tree's remember a comparison with them.
    token: Rc<()>,
}

impl<'t> Records<'t> {
    /// The records of a tree, with what is known about the openers of its popups. Lazy: costs little by itself.
    #[must_use]
    pub fn new(tree: &'t Tree, openers: &'t Openers) -> Self {
        Self::with(tree, openers, Switches::all())
    }

    /// With some clauses only, to measure what each is worth.
    #[doc(hidden)]
    #[must_use]
    pub fn with(tree: &'t Tree, openers: &'t Openers, on: Switches) -> Self {
        Self::knowing(tree, openers, on, Source::Own(Box::new(Known::new(tree, on))))
    }

    fn knowing(tree: &'t Tree, openers: &'t Openers, on: Switches, known: Source<'t>) -> Self {
        Self {
            tree,
            openers,
            on,
            known,
            popup_openers: RefCell::default(),
            kept_rows: RefCell::default(),
            drawn_anew: RefCell::default(),
            named: OnceCell::new(),
            likes: RefCell::default(),
            readings: RefCell::default(),
            comparisons: RefCell::default(),
            document_texts: RefCell::default(),
            token: Rc::default(),
        }
    }

    /// The tree.
    #[must_use]
    pub fn tree(&self) -> &'t Tree {
        self.tree
    }

    /// What an element is now.
    #[must_use]
    pub fn meaning(&self, node: NodeId) -> Meaning {
        let element = self.tree.node(node);
        let row = self.known.structure.row_or_group_of(element);
        let live = Live { records: self, element, row };
        let basis = live.basis();
        let whole = live.whole(&basis);
        let record = Record {
            row: row.and_then(|at| self.tree.node(at.id).handle()),
            section: self.section_of(element, whole.is_some()),
            groups: self.groups_of(element, &basis, whole.as_ref()),
            below: live.below(&basis, whole.as_ref()),
            basis,
            speech: self.speech_of(element, whole.as_ref()),
            whole,
            opener: self.opener_of(element),
        };
        let words = self.words_of(element);
        Meaning(Arc::new(Inner {
            role: element.role(),
            name: element.name().into(),
            words_shared: words.as_ref().is_some_and(|w| self.shares_words(element.role(), w.stable)),
            words,
            stable_name: self.stable_name(element),
            address: live.address(),
            within: self.within(element, &record.basis, record.whole.as_ref()),
            record,
        }))
    }

    /// Whether what was issued still holds for a node of this tree.
    #[must_use]
    pub fn judge(&self, issued: &Meaning, node: NodeId) -> Verdict {
        work::step();
        let element = self.tree.node(node);
        let issued = &*issued.0;
        if element.role() != issued.role {
            return Verdict::Changed(Clause::Role);
        }
        let renamed = element.name() != &*issued.name;
        if renamed && !self.differs_in_counts(issued, element) {
            return Verdict::Changed(Clause::Name);
        }
        let reads_now = match self.same_words(issued, element) {
            Ok(words) => words.or_else(|| renamed.then(|| element.name().to_owned())),
            Err(clause) => return Verdict::Changed(clause),
        };
        match self.holds(&issued.record, element) {
            Ok(()) => Verdict::Same { reads_now },
            Err(clause) => Verdict::Changed(clause),
        }
    }

    /// What the heading above an element reads now, where its row says itself which one it is and that heading was another at
    /// issue; empty where none is above it now. The element is the same: [`Records::judge`] has said so, or this says
    /// nothing. Whoever acts on it should hear it, because rows may read the same for all records (`Billing address`).
    #[must_use]
    pub fn other_heading(&self, issued: &Meaning, node: NodeId) -> Option<String> {
        let then = issued.0.record.below?;
        let element = self.tree.node(node);
        let live = Live { records: self, element, row: self.row_now(&issued.0.record, element) };
        (!then.holds(&live)).then(|| live.heading_above().map_or_else(String::new, |h| h.name().to_owned()))
    }

    /// Whether a node is one row of several: an item, article, option or group among its likes, or a wrapper that repeats.
    #[doc(hidden)]
    #[must_use]
    pub fn is_list_row(&self, node: NodeRef<'_>) -> bool {
        self.known.structure.is_list_row(node)
    }

    /// The shortest text that tells the row of an element from its sibling rows, for lines that read the same.
    #[must_use]
    pub fn telling(&self, node: NodeId) -> Option<String> {
        let element = self.tree.node(node);
        let row = self.known.structure.row(self.tree, self.known.structure.row_of(element)?);
        let join = self.on.contains(Switches::JOINED_TEXT);
        let texts = row.text.telling_outside(element).filter_map(|(n, _)| {
            let n = self.tree.node(n);
            if n.is_text() { text::leaf_text(n, join) } else { None }
        });
        let shortest = texts.min_by_key(|t| t.chars().count());
        let name = || {
            let headers = row.headers.telling_outside(element);
            let mut others = row.names.telling_outside(element).chain(headers).filter(|&(n, _)| n != node);
            others.next().map(|(n, _)| self.tree.node(n).name().into())
        };
        let number = || {
            let first = row.numbers.telling_outside(element).next();
            first.and_then(|(n, _)| text::leaf_text(self.tree.node(n), join))
        };
        let text = shortest.or_else(name).or_else(number)?;
        Some(text.chars().take(80).collect())
    }

    /// The element as the opener of what appears after an act on it. `None` if it stands in a popup itself.
    #[must_use]
    pub fn opener(&self, node: NodeId) -> Option<Opener> {
        let element = self.tree.node(node);
        popups::popup_of(element).is_none().then(|| self.as_opener(element))
    }

    fn as_opener(&self, element: NodeRef<'t>) -> Opener {
        let live = self.sight(element);
        let basis = live.basis();
        let whole = live.whole(&basis);
        Opener(Arc::new(Opened {
            role: element.role(),
            name: self.stable_name(element),
            handle: element.handle(),
            groups: self.groups_of(element, &basis, whole.as_ref()),
            basis,
            whole,
            kept: live.keep(),
        }))
    }

    fn sight(&self, element: NodeRef<'t>) -> Live<'_, 't> {
        Live { records: self, element, row: self.known.structure.row_or_group_of(element) }
    }

    fn stable_name(&self, element: NodeRef<'_>) -> Print {
        Print::of(Part::Name, &name::stable_name(element, self.on.contains(Switches::JOINED_TEXT)))
    }

    /// Counts in a name change while the page stays; on another page they may be another thing's.
    fn differs_in_counts(&self, issued: &Inner, element: NodeRef<'t>) -> bool {
        self.counts_may_differ(issued, element) && self.stable_name(element) == issued.stable_name
    }

    fn counts_may_differ(&self, issued: &Inner, element: NodeRef<'t>) -> bool {
        self.on.contains(Switches::COUNTS_IN_NAMES)
            && Print::of(Part::Address, &element.document().url) == issued.address
    }

    fn holds(&self, issued: &Record, element: NodeRef<'t>) -> Result<(), Clause> {
        let live = Live { records: self, element, row: self.row_now(issued, element) };
        if let Some(then) = &issued.opener {
            let same = |now: Opener| {
                then.0.role == now.0.role
                    && then.0.basis.holds(&now.0.kept).is_ok()
                    && then.0.whole.as_ref().is_none_or(|w| w.holds(&now.0.kept).is_ok())
                    && !self.lost_title(&then.0.groups, &now.0.kept.groups)
            };
            if !self.opener_of(element).is_some_and(same) {
                return Err(Clause::Opener);
            }
        }
        self.holds_groups(issued, element)?;
        let whole = issued.whole.as_ref();
        if let (Some(then), Some(now)) = (&issued.speech, self.speech_of(element, whole)) {
            if !then.holds(&now, whole.is_some()) {
                return Err(Clause::DialogText);
            }
            let Some(whole) = whole else { return Ok(()) };
            whole.holds(&live)?;
            return issued.basis.holds(&live);
        }
        if whole.is_some() || !issued.basis.is_row() {
            self.holds_section(issued, element)?;
        }
        if let Some(whole) = whole {
            whole.holds(&live)?;
        }
        issued.basis.holds(&live)
    }

    /// While the node that was the row at issue contains the element it is the row, whatever became of its
    /// siblings.
    fn row_now(&self, issued: &Record, element: NodeRef<'t>) -> Option<RowAt<'_>> {
        if self.on.contains(Switches::ROW_LIVES)
            && issued.basis.is_row()
            && let Some(row) = issued.row
            && let Some(row) = element.ancestors().find(|n| n.handle() == Some(row))
            && let Some(at) = self.known.structure.as_row(row)
        {
            return Some(at);
        }
        self.known.structure.row_or_group_of(element)
    }

    fn section_of(&self, element: NodeRef<'t>, of_part: bool) -> Option<Section> {
        if !self.on.contains(Switches::SECTIONS) {
            return None;
        }
        let (node, text) = self.known.places.section_of(element)?;
        // What a window shows of its title changes with it, which is told of and ends nothing. The bars of a window are for
        // whatever it shows: a single label beside the title is its status.
        let labels = if of_part { 2 } else { 1 };
        let asked = node.role() != Role::Window || text.labels >= labels && !text.beside_title.is_empty();
        asked.then(|| Section { node: node.handle(), text: text.beside_title })
    }

    /// The section must keep half of its text: the section at issue while its node lives, else the one around the
    /// element now.
    fn holds_section(&self, issued: &Record, element: NodeRef<'t>) -> Result<(), Clause> {
        let Some(section) = &issued.section else { return Ok(()) };
        if matches!(issued.basis, Basis::Always) {
            return Ok(());
        }
        let now = match section.node.and_then(|n| self.node_at(n)) {
            Some(node) => self.known.places.section_text(node),
            None => match self.known.places.section_of(element) {
                Some((_, text)) => text,
                None => return Ok(()),
            },
        };
        let still = kept(&section.text, |p| now.all.binary_search(&p).is_ok());
        if still > 0 && still * 2 >= section.text.len() { Ok(()) } else { Err(Clause::SectionText) }
    }

    /// The titles that tell an element: where it is in no row, and where nothing in its row is of a record.
    fn groups_of(&self, element: NodeRef<'t>, basis: &Basis, whole: Option<&Whole>) -> Box<[Titled]> {
        let told = match basis {
            Basis::OwnName => false,
            Basis::Always => true,
            _ => basis.is_row() && whole.is_none(),
        };
        if told || !self.on.contains(Switches::GROUPS) {
            return Box::default();
        }
        groups::titles_around(element, &self.known.places)
    }

    fn holds_groups(&self, issued: &Record, element: NodeRef<'t>) -> Result<(), Clause> {
        if issued.groups.is_empty() {
            return Ok(());
        }
        let now = groups::titles_around(element, &self.known.places);
        if self.lost_title(&issued.groups, &now) { Err(Clause::Group) } else { Ok(()) }
    }

    fn lost_title(&self, then: &[Titled], now: &[Titled]) -> bool {
        groups::lost_one(then, now, |handle| self.node_at(handle))
    }

    fn speech_of(&self, element: NodeRef<'t>, whole: Option<&Whole>) -> Option<Speech> {
        // A live region around rows is a list that changes; a dialog around parts of itself is about one thing.
        let told = match whole {
            Some(_) => popups::popup_of(element).is_none(),
            None => self.known.structure.row_of(element).is_some(),
        };
        if told || !self.on.contains(Switches::DIALOG_TEXT) {
            return None;
        }
        let speaker = popups::speaker_of(element)?;
        // What stands on a page of its tabs is not what the bars beside them are about.
        let paged = |n: NodeRef<'_>| n.role() == Role::TabPanel;
        let pages = whole.is_none() || element.ancestors().take_while(|n| *n != speaker).any(paged);
        Some(self.known.speeches.of(speaker, self.on.contains(Switches::JOINED_TEXT), pages))
    }

    fn opener_of(&self, element: NodeRef<'t>) -> Option<Opener> {
        if !self.on.contains(Switches::OPENERS) {
            return None;
        }
        let popup = popups::popup_of(element)?;
        if let Some(known) = self.popup_openers.borrow().get(&popup.id()) {
            return known.clone();
        }
        let opener = popups::linked_opener(popup)
            .map(|n| self.as_opener(n))
            .or_else(|| self.openers.of(popup.handle()?).cloned());
        self.popup_openers.borrow_mut().insert(popup.id(), opener.clone());
        opener
    }

    /// What an element stands in, for people.
    fn within(
        &self,
        element: NodeRef<'t>,
        basis: &Basis,
        whole: Option<&Whole>,
    ) -> Option<(&'static str, Box<str>)> {
        let row = || self.telling(element.id()).map(|t| ("row", t.into()));
        // A part that its own name tells is said with the heading, which names its record; one of several of a name with
        // what tells its row.
        if basis.is_row() && whole.is_none() {
            return row();
        }
        if whole.is_some()
            && !self.sight(element).has_own_name()
            && let Some(row) = row()
        {
            return Some(row);
        }
        let short = |n: NodeRef<'_>| n.name().chars().take(80).collect::<String>().into_boxed_str();
        if let Some(popup) = popups::popup_of(element).filter(|p| !p.name().is_empty()) {
            return Some((popup.role().name(), short(popup)));
        }
        let heading = match (basis, whole) {
            (Basis::Heading { .. }, _) => self.known.places.heading_of(element),
            (_, Some(Whole { heading: Some(_) })) => self.sight(element).heading_above(),
            _ => None,
        };
        let section = heading.filter(|h| !h.name().is_empty()).map(|h| ("section", short(h)));
        section.or_else(|| basis.is_row().then(row).flatten())
    }

    fn is_lone_group(&self, at: RowAt<'_>) -> bool {
        self.tree.node(at.id).role() == Role::Group && at.container.ids.len() < 2
    }

    fn node_at(&self, handle: Handle) -> Option<NodeRef<'t>> {
        let id = *self.known.handles.get_or_init(|| self.tree.handle_index()).get(&handle)?;
        Some(self.tree.node(id))
    }
}
