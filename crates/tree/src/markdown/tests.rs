//! Pages as Markdown: golden files, sections, bounds, and what hostile pages cannot do.

use super::{Markdown, SectionError};
use crate::{NodeId, testing};
use proptest::prelude::*;
use std::fmt::Write as _;

/// Runs `read` with `--outline`, `--section` or `--max-bytes`, on the whole page or on the match of
/// a selector.
fn read(input: &str, command: &str) -> String {
    let tree = testing::tree(input);
    let (mut outline, mut section, mut max_bytes, mut scope) = (false, None, 24_000, NodeId::ROOT);
    let mut words = command.strip_prefix("read").expect("a read").split_whitespace();
    while let Some(word) = words.next() {
        match word {
            "--outline" => outline = true,
            "--section" => section = words.next().map(|w| w.replace('_', " ")),
            "--max-bytes" => max_bytes = words.next().expect("a number").parse().expect("a number"),
            selector => {
                let selector: crate::Selector = selector.parse().expect("a selector");
                scope = selector.matches(&tree)[0];
            }
        }
    }
    let page = Markdown::of(&tree, scope);
    let lines = match section.map(|s| page.section(&s)) {
        None => page.all_lines(),
        Some(Ok(lines)) => lines,
        Some(Err(e)) => return format!("{e:?}\n"),
    };
    if outline { page.outline(lines, max_bytes).text } else { page.text(lines, max_bytes).text }
}

#[test]
fn golden_files() {
    crate::golden::check(env!("CARGO_MANIFEST_DIR"), "markdown", 8, &read);
}

#[test]
fn size_limit_holds_and_names_missing_lines() {
    let tree = testing::generate(20_000, 7);
    let page = Markdown::of(&tree, NodeId::ROOT);
    for max_bytes in [200, 2_000, 24_000, 100_000] {
        let excerpt = page.text(page.all_lines(), max_bytes);
        assert!(excerpt.text.len() <= max_bytes, "{} bytes of {max_bytes}", excerpt.text.len());
        assert!(excerpt.missing > 0 && excerpt.text.contains(&format!("[… {} more line", excerpt.missing)));
        assert!(excerpt.text.len() * 10 > max_bytes * 7, "{} bytes of {max_bytes}", excerpt.text.len());
    }
    let whole = page.text(page.all_lines(), usize::MAX);
    assert_eq!(whole.missing, 0);
    assert!(!whole.text.contains('…'));
}

#[test]
fn outline_that_fits_exactly_keeps_its_last_heading() {
    let tree = testing::tree("page \"P\" http://h/\n  heading \"One\" level=1\n  heading \"Two\" level=2\n");
    let page = Markdown::of(&tree, NodeId::ROOT);
    let whole = page.outline(page.all_lines(), usize::MAX).text;
    assert_eq!(whole, "# One\n## Two\n");
    // The note of a cut outline is longer than these headings.
    let wide = page.outline(page.all_lines(), 60);
    assert_eq!((wide.text.as_str(), wide.missing), (whole.as_str(), 0));
    let narrow = page.outline(page.all_lines(), 10);
    assert_eq!(narrow.missing, 2);
}

#[test]
fn deep_wrapper_chain_does_not_overflow_the_stack() {
    let mut page = String::from("page \"P\" http://h/\n");
    for depth in 1..=3_000 {
        writeln!(page, "{}generic", "  ".repeat(depth)).expect("a String");
    }
    let indent = "  ".repeat(3_001);
    writeln!(page, "{indent}heading \"Deep\"* level=1").expect("a String");
    let mut nested = String::from("page \"P\" http://h/\n");
    for depth in 1..=1_500 {
        let indent = "  ".repeat(depth);
        writeln!(nested, "{indent}text \"a{depth}\"\n{indent}group").expect("a String");
    }
    for (input, said) in [(page, "# Deep\n"), (nested, "a1499 a1500\n")] {
        let text = read(&input, "read --max-bytes 1000000");
        assert!(text.ends_with(said), "{}", &text[text.len().saturating_sub(200)..]);
    }
}

#[test]
fn long_line_is_cut_rather_than_omitted() {
    let words = "many words of a page that has one line only ".repeat(200);
    let input = format!("page \"P\" http://h/\n  paragraph\n    text \"{words}\"\n");
    let text = read(&input, "read --max-bytes 1000");
    assert!(
        text.starts_with("many words")
            && text.contains("…\n\n[… 1 more line, the total is 8800 bytes: --max-bytes 9000]"),
        "{text}"
    );
    assert!((800..=1_000).contains(&text.len()), "{}", text.len());
}

#[test]
fn missing_section_error_lists_nearest_headings() {
    let tree =
        testing::tree("page \"P\" http://h/\n  heading \"Install\"* level=1\n  heading \"Usage\"* level=2");
    let page = Markdown::of(&tree, NodeId::ROOT);
    let Err(SectionError::None(near)) = page.section("Instal notes") else { panic!("found") };
    assert_eq!(near[0].title, "Install");
    let Err(SectionError::None(near)) = page.section("") else { panic!("found") };
    assert_eq!(near.len(), 2);
}

/// Returns whether a line is one that an app must not be able to write: everything that would be
/// read as structure.
fn is_ours(line: &str) -> bool {
    let line = line.trim_start_matches("  ");
    ["# ", "- ", "> ", "|", "```", "---", "[", ": ", "1. ", "<a", "</", "<!", "* "]
        .iter()
        .any(|start| line.starts_with(start))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// A paragraph remains one line of text, whatever its words.
    #[test]
    fn paragraph_makes_no_structure(words in prop::collection::vec("[-#>|`\\[\\]*_~+=:<!&1. a\n\u{202e}]{0,6}", 1..5)) {
        let mut builder = crate::TreeBuilder::new(crate::IdentityGrade::NeverReused);
        let document = crate::Document { scope: 1, frame: String::new(), url: "http://h/".into(), title: "P".into() };
        builder.document(0, document, 1).expect("a root");
        let paragraph = crate::NodeSpec { role: Some(crate::Role::Paragraph), id: 2, ..Default::default() };
        builder.node(1, paragraph).expect("fits");
        for word in &words {
            let leaf = crate::NodeSpec { role: Some(crate::Role::Text), name: word, ..Default::default() };
            builder.node(2, leaf).expect("fits");
        }
        let tree = builder.finish().expect("a tree");
        let page = Markdown::of(&tree, NodeId::ROOT);
        let text = page.text(page.all_lines(), 10_000).text;
        prop_assert!(text.lines().count() <= 1, "{text}");
        prop_assert!(!text.lines().any(is_ours), "{text}");
        let hidden = text.contains('\u{202e}');
        prop_assert!(!hidden, "{text}");
    }
}
