//! Files that are projections of a definition elsewhere. `--check` is what CI runs.

mod commands;
mod summary;

use crate::Result;
use crate::run::root;

/// One generated file: its path from the root, and what should stand in it.
type Generated = (&'static str, fn() -> Result<String>);

const FILES: &[Generated] =
    &[("docs/commands.md", commands::reference), ("docs/SUMMARY.md", summary::summary)];

/// Writes every generated file, or fails where one is not current.
pub fn codegen(check: bool) -> Result {
    let mut stale = Vec::new();
    for (path, make) in FILES {
        let want = make()?;
        let file = root().join(path);
        // One that is not there, or cannot be read, is not current.
        if std::fs::read_to_string(&file).is_ok_and(|have| have == want) {
            continue;
        }
        if check {
            stale.push(*path);
        } else {
            std::fs::write(&file, want).map_err(|e| format!("{path}: {e}"))?;
            eprintln!("codegen: wrote {path}");
        }
    }
    if stale.is_empty() {
        Ok(())
    } else {
        Err(format!("not current: {}. Run `cargo xtask codegen` and commit", stale.join(", ")))
    }
}
