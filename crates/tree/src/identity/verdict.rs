//! The answers of the record rule.

use std::fmt;

/// Whether what was issued still holds for a node of a later tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The same thing among its likes.
    Same {
        /// The name it has now, where that is not the name that was issued (`Cart (1)` is `Cart (2)` now).
        reads_now: Option<String>,
    },
    /// Something else now, and which clause says so.
    Changed(Clause),
}

impl Verdict {
    /// Whether it is [`Verdict::Same`].
    #[must_use]
    pub fn is_same(&self) -> bool {
        matches!(self, Self::Same { .. })
    }

    /// What is no longer as it was, if something is not.
    #[must_use]
    pub fn clause(&self) -> Option<Clause> {
        match self {
            Self::Same { .. } => None,
            Self::Changed(clause) => Some(*clause),
        }
    }
}

/// What is no longer as it was when the element was issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Clause {
    /// The role of the element.
    Role,
    /// Its name, counts aside.
    Name,
    /// The key of its row.
    Key,
    /// The text that told its row from the other rows.
    RowText,
    /// The numbers that told its row from the other rows.
    RowNumbers,
    /// The place of its row, where nothing else tells the rows apart.
    RowPlace,
    /// The element that opened its menu or dialog.
    Opener,
    /// The text of its dialog, alert or status.
    DialogText,
    /// The text of its section.
    SectionText,
    /// The title of a group that it stood in.
    Group,
    /// The heading above it.
    Heading,
    /// The name of its region.
    Region,
    /// The address of its document.
    Address,
}

impl Clause {
    /// What changed, as the end of a sentence that begins with "it is not the same element, because".
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Role => "its role changed",
            Self::Name => "its name changed",
            Self::Key => "the key of its row changed",
            Self::RowText => "the text of its row changed",
            Self::RowNumbers => "the numbers of its row changed",
            Self::RowPlace => "its row was moved or other rows came or went",
            Self::Opener => "its menu or dialog was opened from elsewhere",
            Self::DialogText => "the text of its dialog changed",
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
pub enum Refused {
    /// Its node is still in the document, only hidden: hidden is not replaced.
    Hidden,
    /// Nothing of this meaning is there.
    Absent,
    /// Several of this meaning are there, or were there.
    NotUnique,
    /// The new document has another address.
    OtherAddress,
    /// The new document has the same address and reads otherwise.
    OtherDocument,
    /// What survived of its surroundings is not around the candidate.
    Moved,
    /// Another row of the same list kept its node, so the list was not rendered anew.
    SiblingKept,
    /// What replaced its surroundings does not read the same.
    ReadsOther,
    /// The candidate was there before, as another element.
    Taken,
    /// Nothing around it could show that it was rendered anew.
    Alone,
}
