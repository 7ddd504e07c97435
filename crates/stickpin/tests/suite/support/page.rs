//! Pages of the repository, and what they show of the output of commands. `...` in such a line
//! represents text that differs from run to run; alone on a line, it represents any lines.

/// Returns a page of the repository.
pub fn page(name: &str) -> String {
    std::fs::read_to_string(stickpin_testkit::workspace_root().join(name)).expect("a page")
}

/// Returns whether a printed line matches a line of the page, in which `...` represents any text.
fn is_like(shown: &str, line: &str) -> bool {
    let Some((first, rest)) = shown.split_once("...") else { return shown == line };
    let (middle, last) = rest.rsplit_once("...").unwrap_or(("", rest));
    let inner = line.strip_prefix(first).and_then(|line| line.strip_suffix(last));
    let mut parts = middle.split("...");
    inner.is_some_and(|inner| {
        parts.try_fold(inner, |left, part| left.find(part).map(|at| &left[at + part.len()..])).is_some()
    })
}

/// Returns the first shown line that does not follow in the output.
pub fn missing<'s>(shown: &'s [String], output: &str) -> Option<&'s str> {
    let mut lines = output.lines();
    shown
        .iter()
        .map(String::as_str)
        .filter(|line| *line != "...")
        .find(|line| !lines.by_ref().any(|printed| is_like(line, printed)))
}

#[test]
fn lines_of_a_page_are_matched_around_dots() {
    assert!(is_like("opened Chromium ... · session guests-...", "opened Chromium 149 · session guests-12ab"));
    assert!(is_like("pass    a.ad · ... s", "pass    a.ad · 1.2 s"));
    assert!(!is_like("pass    a.ad · ... s", "FAIL    a.ad · 1.2 s"));
    assert!(!is_like("changed", "changed more"));
    let shown = ["a".to_owned(), "...".to_owned(), "c".to_owned()];
    assert_eq!(missing(&shown, "a\nb\nc\n"), None);
    assert_eq!(missing(&shown, "c\na\n"), Some("c"));
}
