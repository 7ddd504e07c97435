//! What can go wrong with a session on disk.

use std::io;
use std::path::{Path, PathBuf};
use stickpin_session::log::{CommandId, Corruption, FoldFault, Illegal, LineFault, RecordTooLarge};

/// What a log was read for when it turned out to be damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Opening the session.
    Restore,
    /// Following the log.
    Feed,
    /// Replaying it.
    Replay,
    /// Checking it.
    Verify,
}

impl Phase {
    /// The name of the phase in the details of an error.
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
    /// The file system refused.
    #[error("could not {doing} `{}`: {source}", path.display())]
    Io {
        /// What was attempted.
        doing: &'static str,
        /// With which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The disk is full, or so nearly full that nothing new begins.
    #[error("could not {doing} `{}`: the disk is full", path.display())]
    Full {
        /// What was attempted.
        doing: &'static str,
        /// With which file.
        path: PathBuf,
    },
    /// A committed line of the log is damaged.
    #[error("the log `{}` is damaged at line {}, byte {}: {}", path.display(), corruption.line, corruption.offset, corruption.fault)]
    Corrupt {
        /// The segment.
        path: PathBuf,
        /// Where, and how.
        corruption: Corruption,
        /// What it was read for.
        phase: Phase,
    },
    /// Another version of the program wrote the log or the metadata.
    #[error("`{}` has version {version}, which this version does not read", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u64,
    },
    /// Neither the metadata nor its previous version can be read.
    #[error("the metadata `{}` cannot be read: {reason}", path.display())]
    MetaCorrupt {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// The metadata would be too long.
    #[error("the metadata of `{session}` would have {bytes} bytes")]
    MetaTooLarge {
        /// The session.
        session: String,
        /// The bytes that it would have.
        bytes: usize,
    },
    /// The log accepts nothing.
    #[error("the log of `{session}` is read-only: {reason}")]
    ReadOnly {
        /// The session.
        session: String,
        /// Why.
        reason: String,
    },
    /// There is no metadata.
    #[error("there is no session `{0}`")]
    Missing(String),
    /// There is a session already.
    #[error("there is a session `{0}` already")]
    Exists(String),
    /// The name cannot be one of a folder of ours.
    #[error("`{0}` cannot name a session")]
    Name(String),
    /// The record is too long.
    #[error(transparent)]
    RecordTooLarge(#[from] RecordTooLarge),
    /// The command is not open.
    #[error("command {0} is not open")]
    NotOpen(CommandId),
    /// The turn cannot change like this.
    #[error(transparent)]
    Illegal(#[from] Illegal),
    /// The records of the log do not follow one another.
    #[error("the log of `{session}` has a gap: {fault}")]
    Gap {
        /// The session.
        session: String,
        /// Where.
        fault: FoldFault,
    },
    /// The line is not damaged, or not there.
    #[error("line {line} of `{}` is not damaged", path.display())]
    NotDamaged {
        /// The segment.
        path: PathBuf,
        /// The line.
        line: u64,
    },
    /// A blob is missing or is not what it was.
    #[error("the blob `{}` is damaged", .0.display())]
    BlobCorrupt(PathBuf),
}

impl StoreError {
    /// Names a failure of the file system.
    pub(crate) fn io(doing: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_path_buf();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full { doing, path },
            _ => Self::Io { doing, path, source },
        }
    }

    /// Names damage, or a version that is not ours.
    pub(crate) fn corrupt(path: &Path, corruption: Corruption, phase: Phase) -> Self {
        let path = path.to_path_buf();
        match corruption.fault {
            LineFault::Version(version) => Self::Version { path, version },
            _ => Self::Corrupt { path, corruption, phase },
        }
    }

    /// The code on every surface.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Io { .. } => "IO",
            Self::Full { .. } => "STORAGE_FULL",
            Self::Corrupt { .. } | Self::Gap { .. } => "LOG_CORRUPT",
            Self::Version { .. } => "LOG_VERSION_UNSUPPORTED",
            Self::MetaCorrupt { .. } => "META_CORRUPT",
            Self::MetaTooLarge { .. } => "META_TOO_LARGE",
            Self::ReadOnly { .. } => "LOG_READONLY",
            Self::Missing(_) => "SESSION_NOT_FOUND",
            Self::Exists(_) => "SESSION_EXISTS",
            Self::Name(_) | Self::RecordTooLarge(_) | Self::NotDamaged { .. } => "INVALID_ARGS",
            Self::BlobCorrupt(_) => "BLOB_CORRUPT",
            Self::NotOpen(_) | Self::Illegal(_) => "INTERNAL",
        }
    }

    /// The next thing to do; empty if there is no advice.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Full { .. } => "free some space and try again; nothing was lost".to_owned(),
            Self::Corrupt { corruption, .. } => {
                format!("repair line {}, which is kept for inspection", corruption.line)
            }
            Self::Version { .. } => "use the version that wrote it, or a newer one".to_owned(),
            Self::MetaCorrupt { .. } => "the log is intact; restore the metadata from it".to_owned(),
            Self::Missing(_) => "run `stickpin session list`".to_owned(),
            _ => String::new(),
        }
    }
}

/// The result of this crate.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;
