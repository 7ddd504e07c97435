//! Why a command or a call into a document failed.

use crate::state::State;
use std::time::Duration;
use stickpin_device::{Dialog, Error, ErrorCode, TabEndReason};

/// Why a call into a document failed.
#[derive(Debug, Clone, PartialEq)]
pub enum TabError {
    /// The document went away before it answered.
    WorldGone,
    /// A dialog keeps the page from answering.
    Dialog(Dialog),
    /// The script threw: a bug in stickpin, or a document in an unexpected state.
    Threw(String),
    /// Any other error, which the caller passes on.
    Failed(Error),
}

impl From<TabError> for Error {
    fn from(fault: TabError) -> Self {
        match fault {
            TabError::WorldGone => {
                let message = "the document was replaced or removed during the command";
                Self::new(ErrorCode::ElementNotFound, message).hint("run `stickpin snapshot -i`")
            }
            TabError::Dialog(dialog) => dialog_open(&dialog),
            TabError::Threw(what) => {
                Self::new(ErrorCode::Internal, format!("stickpin's script in the page failed: {what}"))
            }
            TabError::Failed(error) => error,
        }
    }
}

impl From<Error> for TabError {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Returns the error for a call that a dialog blocks.
pub fn dialog_open(dialog: &Dialog) -> Error {
    Error::new(ErrorCode::DialogOpen, format!("a dialog is waiting for an answer: {}", dialog.describe()))
        .hint("run `stickpin alert accept` or `stickpin alert dismiss`")
}

/// Returns the error for a tab that is gone. The session ends too, unless it can continue in
/// another tab.
pub(super) fn tab_ended(state: &State, session: &str) -> Error {
    let tab = state.tabs.get(session);
    let has_crashed = tab.is_some_and(|tab| tab.gone == Some(TabEndReason::Crashed));
    if !state.drivable_tabs().iter().any(|(other, _)| *other != session) {
        return browser_lost(if has_crashed { "the page crashed" } else { "the tab was closed" });
    }
    let id = tab.map_or_else(|| "the tab".to_owned(), |tab| format!("tab {}", tab.id()));
    let ending = if has_crashed { "crashed" } else { "was closed" };
    Error::new(ErrorCode::DeviceNotFound, format!("{id} {ending} during the command"))
        .hint("the session continues in another tab; run `stickpin tab list` and `stickpin snapshot -i`")
}

/// Returns the error for a browser that is gone or has lost its last tab.
pub fn browser_lost(reason: &str) -> Error {
    Error::new(ErrorCode::BackendLost, reason).hint("run `stickpin open URL` to start again")
}

/// Returns the error for a page that did not answer.
pub(super) fn timeout_error(limit: Duration) -> Error {
    let seconds = limit.as_secs();
    Error::new(ErrorCode::Timeout, format!("the page did not respond within {seconds} s"))
        .hint("a script on the page may be stuck in a loop; run `stickpin reload`")
}
