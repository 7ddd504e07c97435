//! npm packages for tests, which `cargo xtask setup` installs below the target folder.

use crate::skip::skipped;
use std::path::{Path, PathBuf};

/// Returns the folder that has `node_modules` with our clients, if installed. Otherwise prints a
/// message and returns `None`, so that the test is skipped.
///
/// # Panics
/// Panics if the folder is required (`STICKPIN_REQUIRE_NPM=1`) and missing, or if its versions
/// differ from those of this checkout.
#[must_use]
pub fn npm() -> Option<PathBuf> {
    installed_folder("npm", "xtask/npm")
}

/// Returns the folder that has `node_modules` with the editors of `fixtures/web/editors`, if
/// installed.
///
/// # Panics
/// Panics when [`npm`] does.
#[must_use]
pub fn editors() -> Option<PathBuf> {
    installed_folder("editors", "fixtures/web/editors")
}

/// Finds a folder below the target folder that was installed from the lock file in a folder of the
/// checkout.
fn installed_folder(folder: &str, from: &str) -> Option<PathBuf> {
    let program = std::env::current_exe().expect("a test knows its program");
    let found = program.ancestors().map(|dir| dir.join(folder)).find(|dir| dir.join("node_modules").is_dir());
    let Some(found) = found else {
        let why = format!("the packages of {from} are not installed; `cargo xtask setup` installs them");
        skipped("STICKPIN_REQUIRE_NPM", why);
        return None;
    };
    let wanted = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(from).join("package-lock.json");
    let wanted = std::fs::read(wanted).expect("the versions that are wanted");
    // The set-up writes this file last.
    let installed = std::fs::read(found.join("installed.json")).unwrap_or_default();
    assert!(installed == wanted, "the packages are not those of {from}/package-lock.json: cargo xtask setup");
    Some(found)
}
