//! What tells an element from its likes: the evidence at issue, and the questions that it asks later.

use crate::identity::fingerprint::{Fingerprint, count_kept};
use crate::identity::record::{ElementContext, RowContext};
use crate::identity::rows::keys::Key;
use crate::identity::rows::shift::{FieldValues, Shift};
use crate::identity::surroundings::title::Title;
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
    Heading(Title),
    /// The named region around it.
    Region(Fingerprint),
    /// The window around it, which may show several documents one after another: its title alone tells another window.
    Window(Title),
    /// The address of its document.
    Address(Fingerprint),
    /// It is the same for all records.
    Always,
}

impl Evidence {
    /// Whether it is evidence of a row.
    pub(crate) fn is_row(&self) -> bool {
        matches!(
            self,
            Self::Key(_) | Self::Text { .. } | Self::OwnName | Self::Numbers { .. } | Self::Place { .. }
        )
    }

    /// The clause that does not hold any more. `bears`: whether a title is still that of its node.
    pub(crate) fn lost(&self, now: &ElementContext, bears: &dyn Fn(&Title) -> bool) -> Option<Clause> {
        let row = now.row.as_ref();
        let texts = |wanted: &[Fingerprint]| row.map_or(0, |at| count_kept(wanted, |p| at.has_text(p)));
        let (holds, clause) = match self {
            Self::OwnName | Self::Always => return None,
            Self::Key(key) => (row.is_some_and(|at| at.row.key == Some(*key)), Clause::Key),
            Self::Text { fingerprints, raw_key } => {
                let is_editor = |key| row.is_some_and(|at| at.is_blank_with(key));
                let holds =
                    raw_key.is_some_and(is_editor) || texts(fingerprints) * 3 > fingerprints.len() * 2;
                (holds, Clause::RowText)
            }
            Self::Numbers { headers, .. } if texts(headers) < headers.len() => (false, Clause::RowText),
            Self::Numbers { fingerprints, .. } => {
                let is_there = |at: &RowContext, p| at.row.numbers.has(p, &at.element);
                let still = row.map_or(0, |at| count_kept(fingerprints, |p| is_there(at, p)));
                (still * 2 > fingerprints.len(), Clause::RowNumbers)
            }
            Self::Place { index, count, values } => {
                let holds = match now.shift(values) {
                    Shift::Stayed => true,
                    Shift::Moved => false,
                    Shift::Unknown => row.is_some_and(|at| (at.index, at.count) == (*index, *count)),
                };
                (holds, Clause::RowPlace)
            }
            Self::Heading(title) => (title.holds(now.heading, bears), Clause::Heading),
            Self::Region(name) => (now.region == Some(*name), Clause::Region),
            Self::Window(title) => {
                let stayed = title.node.is_some() && now.window == title.node;
                (stayed || now.region == Some(title.text), Clause::Region)
            }
            Self::Address(address) => (now.address == *address, Clause::Address),
        };
        (!holds).then_some(clause)
    }
}

impl ElementContext {
    /// What the values in the rows say of a row that had these.
    pub(crate) fn shift(&self, issued: &FieldValues) -> Shift {
        let Some((at, values)) = self.row.as_ref().and_then(|at| Some((at, at.values.as_ref()?))) else {
            return Shift::Unknown;
        };
        values.shift(at.index, at.row.values.telling.iter().map(|&(_, p)| p), issued)
    }
}
