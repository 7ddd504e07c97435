//! Disk space that is reserved for when the disk is full: records that end something can then still
//! be written, but nothing may begin.

use crate::atomic::absent_is_fine;
use crate::error::{Result, StoreError};
use crate::files::{Files, write_all};
use crate::layout;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The size of the reserve, in bytes.
const BYTES: usize = 1 << 20;

/// The free space that is required to restore the reserve, in bytes.
const ENOUGH: u64 = 16 << 20;

#[derive(Debug)]
pub(crate) struct Reserve {
    files: Arc<dyn Files>,
    state_dir: PathBuf,
    emergency: AtomicBool,
}

impl Reserve {
    /// Allocates the reserve. If the disk is full, the store begins in an emergency instead.
    pub(crate) fn new(files: Arc<dyn Files>, state_dir: &Path) -> Result<Self> {
        let this = Self { files, state_dir: state_dir.to_path_buf(), emergency: AtomicBool::new(false) };
        let path = layout::reserve(state_dir);
        if this.files.len(&path).is_ok_and(|len| len == BYTES as u64) {
            return Ok(this);
        }
        match this.fill(&path) {
            Ok(()) => Ok(this),
            Err(StoreError::Full { .. }) => {
                this.enter();
                Ok(this)
            }
            Err(e) => Err(e),
        }
    }

    /// Fills the reserve with data instead of only extending it, because a sparse file reserves
    /// nothing.
    fn fill(&self, path: &Path) -> Result<()> {
        let filled = || {
            let handle = self.files.open(path)?;
            handle.truncate(0)?;
            write_all(&*handle, &vec![0x5a; BYTES])?;
            handle.sync()
        };
        filled().map_err(|e| {
            let _ = self.files.remove(path);
            StoreError::io("write", path, e)
        })
    }

    pub(crate) fn is_emergency(&self) -> bool {
        self.emergency.load(Ordering::Acquire)
    }

    /// Releases the reserve, so that records that must still be written have space.
    pub(crate) fn enter(&self) {
        self.emergency.store(true, Ordering::Release);
        // If the file cannot be removed, there is no space to release.
        let _ = absent_is_fine(self.files.remove(&layout::reserve(&self.state_dir)));
    }

    /// Ends an emergency if enough space is free again. Returns whether there is no emergency now.
    pub(crate) fn is_over(&self) -> bool {
        if !self.is_emergency() {
            return true;
        }
        let roomy = self.files.free(&self.state_dir).is_ok_and(|free| free >= ENOUGH);
        if roomy && self.fill(&layout::reserve(&self.state_dir)).is_ok() {
            self.emergency.store(false, Ordering::Release);
        }
        !self.is_emergency()
    }
}
