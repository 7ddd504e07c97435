//! Files with expectations in them, for tests: `UPDATE_EXPECT=1` writes what is now.

use std::fs;
use std::path::{Path, PathBuf};

/// A line that begins a section.
const MARK: &str = "==== ";

/// Runs `actual` on every file of a folder below `test_data` of the crate at `root` (its `CARGO_MANIFEST_DIR`). A file is its input, then sections: a line with `====`
/// and what is asked, and the expected answer. `actual` gets the input and the question.
///
/// # Panics
/// If a file is not as expected, or there are fewer than `least`.
pub fn check(root: &str, folder: &str, least: usize, actual: &dyn Fn(&str, &str) -> String) {
    let folder = Path::new(root).join("test_data").join(folder);
    let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    files.sort();
    assert!(files.len() >= least, "{} files in {}", files.len(), folder.display());
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut wrong = Vec::new();
    for path in files {
        let expected = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let (input, sections) = split(&expected);
        assert!(!sections.is_empty(), "{}: no section", path.display());
        let mut now = input.to_owned();
        for question in sections {
            now.push_str(MARK);
            now.push_str(question);
            now.push('\n');
            let answer = actual(input, question);
            now.push_str(&answer);
            if !answer.is_empty() && !answer.ends_with('\n') {
                now.push('\n');
            }
        }
        if now != expected {
            if update {
                fs::write(&path, &now).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            } else {
                wrong.push(format!("{}\nis now:\n{now}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\nUPDATE_EXPECT=1 accepts this", wrong.join("\n"));
}

/// The input, and the questions.
fn split(text: &str) -> (&str, Vec<&str>) {
    let input_end =
        if text.starts_with(MARK) { 0 } else { text.find("\n==== ").map_or(text.len(), |at| at + 1) };
    let questions = text[input_end..].lines().filter_map(|l| l.strip_prefix(MARK)).collect();
    (&text[..input_end], questions)
}
