//! The evidence that distinguishes an element from similar ones, and how it is checked later.

use crate::identity::fingerprint::{Fingerprint, count_kept};
use crate::identity::record::{ElementSurroundings, RowSurroundings};
use crate::identity::rows::field_values::{FieldValues, Shift};
use crate::identity::rows::keys::RowKey;
use crate::identity::surroundings::title::Title;
use crate::identity::verdict::Clause;

/// The evidence of a record: the strongest available when the ref was issued.
#[derive(Debug, Clone)]
pub(crate) enum Evidence {
    /// The key of the row.
    Key(RowKey),
    /// Texts, link targets, control names or row headers that only the element's row had. `raw_key`
    /// is a key of the row that may be only an index. This key keeps the record valid after the row
    /// has turned into an editor.
    Text { fingerprints: Box<[Fingerprint]>, raw_key: Option<Fingerprint> },
    /// No other row had an element with the element's role and name.
    OwnName,
    /// Numbers that only the element's row had, and those distinguishing headers of the row that
    /// contain no text leaves. It is unknown whether the headers and the numbers belong to the
    /// record or only to the position of its row.
    Numbers { fingerprints: Box<[Fingerprint]>, headers: Box<[Fingerprint]> },
    /// The position among the rows.
    Position { index: usize, count: usize, values: FieldValues },
    /// The heading above the element.
    Heading(Title),
    /// The named region around the element.
    Region(Fingerprint),
    /// The window around the element. One window may show several documents in turn, so a new title
    /// in the same window proves nothing; a different title in a different window is evidence of
    /// another record.
    Window(Title),
    /// A fingerprint of the URL of the document.
    Address(Fingerprint),
    /// The element is the same for all records.
    Always,
}

impl Evidence {
    /// Returns whether this is evidence about a row.
    pub(crate) fn is_row(&self) -> bool {
        matches!(
            self,
            Self::Key(_) | Self::Text { .. } | Self::OwnName | Self::Numbers { .. } | Self::Position { .. }
        )
    }

    /// Returns the clause that no longer holds, if any. `bears` determines whether the node of a
    /// title still has that title.
    pub(crate) fn lost_clause(
        &self,
        now: &ElementSurroundings,
        bears: &dyn Fn(&Title) -> bool,
    ) -> Option<Clause> {
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
                let is_in_row = |at: &RowSurroundings, p| at.row.numbers.has(p, &at.element);
                let kept = row.map_or(0, |at| count_kept(fingerprints, |p| is_in_row(at, p)));
                (kept * 2 > fingerprints.len(), Clause::RowNumbers)
            }
            Self::Position { index, count, values } => {
                let holds = match now.shift(values) {
                    Shift::Stayed => true,
                    Shift::Moved => false,
                    Shift::Unknown => row.is_some_and(|at| (at.index, at.count) == (*index, *count)),
                };
                (holds, Clause::RowPosition)
            }
            Self::Heading(title) => (title.holds(now.heading, bears), Clause::Heading),
            Self::Region(name) => (now.region == Some(*name), Clause::Region),
            Self::Window(title) => {
                let same_window = title.node.is_some() && now.window == title.node;
                (same_window || now.region == Some(title.text), Clause::Region)
            }
            Self::Address(address) => (now.address == *address, Clause::Address),
        };
        (!holds).then_some(clause)
    }
}

impl ElementSurroundings {
    /// Judges, from the current values in the rows, whether the row that had these field values
    /// moved.
    pub(crate) fn shift(&self, issued: &FieldValues) -> Shift {
        let Some((at, values)) = self.row.as_ref().and_then(|at| Some((at, at.values.as_ref()?))) else {
            return Shift::Unknown;
        };
        values.shift(at.index, at.row.values.distinguishing.iter().map(|&(_, p)| p), issued)
    }
}
