//! A state directory: its sessions and their shared state.

use crate::error::{Result, StoreError};
use crate::files::{DiskFiles, Files};
use crate::layout::{self, SessionDir};
use crate::recover::{self, Diagnostic};
use crate::reserve::Reserve;
use crate::unsynced::{DELAY, Syncer};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;
use stickpin_session::log::SessionMeta;

/// The size at which a segment ends, in bytes.
const ROTATE_AT: u64 = 64 << 20;

/// The modification time, length and inode of a file, which together reveal that the content has
/// changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    modified: SystemTime,
    bytes: u64,
    inode: u64,
}

/// The sessions of a state directory. Only one process may have a store for a directory; clones
/// share its state.
#[derive(Debug, Clone)]
pub struct Store {
    pub(crate) files: Arc<dyn Files>,
    pub(crate) state_dir: PathBuf,
    pub(crate) reserve: Arc<Reserve>,
    pub(crate) syncer: Option<Syncer>,
    pub(crate) rotate_at: u64,
}

impl Store {
    /// Opens a state directory on disk. A thread syncs records that may be lost in a power failure
    /// after 200 ms: those listed at [`crate::SessionLog::append`]. All other records are on disk
    /// before the call that writes them returns.
    ///
    /// # Errors
    /// Returns an error if the folders cannot be created or the thread cannot be started.
    pub fn open(state_dir: &Path) -> Result<Self> {
        Self::open_on(state_dir, Arc::new(DiskFiles))
    }

    /// Opens a state directory on a file system that the caller provides, with the thread of
    /// [`Self::open`].
    ///
    /// # Errors
    /// Returns an error if the folders cannot be created or the thread cannot be started.
    pub fn open_on(state_dir: &Path, files: Arc<dyn Files>) -> Result<Self> {
        let mut this = Self::with_files(state_dir, files)?;
        let syncer =
            Syncer::start(DELAY).map_err(|e| StoreError::io("start the sync thread for", state_dir, e))?;
        this.syncer = Some(syncer);
        Ok(this)
    }

    /// Opens a state directory on a file system that the caller provides, without a thread: the
    /// caller syncs with [`crate::SessionLog::sync`].
    ///
    /// # Errors
    /// Returns an error if the folders cannot be created.
    pub fn with_files(state_dir: &Path, files: Arc<dyn Files>) -> Result<Self> {
        let sessions = layout::sessions(state_dir);
        files.make_dir(&sessions).map_err(|e| StoreError::io("create", &sessions, e))?;
        let reserve = Arc::new(Reserve::new(Arc::clone(&files), state_dir)?);
        Ok(Self { files, state_dir: state_dir.to_path_buf(), reserve, syncer: None, rotate_at: ROTATE_AT })
    }

    /// Sets the size in bytes at which a new segment begins; 64 MiB by default.
    #[must_use]
    pub fn rotate_at(mut self, bytes: u64) -> Self {
        self.rotate_at = bytes;
        self
    }

    /// Returns whether the disk is so full that only records that end something are accepted.
    #[must_use]
    pub fn is_emergency(&self) -> bool {
        self.reserve.is_emergency()
    }

    /// Returns the names of all sessions, in order. Reads no session.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be read.
    pub fn names(&self) -> Result<Vec<String>> {
        let sessions = layout::sessions(&self.state_dir);
        let mut names = match self.files.list(&sessions) {
            Err(e) if e.kind() == ErrorKind::NotFound => Vec::new(),
            names => names.map_err(|e| StoreError::io("list", &sessions, e))?,
        };
        names.retain(|name| SessionDir::new(&self.state_dir, name).is_ok());
        names.sort_unstable();
        Ok(names)
    }

    /// Returns whether a state directory contains metadata of a session. Does not read the
    /// metadata.
    #[must_use]
    pub fn has_session(state_dir: &Path, name: &str) -> bool {
        SessionDir::new(state_dir, name).is_ok_and(|dir| dir.meta().exists() || dir.previous_meta().exists())
    }

    /// Returns the metadata of a session, for lists. Never reads the log, so the metadata may lack
    /// records that opening folds in.
    ///
    /// # Errors
    /// Returns an error if there is no readable metadata.
    pub fn meta(&self, name: &str) -> Result<(SessionMeta, Vec<Diagnostic>)> {
        recover::meta(&*self.files, &self.dir(name)?)
    }

    /// Returns the stamp of the metadata file: as long as the stamp is the same, the metadata is
    /// unchanged. `None` if the file cannot be inspected.
    #[must_use]
    pub fn meta_stamp(&self, name: &str) -> Option<Stamp> {
        let file = std::fs::metadata(self.dir(name).ok()?.meta()).ok()?;
        Some(Stamp { modified: file.modified().ok()?, bytes: file.len(), inode: file.ino() })
    }

    /// Returns whether a segment of the log exists. Does not read the segment.
    #[must_use]
    pub fn has_segment(&self, name: &str, number: u32) -> bool {
        self.dir(name).is_ok_and(|dir| dir.segment(number).exists())
    }

    pub(crate) fn dir(&self, name: &str) -> Result<SessionDir> {
        SessionDir::new(&self.state_dir, name)
    }

    /// Returns the folder of a session.
    ///
    /// # Errors
    /// Returns an error if the name is not a valid session name.
    pub fn folder(&self, name: &str) -> Result<PathBuf> {
        Ok(self.dir(name)?.root)
    }

    /// Removes a session with its log. After a crash, the session exists either as a whole or not
    /// at all.
    ///
    /// # Errors
    /// Returns an error if the session cannot be removed.
    pub fn remove(&self, name: &str) -> Result<()> {
        let root = self.dir(name)?.root;
        // No session can have such a name.
        let removed = layout::sessions(&self.state_dir).join(format!(".{name}"));
        let failed = |e| StoreError::io("remove", &root, e);
        match std::fs::remove_dir_all(&removed) {
            Err(e) if e.kind() != ErrorKind::NotFound => return Err(failed(e)),
            _ => {}
        }
        std::fs::rename(&root, &removed).map_err(failed)?;
        std::fs::remove_dir_all(&removed).map_err(failed)
    }
}
