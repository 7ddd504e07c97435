//! Generated files. CI runs `--check`.

mod commands;
mod interface;
mod summary;

use crate::Result;
use crate::run::root;

/// A generated file: its path from the root, and the function that returns its content.
type Generated = (&'static str, fn() -> Result<String>);

const FILES: &[Generated] =
    &[("docs/commands.md", commands::reference), ("docs/SUMMARY.md", summary::summary)];

/// Writes every generated file, or fails if one is not current and `check` is set.
pub fn codegen(check: bool) -> Result {
    let mut stale = Vec::new();
    let files = FILES.iter().map(|(path, make)| Ok((*path, make()?)));
    let files = files.chain(interface::kernel().transpose());
    for file in files {
        let (path, want) = file?;
        let file = root().join(path);
        // A missing or unreadable file is not current.
        if std::fs::read_to_string(&file).is_ok_and(|have| have == want) {
            continue;
        }
        if check {
            stale.push(path);
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
