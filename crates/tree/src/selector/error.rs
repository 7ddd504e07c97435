//! The error for a text that is not a selector.

use std::ops::Range;

/// A selector that cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SelectorError {
    /// The error message. Any text from the app or the user in the message is quoted and cut.
    pub message: String,
    /// The faulty part, as a byte range of the parsed text.
    pub span: Range<usize>,
    /// The hint: what to type instead, with an example.
    pub hint: String,
}
