//! `log verify`: checks every record of every segment.

use crate::error::{Phase, Result, StoreError};
use crate::layout::SessionDir;
use crate::recover;
use crate::store::Store;
use stickpin_session::log::{Finding, Located, Records, Summary, Verifier};

/// The result of a log check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// The contents of the log.
    pub summary: Summary,
    /// The rules that the log breaks; at most [`Verifier::MAX_FINDINGS`].
    pub findings: Vec<Finding>,
    /// The number of bytes after the last newline of each segment, which are not committed.
    pub torn_bytes: u64,
    /// The number of bytes checked.
    pub bytes: u64,
}

impl Store {
    /// Checks the whole log of a session. Changes nothing.
    ///
    /// # Errors
    /// Returns [`StoreError::Corrupt`] with the first damaged line. Also returns errors for a log
    /// that is missing, cannot be read, or has another format version.
    pub fn verify(&self, name: &str) -> Result<Verified> {
        let dir = self.dir(name)?;
        let mut verifier = Verifier::default();
        let (mut torn_bytes, mut checked) = (0, 0);
        self.each_segment(&dir, |number, bytes| {
            verifier.segment(number);
            let mut records = Records::new(bytes);
            for next in records.by_ref() {
                let located =
                    next.map_err(|damage| StoreError::corrupt(&dir.segment(number), damage, Phase::Verify))?;
                verifier.record(&located.record);
            }
            checked += bytes.len() as u64;
            torn_bytes += records.torn_tail().map_or(0, |at| (bytes.len() - at) as u64);
            Ok(true)
        })?;
        let (summary, findings) = verifier.finish();
        Ok(Verified { summary, findings, torn_bytes, bytes: checked })
    }

    /// Reads the segments in order, until `with` returns false.
    pub(crate) fn each_segment(
        &self,
        dir: &SessionDir,
        mut with: impl FnMut(u32, &[u8]) -> Result<bool>,
    ) -> Result<()> {
        let numbers = recover::segments(&*self.files, dir)?;
        if numbers.is_empty() {
            return Err(StoreError::Missing(dir.name.clone()));
        }
        for number in numbers {
            let path = dir.segment(number);
            let bytes = self.files.read(&path, 0).map_err(|e| StoreError::io("read", &path, e))?;
            if !with(number, &bytes)? {
                break;
            }
        }
        Ok(())
    }
}

/// Returns the last record before the first damaged line of a segment, and the damage. Without
/// damage, returns the segment's last record.
pub(crate) fn first_damage(bytes: &[u8]) -> (Option<Located>, Option<stickpin_session::log::Corruption>) {
    let mut last = None;
    for next in Records::new(bytes) {
        match next {
            Ok(located) => last = Some(located),
            Err(damage) => return (last, Some(damage)),
        }
    }
    (last, None)
}
