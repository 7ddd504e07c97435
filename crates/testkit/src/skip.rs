//! Reports that a test does not run on this machine, and why.

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write;

/// The variable that names a file in which skipped tests are collected; `cargo xtask test` prints
/// it at the end, because a test runner hides the output of passing tests.
const COLLECTED: &str = "STICKPIN_SKIPPED";

/// Prints on stderr why a test is skipped. `require` is the variable that turns the skip into a
/// failure.
///
/// # Panics
/// Panics if that variable is set: a prepared machine must not skip.
pub fn skipped(require: &str, reason: impl Display) {
    let why = reason.to_string().trim_end().replace('\n', " ");
    assert!(std::env::var_os(require).is_none(), "{require} is set, but: {why}");
    eprintln!("skipped: {why}");
    let Some(file) = std::env::var_os(COLLECTED) else { return };
    let thread = std::thread::current();
    let line = format!("{}\t{require}\t{why}\n", thread.name().unwrap_or_default());
    let written = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&file)
        .and_then(|mut f| f.write_all(line.as_bytes()));
    if let Err(e) = written {
        panic!("{}: {e}", file.display());
    }
}
