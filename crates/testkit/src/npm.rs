//! What the tests take from npm: installed by `cargo xtask setup` below the target folder.

use std::path::{Path, PathBuf};

/// The folder that holds `node_modules` with clients of ours, if it was installed; a test that needs it is skipped with a word
/// otherwise.
///
/// # Panics
/// When it is required (`STICKPIN_REQUIRE_NPM=1`) and not there, and when other versions are there than this checkout wants.
#[must_use]
pub fn npm() -> Option<PathBuf> {
    installed("npm", "xtask/npm")
}

/// The folder that holds `node_modules` with the editors that `fixtures/web/editors` shows; otherwise as [`npm`].
///
/// # Panics
/// As [`npm`].
#[must_use]
pub fn editors() -> Option<PathBuf> {
    installed("editors", "fixtures/web/editors")
}

/// A folder below the target folder, which is installed from the lock file in a folder of the checkout.
fn installed(folder: &str, from: &str) -> Option<PathBuf> {
    let program = std::env::current_exe().expect("a test knows its program");
    let found = program.ancestors().map(|dir| dir.join(folder)).find(|dir| dir.join("node_modules").is_dir());
    let Some(found) = found else {
        let required = std::env::var_os("STICKPIN_REQUIRE_NPM").is_some_and(|value| value == "1");
        assert!(!required, "the packages of {from} are not installed: cargo xtask setup");
        eprintln!("skipped: the packages of {from} are not installed (cargo xtask setup)");
        return None;
    };
    let wanted = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(from).join("package-lock.json");
    let wanted = std::fs::read(wanted).expect("the versions that are wanted");
    // The set-up writes it last.
    let installed = std::fs::read(found.join("installed.json")).unwrap_or_default();
    assert!(installed == wanted, "the packages are not those of {from}/package-lock.json: cargo xtask setup");
    Some(found)
}
