//! The life of a device between commands: confinement, reading ahead, and how the app ends.

use crate::error::Result;
use crate::notice::Notice;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use stickpin_tree::Handle;

/// What a device does between commands, and how its app ends. Every method has a default.
#[async_trait]
pub trait Lifecycle: Send {
    /// Allows the app, from now on, to show only those files of this machine that are in the given
    /// folders. The limit covers addresses, links, frames, scripts and redirects. A device that
    /// opens no files by address has nothing to confine.
    ///
    /// # Errors
    /// Returns `BACKEND_LOST` when the app is gone.
    async fn confine(&mut self, _file_roots: &[PathBuf]) -> Result<()> {
        Ok(())
    }

    /// Returns the folders that the app was started with; `None` if they do not determine where the
    /// app saves files.
    fn app_folders(&self) -> Option<AppFolders> {
        None
    }

    /// Waits until reading ahead would save the next command a capture: the app has changed since
    /// it was last read, and has become quiet.
    ///
    /// Never returns if the device does not read ahead or has no need to. Called while no command
    /// holds the session, and dropped as soon as a command requests the session.
    async fn idle_for_readahead(&mut self) {
        std::future::pending().await
    }

    /// Reads the app after [`Lifecycle::idle_for_readahead`], so that a later capture or `locate`
    /// can prove that nothing has changed since.
    ///
    /// `watch` is as in [`CaptureRequest`](crate::CaptureRequest). The call may be dropped if it
    /// takes too long. A failure is left for the next command to find.
    async fn read_ahead(&mut self, _watch: &[Handle]) {}

    /// Returns how the app ended if it exited normally, for example because its last window was
    /// closed: `zenity has exited (exit status: 0)`.
    ///
    /// `None` while the app is running, and if it crashed or was lost.
    async fn ended(&mut self) -> Option<String> {
        None
    }

    /// Marks the start of a command that may act. [`Traffic::requests`](crate::Traffic::requests)
    /// and [`Traffic::downloads`](crate::Traffic::downloads) start from this point.
    fn act_begins(&mut self) {}

    /// Returns notices about the device itself since the last call, regardless of who acted: apps
    /// that have exited, features that stopped working. These notices are reported with the next
    /// response. Does not wait.
    fn device_notices(&mut self) -> Vec<Notice> {
        Vec::new()
    }

    /// Returns what removed an element that is gone, if known: `the app "zenity", which has
    /// closed`.
    fn gone_with(&self, _handle: Handle) -> Option<String> {
        None
    }
}

/// The folders that an app was started with, where it saves files by default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AppFolders {
    /// The app's home folder.
    pub home: PathBuf,
    /// The app's working directory.
    pub cwd: PathBuf,
    /// Whether the home folder, with everything saved in it, is removed when the session closes.
    pub removed_at_close: bool,
}

impl AppFolders {
    /// Creates the folders of an app.
    #[must_use]
    pub fn new(home: PathBuf, cwd: PathBuf, removed_at_close: bool) -> Self {
        Self { home, cwd, removed_at_close }
    }
}
