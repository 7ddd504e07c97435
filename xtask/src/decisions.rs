//! The form of decision records: five parts, at most 300 words.

use crate::Result;
use crate::run::root;

/// The largest number of words in a record. Measurements belong in `docs/performance.md`.
const MAX_WORDS: usize = 300;

/// The lines that a record has, in this order. `Status` and `Date` have a value after the colon.
const REQUIRED_PARTS: &[&str] = &["Status: ", "Date: ", "## Context", "## Decision", "## Alternatives"];

/// Checks every decision record.
pub fn decisions() -> Result {
    let folder = root().join("docs/adr");
    let entries = std::fs::read_dir(&folder).map_err(|e| format!("docs/adr: {e}"))?;
    let mut faults = Vec::new();
    for entry in entries {
        let path = entry.map_err(|e| format!("docs/adr: {e}"))?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            let text = std::fs::read_to_string(&path).map_err(|e| format!("{name}: {e}"))?;
            faults.extend(faults_of(&text).into_iter().map(|fault| format!("docs/adr/{name}: {fault}")));
        }
    }
    faults.sort();
    if faults.is_empty() { Ok(()) } else { Err(format!("decisions:\n{}", faults.join("\n"))) }
}

/// Returns the problems of one record.
fn faults_of(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut lines = text.lines();
    for part in REQUIRED_PARTS {
        let found = match part.strip_suffix(' ') {
            Some(label) => lines.any(|line| line.strip_prefix(label).is_some_and(|v| !v.trim().is_empty())),
            None => lines.any(|line| line == *part),
        };
        if !found {
            faults.push(format!("`{}` is missing or out of order", part.trim_end()));
            lines = text.lines();
        }
    }
    let words = text.split_whitespace().count();
    if words > MAX_WORDS {
        faults.push(format!("{words} words, more than {MAX_WORDS}"));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "# 1. A title\n\nStatus: Accepted\n\nDate: 2026-11-22\n\n## Context\n\nWhy.\n\n## Decision\n\n\
                         What.\n\n## Alternatives\n\nNone.\n";

    #[test]
    fn a_whole_record_has_no_fault() {
        assert_eq!(faults_of(WHOLE), <[String; 0]>::default());
    }

    #[test]
    fn missing_parts_and_long_records_are_named() {
        let without = faults_of(&WHOLE.replace("Date: 2026-11-22", "Date:").replace("## Alternatives", ""));
        assert_eq!(without.len(), 2, "{without:?}");
        assert!(without[0].contains("Date") && without[1].contains("Alternatives"), "{without:?}");
        let long = faults_of(&format!("{WHOLE}{}", "word ".repeat(MAX_WORDS)));
        assert!(long[0].contains("words"), "{long:?}");
    }
}
