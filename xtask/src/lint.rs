//! All checks that do not run the code.

use crate::Result;
use crate::run::{cargo, on_path, root, run};
use crate::setup::REQUIRE_NPM;
use crate::summary::skipped;
use std::process::Command;

/// Checks format, clippy, rustdoc, all feature sets, comments, names, decisions, generated docs,
/// dependencies, and the types of page scripts. Warnings are errors.
pub fn lint() -> Result {
    // Run the checks that take a second first.
    run(&mut cargo(&["fmt", "--all", "--check"]))?;
    crate::language::language()?;
    crate::decisions::decisions()?;
    run(&mut cargo(&["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]))?;
    // The default features are all of these together, checked above.
    for features in ["", "sim", "web", "linux", "formats"] {
        let args = ["clippy", "--package", "stickpin", "--bins", "--quiet", "--no-default-features"];
        run(cargo(&args).args(["--features", features, "--", "-D", "warnings"]))?;
    }
    let without = ["clippy", "--package", "stickpin-kernel", "--quiet", "--no-default-features"];
    run(cargo(&without).args(["--", "-D", "warnings"]))?;
    crate::msrv::msrv()?;
    run(cargo(&["doc", "--workspace", "--no-deps", "--quiet"]).env("RUSTDOCFLAGS", "-D warnings"))?;
    package()?;
    crate::codegen::codegen(true)?;
    crate::deny::deny()?;
    page_scripts()
}

/// Checks that every crate of the workspace can be packaged: its files, its metadata, and the
/// versions of the crates that it needs. The archives are deleted with `target/`.
fn package() -> Result {
    // Omit the lock file, which can be generated only for published crates.
    let args = ["package", "--workspace", "--no-verify", "--offline", "--exclude-lockfile", "--allow-dirty"];
    run(cargo(&args).args(["--quiet", "--exclude", "stickpin-testkit", "--exclude", "xtask"]))
}

/// The compiler that type-checks page scripts; once fetched, it is kept in `target/`.
const TYPESCRIPT: &str = "typescript@5.9.3";

/// Scripts that run in pages: our agent, and the script of reports.
const SCRIPTS: [&str; 2] = ["crates/webpage/src/agent/script", "crates/replay/src/report/html"];

/// Checks the types and names in page scripts. The scripts run unmodified, so building needs no
/// compiler.
fn page_scripts() -> Result {
    if !on_path("node") || !on_path("npm") {
        let why = "the scripts of pages are not type-checked, because node or npm is not installed";
        return skipped(REQUIRE_NPM, why);
    }
    let prefix = root().join("target/lint");
    let compiler = prefix.join("node_modules/typescript/bin/tsc");
    if !compiler.is_file() {
        let mut install = Command::new("npm");
        install.args(["install", "--silent", "--no-audit", "--no-fund", "--no-save", "--prefix"]);
        if let Err(why) = run(install.arg(&prefix).arg(TYPESCRIPT)) {
            return skipped(REQUIRE_NPM, &format!("the scripts of pages are not type-checked: {why}"));
        }
    }
    let check = |folder| run(Command::new("node").arg(&compiler).arg("--project").arg(root().join(folder)));
    SCRIPTS.into_iter().try_for_each(check)
}
