//! An open session: the device and the session state.

use crate::api::secret::Secret;
use crate::host::noticed::Noticed;
use crate::host::recording::Recorder;
use crate::host::screenshots::ClientScreenshots;
use crate::host::watch_state::WatchState;
use crate::host::{SessionStatus, private_dir};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::time::Duration;
use stickpin_device::{Device, Error, ErrorCode, Page, Result};
use stickpin_refs::RefToken;
use stickpin_session::Session;
use stickpin_tree::States;
use tokio::time::Instant;

/// How long a device may take to close.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// An open session, owned by its task and lent to one command at a time.
#[derive(Debug)]
pub(crate) struct OpenSession {
    /// The argument of `open`; for a file, its absolute path.
    pub(crate) what: String,
    pub(crate) device: Box<dyn Device>,
    pub(crate) session: Session,
    /// When the stored tree was captured, or last captured again without changes.
    pub(crate) captured: Option<Instant>,
    /// The address and title from the last navigation or capture.
    pub(crate) page: Option<Page>,
    /// The device options with which the app was opened.
    pub(crate) options: Map<String, Value>,
    /// The folders that the device is confined to; `None` for no restriction.
    pub(crate) file_roots: Option<Vec<PathBuf>>,
    /// The screenshots that clients were given.
    pub(crate) screenshots: ClientScreenshots,
    /// The folder of this lifetime. Removed after the device has closed, because the device may
    /// write there.
    pub(crate) dir: LifetimeFolder,
    /// The time without commands after which the session closes, or `None` for no limit.
    pub(crate) idle_timeout: Option<Duration>,
    /// The recorder, while the session is being recorded.
    pub(crate) recorder: Option<Recorder>,
    /// Secrets that were filled in and must not be shown to any caller.
    pub(crate) secrets: Vec<Secret>,
    /// A description of the field that the last action filled without focusing it.
    pub(crate) unfocused: Option<String>,
    /// Notices from the device that no receipt has reported.
    pub(crate) noticed: Noticed,
    /// The state that is kept for watchers.
    pub(crate) watch: WatchState,
    /// Whether a command found that the app is gone.
    pub(crate) lost: bool,
}

impl OpenSession {
    /// Updates the status that readers see without waiting for the device.
    pub(crate) fn publish(&mut self, status: &mut SessionStatus) {
        status.dialog = self.device.dialog();
        let info = self.device.info();
        (status.kind, status.pid) = (info.kind, info.pid);
        status.label.clone_from(&info.label);
        status.idle_timeout = self.idle_timeout;
        status.generation = self.session.generation().map(|g| g.get());
        status.focused = self.focused_ref();
        status.recorded = self.recorder.is_some();
        if let Some(Page { url, title, .. }) = &self.page {
            status.url.clone_from(url);
            status.title.clone_from(title);
        }
    }

    /// Returns the ref of the stored tree's innermost focused element that has a ref, pinned to the
    /// tree's generation.
    fn focused_ref(&self) -> Option<RefToken> {
        let (tree, pin) = (self.session.tree()?, self.session.generation()?);
        let innermost = tree.nodes().rev().find(|node| node.is(States::FOCUSED))?;
        let around = innermost.ancestors().filter(|node| node.is(States::FOCUSED));
        let id = std::iter::once(innermost).chain(around).find_map(|node| self.session.ref_of(node.id()))?;
        Some(RefToken { id, pin: Some(pin) })
    }

    /// Lets the device read the app ahead of the next command. The result is not stored here; the
    /// next command uses it only if the device can prove that nothing has changed since.
    pub(crate) async fn read_ahead(&mut self) {
        let watch = self.session.watched_handles();
        if let Some(life) = self.device.lifecycle() {
            life.read_ahead(&watch).await;
        }
    }

    /// Notifies the device that a command that may act is beginning.
    pub(crate) fn begin_action(&mut self) {
        if let Some(life) = self.device.lifecycle() {
            life.act_begins();
        }
    }

    /// Returns how the app ended, if it exited normally.
    pub(crate) async fn exit_reason(&mut self) -> Option<String> {
        self.device.lifecycle()?.ended().await
    }

    /// Closes the app and removes the folder of the lifetime. Keeps the folder if the device could
    /// not remove its own part of it.
    ///
    /// # Errors
    /// Returns errors from the device, `BACKEND_LOST` when it does not answer, and `IO` when the
    /// folder cannot be removed.
    pub(crate) async fn close(mut self: Box<Self>) -> Result<()> {
        let closed = match tokio::time::timeout(CLOSE_TIMEOUT, self.device.close()).await {
            Ok(closed) => closed,
            Err(_) => Err(Error::backend_lost(format!(
                "`{}` did not close within {} s and may still be running",
                self.what,
                CLOSE_TIMEOUT.as_secs()
            ))),
        };
        self.session.close();
        // Drop the device before its folder is removed: the child process ends with the device.
        drop(self.device);
        if closed.as_ref().is_err_and(|e| e.code == ErrorCode::Io) {
            // If the device could not remove its part of the folder, keep the folder: another file
            // system may be mounted there.
            self.dir.keep_on_drop = true;
            return closed;
        }
        let removed = self.dir.remove();
        closed.and(removed)
    }
}

/// The folder of one lifetime, removed on drop unless `keep_on_drop` is set.
#[derive(Debug)]
pub(crate) struct LifetimeFolder {
    path: PathBuf,
    keep_on_drop: bool,
}

impl LifetimeFolder {
    /// Creates the folder, accessible only to the current user.
    ///
    /// # Errors
    /// Returns `IO` or `STORAGE_FULL`.
    pub(crate) fn create(path: PathBuf) -> Result<Self> {
        private_dir(&path)?;
        Ok(Self { path, keep_on_drop: false })
    }

    /// Returns the path of the folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn remove(&self) -> Result<()> {
        // An abandoned device may have left a mount in the folder.
        stickpin_process::remove_folder(&self.path)
            .map_err(|e| Error::io(format!("the folder `{}` could not be removed: {e}", self.path.display())))
    }
}

impl Drop for LifetimeFolder {
    fn drop(&mut self) {
        if !self.keep_on_drop
            && let Err(e) = self.remove()
        {
            tracing::warn!("{e}");
        }
    }
}
