//! What tells an element from its likes: the evidence at issue, and the questions that it asks later.

use crate::Handle;
use crate::identity::element_context::ElementContext;
use crate::identity::fingerprint::{Fingerprint, count_kept};
use crate::identity::rows::keys::Key;
use crate::identity::rows::shift::{FieldValues, Shift};
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

impl Evidence {
    /// Whether it is evidence of a row.
    pub(crate) fn is_row(&self) -> bool {
        matches!(
            self,
            Self::Key(_) | Self::Text { .. } | Self::OwnName | Self::Numbers { .. } | Self::Place { .. }
        )
    }

    /// Whether it still holds. `heading_at`: what the heading at a node reads now.
    pub(crate) fn holds(
        &self,
        now: &ElementContext,
        heading_at: impl Fn(Handle) -> Option<Fingerprint>,
    ) -> Result<(), Clause> {
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
            Self::Heading { node, text } => (reads(now.heading, *node, *text, heading_at), Clause::Heading),
            Self::Region(name) => (now.region == Some(*name), Clause::Region),
            Self::Window { node, title } => {
                let stayed = node.is_some() && now.window == *node;
                (stayed || now.region == Some(*title), Clause::Region)
            }
            Self::Address(address) => (now.address == *address, Clause::Address),
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
    /// Whether it is still below that heading, or the heading still reads the same. `above`: what the heading above all rows
    /// that its row is one of reads now.
    pub(crate) fn holds(
        &self,
        above: Option<Fingerprint>,
        heading_at: impl Fn(Handle) -> Option<Fingerprint>,
    ) -> Result<(), Clause> {
        if self.heading.is_none_or(|title| title.holds(above, heading_at)) {
            Ok(())
        } else {
            Err(Clause::Heading)
        }
    }

    /// The same, resting on the heading's node of now, where that reads as it did.
    pub(crate) fn resting_on(&self, now: Option<&Self>) -> Self {
        let now = now.and_then(|now| now.heading);
        Self { heading: self.heading.map(|title| title.resting_on(now)) }
    }
}

impl EnclosingHeading {
    pub(crate) fn holds(
        self,
        above: Option<Fingerprint>,
        heading_at: impl Fn(Handle) -> Option<Fingerprint>,
    ) -> bool {
        reads(above, self.node, self.text, heading_at)
    }

    pub(crate) fn resting_on(self, now: Option<Self>) -> Self {
        now.filter(|now| now.text == self.text).unwrap_or(self)
    }
}

/// Whether a heading reads as at issue, or the one at issue does.
fn reads(
    now: Option<Fingerprint>,
    node: Option<Handle>,
    text: Fingerprint,
    heading_at: impl Fn(Handle) -> Option<Fingerprint>,
) -> bool {
    now == Some(text) || node.and_then(heading_at) == Some(text)
}
