//! The verdicts of the record rule.

use std::fmt;

/// Whether an issued meaning still holds for a node of a later tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The node is the issued element.
    Same {
        /// The current name or words, if they differ from the issued ones, as when `Cart (1)` is
        /// now `Cart (2)`.
        reads_now: Option<String>,
    },
    /// The node is something else now, according to the clause.
    Changed(Clause),
}

impl Verdict {
    /// Returns whether this is [`Verdict::Same`].
    #[must_use]
    pub fn is_same(&self) -> bool {
        matches!(self, Self::Same { .. })
    }

    /// Returns the clause that no longer holds, if any.
    #[must_use]
    pub fn clause(&self) -> Option<Clause> {
        match self {
            Self::Same { .. } => None,
            Self::Changed(clause) => Some(*clause),
        }
    }
}

/// A condition of the record rule that no longer holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Clause {
    /// The role of the element.
    Role,
    /// The name, or the words of an element without a name, apart from counts.
    Name,
    /// The key of the row.
    Key,
    /// The text that distinguished the row from others.
    RowText,
    /// The numbers that distinguished the row from others.
    RowNumbers,
    /// The position of the row, if nothing else distinguishes the rows.
    RowPosition,
    /// The element that opened the menu or dialog.
    Opener,
    /// The text of the dialog, alert or status.
    DialogText,
    /// The text of the section.
    SectionText,
    /// The title of a group around the element.
    Group,
    /// The heading above the element.
    Heading,
    /// The name of the region.
    Region,
    /// The URL of the document.
    Address,
}

impl Clause {
    /// Returns the reason, as the end of a sentence that begins with "it is not the same element,
    /// because".
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Role => "its role changed",
            Self::Name => "its name changed",
            Self::Key => "the key of its row changed",
            Self::RowText => "the text of its row changed",
            Self::RowNumbers => "the numbers of its row changed",
            Self::RowPosition => "its row was moved, or other rows came or went",
            Self::Opener => "its menu or dialog was opened from elsewhere",
            Self::DialogText => "the text of its dialog or message changed",
            Self::SectionText => "the text of its section changed",
            Self::Group => "the title of the group around it changed",
            Self::Heading => "the heading above it changed",
            Self::Region => "its region changed",
            Self::Address => "the address of its page changed",
        }
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason())
    }
}

/// Why no node of a new tree was accepted for an element whose own node is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum NoMatch {
    /// The node is still in the document but hidden, so nothing replaced it.
    Hidden,
    /// No node has this meaning.
    Absent,
    /// Several nodes have this meaning or had it before, or the row is distinguished only by its
    /// position.
    NotUnique,
    /// The new document has another URL.
    OtherAddress,
    /// The new document has the same URL but different text.
    OtherDocument,
    /// The candidate is outside the surviving part of the surroundings.
    Moved,
    /// Another row of the same list kept its node, so the list did not re-render.
    SiblingSurvived,
    /// The replaced surroundings have different text.
    TextDiffers,
    /// The candidate existed before, as another element.
    Taken,
    /// Nothing around the element could show that the element re-rendered.
    Isolated,
}
