//! Errors of a single target.

use crate::edit::EditError;
use std::io;
use std::path::{Path, PathBuf};
use stickpin_kernel::Error;

/// Why a target failed. The target is unchanged unless the variant states otherwise.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TargetError {
    /// A file operation failed, possibly after the target was changed.
    #[error("{}", .0.message)]
    Io(Box<Error>),
    /// The configuration cannot be edited.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// The configuration is not UTF-8.
    #[error("the file is not UTF-8")]
    NotUtf8,
    /// The user has write-protected the configuration.
    #[error("the file is read-only")]
    ReadOnly,
    /// The configuration is a link whose target does not exist.
    #[error("the file is a link to `{}`, which does not exist", .0.display())]
    DanglingLink(PathBuf),
    /// Another program kept changing the configuration.
    #[error("another program changed the file during each of {0} attempts")]
    Changed(usize),
    /// The harness is not installed.
    #[error("the harness is not installed: there is no program `{program}` on `PATH` and no folder `{}`", .folder.display())]
    NotInstalled {
        /// The main name of the harness's program.
        program: &'static str,
        /// The folder of the harness's configuration.
        folder: PathBuf,
    },
    /// The harness's own command failed or did not have the requested effect. The configuration may
    /// have changed.
    #[error("`{command}` {problem}")]
    Program {
        /// The command line of the harness's own command.
        command: String,
        /// What was wrong, as a phrase that follows the command line: `did not remove the entry`.
        problem: String,
    },
}

impl TargetError {
    /// Creates the error for a failed file operation.
    pub(crate) fn io(tried_to: &str, path: &Path, error: &io::Error) -> Self {
        Self::Io(Box::new(stickpin_kernel::io_error(tried_to, path, error)))
    }
}
