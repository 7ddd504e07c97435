//! The distilling passes, in order. Each is one small file, does one thing, and changes only fates
//! and labels: nodes that are not printed can still be found, and old refs still resolve.
//!
//! To add a pass, add a file here, a line in [`ALL`], and two small outlines in its tests.

mod adjacent_label;
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
mod single_child;
mod text;

use super::draft::Draft;

/// All passes in order: later passes see the result of earlier ones.
pub(super) const ALL: &[fn(&mut Draft<'_>)] = &[
    hidden::apply,
    presentational::apply,
    generic::apply,
    clickable::apply,
    labels::apply,
    names::apply,
    merge_text::apply,
    punctuation::apply,
    adjacent_label::apply,
    lift_text::apply,
    single_child::apply,
    rows::apply,
];

/// The passes that Markdown needs. Markdown has its own marks for what the other passes remove.
pub(super) const FOR_READING: &[fn(&mut Draft<'_>)] =
    &[hidden::apply, generic::apply, labels::apply, adjacent_label::apply];

#[cfg(test)]
mod testing {
    use super::super::draft::Draft;
    use super::super::line::{Style, describe};

    /// Returns the outline after all passes up to `last`, without refs.
    pub(super) fn outline_after(last: fn(&mut Draft<'_>), text: &str) -> String {
        let tree = crate::testing::tree(text);
        let mut draft = Draft::raw(&tree, None);
        for pass in super::ALL {
            pass(&mut draft);
            if std::ptr::fn_addr_eq(*pass, last) {
                break;
            }
        }
        let mut out = String::new();
        for line in draft.lines() {
            out.push('\n');
            out.extend(std::iter::repeat_n("  ", line.depth));
            describe(&mut out, line.node, draft.label(line.node), Style::Full);
        }
        out
    }
}
