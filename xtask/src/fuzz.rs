//! Feeds readers with random inputs for a while.

use crate::Result;
use crate::run::{cargo, run};

/// Seconds that each target gets in `cargo xtask test`.
pub const SECONDS: u64 = 30;

/// Runs each target of `fuzz`, or one of them, for some seconds, three at a time.
pub fn fuzz(seconds: u64, target: Option<&str>) -> Result {
    let mut tests = cargo(&["test", "--package", "stickpin-fuzz", "--test", "targets", "--quiet"]);
    tests.args(target).args(["--", "--nocapture", "--test-threads", "3"]);
    run(tests.env("STICKPIN_FUZZ_SECONDS", seconds.to_string()))
}
