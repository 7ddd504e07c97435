//! The [`Provider`] trait: what a platform can open, what its devices support, and what it
//! requires.

use crate::capability::Capability;
use crate::device::Device;
use crate::error::Result;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A platform: finds, opens and describes devices.
#[async_trait]
pub trait Provider: Send + Sync + fmt::Debug {
    /// Returns the word before the colon in `open WHAT` and in `devices`: `web`, `sim`, `linux`.
    fn kind(&self) -> &'static str;

    /// Whether `open WHAT` is meant for this provider. The first provider that claims it opens it.
    fn claims(&self, what: &str) -> bool;

    /// Whether opening `what` starts something other than an installed app: a program by its path,
    /// a command line, a terminal. Refused for callers that may only start installed apps.
    fn starts_program(&self, _what: &str) -> bool {
        false
    }

    /// Returns the options of [`OpenRequest`] that the provider reads. `open` refuses the others,
    /// so that none is silently ignored.
    fn open_options(&self) -> &'static [OpenOption];

    /// Starts or finds the app that `request.what` names, and returns when it is ready to be
    /// captured.
    ///
    /// # Errors
    /// Returns `DEVICE_NOT_FOUND`, `TOOL_MISSING` with the install command, `BACKEND_LOST`,
    /// `TIMEOUT` or `INVALID_ARGS`.
    async fn open(&self, request: OpenRequest) -> Result<Box<dyn Device>>;

    /// Returns what can be opened here: apps, browsers.
    ///
    /// # Errors
    /// Returns the errors of `open`.
    async fn devices(&self) -> Result<Vec<DeviceEntry>>;

    /// Returns the names of the apps that are installed here, running or not, as `open` takes them.
    /// For completions: reads files and starts nothing.
    fn installed_apps(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns what the provider's devices support where the machine allows it, for a list without
    /// a device. Each device answers for itself ([`Device::capabilities`]).
    fn capabilities(&self) -> &'static [Capability];

    /// Checks everything that the platform requires, for `doctor`.
    async fn doctor(&self) -> Vec<Check>;

    /// Ends what a killed process of ours left running, as recorded in `state_dir`, and returns
    /// what was done, for the log.
    ///
    /// Called once when a host starts, before the first session. The session folders are removed
    /// afterwards.
    ///
    /// # Errors
    /// Returns `IO` when a file cannot be read or removed.
    async fn sweep(&self, state_dir: &std::path::Path) -> Result<Vec<String>>;
}

/// An option of `open` that only some providers read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenOption {
    /// [`OpenRequest::headed`].
    Headed,
    /// [`OpenRequest::attach`].
    Attach,
    /// [`OpenRequest::private`].
    Private,
    /// [`OpenRequest::private_home`].
    PrivateHome,
    /// [`OpenRequest::viewport`].
    Viewport,
    /// [`OpenRequest::profile`].
    Profile,
}

impl OpenOption {
    /// Returns the flag as spelled on a command line.
    #[must_use]
    pub fn flag(self) -> &'static str {
        match self {
            Self::Headed => "--headed",
            Self::Attach => "--attach",
            Self::Private => "--private",
            Self::PrivateHome => "--private-home",
            Self::Viewport => "--viewport",
            Self::Profile => "--profile",
        }
    }
}

/// The arguments of `open`.
#[derive(Debug, Clone)]
pub struct OpenRequest {
    /// The text that the user typed: a URL, `sim:shop`.
    pub what: String,
    /// The session that will drive the device.
    pub session: String,
    /// A private folder of this session that exists and is removed at close, for profiles and
    /// downloads.
    pub dir: PathBuf,
    /// The caller's home folder.
    pub home: Option<PathBuf>,
    /// The caller's working directory.
    pub cwd: PathBuf,
    /// Show a window.
    pub headed: bool,
    /// Use an app that is already running and leave it running at close, instead of starting one.
    pub attach: bool,
    /// Run the app apart from the desktop of the person at this machine, with a pointer, keyboard
    /// and screen of the session's own.
    pub private: bool,
    /// Give the app a home folder of its own, which is removed at close, in place of the caller's.
    pub private_home: bool,
    /// The width and height of the viewport in CSS pixels.
    pub viewport: Option<(u32, u32)>,
    /// A profile folder to keep, in place of a fresh one.
    pub profile: Option<PathBuf>,
    /// The folders whose files the app may show; `None` for no restriction.
    pub file_roots: Option<Vec<PathBuf>>,
    /// The maximum time until the page is ready.
    pub ready_timeout: Duration,
    /// Cancels the opening.
    pub cancel: CancellationToken,
}

/// An entry of `devices`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DeviceEntry {
    /// The argument to type after `open`.
    pub open: String,
    /// The title, for people.
    pub title: String,
}

impl DeviceEntry {
    /// Creates an entry.
    #[must_use]
    pub fn new(open: impl Into<String>, title: impl Into<String>) -> Self {
        Self { open: open.into(), title: title.into() }
    }
}

/// A check of `doctor`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Check {
    /// The subject of the check.
    pub name: String,
    /// Whether the check passed.
    pub ok: bool,
    /// The finding.
    pub found: String,
    /// The command that fixes the problem; empty if none is needed.
    pub fix: String,
}

impl Check {
    /// Creates a check. `fix` is the command that fixes the problem, empty if there is none.
    #[must_use]
    pub fn new(name: impl Into<String>, ok: bool, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { name: name.into(), ok, found: found.into(), fix: fix.into() }
    }
}
