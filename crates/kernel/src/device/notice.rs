//! What a device saw by itself: notices and dialogs.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Something that was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Notice {
    /// The UI changed.
    Changed,
    /// Another document, or another address of the same one.
    Navigated {
        /// The address.
        url: String,
    },
    /// An error on the console.
    ConsoleError {
        /// Its text.
        text: String,
    },
    /// A request that failed or was answered with an error.
    RequestFailed {
        /// Method.
        method: String,
        /// Address.
        url: String,
        /// Status or reason.
        why: String,
    },
    /// A text in a live region or toast that came (and maybe went).
    Announced {
        /// The text.
        text: String,
    },
    /// Another tab or window opened.
    Opened {
        /// Its id, if it can be switched to.
        id: String,
        /// Its address or title.
        what: String,
    },
    /// A file was downloaded.
    Downloaded {
        /// Where it is.
        path: PathBuf,
    },
    /// A file chooser that nobody asked for was opened, and closed again without a choice.
    FileChooser,
    /// A dialog was shown and answered by itself (`alert`).
    DialogShown {
        /// Its text.
        text: String,
    },
}

/// A dialog that waits for an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Dialog {
    /// `alert`, `confirm`, `prompt`, `beforeunload`.
    pub kind: String,
    /// Its text.
    pub message: String,
    /// The proposed answer of a prompt.
    pub default: String,
}

/// How to answer one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DialogAnswer {
    /// OK, with the text for a prompt.
    Accept(Option<String>),
    /// Cancel.
    Dismiss,
}
