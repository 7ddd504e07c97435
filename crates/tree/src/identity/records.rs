//! Identifies an element among similar ones, and checks whether it is the same in a later tree.

use std::cell::OnceCell;
use std::iter::once_with;
use std::rc::Rc;
use std::sync::Arc;

use crate::identity::cache::{CacheSource, IdentityCache};
use crate::identity::candidates;
use crate::identity::content_match;
use crate::identity::element_name;
use crate::identity::element_reader::ElementReader;
use crate::identity::element_text::NamelessText;
use crate::identity::evidence::Evidence;
use crate::identity::fingerprint::{Fingerprint, TextKind};
use crate::identity::meaning::{Meaning, MeaningData};
use crate::identity::memo::{Memo, RecordsId};
use crate::identity::opener::{Opener, Openers};
use crate::identity::record::Record;
use crate::identity::rows::detect::RowAt;
use crate::identity::rows::text;
use crate::identity::rows::text::leaf_text;
use crate::identity::step_count;
use crate::identity::surroundings::group;
use crate::identity::surroundings::popup;
use crate::identity::surroundings::title::Title;
use crate::identity::text_similarity::{self, TextCounts};
use crate::identity::verdict::{Clause, Verdict};
use crate::{Handle, NodeId, NodeRef, Role, Tree};

/// The records of one tree. Build them once per capture: what is read about a container is shared
/// by all of its elements. For a tree that is queried again, use [`CachedTree`](crate::CachedTree).
///
/// ```
/// use stickpin_tree::{Document, IdentityGrade, NodeSpec, Openers, Records, Role, TreeBuilder};
/// let mut b = TreeBuilder::new(IdentityGrade::NeverReused);
/// b.document(0, Document { scope: 1, frame: String::new(), url: "/mail".into(), title:
/// String::new() }, 1)?;
/// b.node(1, NodeSpec { role: Some(Role::List), id: 2, ..Default::default() })?;
/// for (id, mail) in [(10, "Invoice"), (20, "Meeting")] {
///     b.node(2, NodeSpec { role: Some(Role::ListItem), id, ..Default::default() })?;
///     b.node(3, NodeSpec { role: Some(Role::Text), name: mail, id: id + 1, ..Default::default()
/// })?;
///     b.node(3, NodeSpec { role: Some(Role::Button), name: "Delete", id: id + 2,
/// ..Default::default() })?;
/// }
/// let tree = b.finish()?;
/// let openers = Openers::default();
/// let records = Records::new(&tree, &openers);
/// let [first, second] = [12, 22].map(|id| tree.nodes().find(|n| n.address().unwrap().id ==
/// id).unwrap().id());
/// let meaning = records.meaning(first);
/// assert_eq!(meaning.to_string(), r#"button "Delete" in row "Invoice""#);
/// assert!(records.judge(&meaning, first).is_same());
/// assert!(!records.judge(&meaning, second).is_same());
/// # Ok::<(), stickpin_tree::TreeError>(())
/// ```
#[derive(Debug)]
pub struct Records<'t> {
    pub(crate) tree: &'t Tree,
    pub(crate) openers: &'t Openers,
    pub(crate) cache: CacheSource<'t>,
    pub(crate) popup_openers: Memo<NodeId, Option<Opener>>,
    pub(crate) kept_rows: content_match::SurvivingRows,
    pub(crate) rerendered_rows: content_match::RerenderedRows,
    pub(crate) nodes_by_name: OnceCell<candidates::NodesByName>,
    pub(crate) similar_nodes: Memo<(Role, Fingerprint), Rc<candidates::SimilarNodes>>,
    pub(crate) text_counts: Memo<NodeId, Rc<TextCounts>>,
    pub(crate) comparisons: text_similarity::KeptCounts,
    pub(crate) document_texts: Memo<NodeId, Fingerprint>,
    token: RecordsId,
}

impl<'t> Records<'t> {
    /// Creates the records of a tree. `openers` determines what opened its popups. Does little work
    /// itself; records are read on first use.
    #[must_use]
    pub fn new(tree: &'t Tree, openers: &'t Openers) -> Self {
        Self::with_cache(tree, openers, CacheSource::Owned(Box::new(IdentityCache::new(tree))))
    }

    pub(crate) fn with_cache(tree: &'t Tree, openers: &'t Openers, cache: CacheSource<'t>) -> Self {
        Self {
            tree,
            openers,
            cache,
            popup_openers: Memo::default(),
            kept_rows: Memo::default(),
            rerendered_rows: Memo::default(),
            nodes_by_name: OnceCell::new(),
            similar_nodes: Memo::default(),
            text_counts: Memo::default(),
            comparisons: Memo::default(),
            document_texts: Memo::default(),
            token: RecordsId::default(),
        }
    }

    /// Returns a token that identifies these records in the comparison caches of other records.
    pub(crate) fn token(&self) -> RecordsId {
        self.token.clone()
    }

    /// Returns the tree.
    #[must_use]
    pub fn tree(&self) -> &'t Tree {
        self.tree
    }

    /// Returns the current meaning of an element.
    #[must_use]
    pub fn meaning(&self, node: NodeId) -> Meaning {
        let element = self.tree.node(node);
        let live = self.reader(element);
        let record = live.record();
        let words = NamelessText::of(element);
        Meaning(Arc::new(MeaningData {
            role: element.role(),
            name: element.name().into(),
            text_is_shared: words.as_ref().is_some_and(|w| self.shares_text(element.role(), w.stable)),
            text: words,
            stable_name: self.stable_name(element),
            address: live.address(),
            container: self.container_label(element, &record),
            record,
        }))
    }

    /// Judges whether an issued meaning holds for a node of this tree.
    #[must_use]
    pub fn judge(&self, issued: &Meaning, node: NodeId) -> Verdict {
        step_count::count_step();
        match self.differences(issued, node).next() {
            Some(clause) => Verdict::Changed(clause),
            None => Verdict::Same { reads_now: self.current_label(&issued.0, self.tree.node(node)) },
        }
    }

    /// Returns the clauses that do not hold for a node of this tree, in the order of checking. The
    /// surroundings are read only when the iterator has passed the role, the name and the words.
    pub fn differences<'a>(
        &'a self,
        issued: &'a Meaning,
        node: NodeId,
    ) -> impl Iterator<Item = Clause> + use<'a, 't> {
        let element = self.tree.node(node);
        let issued = &*issued.0;
        let is_renamed = move || element.name() != &*issued.name && !self.differs_in_counts(issued, element);
        let surroundings = move || {
            let live =
                ElementReader { records: self, element, row: self.current_row(&issued.record, element) };
            issued.record.differences(&live.surroundings_for(&issued.record), &|title| self.has_title(title))
        };
        once_with(move || (element.role() != issued.role).then_some(Clause::Role))
            .chain(once_with(move || is_renamed().then_some(Clause::Name)))
            .chain(once_with(move || self.compare_text(issued, element).err()))
            .flatten()
            .chain(once_with(surroundings).flatten())
    }

    /// Returns the current name or words of an unchanged element, if they differ from the issued
    /// ones.
    fn current_label(&self, issued: &MeaningData, element: NodeRef<'t>) -> Option<String> {
        let renamed = || (element.name() != &*issued.name).then(|| element.name().to_owned());
        self.compare_text(issued, element).ok().flatten().or_else(renamed)
    }

    /// Returns the text of the heading above an element's row, if it differs from the text at the
    /// time of issue; empty if there is no such heading now. `None` unless the row identifies its
    /// own record.
    ///
    /// The element itself must be unchanged according to [`Records::judge`]. An action should still
    /// report the heading, because rows may have the same text for all records, such as `Billing
    /// address`.
    #[must_use]
    pub fn changed_heading(&self, issued: &Meaning, node: NodeId) -> Option<String> {
        let then = issued.0.record.heading_above.filter(|_| !issued.0.record.is_row_part)?;
        let element = self.tree.node(node);
        let live = ElementReader { records: self, element, row: self.current_row(&issued.0.record, element) };
        let holds = then.holds(live.text_above(), &|title| self.has_title(title));
        (!holds).then(|| live.heading_above().map_or_else(String::new, |h| h.name().to_owned()))
    }

    /// Returns whether a node is one row of several, such as an item, article, option or group
    /// among similar ones, or a repeated wrapper.
    #[doc(hidden)]
    #[must_use]
    pub fn is_list_row(&self, node: NodeRef<'_>) -> bool {
        self.cache.structure.is_list_row(node)
    }

    /// Returns a text that distinguishes an element's row from its sibling rows, for lines with the
    /// same text. This is the shortest text leaf, otherwise the name of a control or row header,
    /// otherwise a number. At most 80 characters.
    #[must_use]
    pub fn distinguishing_text(&self, node: NodeId) -> Option<String> {
        let element = self.tree.node(node);
        let row = self.cache.structure.row(self.tree, self.cache.structure.row_of(element)?);
        let texts = row.text.distinguishing_outside(element).filter_map(|(n, _)| {
            let n = self.tree.node(n);
            if n.is_text() { text::leaf_text(n) } else { None }
        });
        let shortest = texts.min_by_key(|t| t.chars().count());
        let name = || {
            let headers = row.headers.distinguishing_outside(element);
            let mut others =
                row.names.distinguishing_outside(element).chain(headers).filter(|&(n, _)| n != node);
            others.next().map(|(n, _)| self.tree.node(n).name().into())
        };
        let number = || {
            let first = row.numbers.distinguishing_outside(element).next();
            first.and_then(|(n, _)| text::leaf_text(self.tree.node(n)))
        };
        let text = shortest.or_else(name).or_else(number)?;
        Some(text.chars().take(80).collect())
    }

    /// Returns the element as the opener of what appears after an action on it. `None` if the
    /// element is itself in a popup.
    #[must_use]
    pub fn as_opener(&self, node: NodeId) -> Option<Opener> {
        let element = self.tree.node(node);
        popup::popup_of(element).is_none().then(|| self.reader(element).as_opener())
    }

    pub(crate) fn reader(&self, element: NodeRef<'t>) -> ElementReader<'_, 't> {
        ElementReader { records: self, element, row: self.cache.structure.row_or_group_of(element) }
    }

    pub(crate) fn stable_name(&self, element: NodeRef<'_>) -> Fingerprint {
        Fingerprint::of(TextKind::Name, &element_name::stable_name(element))
    }

    /// Returns whether the name differs from the issued one only in counts. Counts change while the
    /// page stays the same; on another page, they may belong to something else.
    pub(crate) fn differs_in_counts(&self, issued: &MeaningData, element: NodeRef<'t>) -> bool {
        self.counts_may_differ(issued, element) && self.stable_name(element) == issued.stable_name
    }

    pub(crate) fn counts_may_differ(&self, issued: &MeaningData, element: NodeRef<'t>) -> bool {
        Fingerprint::of(TextKind::Address, &element.document().url) == issued.address
    }

    /// Returns the row of an element. As long as the node that was the row at the time of issue
    /// contains the element, that node is the row, regardless of its siblings.
    pub(crate) fn current_row(&self, issued: &Record, element: NodeRef<'t>) -> Option<RowAt<'_>> {
        if issued.evidence.is_row()
            && let Some(row) = issued.row
            && let Some(row) = element.ancestors().find(|n| n.handle() == Some(row))
            && let Some(at) = self.cache.structure.as_row(row)
        {
            return Some(at);
        }
        self.cache.structure.row_or_group_of(element)
    }

    /// Returns the kind and the label of what contains an element, for messages.
    fn container_label(&self, element: NodeRef<'t>, record: &Record) -> Option<(&'static str, Box<str>)> {
        let is_row = record.evidence.is_row();
        let row = || self.distinguishing_text(element.id()).map(|t| ("row", t.into()));
        // A part identified by its own name is described by the heading, which names its record. A
        // part without a unique name is described by its row.
        if is_row && !record.is_row_part {
            return row();
        }
        if record.is_row_part
            && !self.reader(element).has_own_name()
            && let Some(row) = row()
        {
            return Some(row);
        }
        let short = |n: NodeRef<'_>| n.name().chars().take(80).collect::<String>().into_boxed_str();
        if let Some(popup) = popup::popup_of(element).filter(|p| !p.name().is_empty()) {
            return Some((popup.role().name(), short(popup)));
        }
        let heading = match record.evidence {
            Evidence::Heading(_) => self.cache.headings.heading_of(element),
            _ => record.heading_above.and_then(|_| self.reader(element).heading_above()),
        };
        let section = heading.filter(|h| !h.name().is_empty()).map(|h| ("section", short(h)));
        section.or_else(|| is_row.then(row).flatten())
    }

    pub(crate) fn is_lone_group(&self, at: RowAt<'_>) -> bool {
        self.tree.node(at.id).role() == Role::Group && at.container.ids.len() < 2
    }

    /// Returns whether the node of a title still has that title; false if there is no such node.
    pub(crate) fn has_title(&self, title: &Title) -> bool {
        title.node.and_then(|n| self.node_at(n)).is_some_and(|n| {
            let text = group::title(n).unwrap_or_else(|| self.cache.headings.heading_text(n));
            text == title.text
        })
    }

    pub(crate) fn node_at(&self, handle: Handle) -> Option<NodeRef<'t>> {
        let id = *self.cache.handles.get_or_init(|| self.tree.handle_index()).get(&handle)?;
        Some(self.tree.node(id))
    }
}

impl<'t> Records<'t> {
    /// Returns whether several elements with a given role have the same words apart from counts, so
    /// that only the count may distinguish them.
    pub(crate) fn shares_text(&self, role: Role, stable: Fingerprint) -> bool {
        let shared = self.cache.shared_texts.get_or_init(|| NamelessText::count_shared(self.tree));
        shared.get(&(role, stable)).is_some_and(|&n| n > 1)
    }

    /// Compares an element's words at the time of issue with its current words. Returns the current
    /// words if only counts differ. Returns `None` if nothing differs, if there were no words, or
    /// if the element has become more than a button and still contains the earlier words.
    ///
    /// # Errors
    /// Returns the failing clause otherwise.
    pub(crate) fn compare_text(
        &self,
        issued: &MeaningData,
        element: NodeRef<'t>,
    ) -> Result<Option<String>, Clause> {
        let Some(then) = issued.text.as_ref() else {
            return Ok(None);
        };
        let Some(now) = NamelessText::of(element) else {
            // The element unfolded or became a card: its earlier words must still be in it.
            let inside = element.subtree().skip(1).filter(|n| n.is_text());
            let fingerprints: Vec<Fingerprint> =
                inside.filter_map(|n| leaf_text(n)).map(|t| Fingerprint::of(TextKind::Text, &t)).collect();
            let texts_kept = then.texts.iter().all(|text| fingerprints.contains(text));
            return if texts_kept { Ok(None) } else { Err(Clause::Name) };
        };
        if now.text == then.text {
            return Ok(None);
        }
        let identified_by_row = matches!(issued.record.evidence, Evidence::Key(_) | Evidence::Text { .. });
        let shared = || issued.text_is_shared || self.shares_text(issued.role, now.stable);
        let only_count_differs = now.stable == then.stable && self.counts_may_differ(issued, element);
        if only_count_differs && (identified_by_row || !shared()) {
            Ok(Some(now.text.into()))
        } else {
            Err(Clause::Name)
        }
    }
}
