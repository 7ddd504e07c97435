//! The end of a segment, where records are added.

use crate::error::{Result, StoreError};
use crate::files::{Files, Handle, write_all};
use crate::unsynced::Unsynced;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stickpin_session::log::{self, Record};

/// Adds records to a segment. Either a record is there, whole and with its newline, or the file is
/// as it was.
#[derive(Debug)]
pub(crate) struct SegmentWriter {
    pub(crate) number: u32,
    path: PathBuf,
    handle: Arc<dyn Handle>,
    len: u64,
    /// Its last record is `segment_end`.
    pub(crate) ended: bool,
    buffer: Vec<u8>,
}

/// A record was not added.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) error: StoreError,
    /// A part of it may be in the file, so that nothing may follow it.
    pub(crate) broken: bool,
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        Self { error, broken: false }
    }
}

impl SegmentWriter {
    /// Opens a segment of `len` bytes, or makes it. Its last byte, if any, has to be a newline.
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

    /// Adds a record; syncs it, and whatever it refers to, if it has to be `durable`.
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

    /// Cuts off what a crash left behind the last newline.
    pub(crate) fn cut_tail(&self) -> Result<()> {
        let cut = || {
            self.handle.truncate(self.len)?;
            self.handle.sync()
        };
        cut().map_err(|e| StoreError::io("repair", &self.path, e))
    }
}
