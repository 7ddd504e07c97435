//! What an element stands in, then and now, and the one function that compares the two.
//!
//! A [`Record`] is what was evident at issue and is kept without the tree. An [`ElementContext`] is what stands around an
//! element now, as far as a record asks for it. What opened a popup is compared as the elements in it are: its context is
//! kept, because the tree that it was acted on in is gone by then.

use std::ops::Range;
use std::sync::Arc;

use crate::identity::evidence::Evidence;
use crate::identity::fingerprint::{Fingerprint, count_kept};
use crate::identity::opener::Opener;
use crate::identity::rows::content::Row;
use crate::identity::rows::shift::Values;
use crate::identity::surroundings::popup::PopupText;
use crate::identity::surroundings::title::Title;
use crate::identity::verdict::Clause;
use crate::{Handle, NodeId};

/// Which thing among its likes.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub(crate) evidence: Evidence,
    /// The node that was its row.
    pub(crate) row: Option<Handle>,
    /// Whether nothing in its row is of a record: the row is a part of something, which is asked instead.
    pub(crate) is_part: bool,
    /// The heading above its row. Of a row that its words tell, what that became is told, and ends nothing.
    pub(crate) above: Option<Title>,
    pub(crate) section: Option<Section>,
    /// The titles between it and its heading, as far as they tell it.
    pub(crate) groups: Box<[Title]>,
    pub(crate) popup_text: Option<PopupText>,
    pub(crate) opener: Option<Opener>,
}

/// A section between the element and its heading.
#[derive(Debug, Clone)]
pub(crate) struct Section {
    pub(crate) node: Option<Handle>,
    pub(crate) text: Arc<[Fingerprint]>,
}

/// What stands around an element, read from a tree once and kept without it.
#[derive(Debug)]
pub(crate) struct ElementContext {
    /// Its row, which all elements in it share.
    pub(crate) row: Option<RowContext>,
    pub(crate) heading: Option<Fingerprint>,
    pub(crate) region: Option<Fingerprint>,
    /// The window around it, where that is the nearest named region.
    pub(crate) window: Option<Handle>,
    pub(crate) address: Fingerprint,
    /// What the heading above all rows that its row is one of reads.
    pub(crate) above: Option<Fingerprint>,
    /// All titles around it.
    pub(crate) titles: Box<[Title]>,
    /// What the section says that was around it then; if that is gone, the one around it now.
    pub(crate) section: Option<Arc<[Fingerprint]>>,
    pub(crate) popup_text: Option<PopupText>,
    pub(crate) opener: Option<Opener>,
}

/// The row around an element.
#[derive(Debug)]
pub(crate) struct RowContext {
    pub(crate) row: Arc<Row>,
    /// The nodes of the element, which say nothing about its row.
    pub(crate) element: Range<NodeId>,
    pub(crate) index: usize,
    /// How many rows there are.
    pub(crate) count: usize,
    /// The values of all rows. `None` once the tree is left: they change as a person types.
    pub(crate) values: Option<Arc<Values>>,
}

impl RowContext {
    /// Whether it reads nothing and has this index-like key.
    pub(crate) fn is_blank_with(&self, raw_key: Fingerprint) -> bool {
        self.values.is_some()
            && self.row.raw_key == Some(raw_key)
            && self.row.text.outside(&self.element).next().is_none()
    }

    pub(crate) fn has_text(&self, fingerprint: Fingerprint) -> bool {
        let Row { text, names, headers, .. } = &*self.row;
        [text, names, headers].iter().any(|traces| traces.has(fingerprint, &self.element))
    }
}

impl Record {
    /// The clauses that do not hold where an element stands now, in the order in which they are asked. `bears`: whether a
    /// title is still that of its node; none is where the tree of `now` is gone.
    pub(crate) fn differences(
        &self,
        now: &ElementContext,
        bears: &dyn Fn(&Title) -> bool,
    ) -> impl Iterator<Item = Clause> + use<> {
        let popup_text = self.popup_text.as_ref().zip(now.popup_text.as_ref());
        // What a dialog says tells it, but for a part of it.
        let in_dialog = popup_text.is_some();
        let is_opened = |then: &Opener| now.opener.as_ref().is_some_and(|now| then.is_same(now));
        let is_around = |group: &Title| now.titles.iter().any(|n| n.text == group.text) || bears(group);
        let section =
            self.section.as_ref().filter(|_| !in_dialog && (self.is_part || !self.evidence.is_row()));
        let above = self.above.as_ref().filter(|_| self.is_part);
        let clauses = [
            (Clause::Opener, self.opener.as_ref().is_none_or(is_opened)),
            (Clause::Group, self.groups.iter().all(is_around)),
            (Clause::DialogText, popup_text.is_none_or(|(then, now)| then.holds(now, self.is_part))),
            (Clause::SectionText, section.is_none_or(|then| then.holds(now.section.as_deref()))),
            (Clause::Heading, above.is_none_or(|then| then.holds(now.above, bears))),
        ];
        let evidence = (self.is_part || !in_dialog).then(|| self.evidence.lost(now, bears)).flatten();
        clauses.into_iter().filter(|(_, holds)| !holds).map(|(clause, _)| clause).chain(evidence)
    }

    /// The same record, resting on the nodes of `now`, which it was found to be equal to.
    pub(crate) fn rest_on(&mut self, now: &Self) {
        if let (Evidence::Heading(title), Evidence::Heading(there))
        | (Evidence::Window(title), Evidence::Window(there)) = (&mut self.evidence, &now.evidence)
        {
            *title = title.resting_on([there]);
        }
        self.above = self.above.map(|title| title.resting_on(&now.above));
        if let (Some(section), Some(there)) = (&mut self.section, &now.section) {
            section.node = there.node;
        }
        if now.evidence.is_row() {
            self.row = now.row;
        }
        self.groups.iter_mut().for_each(|title| *title = title.resting_on(&now.groups));
    }

    /// The nodes that it hangs on: row, heading, section, opener at issue, groups.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = Handle> {
        let heading =
            if let Evidence::Heading(title) = &self.evidence { Some(title) } else { self.above.as_ref() };
        let heading = heading.and_then(|title| title.node);
        let section = self.section.as_ref().and_then(|s| s.node);
        let opener = self.opener.as_ref().and_then(|o| o.0.handle);
        let groups = self.groups.iter().map(|group| group.node);
        [self.row, heading, section, opener].into_iter().chain(groups).flatten()
    }
}

impl Section {
    /// Whether half of its text is still there.
    fn holds(&self, now: Option<&[Fingerprint]>) -> bool {
        let Some(now) = now else { return true };
        let still = count_kept(&self.text, |p| now.binary_search(&p).is_ok());
        still > 0 && still * 2 >= self.text.len()
    }
}
