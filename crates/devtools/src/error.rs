//! Why a command failed, and what a refusal means for the subject of the command.

use std::time::Duration;

/// Why a command failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The connection to the browser ended.
    #[error("{0}")]
    Lost(String),
    /// No answer came within the command's timeout.
    #[error("{method}: no answer within {} s", limit.as_secs())]
    TimedOut {
        /// The wire name of the command.
        method: &'static str,
        /// The timeout that elapsed.
        limit: Duration,
    },
    /// The browser answered with an error.
    #[error("{method}: {message}")]
    Refused {
        /// The wire name of the command.
        method: &'static str,
        /// The error code of the answer.
        code: i64,
        /// The error message of the answer.
        message: String,
        /// The kind of refusal.
        reason: Refusal,
    },
    /// The command or its answer could not be converted to or from JSON.
    #[error("{method}: {message}")]
    Malformed {
        /// The wire name of the command.
        method: &'static str,
        /// The error of the JSON library.
        message: String,
    },
}

/// The meaning of a refusal for the subject of the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The session or its target no longer exists, or the target's process ended.
    TargetGone,
    /// The document or something in it no longer exists: a context, a frame, a node, an object, or
    /// a script that was running.
    DocumentGone,
    /// The command is invalid, or the browser cannot execute it.
    Protocol,
}

/// The error code for a session that does not exist.
const SESSION_NOT_FOUND: i64 = -32001;

/// The prefixes of error messages for a target that is gone, taken from the sources of Chromium
/// 156.
const TARGET_GONE: &str = include_str!("../refusals/target.txt");

/// The prefixes of error messages for a document, or content of a document, that is gone. V8
/// reports `Internal error` for a script that was terminated, or whose document went away, while it
/// was running.
const DOCUMENT_GONE: &str = include_str!("../refusals/document.txt");

impl Refusal {
    /// Classifies an answer's code and message.
    pub(crate) fn from_answer(code: i64, message: &str) -> Self {
        let is_one_of = |known: &str| known.lines().any(|words| message.starts_with(words));
        if code == SESSION_NOT_FOUND || is_one_of(TARGET_GONE) {
            return Self::TargetGone;
        }
        if is_one_of(DOCUMENT_GONE) { Self::DocumentGone } else { Self::Protocol }
    }
}

impl CallError {
    /// Returns the kind of refusal, or `None` when the browser did not refuse.
    #[must_use]
    pub fn refusal(&self) -> Option<Refusal> {
        match self {
            Self::Refused { reason, .. } => Some(*reason),
            _ => None,
        }
    }

    /// Returns whether the subject of the command is gone: its document or its whole target.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        matches!(self.refusal(), Some(Refusal::TargetGone | Refusal::DocumentGone))
    }

    /// Returns whether the session of the command no longer exists.
    #[must_use]
    pub fn is_session_gone(&self) -> bool {
        matches!(self, Self::Refused { code: SESSION_NOT_FOUND, .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_say_what_is_gone() {
        for (code, message, reason) in [
            (-32001, "Session with given id not found.", Refusal::TargetGone),
            (-32000, "Target crashed", Refusal::TargetGone),
            (-32000, "Not attached to an active page", Refusal::TargetGone),
            (-32000, "uniqueContextId not found", Refusal::DocumentGone),
            (-32000, "Execution context was destroyed.", Refusal::DocumentGone),
            (-32603, "Internal error", Refusal::DocumentGone),
            (-32000, "Execution was terminated", Refusal::DocumentGone),
            (-32000, "Inspected target navigated or closed", Refusal::DocumentGone),
            (-32000, "No node found for given backend id", Refusal::DocumentGone),
            (-32602, "Invalid parameters", Refusal::Protocol),
            (-32601, "'Page.nothing' wasn't found", Refusal::Protocol),
            (-32000, "Permission can't be granted in current context.", Refusal::Protocol),
        ] {
            assert_eq!(Refusal::from_answer(code, message), reason, "{message}");
        }
    }
}
