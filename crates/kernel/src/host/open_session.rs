//! What an open session consists of: the device and what was understood of it.

use crate::api::secret::Secret;
use crate::host::pictures::Pictures;
use crate::host::recording::Recorder;
use crate::host::{Status, private_dir};
use std::path::{Path, PathBuf};
use std::time::Duration;
use stickpin_device::{Device, Error, ErrorCode, Page, Result};
use stickpin_session::Session;

/// How long a device may take to end.
const SHUT: Duration = Duration::from_secs(5);

/// An open session: owned by its task, lent to one command at a time.
#[derive(Debug)]
pub(crate) struct Live {
    /// What was opened, as it was typed.
    pub(crate) what: String,
    pub(crate) device: Box<dyn Device>,
    pub(crate) session: Session,
    /// Where it is, as the last navigation or capture said.
    pub(crate) at: Option<Page>,
    /// Whether it has a window, and the profile folder that it keeps: neither can be changed while it runs.
    pub(crate) headed: bool,
    pub(crate) profile: Option<PathBuf>,
    /// The folders that the device is confined to.
    pub(crate) file_roots: Option<Vec<PathBuf>>,
    /// The pictures that clients were given.
    pub(crate) pictures: Pictures,
    /// A folder of this lifetime's own, removed with it; after the device, which may write there.
    pub(crate) dir: Folder,
    /// Ends the session when nothing was asked for so long.
    pub(crate) idle_timeout: Option<Duration>,
    /// What is written down, while it is recorded.
    pub(crate) recorder: Option<Recorder>,
    /// What was filled in and is not to be shown, by whoever asks.
    pub(crate) secrets: Vec<Secret>,
    /// The field that the last act filled without giving it the keyboard focus, in words.
    pub(crate) unfocused: Option<String>,
    /// A command found that the app is gone.
    pub(crate) lost: bool,
}

impl Live {
    /// Writes what readers may see without asking the device.
    pub(crate) fn publish(&mut self, status: &mut Status) {
        status.dialog = self.device.dialog();
        let info = self.device.info();
        (status.kind, status.pid) = (info.kind, info.pid);
        status.label.clone_from(&info.label);
        status.idle_timeout = self.idle_timeout;
        status.generation = self.session.generation().map(|g| g.get());
        status.recorded = self.recorder.is_some();
        if let Some(Page { url, title }) = &self.at {
            status.url.clone_from(url);
            status.title.clone_from(title);
        }
    }

    /// Has the device read the app before anybody asks. What it reads is stored nowhere here: who asks next is told what
    /// is proven then.
    pub(crate) async fn read_ahead(&mut self) {
        let watch = self.session.watch();
        if let Some(life) = self.device.lifecycle() {
            life.read_ahead(&watch).await;
        }
    }

    /// Tells the device that a command begins that may act.
    pub(crate) fn act_begins(&mut self) {
        if let Some(life) = self.device.lifecycle() {
            life.act_begins();
        }
    }

    /// How the app ended, where it ended in good order.
    pub(crate) async fn ended(&mut self) -> Option<String> {
        self.device.lifecycle()?.ended().await
    }

    /// Ends the app and removes what was kept for it.
    ///
    /// # Errors
    /// What the device says, `BACKEND_LOST` when it does not answer, `IO` when the folder cannot be removed.
    pub(crate) async fn shut(mut self: Box<Self>) -> Result<()> {
        let closed = match tokio::time::timeout(SHUT, self.device.close()).await {
            Ok(closed) => closed,
            Err(_) => Err(Error::backend_lost(format!(
                "`{}` did not end within {} s; its process was abandoned",
                self.what,
                SHUT.as_secs()
            ))),
        };
        self.session.close();
        // Dropped before the folder goes: the child ends with the device.
        drop(self.device);
        if closed.as_ref().is_err_and(|e| e.code == ErrorCode::Io) {
            // The device keeps what it could not take away: another file system may be mounted there.
            self.dir.left = true;
            return closed;
        }
        let removed = self.dir.remove();
        closed.and(removed)
    }
}

/// A folder of one lifetime. It goes with its owner, however that ends, unless it is left.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    left: bool,
}

impl Folder {
    /// Makes it, for nobody else to read.
    ///
    /// # Errors
    /// `IO`, `STORAGE_FULL`.
    pub(crate) fn make(path: PathBuf) -> Result<Self> {
        private_dir(&path)?;
        Ok(Self { path, left: false })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn remove(&self) -> Result<()> {
        // A device that was given up may have left something mounted there.
        stickpin_process::remove_folder(&self.path)
            .map_err(|e| Error::io(format!("{} could not be removed: {e}", self.path.display())))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.left
            && let Err(e) = self.remove()
        {
            tracing::warn!("{e}");
        }
    }
}
