//! `log migrate`: converts a log of an earlier version to the current one and keeps the original.

use crate::atomic::replace;
use crate::error::{Phase, Result, StoreError};
use crate::store::Store;
use memchr::memchr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use stickpin_session::log::{self, CONVERTERS, Converter, Corruption, LineFault, last_commit};

/// The result of a migration.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Migrated {
    /// The number of rewritten segments.
    pub segments: u64,
    /// The number of converted records.
    pub records: u64,
    /// The paths of the original segments, which are unchanged.
    pub originals: Vec<PathBuf>,
}

/// The converted content of a segment that had at least one record of an earlier version.
struct Converted {
    bytes: Vec<u8>,
    records: u64,
    /// The earliest version among the records.
    from: u32,
}

impl Store {
    /// Converts the log of a session to the current version. The original segments are kept
    /// unchanged in a subfolder of the log folder that is named after their version, such as `v1`.
    /// The session must not be open.
    ///
    /// # Errors
    /// Returns [`StoreError::Version`] for a newer version and for a version without a converter,
    /// [`StoreError::Corrupt`] for a damaged line, and [`StoreError::RecordTooLarge`] for a
    /// converted record that is too long. Nothing is changed in these cases. Also returns errors
    /// for a missing log, and of the file system, after which the migration can be repeated.
    pub fn migrate(&self, name: &str) -> Result<Migrated> {
        self.migrate_by(name, CONVERTERS)
    }

    /// Works like [`Self::migrate`], with the given converters.
    ///
    /// # Errors
    /// Returns the errors of [`Self::migrate`].
    pub fn migrate_by(&self, name: &str, converters: &[Converter]) -> Result<Migrated> {
        let dir = self.dir(name)?;
        // Check that everything can be converted before anything is written.
        self.each_segment(&dir, |number, bytes| {
            converted(&dir.segment(number), bytes, converters).map(|_| true)
        })?;
        let mut migrated = Migrated::default();
        self.each_segment(&dir, |number, bytes| {
            let path = dir.segment(number);
            let Some(Converted { bytes, records, from }) = converted(&path, bytes, converters)? else {
                return Ok(true);
            };
            let original = dir.log().join(format!("v{from}")).join(path.file_name().unwrap_or_default());
            self.keep(&path, &original)?;
            replace(&*self.files, &path, None, &bytes)?;
            migrated.segments += 1;
            migrated.records += records;
            migrated.originals.push(original);
            Ok(true)
        })?;
        Ok(migrated)
    }

    /// Keeps a segment by hard-linking it as `original`.
    fn keep(&self, path: &Path, original: &Path) -> Result<()> {
        let folder = original.parent().unwrap_or(original);
        self.files.make_dir(folder).map_err(|e| StoreError::io("create", folder, e))?;
        let linked = match self.files.link(path, original) {
            // The link was left by an interrupted migration.
            Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(()),
            linked => linked,
        };
        linked.and_then(|()| self.files.sync_dir(folder)).map_err(|e| StoreError::io("link", original, e))
    }
}

/// Converts a segment; `None` if all of its records are of the current version.
fn converted(path: &Path, bytes: &[u8], converters: &[Converter]) -> Result<Option<Converted>> {
    let (mut out, mut records, mut from) = (Vec::with_capacity(bytes.len()), 0, u32::MAX);
    let committed = last_commit(bytes);
    let (mut at, mut line) = (0, 0);
    while at < committed {
        let end = at + memchr(b'\n', &bytes[at..committed]).unwrap_or(committed - at);
        line += 1;
        let damaged = |fault: LineFault| {
            let corruption = Corruption { line, offset: at as u64, fault };
            StoreError::corrupt(path, corruption, Phase::Verify)
        };
        match log::convert(&bytes[at..end], converters).map_err(damaged)? {
            Some((version, record)) => {
                log::encode(&record, &mut out)?;
                records += 1;
                from = from.min(version);
            }
            None => out.extend_from_slice(&bytes[at..=end]),
        }
        at = end + 1;
    }
    // Uncommitted bytes are left for the repair of the tail.
    out.extend_from_slice(&bytes[committed..]);
    Ok((records > 0).then_some(Converted { bytes: out, records, from }))
}
