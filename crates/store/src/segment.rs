//! The end of a segment, where records are appended.

use crate::error::{Result, StoreError};
use crate::files::{Files, Handle, write_all};
use crate::unsynced::Unsynced;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stickpin_session::log::{self, Record};

/// Appends records to a segment. Either a record is written completely, with its newline, or the
/// file is unchanged; if neither is certain, [`Refused::broken`] is set.
#[derive(Debug)]
pub(crate) struct SegmentWriter {
    pub(crate) number: u32,
    path: PathBuf,
    handle: Arc<dyn Handle>,
    len: u64,
    /// Whether the last record is `segment_end`.
    pub(crate) ended: bool,
    buffer: Vec<u8>,
}

/// The error for a record that was not appended.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) error: StoreError,
    /// Whether a part of the record may be in the file, so that no other record may follow.
    pub(crate) broken: bool,
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        Self { error, broken: false }
    }
}

impl SegmentWriter {
    /// Opens a segment of `len` committed bytes, or creates it. The last of these bytes, if any,
    /// must be a newline. [`Self::cut_tail`] removes any bytes after them.
    pub(crate) fn open(files: &dyn Files, path: &Path, number: u32, len: u64, ended: bool) -> Result<Self> {
        let handle = files.open(path).map_err(|e| StoreError::io("open", path, e))?;
        Ok(Self { number, path: path.to_path_buf(), handle, len, ended, buffer: Vec::new() })
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    pub(crate) fn handle(&self) -> &Arc<dyn Handle> {
        &self.handle
    }

    /// Appends a record. If `durable` is set, syncs the record and everything that it refers to.
    pub(crate) fn append(
        &mut self,
        record: &Record,
        unsynced: &Unsynced,
        durable: bool,
    ) -> Result<(), Refused> {
        self.buffer.clear();
        log::encode(record, &mut self.buffer).map_err(StoreError::from)?;
        let refused = |handle: &dyn Handle, len, source, failed_sync: bool| {
            let broken = handle.truncate(len).is_err() || failed_sync;
            Refused { error: StoreError::io("write", &self.path, source), broken }
        };
        if let Err(e) = write_all(&*self.handle, &self.buffer) {
            return Err(refused(&*self.handle, self.len, e, false));
        }
        if durable {
            unsynced.file(&self.handle);
            if let Err(e) = unsynced.sync() {
                return Err(refused(&*self.handle, self.len, e, true));
            }
        }
        self.len += self.buffer.len() as u64;
        Ok(())
    }

    /// Removes the bytes that a crash left after the last newline.
    pub(crate) fn cut_tail(&self) -> Result<()> {
        let cut = || {
            self.handle.truncate(self.len)?;
            self.handle.sync()
        };
        cut().map_err(|e| StoreError::io("repair", &self.path, e))
    }
}
