//! What a device saw by itself: notices and dialogs.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use stickpin_tree::{escape, quote};

/// Characters of a dialog's kind.
const KIND: usize = 16;

/// Something that was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
#[non_exhaustive]
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
        /// Its id.
        id: String,
        /// Its address or title.
        what: String,
    },
    /// A tab or window was closed.
    Closed {
        /// Its id.
        id: String,
    },
    /// An app came to the desktop, or another window of one was opened.
    Came {
        /// Which of them.
        what: Thing,
        /// What it is called, in the app's words.
        name: String,
    },
    /// An app has left the desktop, or a window was closed.
    Left {
        /// Which of them.
        what: Thing,
        /// What it was called.
        name: String,
    },
    /// Something that the device needs does not do its work; it goes on without.
    Lacks {
        /// What that is, and what it means for the caller, in words of our own.
        what: String,
    },
    /// Another document is on its way and not there yet.
    Leaving {
        /// Its address.
        url: String,
    },
    /// A request that counts: under way, or answered well.
    Requested {
        /// Method.
        method: String,
        /// Address.
        url: String,
        /// The answer; none while it is under way.
        status: Option<u16>,
    },
    /// A file is being downloaded.
    Downloading {
        /// Its name.
        name: String,
        /// Bytes that are here.
        received: u64,
        /// Bytes in all, where that is known.
        total: Option<u64>,
    },
    /// A download was cancelled or broke off.
    DownloadFailed {
        /// Its name.
        name: String,
        /// The reason.
        why: String,
    },
    /// A file was downloaded.
    Downloaded {
        /// Where it is.
        path: PathBuf,
    },
    /// A file chooser that nobody asked for was opened, and closed again without a choice.
    FileChooser,
    /// Input reached something whose picture changes without a word, so that nothing seen is no sign that nothing
    /// happened.
    Unwatched {
        /// What it is: `canvas`.
        what: String,
    },
    /// A dialog was shown and answered by itself (`alert`).
    DialogShown {
        /// Its text.
        text: String,
    },
}

/// What comes and goes on a desktop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Thing {
    /// A run of an app.
    App,
    /// A window.
    Window,
    /// A window of another process that belongs to the app, as the file chooser of a portal does.
    Stranger,
}

impl Thing {
    /// It in words.
    #[must_use]
    pub fn words(self, name: &str) -> String {
        match (self, name) {
            (Self::App, name) => format!("app {}", quote(name)),
            (Self::Window, "") => "a window".to_owned(),
            (Self::Window, title) => format!("window {}", quote(title)),
            (Self::Stranger, "") => "a window without a title, which belongs to another process".to_owned(),
            (Self::Stranger, title) => {
                format!("the window {}, which belongs to another process", quote(title))
            }
        }
    }
}

/// A dialog that waits for an answer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Dialog {
    /// `alert`, `confirm`, `prompt`, `beforeunload`.
    pub kind: String,
    /// Its text.
    pub message: String,
    /// The proposed answer of a prompt.
    pub default: String,
    /// The tab that shows it, when that is not the active one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<String>,
}

impl Dialog {
    /// It in words: `confirm "Sure?"`, `confirm in tab t2 "Sure?"`.
    #[must_use]
    pub fn words(&self) -> String {
        let at = self.tab.as_ref().map(|tab| format!(" in tab {tab}")).unwrap_or_default();
        format!("{}{at} {}", escape(&self.kind, KIND), quote(&self.message))
    }
}

/// How to answer one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DialogAnswer {
    /// OK, with the text for a prompt.
    Accept(Option<String>),
    /// Cancel.
    Dismiss,
}
