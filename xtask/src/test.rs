//! The command that verifies a checkout.

use crate::Result;
use crate::run::{cargo, output, root, run, target_dir};
use std::process::Command;
use std::time::Instant;

/// Suites that need neither a browser nor a desktop: the pure crates, the kernel, the simulated
/// device, and its scenarios in one process.
const QUICK: &str = "not (package(stickpin) + package(stickpin-backend-linux) + package(stickpin-backend-web) \
     + package(stickpin-x11desk)) + package(stickpin) & (binary(layers) + binary(staleness_sim) \
     + binary(scenarios) & test(in_process))";

/// Lints and runs the suites that need neither a browser nor a desktop.
pub fn quick() -> Result {
    timed("lint", crate::lint::lint)?;
    timed("quick suites", || run(&mut cargo(&["nextest", "run", "--workspace", "--filterset", QUICK])))
}

/// Runs a part of a run, and prints how long it took.
fn timed<T>(part: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let begin = Instant::now();
    let done = work();
    eprintln!("xtask: {part}: {} s", begin.elapsed().as_secs());
    done
}

/// Sets up, lints, checks generated files, tries the set-up in a bare Debian, and runs every test.
/// Prints how long each part took; the runner's own summary comes last.
pub fn test() -> Result {
    let ready = timed("setup", crate::setup::setup)?;
    timed("lint", crate::lint::lint)?;
    timed("codegen", || crate::codegen::codegen(true))?;
    timed("doc tests", || run(&mut cargo(&["test", "--workspace", "--doc", "--quiet"])))?;
    timed("build of tests", || {
        run(&mut cargo(&["test", "--workspace", "--tests", "--bins", "--lib", "--no-run", "--quiet"]))
    })?;
    let dist_check = timed("build of the shipped profile", crate::dist::dist_check)?;
    // What it finds is said when all has run.
    let bare = timed("bare", bare);
    let mut tests = if output(&mut cargo(&["nextest", "--version"])).is_ok() {
        cargo(&["nextest", "run", "--workspace", "--no-fail-fast"])
    } else {
        // Runs everything, as above: a failing binary does not hide the others.
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

/// Runs the set-up and the quick suites in a bare Debian, or prints why not.
pub fn bare() -> Result {
    let script = root().join("xtask/bare.sh");
    run(Command::new("sh").arg(script).arg(root()).arg(target_dir()?.join("bare")))
}
