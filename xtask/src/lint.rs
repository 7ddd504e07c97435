//! Everything that is checked without running the code.

use crate::Result;
use crate::run::{cargo, on_path, root, run};
use std::process::Command;

/// Format, clippy, rustdoc, that every feature set compiles, and the types of the page script. Warnings are errors.
pub fn lint() -> Result {
    run(&mut cargo(&["fmt", "--all", "--check"]))?;
    run(&mut cargo(&["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]))?;
    for features in [&[][..], &["--features", "sim"], &["--features", "web"]] {
        let mut args = vec!["clippy", "--package", "stickpin", "--bins", "--quiet", "--no-default-features"];
        args.extend(features);
        args.extend(["--", "-D", "warnings"]);
        run(&mut cargo(&args))?;
    }
    run(cargo(&["doc", "--workspace", "--no-deps", "--quiet"]).env("RUSTDOCFLAGS", "-D warnings"))?;
    page_script()
}

/// The compiler that checks the types of the page script; once fetched it is kept in `target/`.
const TYPESCRIPT: &str = "typescript@5.9.3";

/// Types and names of the page script. Its files are joined as they are: nothing of this is needed to build or run.
fn page_script() -> Result {
    if !on_path("node") || !on_path("npm") {
        eprintln!("skipped: the page script is not type-checked, because node or npm is not installed");
        return Ok(());
    }
    let prefix = root().join("target/lint");
    let compiler = prefix.join("node_modules/typescript/bin/tsc");
    if !compiler.is_file() {
        let mut install = Command::new("npm");
        install.args(["install", "--silent", "--no-audit", "--no-fund", "--no-save", "--prefix"]);
        if let Err(why) = run(install.arg(&prefix).arg(TYPESCRIPT)) {
            eprintln!("skipped: the page script is not type-checked: {why}");
            return Ok(());
        }
    }
    let project = root().join("crates/backends/web/src/page");
    run(Command::new("node").arg(compiler).arg("--project").arg(project))
}
