//! Golden files: inputs below `test_data`, each with a snapshot of its output.
//!
//! Tests of several crates include this file by path, like `floors.rs`: a dependency on this crate
//! would be circular.

use std::fs;
use std::path::{Path, PathBuf};

/// The prefix of a question.
const MARK: &str = "==== ";

/// Compares the `answer` to every question in a folder with its snapshot. The folder is below
/// `test_data` of the crate at `root` (its `CARGO_MANIFEST_DIR`). An input is a `.txt` file that
/// ends in questions, which are lines that begin with `==== `. `answer` gets the input and one
/// question.
///
/// # Panics
/// Panics if an answer differs from its snapshot, or there are fewer inputs than `least`.
pub fn check(root: &str, folder: &str, least: usize, answer: &dyn Fn(&str, &str) -> String) {
    let folder = Path::new(root).join("test_data").join(folder);
    let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut inputs: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|e| e == "txt")).collect();
    inputs.sort();
    assert!(inputs.len() >= least, "{} inputs in {}", inputs.len(), folder.display());
    let mut settings = insta::Settings::new();
    settings.set_snapshot_path(&folder);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let _bound = settings.bind_to_scope();
    for path in inputs {
        let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let begin =
            if text.starts_with(MARK) { 0 } else { text.find("\n==== ").map_or(text.len(), |at| at + 1) };
        let (input, questions) = text.split_at(begin);
        assert!(!questions.is_empty(), "{}: no question", path.display());
        let mut answered = String::new();
        for line in questions.lines() {
            let question = line.strip_prefix(MARK);
            let question = question.unwrap_or_else(|| panic!("{}: {line:?} is no question", path.display()));
            answered.push_str(line);
            answered.push('\n');
            answered.push_str(&answer(input, question));
            if !answered.ends_with('\n') {
                answered.push('\n');
            }
        }
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        insta::assert_snapshot!(name, answered);
    }
}
