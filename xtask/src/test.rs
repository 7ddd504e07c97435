//! The command that verifies a checkout.

use crate::Result;
use crate::run::{cargo, output, run, run_beside, target_dir};
use crate::summary::{Collected, timed};
use std::panic::resume_unwind;
use std::process::Command;

/// Suites that need neither a browser nor a desktop: the pure crates, the kernel, the simulated
/// device, and its scenarios in one process.
const QUICK_FILTER: &str = "not (package(stickpin) + package(stickpin-backend-linux) + package(stickpin-backend-web) \
     + package(stickpin-x11desk)) + package(stickpin) & (test(/^(layers|staleness_sim)::/) \
     + test(/^scenarios::/) & test(in_process))";

/// The parts whose times both tiers print: these suites, and the whole tier.
const QUICK_SUITES: &str = "quick suites";
const ALL: &str = "all";

/// The number of tests that run concurrently on two cores. Most wait for a browser or a time limit,
/// and use a third of a core. Tests on a desktop count as two, and large apps as more
/// (`.config/nextest.toml`): next to four others they miss their time limits.
const TESTS_PER_TWO_CORES: usize = 5;

/// Lints and runs the suites that need neither a browser nor a desktop.
pub fn quick() -> Result {
    let collected = Collected::new(&target_dir()?)?;
    let done = timed(ALL, || {
        timed("lint", crate::lint::lint)?;
        let mut tests = cargo(&["nextest", "run", "--workspace", "--filterset", QUICK_FILTER]);
        timed(QUICK_SUITES, || run(collected.with_skip_file(&mut tests)))
    });
    collected.print()?;
    done
}

/// Sets up, lints, tries the set-up in a bare Debian, and runs every test. Prints how long each
/// part took, what was skipped, and every failed part with the end of its output.
pub fn test() -> Result {
    let collected = Collected::new(&target_dir()?)?;
    let done = timed(ALL, || all(&collected));
    collected.print()?;
    done
}

fn all(collected: &Collected) -> Result {
    let ready = timed("setup", crate::setup::setup)?;
    timed("build of tests", || {
        run(&mut cargo(&["test", "--workspace", "--tests", "--bins", "--lib", "--no-run", "--quiet"]))
    })?;
    let dist_check = timed("build of the shipped profile", crate::dist::dist_check)?;
    let has_nextest = output(&mut cargo(&["nextest", "--version"])).is_ok();
    let threads =
        std::thread::available_parallelism().map_or(1, std::num::NonZero::get) * TESTS_PER_TWO_CORES;
    let threads = threads.div_ceil(2);
    let suites = |mut tests: Command| {
        tests.env("NEXTEST_TEST_THREADS", threads.to_string());
        // A machine that was set up must not skip the suites on real devices.
        for required in ["STICKPIN_REQUIRE_CHROMIUM", "STICKPIN_REQUIRE_DESKTOP", "STICKPIN_REQUIRE_TERMINAL"]
        {
            tests.env(required, "1");
        }
        tests.env("STICKPIN_DIST_CHECK", &dist_check);
        if ready.npm {
            tests.env(crate::setup::REQUIRE_NPM, "1");
        }
        if std::env::var_os(crate::setup::WITH_HEAVY).is_some() {
            tests.env("STICKPIN_REQUIRE_HEAVY", "1");
        }
        if ready.flows {
            tests.env(crate::setup::REQUIRE_FLOWS, "1");
        }
        run(collected.with_skip_file(&mut tests))
    };
    let nextest = |filter: &str| {
        suites(cargo(&["nextest", "run", "--workspace", "--no-fail-fast", "--filterset", filter]))
    };
    // The suites mostly wait, for browsers, apps and time limits, and `bare` for its mirror and the
    // disk; work that computes runs alongside them and yields to them. A failing part does not hide
    // the others.
    std::thread::scope(|scope| {
        let bare = scope.spawn(|| timed("bare", || crate::bare::bare_if_changed(collected)));
        let checks = scope.spawn(|| {
            yield_to_others()?;
            let doc = cargo(&["test", "--workspace", "--doc", "--quiet", "--no-fail-fast"]);
            let doc = timed("doc tests", || run_beside(doc));
            let fuzz = timed("fuzz", || run_beside(crate::fuzz::fuzz(crate::fuzz::SECONDS, None)));
            all_of([timed("lint", crate::lint::lint), doc, fuzz])
        });
        let suites = if has_nextest {
            let quick = timed(QUICK_SUITES, || nextest(QUICK_FILTER));
            all_of([quick, timed("other suites", || nextest(&format!("not ({QUICK_FILTER})")))])
        } else {
            let all = cargo(&["test", "--workspace", "--tests", "--bins", "--lib", "--no-fail-fast"]);
            timed("tests", || suites(all))
        };
        let beside = [checks, bare].map(|part| part.join().unwrap_or_else(|panic| resume_unwind(panic)));
        all_of([suites, all_of(beside)])
    })
}

/// Lowers the priority of this thread and of the programs that it starts.
fn yield_to_others() -> Result {
    rustix::process::nice(19).map(drop).map_err(|e| format!("nice: {e}"))
}

/// Returns the errors of all parts as one.
fn all_of<const N: usize>(parts: [Result; N]) -> Result {
    let errors: Vec<_> = parts.into_iter().filter_map(Result::err).collect();
    if errors.is_empty() { Ok(()) } else { Err(errors.join("\nxtask: ")) }
}
