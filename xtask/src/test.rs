//! The one command that proves a checkout.

use crate::Result;
use crate::run::{cargo, output, run};

/// Sets up, lints, checks generated files, runs every test. The runner's own summary comes last.
pub fn test() -> Result {
    crate::setup::setup()?;
    crate::lint::lint()?;
    crate::codegen::codegen(true)?;
    run(&mut cargo(&["test", "--workspace", "--doc", "--quiet"]))?;
    // A machine that was set up must not skip the suites on real devices.
    let (real, npm) = (("STICKPIN_REQUIRE_CHROMIUM", "1"), ("STICKPIN_REQUIRE_NPM", "1"));
    if output(&mut cargo(&["nextest", "--version"])).is_ok() {
        run(cargo(&["nextest", "run", "--workspace", "--no-fail-fast"]).env(real.0, real.1).env(npm.0, npm.1))
    } else {
        run(cargo(&["test", "--workspace", "--tests", "--bins", "--lib"])
            .env(real.0, real.1)
            .env(npm.0, npm.1))
    }
}
