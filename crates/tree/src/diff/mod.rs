//! The differences between two captures, as lines: `+` for added, `-` for removed, `~` for changed.
//!
//! Both trees are distilled like outlines: for the full view, or for `-i` if the view is
//! interactive. The caller knows which nodes are the same element, from handles and the ref table.
//! Lines without identity are paired by their text and position: texts, and elements without an
//! issued ref. As with outlines, the lines are determined first, so that refs are issued only for
//! printed lines.

mod align;
mod pairs;
mod plan;
#[cfg(test)]
mod tests;

use crate::outline::View;
use crate::{NodeId, Tree};
pub use pairs::pairs;
use plan::DiffLine;

/// The callbacks through which a diff queries its caller.
pub struct DiffQueries<'a> {
    /// Whether a ref to this node of the *old* tree was issued. If so, only the caller's pairs
    /// determine where the node went.
    pub issued: &'a dyn Fn(NodeId) -> bool,
    /// Whether the ref of an old node, the first argument, differs from that of the paired node of
    /// the *new* tree, the second. The element then looks the same to a reader but has another
    /// number.
    pub renumbered: &'a dyn Fn(NodeId, NodeId) -> bool,
}

impl DiffQueries<'_> {
    /// The callbacks for a session in which no ref was issued.
    pub const NONE: DiffQueries<'static> = DiffQueries { issued: &|_| false, renumbered: &|_, _| false };
}

/// The lines that differ between two trees.
#[derive(Debug)]
pub struct Diff<'t> {
    old: &'t Tree,
    new: &'t Tree,
    lines: Vec<DiffLine>,
    /// The number of lines that did not fit into the size limit.
    omitted_lines: usize,
    runs_cut: bool,
    page_changed: bool,
    max_bytes: usize,
}

impl<'t> Diff<'t> {
    /// Compares two trees. `pairs` contains pairs of nodes that are the same element, the old node
    /// first. Only these fields of `view` count: `all`, `max_bytes` and `ref_digits`, which bound
    /// the text, and `interactive`, which omits what `-i` omits.
    #[must_use]
    pub fn between(
        old: &'t Tree,
        new: &'t Tree,
        pairs: &[(NodeId, NodeId)],
        view: &View,
        queries: &DiffQueries<'_>,
    ) -> Self {
        let aligned = align::AlignedOutlines::new(old, new, pairs, view, queries);
        plan::plan(old, new, &aligned, view, queries)
    }

    /// Returns whether there is no difference.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.omitted_lines == 0 && !self.page_changed
    }

    /// Returns whether both captures were complete and every difference is printed, although
    /// removed lines may be summarized. Only such a diff renews refs.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.omitted_lines == 0 && !self.runs_cut && !self.old.is_truncated() && !self.new.is_truncated()
    }
}
