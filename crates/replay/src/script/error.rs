//! What is wrong with a script, and where.

use stickpin_kernel::{Error, ErrorCode};

/// A fault in a script's text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct ScriptError {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// One sentence.
    pub message: String,
    /// How it is written correctly; may be empty.
    pub hint: String,
}

impl ScriptError {
    /// As an error of a command: `INVALID_ARGS` that begins with file, line and column.
    #[must_use]
    pub fn into_error(self, file: &str) -> Error {
        Error::new(ErrorCode::InvalidArgs, format!("{file}:{self}"))
            .hint(self.hint.clone())
            .details(serde_json::json!({ "file": file, "line": self.line, "column": self.column }))
    }
}

/// A fault in one line, before it is known which.
#[derive(Debug)]
pub(super) struct Fault {
    /// Where in the line, in bytes.
    pub(super) at: usize,
    pub(super) message: String,
    pub(super) hint: &'static str,
}

impl Fault {
    pub(super) fn new(at: usize, message: impl Into<String>, hint: &'static str) -> Self {
        Self { at, message: message.into(), hint }
    }

    /// In its place.
    pub(super) fn on(self, number: u32, line: &str) -> ScriptError {
        let before = line.get(..self.at.min(line.len())).unwrap_or(line).chars().count();
        ScriptError {
            line: number,
            column: u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1),
            message: self.message,
            hint: self.hint.to_owned(),
        }
    }
}
