//! The error of a text that is not a selector.

use std::ops::Range;

/// A selector that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SelectorError {
    /// What is wrong. The words of the app or user in it are quoted and cut.
    pub message: String,
    /// The bytes of the text that are at fault.
    pub span: Range<usize>,
    /// What to type instead, with an example.
    pub hint: String,
}
