//! Errors in a script, with their position.

use stickpin_kernel::Error;

/// An error in a script's text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct ScriptError {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// The message in one sentence.
    pub message: String,
    /// How to correct the error; may be empty.
    pub hint: String,
}

impl ScriptError {
    /// Converts to `INVALID_ARGS`, with file, line and column at the start of the message.
    #[must_use]
    pub fn into_error(self, file: &str) -> Error {
        Error::invalid_args(format!("{file}:{self}"))
            .hint(self.hint.clone())
            .details(serde_json::json!({ "file": file, "line": self.line, "column": self.column }))
    }
}

/// An error in one line, before its line number is known.
#[derive(Debug)]
pub(super) struct LineError {
    /// The position in the line, in bytes.
    pub(super) at: usize,
    pub(super) message: String,
    pub(super) hint: &'static str,
}

impl LineError {
    pub(super) fn new(at: usize, message: impl Into<String>, hint: &'static str) -> Self {
        Self { at, message: message.into(), hint }
    }

    /// Returns the error unless a condition holds; the message is built only for the error.
    pub(super) fn unless<M: Into<String>>(
        holds: bool,
        at: usize,
        message: impl FnOnce() -> M,
        hint: &'static str,
    ) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(Self::new(at, message(), hint)) }
    }

    /// Adds the line number, and converts the position to a column.
    pub(super) fn on_line(self, number: u32, line: &str) -> ScriptError {
        let before = line.get(..self.at.min(line.len())).unwrap_or(line).chars().count();
        ScriptError {
            line: number,
            column: u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1),
            message: self.message,
            hint: self.hint.to_owned(),
        }
    }
}
