//! What tells an element from its likes: the evidence at issue, and the questions that it asks later.

use std::sync::Arc;

use crate::Handle;
use crate::identity::fingerprint::{Fingerprint, count_kept};
use crate::identity::rows::keys::Key;
use crate::identity::surroundings::group::GroupTitle;
use crate::identity::verdict::Clause;

/// The evidence that a record rests on: the strongest that there was at issue.
#[derive(Debug, Clone)]
pub(crate) enum Evidence {
    /// The key of its row.
    Key(Key),
    /// Texts, link targets or names of controls that only its row had. `raw_key` is an index-like key of the
    /// row, which keeps a row live that has become an editor.
    Text { fingerprints: Box<[Fingerprint]>, raw_key: Option<Fingerprint> },
    /// No other row had an element of its role and name.
    OwnName,
    /// Numbers that only its row had, and names of its headers that are no text in it: whether a header belongs to the row or
    /// to the place, and the numbers to the record or the place, nothing tells.
    Numbers { fingerprints: Box<[Fingerprint]>, headers: Box<[Fingerprint]> },
    /// Its place among the rows.
    Place { index: usize, count: usize, values: FieldValues },
    /// The heading above it.
    Heading { node: Option<Handle>, text: Fingerprint },
    /// The named region around it.
    Region(Fingerprint),
    /// The window around it, which may show several documents one after another: its title alone tells another window.
    Window { node: Option<Handle>, title: Fingerprint },
    /// The address of its document.
    Address(Fingerprint),
    /// It is the same for all records.
    Always,
}

/// Values in the fields of rows that nothing else tells apart. They are never part of what an element means:
/// typing changes nothing. They only show that rows were shifted, because then they turn up in another row.
#[derive(Debug, Clone)]
pub(crate) struct FieldValues {
    /// Those that only this row had.
    pub(crate) own: Box<[Fingerprint]>,
    /// Those that only one row had, of all rows. Sorted.
    pub(crate) all: Arc<[Fingerprint]>,
}

/// What the values in the rows say now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shift {
    /// Most of the row's values are still in it.
    Stayed,
    /// Values moved between rows.
    Moved,
    /// Nothing either way.
    Unknown,
}

/// An element now, as far as evidence asks.
pub(crate) trait ElementContext {
    fn key(&self) -> Option<Key>;
    /// Whether its row reads nothing and has this index-like key.
    fn is_blank_with(&self, raw_key: Fingerprint) -> bool;
    fn has_text(&self, fingerprint: Fingerprint) -> bool;
    fn has_number(&self, fingerprint: Fingerprint) -> bool;
    fn place(&self) -> Option<(usize, usize)>;
    fn shift(&self, values: &FieldValues) -> Shift;
    fn heading(&self) -> Option<Fingerprint>;
    /// What the heading above all rows that its row is one of reads.
    fn heading_above_rows(&self) -> Option<Fingerprint>;
    /// What the heading at issue reads now, if its node is there.
    fn heading_at(&self, node: Handle) -> Option<Fingerprint>;
    fn region(&self) -> Option<Fingerprint>;
    /// The window around it, where that is the nearest named region.
    fn window(&self) -> Option<Handle>;
    fn address(&self) -> Fingerprint;
}

impl Evidence {
    /// Whether it is evidence of a row.
    pub(crate) fn is_row(&self) -> bool {
        matches!(
            self,
            Self::Key(_) | Self::Text { .. } | Self::OwnName | Self::Numbers { .. } | Self::Place { .. }
        )
    }

    /// Whether it still holds.
    pub(crate) fn holds(&self, now: &impl ElementContext) -> Result<(), Clause> {
        let (holds, clause) = match self {
            Self::Key(key) => (now.key() == Some(*key), Clause::Key),
            Self::Text { fingerprints, raw_key } => {
                let still = count_kept(fingerprints, |p| now.has_text(p));
                let editor = raw_key.is_some_and(|key| now.is_blank_with(key));
                (editor || still * 3 > fingerprints.len() * 2, Clause::RowText)
            }
            Self::OwnName | Self::Always => return Ok(()),
            Self::Numbers { headers, .. } if count_kept(headers, |p| now.has_text(p)) < headers.len() => {
                (false, Clause::RowText)
            }
            Self::Numbers { fingerprints, .. } => {
                (count_kept(fingerprints, |p| now.has_number(p)) * 2 > fingerprints.len(), Clause::RowNumbers)
            }
            Self::Place { index, count, values } => {
                let holds = match now.shift(values) {
                    Shift::Stayed => true,
                    Shift::Moved => false,
                    Shift::Unknown => now.place() == Some((*index, *count)),
                };
                (holds, Clause::RowPlace)
            }
            Self::Heading { node, text } => {
                let holds =
                    now.heading() == Some(*text) || node.and_then(|n| now.heading_at(n)) == Some(*text);
                (holds, Clause::Heading)
            }
            Self::Region(name) => (now.region() == Some(*name), Clause::Region),
            Self::Window { node, title } => {
                let stayed = node.is_some() && now.window() == *node;
                (stayed || now.region() == Some(*title), Clause::Region)
            }
            Self::Address(address) => (now.address() == *address, Clause::Address),
        };
        if holds { Ok(()) } else { Err(clause) }
    }
}

/// What a row is a part of.
#[derive(Debug, Clone)]
pub(crate) struct Enclosing {
    /// The heading above it.
    pub(crate) heading: Option<EnclosingHeading>,
}

/// A heading, as it read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EnclosingHeading {
    pub(crate) node: Option<Handle>,
    pub(crate) text: Fingerprint,
}

impl Enclosing {
    /// Whether it is still below that heading, or the heading still reads the same.
    pub(crate) fn holds(&self, now: &impl ElementContext) -> Result<(), Clause> {
        if self.heading.is_none_or(|title| title.holds(now)) { Ok(()) } else { Err(Clause::Heading) }
    }

    /// The same, resting on the heading's node of now, where that reads as it did.
    pub(crate) fn resting_on(&self, now: Option<&Self>) -> Self {
        let now = now.and_then(|now| now.heading);
        Self { heading: self.heading.map(|title| title.resting_on(now)) }
    }
}

impl EnclosingHeading {
    pub(crate) fn holds(self, now: &impl ElementContext) -> bool {
        let Self { node, text } = self;
        now.heading_above_rows() == Some(text) || node.and_then(|n| now.heading_at(n)) == Some(text)
    }

    pub(crate) fn resting_on(self, now: Option<Self>) -> Self {
        now.filter(|now| now.text == self.text).unwrap_or(self)
    }
}

/// The context of an opener, which outlives its tree.
#[derive(Debug)]
pub(crate) struct KeptContext {
    pub(crate) key: Option<Key>,
    /// Sorted.
    pub(crate) text: Box<[Fingerprint]>,
    /// Sorted.
    pub(crate) numbers: Box<[Fingerprint]>,
    pub(crate) place: Option<(usize, usize)>,
    pub(crate) heading: Option<Fingerprint>,
    pub(crate) heading_above_rows: Option<Fingerprint>,
    pub(crate) groups: Box<[GroupTitle]>,
    pub(crate) region: Option<Fingerprint>,
    pub(crate) window: Option<Handle>,
    pub(crate) address: Fingerprint,
}

impl ElementContext for KeptContext {
    fn key(&self) -> Option<Key> {
        self.key
    }

    fn is_blank_with(&self, _: Fingerprint) -> bool {
        false
    }

    fn has_text(&self, fingerprint: Fingerprint) -> bool {
        self.text.binary_search(&fingerprint).is_ok()
    }

    fn has_number(&self, fingerprint: Fingerprint) -> bool {
        self.numbers.binary_search(&fingerprint).is_ok()
    }

    fn place(&self) -> Option<(usize, usize)> {
        self.place
    }

    fn shift(&self, _: &FieldValues) -> Shift {
        Shift::Unknown
    }

    fn heading(&self) -> Option<Fingerprint> {
        self.heading
    }

    fn heading_above_rows(&self) -> Option<Fingerprint> {
        self.heading_above_rows
    }

    fn heading_at(&self, _: Handle) -> Option<Fingerprint> {
        None
    }

    fn region(&self) -> Option<Fingerprint> {
        self.region
    }

    fn window(&self) -> Option<Handle> {
        self.window
    }

    fn address(&self) -> Fingerprint {
        self.address
    }
}
