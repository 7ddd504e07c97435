//! What the tests take from npm: installed by `cargo xtask setup` below the target folder.

use std::path::{Path, PathBuf};

/// The folder that holds `node_modules`, if it was installed; a test that needs it is skipped with a word otherwise.
///
/// # Panics
/// When it is required (`STICKPIN_REQUIRE_NPM=1`) and not there, and when other versions are there than this checkout wants.
#[must_use]
pub fn npm() -> Option<PathBuf> {
    let program = std::env::current_exe().expect("a test knows its program");
    let found = program.ancestors().map(|dir| dir.join("npm")).find(|dir| dir.join("node_modules").is_dir());
    let Some(found) = found else {
        let required = std::env::var_os("STICKPIN_REQUIRE_NPM").is_some_and(|value| value == "1");
        assert!(!required, "the packages of npm are not installed: cargo xtask setup");
        eprintln!("skipped: the packages of npm are not installed (cargo xtask setup)");
        return None;
    };
    let wanted = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../xtask/npm/package-lock.json");
    let wanted = std::fs::read(wanted).expect("the versions that are wanted");
    // The set-up writes it last.
    let installed = std::fs::read(found.join("installed.json")).unwrap_or_default();
    assert!(
        installed == wanted,
        "the packages of npm are not those of xtask/npm/package-lock.json: cargo xtask setup"
    );
    Some(found)
}
