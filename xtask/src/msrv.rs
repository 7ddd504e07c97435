//! Checks the workspace with the oldest Rust that it promises to build with.

use crate::Result;
use crate::run::{output, root, run, target_dir};
use crate::summary::skipped;
use std::process::Command;

/// The variable that makes a run fail if it cannot check this.
const REQUIRE: &str = "STICKPIN_REQUIRE_MSRV";

/// Checks all targets with the `rust-version` of the workspace, in a separate target folder. If the
/// lints already ran with that version, nothing is left to do.
pub fn msrv() -> Result {
    let metadata = cargo_metadata::MetadataCommand::new().no_deps().current_dir(root()).exec();
    let metadata = metadata.map_err(|e| format!("cargo metadata: {e}"))?;
    let versions =
        metadata.workspace_packages().into_iter().filter_map(|package| package.rust_version.clone());
    let oldest = versions.max().ok_or("no package has a rust-version")?;
    let oldest = format!("{}.{}", oldest.major, oldest.minor);
    let used = output(Command::new("rustc").arg("--version"))?;
    if used.strip_prefix("rustc ").is_some_and(|used| is_of(used, &oldest)) {
        eprintln!("msrv: the lints ran with Rust {oldest}, the oldest that is supported");
        return Ok(());
    }
    let installed = output(Command::new("rustup").args(["toolchain", "list"])).unwrap_or_default();
    let Some(toolchain) = installed.lines().find(|line| is_of(line, &oldest)) else {
        let why = format!("Rust {oldest} was not tried: `rustup toolchain install {oldest}`");
        return skipped(REQUIRE, &why);
    };
    let toolchain = toolchain.split(' ').next().unwrap_or(toolchain);
    let mut check = Command::new("rustup");
    check.args(["run", toolchain, "cargo", "check", "--workspace", "--all-targets", "--quiet"]);
    check.current_dir(root()).env_remove("CARGO").env_remove("RUSTC").env_remove("RUSTUP_TOOLCHAIN");
    run(check.env("CARGO_TARGET_DIR", target_dir()?.join("msrv")))
}

/// Returns whether a version, or the name of a toolchain, is of a minor version.
fn is_of(version: &str, minor: &str) -> bool {
    version.strip_prefix(minor).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::is_of;

    #[test]
    fn versions_and_toolchains_are_of_their_minor_version() {
        for version in ["1.95.0 (59807616e 2026-04-14)", "1.95.0-x86_64-unknown-linux-gnu", "1.95"] {
            assert!(is_of(version, "1.95") && !is_of(version, "1.9") && !is_of(version, "1.96"), "{version}");
        }
        assert!(!is_of("stable-x86_64-unknown-linux-gnu (active)", "1.95"));
    }
}
