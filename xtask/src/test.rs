//! The one command that proves a checkout.

use crate::Result;
use crate::run::{cargo, output, root, run, target_dir};
use std::process::Command;

/// Sets up, lints, checks generated files, tries the set-up in a bare Debian, runs every test. The runner's own summary comes last.
pub fn test() -> Result {
    let ready = crate::setup::setup()?;
    crate::lint::lint()?;
    crate::codegen::codegen(true)?;
    run(&mut cargo(&["test", "--workspace", "--doc", "--quiet"]))?;
    run(&mut cargo(&["test", "--workspace", "--tests", "--bins", "--lib", "--no-run", "--quiet"]))?;
    let dist_check = crate::dist::dist_check()?;
    // What it finds is said when all has run.
    let bare = bare();
    let mut tests = if output(&mut cargo(&["nextest", "--version"])).is_ok() {
        cargo(&["nextest", "run", "--workspace", "--no-fail-fast"])
    } else {
        // All of it, as above: one binary that fails does not hide the others.
        cargo(&["test", "--workspace", "--tests", "--bins", "--lib", "--no-fail-fast"])
    };
    // A machine that was set up must not skip the suites on real devices.
    tests.env("STICKPIN_REQUIRE_CHROMIUM", "1").env("STICKPIN_REQUIRE_DESKTOP", "1");
    tests.env("STICKPIN_DIST_CHECK", dist_check);
    if ready.npm {
        tests.env("STICKPIN_REQUIRE_NPM", "1");
    }
    if std::env::var_os(crate::setup::WITH_HEAVY).is_some() {
        tests.env("STICKPIN_REQUIRE_HEAVY", "1");
    }
    if ready.flows {
        tests.env(crate::setup::REQUIRE_FLOWS, "1");
    }
    run(&mut tests)?;
    bare
}

/// Runs the set-up and the quick suites in a bare Debian, or says why not.
pub fn bare() -> Result {
    let script = root().join("xtask/bare.sh");
    run(Command::new("sh").arg(script).arg(root()).arg(target_dir()?.join("bare")))
}
