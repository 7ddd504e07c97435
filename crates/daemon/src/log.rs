//! The daemon's log: text for people, never parsed. Panics are written to it too.

use rustix::stdio::{dup2_stderr, dup2_stdout};
use std::fs::{self, File};
use std::io;
use std::path::Path;
use stickpin_kernel::{Result, io_error};
use tracing::level_filters::LevelFilter;

/// The size in bytes above which a starting daemon renames the log to `daemon.log.old`.
const ROTATE_BYTES: u64 = 1 << 20;

/// Redirects stderr to the log. stdout stays open for the announcement.
pub(crate) fn redirect(path: &Path) -> Result<()> {
    let failed = |e: io::Error| io_error("write the log", path, &e);
    if fs::metadata(path).is_ok_and(|found| found.len() > ROTATE_BYTES) {
        fs::rename(path, path.with_extension("log.old")).map_err(failed)?;
    }
    let file = File::options().create(true).append(true).open(path).map_err(failed)?;
    dup2_stderr(&file).map_err(|e| failed(e.into()))
}

/// Starts logging. The announcement has been made, so stdout is redirected too: the client that
/// started the daemon then sees its pipe close.
pub(crate) fn start(level: LevelFilter) {
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_ansi(false)
        .with_target(false)
        .with_writer(io::stderr)
        .finish();
    // Fails if the embedding program already has a logger.
    let _ = tracing::subscriber::set_global_default(subscriber);
    if let Err(e) = dup2_stdout(io::stderr()) {
        tracing::warn!("stdout stays open: {e}");
    }
}
