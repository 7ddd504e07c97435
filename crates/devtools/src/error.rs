//! Why a command got no result, and what a refusal says of what was asked about.

use std::time::Duration;

/// Why a command got no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The browser is gone.
    #[error("{0}")]
    Lost(String),
    /// No answer came within the limit of the command.
    #[error("{method}: no answer within {} s", limit.as_secs())]
    TimedOut {
        /// The command.
        method: &'static str,
        /// Its limit.
        limit: Duration,
    },
    /// The browser refused.
    #[error("{method}: {message}")]
    Refused {
        /// The command.
        method: &'static str,
        /// The code of the answer.
        code: i64,
        /// Its words.
        message: String,
        /// What that means.
        reason: Refusal,
    },
    /// The answer was not of the expected form.
    #[error("{method}: {message}")]
    Malformed {
        /// The command.
        method: &'static str,
        /// What was wrong.
        message: String,
    },
}

/// What a refusal says of what was asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The session or its target is not there any more, or its process ended.
    TargetGone,
    /// The document, or what was in it, is not there any more: a context, a frame, a node, an object, a script that
    /// ran.
    DocumentGone,
    /// The command itself, or one that the browser cannot carry out.
    Protocol,
}

/// The code of a session that does not exist.
const SESSION_NOT_FOUND: i64 = -32001;

/// How refusals about a target begin, as the sources of the browser have them (Chromium 156).
const TARGET_GONE: &str = include_str!("../refusals/target.txt");

/// How refusals about a document and what is in it begin. `Internal error` is what V8 says of a script that was ended, or
/// whose document went, in the middle.
const DOCUMENT_GONE: &str = include_str!("../refusals/document.txt");

impl Refusal {
    /// Of an answer's code and words.
    pub(crate) fn of(code: i64, message: &str) -> Self {
        let is_one_of = |known: &str| known.lines().any(|words| message.starts_with(words));
        if code == SESSION_NOT_FOUND || is_one_of(TARGET_GONE) {
            return Self::TargetGone;
        }
        if is_one_of(DOCUMENT_GONE) { Self::DocumentGone } else { Self::Protocol }
    }
}

impl CallError {
    /// What a refusal says; none where the browser did not refuse.
    #[must_use]
    pub fn refusal(&self) -> Option<Refusal> {
        match self {
            Self::Refused { reason, .. } => Some(*reason),
            _ => None,
        }
    }

    /// Whether what was asked about is gone, a document or its whole target.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        matches!(self.refusal(), Some(Refusal::TargetGone | Refusal::DocumentGone))
    }

    /// Whether the session that it was sent to does not exist any more.
    #[must_use]
    pub fn session_gone(&self) -> bool {
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
            assert_eq!(Refusal::of(code, message), reason, "{message}");
        }
    }
}
