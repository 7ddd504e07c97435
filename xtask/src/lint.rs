//! Everything that is checked without running the code.

use crate::Result;
use crate::run::{cargo, run};

/// Format, clippy, rustdoc, and that every feature set compiles. Warnings are errors.
pub fn lint() -> Result {
    run(&mut cargo(&["fmt", "--all", "--check"]))?;
    run(&mut cargo(&["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]))?;
    for features in [&[][..], &["--features", "sim"], &["--features", "web"]] {
        let mut args = vec!["clippy", "--package", "stickpin", "--bins", "--quiet", "--no-default-features"];
        args.extend(features);
        args.extend(["--", "-D", "warnings"]);
        run(&mut cargo(&args))?;
    }
    run(cargo(&["doc", "--workspace", "--no-deps", "--quiet"]).env("RUSTDOCFLAGS", "-D warnings"))
}
