//! Checks the language of comments, names and errors, as far as a program can.

use crate::Result;
use crate::run::{output, root};
use std::process::Command;

/// The longest line of a comment, in characters. Lines that contain an address may be longer.
const WIDTH: usize = 100;

/// First words of a doc comment that leave the reader without a subject.
const NO_SUBJECT: &[&str] = &["The same,", "The same for ", "The same where ", "The same once ", "It "];

/// Names that were replaced by terms of the field and must not come back.
const BANNED: &[&str] = &[
    "Apart",
    "Anything",
    "Glance",
    "Looked",
    "Never",
    "Switches",
    "asides",
    "glance",
    "glances",
    "healed",
    "went_away",
];

/// Keywords that declare a name.
const DECLARATIONS: &[&str] = &["struct ", "enum ", "trait ", "type ", "mod ", "fn ", "const ", "static "];

/// Checks every Rust file and every page of the repository.
pub fn language() -> Result {
    let files = output(Command::new("git").current_dir(root()).args(["ls-files", "*.rs"]))?;
    let mut faults = Vec::new();
    for file in files.lines() {
        let text = std::fs::read_to_string(root().join(file)).map_err(|e| format!("{file}: {e}"))?;
        if is_library(file) && !has_example(&text) {
            faults.push(format!("{file}: the header of a library crate needs an example"));
        }
        let found = faults_of(&text);
        faults.extend(found.into_iter().map(|(line, fault)| format!("{file}:{line}: {fault}")));
    }
    let pages = output(Command::new("git").current_dir(root()).args(["ls-files", "*.md"]))?;
    // Texts of the product below `crates/` have their own widths.
    let is_page = |page: &&str| {
        !page.starts_with("crates/") && !page.starts_with("fixtures/") && !GENERATED.contains(page)
    };
    for page in pages.lines().filter(is_page) {
        let text = std::fs::read_to_string(root().join(page)).map_err(|e| format!("{page}: {e}"))?;
        let long = wide_prose(&text);
        faults.extend(long.into_iter().map(|line| format!("{page}:{line}: more than {WIDTH} columns")));
    }
    if faults.is_empty() { Ok(()) } else { Err(format!("language:\n{}", faults.join("\n"))) }
}

/// Pages that `cargo xtask codegen` writes.
const GENERATED: &[&str] = &["docs/commands.md", "docs/SUMMARY.md"];

/// Returns the numbers of the lines of prose that are too long. Tables, headings, code and lines
/// that contain an address may be longer.
fn wide_prose(page: &str) -> Vec<usize> {
    let mut in_code = false;
    let mut found = Vec::new();
    for (at, line) in page.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code
            && !line.starts_with(['|', '#', '<'])
            && !line.contains("://")
            && line.chars().count() > WIDTH
        {
            found.push(at + 1);
        }
    }
    found
}

/// Returns whether a file is the root of a library crate that others can use.
fn is_library(file: &str) -> bool {
    file.starts_with("crates/") && file.ends_with("/src/lib.rs") && !file.starts_with("crates/testkit/")
}

/// Returns whether the header of a crate contains an example, which the doc tests run.
fn has_example(text: &str) -> bool {
    text.lines().take_while(|line| line.starts_with("//!")).any(|line| line.starts_with("//! ```"))
}

/// Returns the problems in one file, with their line numbers.
fn faults_of(text: &str) -> Vec<(usize, String)> {
    let mut faults = Vec::new();
    let mut in_doc = false;
    for (at, line) in text.lines().enumerate() {
        let trimmed = line.trim_start();
        let mut fault = |what: String| faults.push((at + 1, what));
        if trimmed.starts_with("//") && line.chars().count() > WIDTH && !line.contains("://") {
            fault(format!("a comment of more than {WIDTH} columns"));
        }
        let doc = trimmed.strip_prefix("///").or_else(|| trimmed.strip_prefix("//!"));
        if let Some(doc) = doc.filter(|_| !in_doc)
            && let Some(first) = NO_SUBJECT.iter().find(|first| doc.trim_start().starts_with(**first))
        {
            fault(format!("a doc comment that begins with `{}`", first.trim_end()));
        }
        in_doc = doc.is_some();
        if doc.is_none()
            && let Some(name) = declared(trimmed).filter(|name| BANNED.contains(name))
        {
            fault(format!("`{name}` is not a term of the field"));
        }
        if let Some(word) = error_of(trimmed).filter(|word| is_capitalised(word)) {
            fault(format!("an error that begins with `{word}`: sentences of errors begin in lower case"));
        }
    }
    faults
}

/// Returns the name that a line declares.
fn declared(line: &str) -> Option<&str> {
    let line = ["pub ", "pub(crate) ", "pub(super) ", "async "]
        .iter()
        .fold(line, |line, word| line.strip_prefix(word).unwrap_or(line));
    let rest = DECLARATIONS.iter().find_map(|word| line.strip_prefix(word))?;
    rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}

/// Returns the first word of the error sentence on a line.
fn error_of(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("Error::new(ErrorCode::")?;
    let (_, sentence) = rest.split_once('"')?;
    sentence.split(' ').next()
}

/// Returns whether a word begins with a capital letter followed by lower-case letters. Names of
/// programs keep their spelling.
fn is_capitalised(word: &str) -> bool {
    const PROPER: &[&str] =
        &["Chromium", "Firefox", "Java", "Xvfb", "Wayland", "Debian", "Playwright", "Maestro"];
    let mut letters = word.chars();
    letters.next().is_some_and(char::is_uppercase)
        && letters.next().is_some_and(char::is_lowercase)
        && !PROPER.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_is_found_at_its_line() {
        let text = format!(
            "//! The same, again.\n\n/// It is a thing.\n/// It may go on so.\nstruct Looked;\n// {}\n{}\nfn f() {{}}",
            "x".repeat(WIDTH),
            concat!("Err(Error", "::new(ErrorCode::Io, \"Disk full\"))"),
        );
        let lines: Vec<usize> = faults_of(&text).into_iter().map(|(line, _)| line).collect();
        assert_eq!(lines, [1, 3, 5, 6, 7]);
    }

    #[test]
    fn example_counts_in_the_header_of_a_crate_only() {
        assert!(has_example("//! A crate.\n//!\n//! ```\n//! run();\n//! ```\n\npub fn run() {}\n"));
        assert!(!has_example("//! A crate.\n\n/// ```\n/// run();\n/// ```\npub fn run() {}\n"));
        assert!(is_library("crates/backends/web/src/lib.rs") && !is_library("crates/testkit/src/lib.rs"));
    }

    #[test]
    fn prose_wraps_and_tables_and_code_do_not() {
        let long = "x ".repeat(WIDTH);
        let page = format!("{long}\n| {long} |\n# {long}\n```\n{long}\n```\n- {long}\nhttps://{long}\n");
        assert_eq!(wide_prose(&page), [1, 7]);
    }

    #[test]
    fn what_is_written_well_has_no_fault() {
        let text = format!(
            "/// Returns a thing.\nfn looked_at() {{}}\n// https://example.org/{}\n{}\n",
            "x".repeat(WIDTH),
            "Err(Error::new(ErrorCode::ToolMissing, \"Xvfb is not installed\"))",
        );
        assert_eq!(faults_of(&text), []);
    }
}
