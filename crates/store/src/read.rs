//! Reading a log from a cursor: for the feed and for recordings.

use crate::error::{Phase, Result, StoreError};
use crate::recover;
use crate::store::Store;
use std::ops::ControlFlow;
use stickpin_session::log::{MAX_RECORD, Record, Records};

impl Store {
    /// Returns at most `limit` committed records with a `seq` above `after`, oldest first. Reads
    /// only the necessary segments. Also works while a [`crate::SessionLog`] is open for the
    /// session.
    ///
    /// # Errors
    /// Returns [`StoreError::Corrupt`] with the line and the phase; damage is never skipped. Also
    /// returns errors for a log that is missing, cannot be read, or has another format version.
    pub fn records_after(&self, name: &str, after: u64, limit: usize, phase: Phase) -> Result<Vec<Record>> {
        let mut found = Vec::new();
        if limit > 0 {
            self.scan(name, after, phase, &mut |record| {
                found.push(record);
                if found.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })?;
        }
        Ok(found)
    }

    /// Visits the committed records with a `seq` above `after`, oldest first, until `visit` breaks.
    /// Does not keep the records in memory.
    ///
    /// # Errors
    /// Returns the errors of [`Self::records_after`].
    pub fn scan(
        &self,
        name: &str,
        after: u64,
        phase: Phase,
        visit: &mut dyn FnMut(Record) -> ControlFlow<()>,
    ) -> Result<()> {
        let dir = self.dir(name)?;
        let mut numbers = recover::segments(&*self.files, &dir)?;
        if numbers.is_empty() {
            return Err(StoreError::Missing(name.to_owned()));
        }
        // A segment contains nothing after the cursor if its successor begins no later than the
        // record after the cursor.
        let mut needed = 0;
        for (at, number) in numbers.iter().enumerate().skip(1).rev() {
            if self.first_seq(&dir.segment(*number))?.is_some_and(|seq| seq <= after + 1) {
                needed = at;
                break;
            }
        }
        for number in numbers.split_off(needed) {
            let path = dir.segment(number);
            let bytes = self.files.read(&path, 0).map_err(|e| StoreError::io("read", &path, e))?;
            for next in Records::new(&bytes) {
                let record = next.map_err(|damage| StoreError::corrupt(&path, damage, phase))?.record;
                if record.seq > after && visit(record).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn first_seq(&self, path: &std::path::Path) -> Result<Option<u64>> {
        let bytes = self.files.head(path, MAX_RECORD as u64).map_err(|e| StoreError::io("read", path, e))?;
        Ok(Records::new(&bytes).next().and_then(Result::ok).map(|located| located.record.seq))
    }
}
