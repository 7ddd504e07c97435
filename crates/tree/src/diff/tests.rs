//! Diffs of pairs of small trees.

use super::{Diff, DiffQueries};
use crate::outline::View;
use crate::{NodeId, Tree, testing};
use stickpin_refs::Ref;

/// Pairs nodes by handle, as a session does.
fn pairs(old: &Tree, new: &Tree) -> Vec<(NodeId, NodeId)> {
    let index = old.handle_index();
    new.nodes().filter_map(|n| Some((*index.get(&n.handle()?)?, n.id()))).collect()
}

/// Returns refs that show the handle, so that the lines show which element is meant.
fn by_handle(tree: &Tree) -> impl Fn(NodeId) -> Option<Ref> {
    |id| Ref::new(u32::try_from(tree.node(id).address()?.id).expect("small"))
}

fn diff_text(diff: &Diff<'_>, old: &Tree, new: &Tree) -> String {
    let text = diff.render(&by_handle(new), &by_handle(old));
    assert_eq!(diff.is_empty(), text.is_empty());
    let said = if diff.is_complete() { "" } else { "(not complete)\n" };
    format!("{text}{said}")
}

#[test]
fn golden_files() {
    crate::golden::check(env!("CARGO_MANIFEST_DIR"), "diff", 7, &|input, command| {
        let (old, new) = input.split_once("--\n").expect("two trees");
        let (old, new) = (testing::tree(old), testing::tree(new));
        let max_bytes = command.split_once("--max-bytes ").map(|(_, n)| n.parse().expect("a number"));
        let view = View {
            interactive: command.contains("-i"),
            max_bytes: max_bytes.unwrap_or(crate::DEFAULT_MAX_BYTES),
            ..View::default()
        };
        let issued = command.contains("issued");
        // As a session pairs the documents of two pages: by their text, because handles do not
        // help.
        let alike =
            || old.nodes().zip(new.nodes()).filter(|(a, b)| a.name() == b.name() && a.role() == b.role());
        let pairs = match command.contains("paired") {
            true => alike().map(|(a, b)| (a.id(), b.id())).collect(),
            false => pairs(&old, &new),
        };
        let elsewhere = |a, b| issued && old.node(a).document().scope != new.node(b).document().scope;
        let queries = DiffQueries { issued: &|_| issued, renumbered: &elsewhere };
        diff_text(&Diff::between(&old, &new, &pairs, &view, &queries), &old, &new)
    });
}

#[test]
fn tree_does_not_differ_from_itself() {
    let (tree, again) = (testing::generate(5_000, 3), testing::generate(5_000, 3));
    let diff = Diff::between(&tree, &again, &pairs(&tree, &again), &View::default(), &DiffQueries::NONE);
    assert!(diff.is_empty() && diff.is_complete());
    // Nor without any identity.
    let diff = Diff::between(&tree, &again, &[], &View::default(), &DiffQueries::NONE);
    assert!(diff.is_empty() && diff.is_complete());
}

#[test]
fn cut_diff_is_incomplete_and_issues_only_printed_refs() {
    let (old, new) = (testing::generate(1_000, 3), testing::generate(3_000, 4));
    for max_bytes in [0, 200, 1_000, 24_000] {
        let view = View { max_bytes, ..View::default() };
        let diff = Diff::between(&old, &new, &[], &view, &DiffQueries::NONE);
        let text = diff.render(&|_| Ref::new(99_999), &|_| Ref::new(99_999));
        assert!(text.len() <= max_bytes.max(200), "{} of {max_bytes}", text.len());
        assert!(!diff.is_complete());
        let printed = text.lines().filter(|l| l.starts_with(['+', '~']) && l.contains("@e99999 ")).count();
        assert_eq!(diff.refs().len(), printed);
    }
}
