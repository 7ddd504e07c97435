//! The life of a device beside the commands: what confines it, reading ahead, its end.

use crate::error::Result;
use crate::notice::Notice;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use stickpin_tree::Handle;

/// What a device does beside the commands that it is given, and what becomes of it. Each method may be left out.
#[async_trait]
pub trait Lifecycle: Send {
    /// Confines what the app may show of this machine's files to these folders, from here on: addresses, links, frames,
    /// scripts, redirects. A device that opens no files by address has nothing to confine.
    ///
    /// # Errors
    /// `BACKEND_LOST`.
    async fn confine(&mut self, _file_roots: &[PathBuf]) -> Result<()> {
        Ok(())
    }

    /// The folders that the app was started with; none where that says nothing about where it saves files.
    fn app_folders(&self) -> Option<AppFolders> {
        None
    }

    /// Returns when reading the app ahead would spare the next command a reading: it changed since it was last read, and has
    /// come to rest. Waits for ever where the device does not read ahead, or need not. Called while no command has the
    /// session, and dropped as soon as one comes.
    async fn idle_for_readahead(&mut self) {
        std::future::pending().await
    }

    /// Reads the app after [`Lifecycle::idle_for_readahead`], for a capture or `locate` that proves that nothing changed since. `watch` is
    /// as in [`CaptureRequest`](crate::CaptureRequest). May be dropped where it takes long; what went wrong is for the next command to find.
    async fn read_ahead(&mut self, _watch: &[Handle]) {}

    /// How the app ended, where it ended in good order, as one does whose last window was closed: `zenity has ended
    /// (exit status: 0)`. None while it runs, and where it crashed or was lost.
    async fn ended(&mut self) -> Option<String> {
        None
    }

    /// A command begins that may act: what is asked for by [`Traffic::requests`](crate::Traffic::requests) and [`Traffic::downloads`](crate::Traffic::downloads) counts from
    /// here.
    fn act_begins(&mut self) {}

    /// What became of the device itself since this was last asked, whoever acted on what: apps of it that have left, what
    /// it does without. It is said with whatever answer comes next. Does not wait.
    fn device_notices(&mut self) -> Vec<Notice> {
        Vec::new()
    }

    /// What took an element along that is there no more, where that is known: `the app "zenity", which has closed`.
    fn gone_with(&self, _handle: Handle) -> Option<String> {
        None
    }
}

/// The folders that an app was started with: where it saves files unless it is told another place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AppFolders {
    /// Its home folder.
    pub home: PathBuf,
    /// Its working directory.
    pub cwd: PathBuf,
    /// Whether its home goes with the session, and all that was saved there.
    pub removed_at_close: bool,
}
