//! `docs/SUMMARY.md`: the pages in reading order with their own headings, then the decisions by
//! number.

use crate::Result;
use crate::run::root;
use std::collections::BTreeSet;
use std::path::Path;

/// The pages below `docs`, with their nesting depth.
const PAGES: &[(usize, &str)] = &[
    (0, "tutorial.md"),
    (0, "for-agents.md"),
    (0, "commands.md"),
    (0, "install.md"),
    (0, "sessions.md"),
    (1, "faults.md"),
    (0, "console.md"),
    (0, "watch.md"),
    (0, "mcp.md"),
    (0, "replay.md"),
    (0, "reading.md"),
    (1, "w3c-pages.md"),
    (0, "linux.md"),
    (0, "security.md"),
    (0, "identity.md"),
    (1, "records.md"),
    (1, "flows.md"),
    (0, "embed.md"),
    (0, "architecture.md"),
    (1, "sim-apps.md"),
    (1, "write-a-device.md"),
    (0, "bench.md"),
    (1, "performance.md"),
];

/// The page that lists the decisions.
const DECISIONS: &str = "adr/README.md";

/// Returns the whole page.
///
/// # Errors
/// Returns an error if a page has no heading or is in no list.
pub(crate) fn summary() -> Result<String> {
    let docs = root().join("docs");
    let mut page = "# Summary\n\n".to_owned();
    for (depth, path) in PAGES {
        page.push_str(&line(*depth, &heading(&docs, path)?, path));
    }
    page.push_str(&line(0, &heading(&docs, DECISIONS)?, DECISIONS));
    for decision in markdown(&docs, "adr")?.iter().filter(|path| *path != DECISIONS) {
        page.push_str(&line(1, &heading(&docs, decision)?, decision));
    }
    let missing: Vec<_> = markdown(&docs, "")?
        .into_iter()
        .filter(|path| path != "SUMMARY.md" && !PAGES.iter().any(|(_, listed)| listed == path))
        .collect();
    match missing.as_slice() {
        [] => Ok(page),
        _ => {
            Err(format!("no place in docs/SUMMARY.md for {}: give it one in {}", missing.join(", "), file!()))
        }
    }
}

fn line(depth: usize, title: &str, path: &str) -> String {
    format!("{}- [{title}]({path})\n", "  ".repeat(depth))
}

/// Returns the first heading of a page.
fn heading(docs: &Path, path: &str) -> Result<String> {
    let text = std::fs::read_to_string(docs.join(path)).map_err(|e| format!("docs/{path}: {e}"))?;
    let heading = text.lines().find_map(|line| line.strip_prefix("# "));
    heading.map(str::to_owned).ok_or_else(|| format!("docs/{path} has no heading"))
}

/// Returns the pages of a folder below `docs`, in the order of their names.
fn markdown(docs: &Path, folder: &str) -> Result<BTreeSet<String>> {
    let failed = |e: std::io::Error| format!("docs/{folder}: {e}");
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(docs.join(folder)).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|e| e == "md") {
            let below = path.strip_prefix(docs).unwrap_or(&path);
            found.insert(below.display().to_string());
        }
    }
    Ok(found)
}
