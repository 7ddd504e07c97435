//! Notices and dialogs that a device observed on its own.

use crate::setters::setters;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::path::PathBuf;
use stickpin_tree::{escape, quote};

/// The maximum length of a dialog's kind, in characters.
const KIND: usize = 16;

/// The maximum number of notices that a device keeps until they are reported.
pub const MAX_NOTICES: usize = 64;

/// Appends to a list; drops the oldest entry if the list already has `most` entries.
pub fn push_latest<T>(list: &mut VecDeque<T>, new: T, most: usize) {
    if list.len() == most {
        list.pop_front();
    }
    list.push_back(new);
}

/// An observation by a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
#[non_exhaustive]
pub enum Notice {
    /// The UI changed.
    Changed,
    /// The app navigated to another document, or to another address of the same document.
    Navigated {
        /// The address.
        url: String,
    },
    /// An error was written to the console.
    ConsoleError {
        /// The error text.
        text: String,
    },
    /// A request failed or was answered with an error.
    RequestFailed {
        /// The HTTP method.
        method: String,
        /// The address.
        url: String,
        /// The status or the reason.
        why: String,
    },
    /// A text appeared in a live region or toast, and may be gone already.
    LiveRegionText {
        /// The text.
        text: String,
    },
    /// Another tab or window opened.
    TabOpened {
        /// The tab's id.
        id: String,
        /// The tab's address or title.
        what: String,
    },
    /// A tab or window was closed.
    TabClosed {
        /// The tab's id.
        id: String,
    },
    /// An app appeared on the desktop, or another window of an app opened.
    Appeared {
        /// The kind of thing.
        what: DesktopObject,
        /// The name or title.
        name: String,
    },
    /// An app left the desktop, or a window closed.
    Disappeared {
        /// The kind of thing.
        what: DesktopObject,
        /// The former name or title.
        name: String,
    },
    /// A component that the device needs does not work; the device continues without it.
    ComponentMissing {
        /// The component, and the consequence for the caller, in stickpin's words rather than the
        /// app's.
        what: String,
    },
    /// A navigation to another document is in progress.
    NavigationStarted {
        /// The address of that document.
        url: String,
    },
    /// A request that counts for network idle is in progress or was answered without an error.
    RequestObserved {
        /// The HTTP method.
        method: String,
        /// The address.
        url: String,
        /// The status of the response; `None` while the request is in progress.
        status: Option<u16>,
    },
    /// A download is in progress.
    Downloading {
        /// The file name.
        name: String,
        /// The number of bytes received.
        received: u64,
        /// The total number of bytes, if known.
        total: Option<u64>,
    },
    /// A download was cancelled or interrupted.
    DownloadFailed {
        /// The file name.
        name: String,
        /// The reason.
        why: String,
    },
    /// A download completed.
    Downloaded {
        /// The path of the file.
        path: PathBuf,
    },
    /// A file chooser opened without a request from a command, and was closed again without a
    /// choice.
    FileChooser,
    /// Input reached an element whose changes cannot be observed, so that the absence of changes
    /// does not prove that nothing happened.
    UnobservableInput {
        /// The kind of element: `canvas`.
        what: String,
    },
    /// A dialog was shown and answered automatically (`alert`).
    DialogShown {
        /// The text of the dialog.
        text: String,
    },
}

/// A thing that comes and goes on a desktop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum DesktopObject {
    /// A running app.
    App,
    /// A window.
    Window,
    /// A window that belongs to the app but is owned by another process, such as the file chooser
    /// of a portal.
    ForeignWindow,
}

impl DesktopObject {
    /// Describes the thing in words.
    #[must_use]
    pub fn describe(self, name: &str) -> String {
        match (self, name) {
            (Self::App, name) => format!("app {}", quote(name)),
            (Self::Window, "") => "a window".to_owned(),
            (Self::Window, title) => format!("window {}", quote(title)),
            (Self::ForeignWindow, "") => {
                "a window without a title, which belongs to another process".to_owned()
            }
            (Self::ForeignWindow, title) => {
                format!("the window {}, which belongs to another process", quote(title))
            }
        }
    }
}

/// A dialog that is waiting for an answer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Dialog {
    /// The kind: `alert`, `confirm`, `prompt`, `beforeunload`.
    pub kind: String,
    /// The text of the dialog.
    pub message: String,
    /// The default answer of a prompt.
    pub default: String,
    /// The tab that shows the dialog, if that tab is not the active one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<String>,
}

setters!(Dialog { tab: Option<String> });

impl Dialog {
    /// Creates a dialog of the active tab without a default answer.
    #[must_use]
    pub fn new(kind: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind: kind.into(), message: message.into(), ..Self::default() }
    }

    /// Returns the dialog with another default answer.
    #[must_use]
    pub fn default_answer(mut self, answer: String) -> Self {
        self.default = answer;
        self
    }

    /// Describes the dialog: `confirm "Sure?"`, `confirm in tab t2 "Sure?"`.
    #[must_use]
    pub fn describe(&self) -> String {
        let at = self.tab.as_ref().map(|tab| format!(" in tab {tab}")).unwrap_or_default();
        format!("{}{at} {}", escape(&self.kind, KIND), quote(&self.message))
    }
}

/// The answer to a dialog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DialogAnswer {
    /// Accept, with the text for a prompt.
    Accept(Option<String>),
    /// Cancel.
    Dismiss,
}
