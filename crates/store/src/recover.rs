//! Recovery of a session's current state from disk: metadata, and the records after it.

use crate::atomic::{absent_is_fine, fresh, quarantine};
use crate::error::{Phase, Result, StoreError};
use crate::files::Files;
use crate::layout::{self, SessionDir};
use serde::Deserialize;
use std::io::ErrorKind;
use std::path::Path;
use stickpin_session::log::{Located, Records, SessionMeta, last_commit};

/// A problem with a session, as shown in lists of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Diagnostic {
    /// The metadata could not be read. Its previous version and the log were used instead.
    MetaRecoveredFromPrevious,
    /// The metadata contains records that are missing from the log. A copy of the metadata is in
    /// the quarantine.
    MetaAheadOfLog,
    /// The segment that was being written is missing.
    LogMissing,
    /// Commands were running when the daemon ended. It is unknown what reached the device.
    CommandsInterrupted,
    /// Uncommitted bytes were moved to the quarantine.
    TailRepaired,
    /// The repaired state could not be written. The log is read-only.
    RepairNotPersisted,
}

impl Diagnostic {
    /// Returns the name that all front ends use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::MetaRecoveredFromPrevious => "META_RECOVERED_FROM_PREV",
            Self::MetaAheadOfLog => "META_AHEAD_OF_LOG",
            Self::LogMissing => "LOG_MISSING",
            Self::CommandsInterrupted => "COMMANDS_INTERRUPTED",
            Self::TailRepaired => "TAIL_REPAIRED",
            Self::RepairNotPersisted => "REPAIR_NOT_PERSISTED",
        }
    }
}

/// The number of bytes that are read first from the end of a segment.
const CHUNK: u64 = 64 * 1024;

/// The only field of the metadata that all versions have.
#[derive(Deserialize)]
struct Head {
    v: u64,
}

fn parse(path: &Path, name: &str, bytes: &[u8]) -> Result<SessionMeta> {
    let corrupt = |reason: String| StoreError::MetaCorrupt { path: path.to_path_buf(), reason };
    let other_version = |v: u64| v != u64::from(SessionMeta::VERSION);
    let version = |version| StoreError::Version { path: path.to_path_buf(), version };
    // Another version may have other fields, so only the version is read from metadata that cannot
    // be parsed.
    let meta: SessionMeta =
        serde_json::from_slice(bytes).map_err(|e| match serde_json::from_slice(bytes) {
            Ok(Head { v }) if other_version(v) => version(v),
            _ => corrupt(e.to_string()),
        })?;
    if other_version(meta.v.into()) {
        return Err(version(meta.v.into()));
    }
    if meta.name != name {
        return Err(corrupt(format!("it belongs to session `{}`", meta.name)));
    }
    Ok(meta)
}

/// Reads the metadata or, if it is damaged, its previous version. Never reads the log.
pub(crate) fn meta(files: &dyn Files, dir: &SessionDir) -> Result<(SessionMeta, Vec<Diagnostic>)> {
    let read = |path: &Path| match files.read(path, 0) {
        Err(e) if e.kind() == ErrorKind::NotFound => Err(StoreError::Missing(dir.name.clone())),
        read => parse(path, &dir.name, &read.map_err(|e| StoreError::io("read", path, e))?),
    };
    let first = match read(&dir.meta()) {
        Err(e @ StoreError::MetaCorrupt { .. }) => e,
        read => return Ok((read?, Vec::new())),
    };
    match read(&dir.previous_meta()) {
        Ok(meta) => Ok((meta, vec![Diagnostic::MetaRecoveredFromPrevious])),
        Err(_) => Err(first),
    }
}

/// Copies the metadata to the quarantine before it is replaced.
pub(crate) fn quarantine_meta(files: &dyn Files, dir: &SessionDir) -> Result<()> {
    let path = dir.meta();
    let bytes = files.read(&path, 0).map_err(|e| StoreError::io("read", &path, e))?;
    quarantine(files, &dir.quarantine, &format!("{}-meta", dir.name), &bytes).map(drop)
}

/// Moves damaged metadata to the quarantine and replaces it with its previous version. Called
/// before the metadata is written again, because writing keeps the current file as the previous
/// version.
pub(crate) fn promote_previous(files: &dyn Files, dir: &SessionDir) -> Result<()> {
    quarantine_meta(files, dir)?;
    let renamed = || {
        files.rename(&dir.previous_meta(), &dir.meta())?;
        files.sync_dir(&dir.root)
    };
    renamed().map_err(|e| StoreError::io("repair", &dir.meta(), e))
}

/// Removes the metadata file that a crash left half-written, if any.
pub(crate) fn remove_leftovers(files: &dyn Files, dir: &SessionDir) -> Result<()> {
    let new = fresh(&dir.meta());
    absent_is_fine(files.remove(&new)).map_err(|e| StoreError::io("remove", &new, e))
}

/// Returns the numbers of all segments, in order.
pub(crate) fn segments(files: &dyn Files, dir: &SessionDir) -> Result<Vec<u32>> {
    let log = dir.log();
    let names = match files.list(&log) {
        Err(e) if e.kind() == ErrorKind::NotFound => Vec::new(),
        names => names.map_err(|e| StoreError::io("list", &log, e))?,
    };
    let mut numbers: Vec<u32> = names.iter().filter_map(|name| layout::segment_number(name)).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// The end of a segment.
#[derive(Debug)]
pub(crate) struct Tail {
    /// The records with a `seq` above the argument `applied` of [`tail`], in order.
    pub(crate) records: Vec<Located>,
    /// The last committed record, regardless of its `seq`; `None` if the segment contains none.
    pub(crate) last: Option<Located>,
    /// The number of bytes up to and including the last newline.
    pub(crate) committed: u64,
    /// The bytes after the last newline.
    pub(crate) torn: Vec<u8>,
}

/// Reads the end of a segment, back to a record with a `seq` of at most `applied` or to the
/// beginning of the segment.
pub(crate) fn tail(files: &dyn Files, path: &Path, applied: u64) -> Result<Tail> {
    let io = |e| StoreError::io("read", path, e);
    let len = files.len(path).map_err(io)?;
    let mut chunk = CHUNK;
    loop {
        let from = len.saturating_sub(chunk);
        let bytes = files.read(path, from).map_err(io)?;
        // Unless the part starts at the beginning of the file, its first line may be incomplete.
        let whole = if from == 0 { Some(0) } else { memchr::memchr(b'\n', &bytes).map(|at| at + 1) };
        if let Some(whole) = whole
            && let Some(tail) = parse_tail(path, &bytes[whole..], from + whole as u64, applied, files)?
        {
            return Ok(tail);
        }
        chunk *= 4;
    }
}

/// Parses the end of a segment. Returns `None` if `part` begins after the record `applied` and is
/// not the whole segment.
fn parse_tail(path: &Path, part: &[u8], base: u64, applied: u64, files: &dyn Files) -> Result<Option<Tail>> {
    let mut reader = Records::part(part, base, 0);
    let (mut records, mut last) = (Vec::new(), None);
    let mut reaches = base == 0;
    for next in reader.by_ref() {
        let located = match next {
            Ok(located) => located,
            // Count lines from the beginning only if an error must name the line.
            Err(mut corruption) => {
                let before = files.read(path, 0).map_err(|e| StoreError::io("read", path, e))?;
                let before = before.get(..usize::try_from(base).unwrap_or(usize::MAX)).unwrap_or_default();
                corruption.line += memchr::memchr_iter(b'\n', before).count() as u64;
                return Err(StoreError::corrupt(path, corruption, Phase::Restore));
            }
        };
        reaches |= located.record.seq <= applied;
        if located.record.seq > applied {
            // The part does not reach back far enough: read more.
            if !reaches {
                return Ok(None);
            }
            records.push(located.clone());
        }
        last = Some(located);
    }
    if !reaches {
        return Ok(None);
    }
    let committed = last_commit(part);
    Ok(Some(Tail { records, last, committed: base + committed as u64, torn: part[committed..].to_vec() }))
}
