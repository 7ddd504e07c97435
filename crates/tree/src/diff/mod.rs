//! What changed between two captures, as lines: `+` came, `-` went, `~` reads otherwise now.
//!
//! Both trees are distilled as for the full view, because a text that changes matters to somebody who reads with
//! `-i`, too. Which nodes are the same element is the caller's knowledge (handles, the ref table); lines without an
//! identity of their own (texts, and elements that were never issued) are paired by what they say and where they
//! stand. As with outlines, the lines are settled first, so that refs are issued only for what is printed.
//!
//! Specification: `refs.md` 8, `commands.md` "Acting".

mod align;
mod pairs;
mod plan;
#[cfg(test)]
mod tests;

use crate::outline::View;
use crate::{NodeId, Tree};
pub use pairs::pairs;
use plan::Line;

/// What a diff asks of those who know more than the trees.
pub struct DiffCues<'a> {
    /// Whether a ref of this node of the *old* tree was issued: then only the caller's pairs say where it went.
    pub issued: &'a dyn Fn(NodeId) -> bool,
    /// Whether that ref does not stand for a node of the *new* tree, which the caller pairs it with (old, new): what
    /// stayed for a reader has another number now.
    pub renumbered: &'a dyn Fn(NodeId, NodeId) -> bool,
}

impl DiffCues<'_> {
    /// Nothing was issued.
    pub const NONE: DiffCues<'static> = DiffCues { issued: &|_| false, renumbered: &|_, _| false };
}

/// The lines that differ between two trees.
#[derive(Debug)]
pub struct Diff<'t> {
    old: &'t Tree,
    new: &'t Tree,
    lines: Vec<Line>,
    /// Lines that had no room.
    beyond: usize,
    runs_cut: bool,
    page_changed: bool,
    max_bytes: usize,
}

impl<'t> Diff<'t> {
    /// Compares two trees. `pairs` are the nodes (old, new) that are the same element. Of `view` counts what bounds
    /// the text: `all`, `max_bytes`, `ref_digits`; and `interactive`, which leaves out what `-i` does.
    #[must_use]
    pub fn between(
        old: &'t Tree,
        new: &'t Tree,
        pairs: &[(NodeId, NodeId)],
        view: &View,
        cues: &DiffCues<'_>,
    ) -> Self {
        let aligned = align::Aligned::new(old, new, pairs, view, cues);
        plan::plan(old, new, &aligned, view, cues)
    }

    /// Whether there is nothing to say.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.beyond == 0 && !self.page_changed
    }

    /// Whether every difference is printed, and both captures were complete. Only such a diff renews refs.
    #[must_use]
    pub fn complete(&self) -> bool {
        self.beyond == 0 && !self.runs_cut && !self.old.truncated() && !self.new.truncated()
    }
}
