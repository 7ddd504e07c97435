//! A platform: what can be opened on it, what its devices can do, and what it needs.

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
    /// The word before the colon in `open WHAT` and in `devices`: `web`, `sim`, `linux`.
    fn kind(&self) -> &'static str;

    /// Whether `open WHAT` is meant for this provider. The first provider that claims it opens it.
    fn claims(&self, what: &str) -> bool;

    /// Whether opening `what` starts something else than an installed app: a program by its path, a command line, a
    /// terminal. Callers that may start installed apps alone are refused it.
    fn starts_program(&self, _what: &str) -> bool {
        false
    }

    /// The options of [`OpenRequest`] that it reads. `open` refuses the others, so that none is silently ignored.
    fn open_options(&self) -> &'static [OpenOption];

    /// Starts or finds what `request.what` names and returns when it is ready to be captured.
    ///
    /// # Errors
    /// `DEVICE_NOT_FOUND`, `TOOL_MISSING` with the install command, `BACKEND_LOST`, `TIMEOUT`, `INVALID_ARGS`.
    async fn open(&self, request: OpenRequest) -> Result<Box<dyn Device>>;

    /// What could be opened here: apps, browsers.
    ///
    /// # Errors
    /// As `open`.
    async fn devices(&self) -> Result<Vec<DeviceEntry>>;

    /// The names, as `open` takes them, of the apps that are installed here, running or not. For completions: reads files
    /// and starts nothing.
    fn installed_apps(&self) -> Vec<String> {
        Vec::new()
    }

    /// What its devices can do where the machine allows it, for a list without a device. Each device answers for itself
    /// ([`Device::capabilities`]).
    fn capabilities(&self) -> &'static [Capability];

    /// Looks at everything that this platform needs, for `doctor`.
    async fn doctor(&self) -> Vec<Check>;

    /// Ends what a killed process of ours left running, as recorded in `state_dir`. Called once when a host starts,
    /// before the first session; the folders of the sessions go afterwards. Returns what was done, for the log.
    ///
    /// # Errors
    /// `IO`.
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
    /// As a command line has it.
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

/// What `open` was asked for.
#[derive(Debug, Clone)]
pub struct OpenRequest {
    /// What the user typed: a URL, `sim:shop`.
    pub what: String,
    /// The session that will drive it.
    pub session: String,
    /// A folder of this session's own that exists, is private, and is removed at close: profiles, downloads.
    pub dir: PathBuf,
    /// The caller's home folder.
    pub home: Option<PathBuf>,
    /// The caller's working directory.
    pub cwd: PathBuf,
    /// Show a window.
    pub headed: bool,
    /// Take what runs already and leave it running at close, instead of starting it.
    pub attach: bool,
    /// Keep the app away from what the person at this machine uses: its pointer, keyboard and screen are the session's
    /// own.
    pub private: bool,
    /// Give the app a home folder of the session's own, which goes at close, instead of the caller's.
    pub private_home: bool,
    /// Width and height of the viewport in CSS pixels.
    pub viewport: Option<(u32, u32)>,
    /// A profile folder to keep, instead of a fresh one.
    pub profile: Option<PathBuf>,
    /// The folders whose files the app may show; none where nothing confines it.
    pub file_roots: Option<Vec<PathBuf>>,
    /// How long the page may take until it is ready.
    pub ready_timeout: Duration,
    /// Stops the opening.
    pub cancel: CancellationToken,
}

/// One line of `devices`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeviceEntry {
    /// What to type after `open`.
    pub open: String,
    /// For people.
    pub title: String,
}

/// One finding of `doctor`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// What was looked at.
    pub name: String,
    /// Whether it is as it should be.
    pub ok: bool,
    /// What was found.
    pub found: String,
    /// The command that mends it; empty if none is needed.
    pub fix: String,
}
