//! The distilling passes, in their order. Each is one small file with one promise, and changes fates and labels
//! only: what is not printed can still be found, and old refs still resolve.
//!
//! To add one: a file here, a line in [`ALL`], two small outlines in its tests.

mod clickable;
mod generic;
mod hidden;
mod labels;
mod lift_text;
mod merge_text;
mod names;
mod presentational;
mod punctuation;
mod rows;
mod said_beside;
mod single_child;

use super::sketch::Sketch;

/// Every pass, in order: later ones see what earlier ones left.
pub(super) const ALL: &[fn(&mut Sketch<'_>)] = &[
    hidden::apply,
    presentational::apply,
    generic::apply,
    clickable::apply,
    labels::apply,
    names::apply,
    merge_text::apply,
    punctuation::apply,
    said_beside::apply,
    lift_text::apply,
    single_child::apply,
    rows::apply,
];

/// Those that Markdown needs: it has marks of its own for what the others take away.
pub(super) const FOR_READING: &[fn(&mut Sketch<'_>)] =
    &[hidden::apply, generic::apply, labels::apply, said_beside::apply];

/// Whether two lines that say the same are one too many.
fn says_the_same(text: &str, name: &str) -> bool {
    bare(text) == bare(name)
}

/// A text without its decoration, a trailing colon or asterisk. Where it is nothing else, that is what it says.
fn bare(text: &str) -> &str {
    let bare = text.trim_end_matches([':', '*', ' ']);
    if bare.is_empty() { text } else { bare }
}

/// Every text leaf below a node, joined as it is read.
fn text_of(node: crate::NodeRef<'_>) -> String {
    let mut out = String::new();
    for leaf in node.subtree().filter(|n| n.is_text()) {
        join(&mut out, leaf.name());
    }
    out
}

/// Appends a text with a space between, but none before what closes a phrase.
fn join(out: &mut String, text: &str) {
    if !out.is_empty() && !text.starts_with(['.', ',', ';', ':', '!', '?', ')', ']', '%', '…']) {
        out.push(' ');
    }
    out.push_str(text);
}

#[cfg(test)]
mod testing {
    use super::super::line::{Style, describe};
    use super::super::sketch::Sketch;

    /// The outline after all passes up to `last`, without refs.
    pub(super) fn after(last: fn(&mut Sketch<'_>), text: &str) -> String {
        let tree = crate::testing::tree(text);
        let mut sketch = Sketch::raw(&tree, None);
        for pass in super::ALL {
            pass(&mut sketch);
            if std::ptr::fn_addr_eq(*pass, last) {
                break;
            }
        }
        let mut out = String::new();
        for line in sketch.lines() {
            out.push('\n');
            out.extend(std::iter::repeat_n("  ", line.depth));
            describe(&mut out, line.node, sketch.label(line.node), Style::Full);
        }
        out
    }
}
