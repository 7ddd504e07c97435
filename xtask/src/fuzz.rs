//! Feeds random inputs to readers for a while.

use crate::run::cargo;
use std::process::Command;

/// Seconds that each target gets in `cargo xtask test`.
pub const SECONDS: u64 = 30;

/// Returns the command that runs each target of `fuzz`, or one of them, for some seconds, three at
/// a time.
pub fn fuzz(seconds: u64, target: Option<&str>) -> Command {
    // Use the features of the workspace, so that nothing is built twice.
    let mut tests = cargo(&["test", "--workspace", "--test", "targets", "--quiet"]);
    tests.args(target).args(["--", "--nocapture", "--test-threads", "3"]);
    tests.env("STICKPIN_FUZZ_SECONDS", seconds.to_string());
    tests
}
