//! What is wrong with a selector, where, and what it could have been.

use std::ops::Range;

/// A selector that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SelectorError {
    /// What is wrong. The words of the app or user in it are quoted and cut.
    pub message: String,
    /// Where, in bytes of the text that was parsed.
    pub span: Range<usize>,
    /// What to type instead, with an example.
    pub hint: String,
}
