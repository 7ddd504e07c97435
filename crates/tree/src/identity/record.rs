//! The surroundings of an element, then and now, and the one function that compares them.
//!
//! A [`Record`] is the evidence from the time of issue, kept without the tree. An
//! [`ElementSurroundings`] contains those current surroundings of an element that a record
//! compares. The opener of a popup is compared like the elements in the popup. The opener's context
//! is kept, because the tree in which the opener was pressed is gone by the time of the comparison.

use std::ops::Range;
use std::sync::Arc;

use crate::identity::evidence::Evidence;
use crate::identity::fingerprint::{Fingerprint, count_kept};
use crate::identity::opener::Opener;
use crate::identity::rows::content::Row;
use crate::identity::rows::field_values::Values;
use crate::identity::surroundings::popup::PopupText;
use crate::identity::surroundings::title::Title;
use crate::identity::verdict::Clause;
use crate::{Handle, NodeId};

/// The record of an element, which tells it apart from similar elements.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub(crate) evidence: Evidence,
    /// The node that was the row.
    pub(crate) row: Option<Handle>,
    /// Whether nothing in the row identifies a record: the row is a part of something else, which
    /// is compared instead.
    pub(crate) is_row_part: bool,
    /// The heading above the row. For a row with its own text, a change is reported but ends no
    /// ref.
    pub(crate) heading_above: Option<Title>,
    pub(crate) section: Option<Section>,
    /// The titles between the element and its heading, but only if they identify the element.
    pub(crate) group_titles: Box<[Title]>,
    pub(crate) popup_text: Option<PopupText>,
    pub(crate) opener: Option<Opener>,
}

/// A section between the element and its heading.
#[derive(Debug, Clone)]
pub(crate) struct Section {
    pub(crate) node: Option<Handle>,
    pub(crate) text: Arc<[Fingerprint]>,
}

/// The surroundings of an element, read from a tree once and kept without the tree.
#[derive(Debug)]
pub(crate) struct ElementSurroundings {
    /// The row, shared by all elements in it.
    pub(crate) row: Option<RowSurroundings>,
    pub(crate) heading: Option<Fingerprint>,
    pub(crate) region: Option<Fingerprint>,
    /// The window, if it is the nearest named region.
    pub(crate) window: Option<Handle>,
    pub(crate) address: Fingerprint,
    /// A fingerprint of the heading above all sibling rows.
    pub(crate) above: Option<Fingerprint>,
    /// All titles around the element.
    pub(crate) titles: Box<[Title]>,
    /// The current text of the section from the time of issue; if that section is gone, the text of
    /// the current section.
    pub(crate) section: Option<Arc<[Fingerprint]>>,
    pub(crate) popup_text: Option<PopupText>,
    pub(crate) opener: Option<Opener>,
}

/// The row around an element.
#[derive(Debug)]
pub(crate) struct RowSurroundings {
    pub(crate) row: Arc<Row>,
    /// The element and its descendants, which provide no evidence about the row, except for the
    /// element's own link target.
    pub(crate) element: Range<NodeId>,
    pub(crate) index: usize,
    /// The number of rows in the container.
    pub(crate) count: usize,
    /// The field values of all rows. `None` once the tree is gone: values change as a person types.
    pub(crate) values: Option<Arc<Values>>,
}

impl RowSurroundings {
    /// Returns whether the row has this index-like key and no text outside the element. Always
    /// false once the tree is gone.
    pub(crate) fn is_blank_with(&self, raw_key: Fingerprint) -> bool {
        self.values.is_some()
            && self.row.raw_key == Some(raw_key)
            && self.row.text.outside(&self.element).next().is_none()
    }

    pub(crate) fn has_text(&self, fingerprint: Fingerprint) -> bool {
        let Row { text, names, headers, .. } = &*self.row;
        [text, names, headers].iter().any(|content| content.has(fingerprint, &self.element))
    }
}

impl Record {
    /// Returns the clauses that do not hold in the element's current surroundings, in the order of
    /// checking. `bears` determines whether the node of a title still has that title; no node has
    /// its title once the tree of `now` is gone.
    pub(crate) fn differences(
        &self,
        now: &ElementSurroundings,
        bears: &dyn Fn(&Title) -> bool,
    ) -> impl Iterator<Item = Clause> + use<> {
        let popup_text = self.popup_text.as_ref().zip(now.popup_text.as_ref());
        // The text of a dialog identifies the dialog, but not a part of it.
        let in_dialog = popup_text.is_some();
        let is_opened = |then: &Opener| now.opener.as_ref().is_some_and(|now| then.is_same(now));
        let is_around = |group: &Title| now.titles.iter().any(|n| n.text == group.text) || bears(group);
        let section =
            self.section.as_ref().filter(|_| !in_dialog && (self.is_row_part || !self.evidence.is_row()));
        let above = self.heading_above.as_ref().filter(|_| self.is_row_part);
        let clauses = [
            (Clause::Opener, self.opener.as_ref().is_none_or(is_opened)),
            (Clause::Group, self.group_titles.iter().all(is_around)),
            (Clause::DialogText, popup_text.is_none_or(|(then, now)| then.holds(now, self.is_row_part))),
            (Clause::SectionText, section.is_none_or(|then| then.holds(now.section.as_deref()))),
            (Clause::Heading, above.is_none_or(|then| then.holds(now.above, bears))),
        ];
        let evidence =
            (self.is_row_part || !in_dialog).then(|| self.evidence.lost_clause(now, bears)).flatten();
        clauses.into_iter().filter(|(_, holds)| !holds).map(|(clause, _)| clause).chain(evidence)
    }

    /// Replaces the nodes of this record with those of `now`, an equal record.
    pub(crate) fn take_nodes_of(&mut self, now: &Self) {
        if let (Evidence::Heading(title), Evidence::Heading(there))
        | (Evidence::Window(title), Evidence::Window(there)) = (&mut self.evidence, &now.evidence)
        {
            *title = title.with_node_of([there]);
        }
        self.heading_above = self.heading_above.map(|title| title.with_node_of(&now.heading_above));
        if let (Some(section), Some(there)) = (&mut self.section, &now.section) {
            section.node = there.node;
        }
        if now.evidence.is_row() {
            self.row = now.row;
        }
        self.group_titles.iter_mut().for_each(|title| *title = title.with_node_of(&now.group_titles));
    }

    /// Returns the nodes that the record refers to: the row, heading, section, opener and groups
    /// from the time of issue.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = Handle> {
        let heading = if let Evidence::Heading(title) = &self.evidence {
            Some(title)
        } else {
            self.heading_above.as_ref()
        };
        let heading = heading.and_then(|title| title.node);
        let section = self.section.as_ref().and_then(|s| s.node);
        let opener = self.opener.as_ref().and_then(|o| o.0.handle);
        let groups = self.group_titles.iter().map(|group| group.node);
        [self.row, heading, section, opener].into_iter().chain(groups).flatten()
    }
}

impl Section {
    /// Returns whether at least half of the section's text is still there. True if there is no
    /// current section.
    fn holds(&self, now: Option<&[Fingerprint]>) -> bool {
        let Some(now) = now else { return true };
        let kept = count_kept(&self.text, |p| now.binary_search(&p).is_ok());
        kept > 0 && kept * 2 >= self.text.len()
    }
}
