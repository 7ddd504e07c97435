//! What tells an element from its likes: the evidence at issue, and the questions that it asks later.

use std::sync::Arc;

use super::groups::Titled;
use super::keys::Key;
use super::print::{Print, kept};
use super::verdict::Clause;
use crate::Handle;

/// The evidence that a record rests on: the strongest that there was at issue.
#[derive(Debug, Clone)]
pub(super) enum Basis {
    /// The key of its row.
    Key(Key),
    /// Texts, link targets or names of controls that only its row had. `raw_key` is an index-like key of the
    /// row, which keeps a row live that has become an editor.
    Text { prints: Box<[Print]>, raw_key: Option<Print> },
    /// No other row had an element of its role and name.
    OwnName,
    /// Numbers that only its row had, and names of its headers that are no text in it: whether a header belongs to the row or
    /// to the place, and the numbers to the record or the place, nothing tells.
    Numbers { prints: Box<[Print]>, headers: Box<[Print]> },
    /// Its place among the rows.
    Place { index: usize, count: usize, values: FieldValues },
    /// The heading above it.
    Heading { node: Option<Handle>, text: Print },
    /// The named region around it.
    Region(Print),
    /// The window around it, which may show several documents one after another: its title alone tells another window.
    Window { node: Option<Handle>, title: Print },
    /// The address of its document.
    Address(Print),
    /// It is the same for all records.
    Always,
}

/// Values in the fields of rows that nothing else tells apart. They are never part of what an element means:
/// typing changes nothing. They only show that rows were shifted, because then they turn up in another row.
#[derive(Debug, Clone)]
pub(super) struct FieldValues {
    /// Those that only this row had.
    pub(super) own: Box<[Print]>,
    /// Those that only one row had, of all rows. Sorted.
    pub(super) all: Arc<[Print]>,
}

/// What the values in the rows say now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shift {
    /// Most of the row's values are still in it.
    Stayed,
    /// Values moved between rows.
    Moved,
    /// Nothing either way.
    Unknown,
}

/// An element now, as far as a basis asks.
pub(super) trait Sight {
    fn key(&self) -> Option<Key>;
    /// Whether its row reads nothing and has this index-like key.
    fn is_blank_with(&self, raw_key: Print) -> bool;
    fn has_text(&self, print: Print) -> bool;
    fn has_number(&self, print: Print) -> bool;
    fn place(&self) -> Option<(usize, usize)>;
    fn shift(&self, values: &FieldValues) -> Shift;
    fn heading(&self) -> Option<Print>;
    /// What the heading above all rows that its row is one of reads.
    fn heading_above_rows(&self) -> Option<Print>;
    /// What the heading at issue reads now, if its node is there.
    fn heading_at(&self, node: Handle) -> Option<Print>;
    fn region(&self) -> Option<Print>;
    /// The window around it, where that is the nearest named region.
    fn window(&self) -> Option<Handle>;
    fn address(&self) -> Print;
}

impl Basis {
    /// Whether it is evidence of a row.
    pub(super) fn is_row(&self) -> bool {
        matches!(
            self,
            Self::Key(_) | Self::Text { .. } | Self::OwnName | Self::Numbers { .. } | Self::Place { .. }
        )
    }

    /// Whether it still holds.
    pub(super) fn holds(&self, now: &impl Sight) -> Result<(), Clause> {
        let (holds, clause) = match self {
            Self::Key(key) => (now.key() == Some(*key), Clause::Key),
            Self::Text { prints, raw_key } => {
                let still = kept(prints, |p| now.has_text(p));
                let editor = raw_key.is_some_and(|key| now.is_blank_with(key));
                (editor || still * 3 > prints.len() * 2, Clause::RowText)
            }
            Self::OwnName | Self::Always => return Ok(()),
            Self::Numbers { headers, .. } if kept(headers, |p| now.has_text(p)) < headers.len() => {
                (false, Clause::RowText)
            }
            Self::Numbers { prints, .. } => {
                (kept(prints, |p| now.has_number(p)) * 2 > prints.len(), Clause::RowNumbers)
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

/// A sight that outlives its tree: an opener's.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) key: Option<Key>,
    /// Sorted.
    pub(super) text: Box<[Print]>,
    /// Sorted.
    pub(super) numbers: Box<[Print]>,
    pub(super) place: Option<(usize, usize)>,
    pub(super) heading: Option<Print>,
    pub(super) heading_above_rows: Option<Print>,
    pub(super) groups: Box<[Titled]>,
    pub(super) region: Option<Print>,
    pub(super) window: Option<Handle>,
    pub(super) address: Print,
}

impl Sight for Kept {
    fn key(&self) -> Option<Key> {
        self.key
    }

    fn is_blank_with(&self, _: Print) -> bool {
        false
    }

    fn has_text(&self, print: Print) -> bool {
        self.text.binary_search(&print).is_ok()
    }

    fn has_number(&self, print: Print) -> bool {
        self.numbers.binary_search(&print).is_ok()
    }

    fn place(&self) -> Option<(usize, usize)> {
        self.place
    }

    fn shift(&self, _: &FieldValues) -> Shift {
        Shift::Unknown
    }

    fn heading(&self) -> Option<Print> {
        self.heading
    }

    fn heading_above_rows(&self) -> Option<Print> {
        self.heading_above_rows
    }

    fn heading_at(&self, _: Handle) -> Option<Print> {
        None
    }

    fn region(&self) -> Option<Print> {
        self.region
    }

    fn window(&self) -> Option<Handle> {
        self.window
    }

    fn address(&self) -> Print {
        self.address
    }
}
