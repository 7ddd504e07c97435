//! Errors of sessions on disk.

use std::io;
use std::path::{Path, PathBuf};
use stickpin_session::log::{
    CommandId, Corruption, FoldFault, Illegal, LineFault, RecordTooLarge, SessionMeta, VERSION,
};

/// The purpose for which a damaged log was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Opening the session.
    Restore,
    /// Following the log.
    Feed,
    /// Reading the recording of a session.
    Replay,
    /// Checking the log.
    Verify,
}

impl Phase {
    /// Returns the name of the phase for the details of an error.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Phase::Restore => "restore",
            Phase::Feed => "feed",
            Phase::Replay => "replay",
            Phase::Verify => "verify",
        }
    }
}

/// Why a session could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file system reported an error.
    #[error("could not {doing} `{}`: {source}", path.display())]
    Io {
        /// The operation that failed, as a verb such as `write`.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },
    /// The disk is full or its quota is used up. Nothing new may begin until there is space again.
    #[error("could not {doing} `{}`: the disk is full or its quota is used up", path.display())]
    Full {
        /// The operation that failed, as a verb such as `write`.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
    },
    /// A line of the log is damaged.
    #[error("the log `{}` is damaged at line {}, byte {}: {}", path.display(), corruption.line, corruption.offset, corruption.fault)]
    Corrupt {
        /// The path of the segment.
        path: PathBuf,
        /// The position and kind of the damage.
        corruption: Corruption,
        /// The purpose of the read.
        phase: Phase,
    },
    /// The log or the metadata was written by another version of the program.
    #[error("`{}` has format version {version}, which this version of stickpin cannot read", path.display())]
    Version {
        /// The path of the segment or metadata file.
        path: PathBuf,
        /// The format version of the file.
        version: u64,
    },
    /// Neither the metadata nor its previous version can be read.
    #[error("the metadata file `{}` cannot be read: {reason}", path.display())]
    MetaCorrupt {
        /// The path of the metadata file.
        path: PathBuf,
        /// Why the file cannot be read.
        reason: String,
    },
    /// The metadata would exceed its maximum size.
    #[error(
        "the metadata of session `{session}` would be too large: {bytes} bytes, but at most {} are allowed",
        SessionMeta::MAX_BYTES
    )]
    MetaTooLarge {
        /// The name of the session.
        session: String,
        /// The size that the metadata would have, in bytes. For a refused record, the size includes
        /// [`SessionMeta::SPARE_BYTES`].
        bytes: usize,
    },
    /// The log is read-only.
    #[error("the log of session `{session}` is read-only: {reason}")]
    ReadOnly {
        /// The name of the session.
        session: String,
        /// Why the log is read-only.
        reason: String,
    },
    /// There is no session with this name, or the session's metadata or log is missing.
    #[error("there is no session `{0}`, or its metadata or log is missing")]
    Missing(String),
    /// The session already exists.
    #[error("session `{0}` already exists")]
    Exists(String),
    /// The name is not a valid session name.
    #[error("`{0}` is not a valid session name")]
    Name(String),
    /// The record is too long.
    #[error(transparent)]
    RecordTooLarge(#[from] RecordTooLarge),
    /// The command was not begun, or it has already ended.
    #[error("command {0} was not begun or has already ended")]
    NotOpen(CommandId),
    /// This change to the turn is not allowed.
    #[error(transparent)]
    Illegal(#[from] Illegal),
    /// A record of the log does not follow the previous one, or belongs to the wrong lifetime.
    #[error("the log of session `{session}` is inconsistent: {fault}")]
    Gap {
        /// The name of the session.
        session: String,
        /// Why a record does not follow the previous one.
        fault: FoldFault,
    },
    /// The line is not the first damaged line of the log, or does not exist, or the record after it
    /// is out of order.
    #[error("cannot repair line {line} in `{}`: the line is not the first damaged one, or the record after it is out of order", path.display())]
    NotDamaged {
        /// The segment, or the folder of the log if the line is not the first damaged one.
        path: PathBuf,
        /// The number of the line.
        line: u64,
    },
    /// A blob is missing or does not match its digest.
    #[error("the blob `{}` is missing or damaged", .0.display())]
    BlobCorrupt(PathBuf),
}

impl StoreError {
    /// Creates the error for a failed file operation.
    pub(crate) fn io(doing: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_path_buf();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full { doing, path },
            _ => Self::Io { doing, path, source },
        }
    }

    /// Creates the error for a damaged line, or for a line of another version.
    pub(crate) fn corrupt(path: &Path, corruption: Corruption, phase: Phase) -> Self {
        let path = path.to_path_buf();
        match corruption.fault {
            LineFault::Version(version) => Self::Version { path, version },
            _ => Self::Corrupt { path, corruption, phase },
        }
    }

    /// Returns the hint; empty if there is none.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Full { .. } => "free some disk space, then try again".to_owned(),
            Self::Corrupt { corruption, .. } => {
                format!(
                    "run `stickpin log repair NAME --at-line {} --quarantine` to replace the line",
                    corruption.line
                )
            }
            Self::Version { version, .. } if *version < u64::from(VERSION) => {
                "run `stickpin log migrate NAME` to convert the log".to_owned()
            }
            Self::Version { .. } => {
                "use the version of stickpin that wrote the file, or a newer one".to_owned()
            }
            Self::MetaCorrupt { path, .. } => {
                // The file is in the session's folder, which has the name of the session.
                let session = path.parent().and_then(Path::file_name).unwrap_or_default();
                format!("run `stickpin session adopt {}` to rebuild it from the log", session.display())
            }
            Self::Missing(_) => "run `stickpin session list` to see the sessions".to_owned(),
            _ => String::new(),
        }
    }
}

/// The result type of this crate.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;
