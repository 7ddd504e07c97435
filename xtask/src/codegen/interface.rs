//! `crates/kernel/tests/public-api.txt`: the public interface of the kernel, one item per line.

use crate::Result;
use crate::run::{on_path, output, root, target_dir};
use std::process::Command;

/// The generated file, by its path from the root.
const FILE: &str = "crates/kernel/tests/public-api.txt";

/// Returns the file and its content, or `None`, with the reason on stderr, if it cannot be
/// generated.
///
/// # Errors
/// Returns the error of `cargo-public-api`.
pub(crate) fn kernel() -> Result<Option<(&'static str, String)>> {
    let missing = if !on_path("cargo-public-api") {
        "cargo-public-api is not installed (cargo install cargo-public-api)"
    } else if output(&mut nightly(&["--version"])).is_err() {
        "there is no nightly toolchain (rustup toolchain install nightly)"
    } else {
        let mut api = nightly(&["public-api", "--package", "stickpin-kernel", "-sss"]);
        // In a folder with the docs of another rustdoc, cargo deletes them, and every lint would
        // document the whole workspace anew.
        api.env("CARGO_TARGET_DIR", target_dir()?.join("lint/public-api"));
        return Ok(Some((FILE, output(&mut api)?)));
    };
    eprintln!("skipped: {FILE} is not checked: {missing}");
    Ok(None)
}

/// Returns a command of the nightly toolchain, whose rustdoc describes crates as data.
fn nightly(args: &[&str]) -> Command {
    let mut cargo = Command::new("cargo");
    // These are set by the toolchain that runs this program.
    cargo.env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO").arg("+nightly").args(args);
    cargo.current_dir(root());
    cargo
}
