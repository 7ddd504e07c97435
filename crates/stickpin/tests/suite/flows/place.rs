//! The location of the apps that `cargo xtask setup` installs.

use crate::support::target_folder;
use std::path::PathBuf;
use stickpin_testkit::skipped;

/// Returns a folder below `target/flows`. Returns `None`, with a message on stderr, if it was not
/// set up.
///
/// # Panics
///
/// Panics if it is missing although `STICKPIN_REQUIRE_FLOWS` is set: a machine that was set up must
/// not skip.
pub fn installed(part: &str) -> Option<PathBuf> {
    let dir = target_folder().join("flows").join(part);
    if dir.is_dir() {
        return Some(dir);
    }
    skipped("STICKPIN_REQUIRE_FLOWS", format!("no {}; `cargo xtask setup` makes it", dir.display()));
    None
}
