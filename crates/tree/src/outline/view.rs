//! What a plan is made for: which part of a tree, and what the session knows besides.

use crate::NodeId;

/// Bound of the text unless another is asked for, in bytes.
pub const DEFAULT_MAX_BYTES: usize = 24_000;

/// Which part of a tree is shown, and how much of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// `-i`: what is needed to choose an action.
    pub interactive: bool,
    /// `-d`: levels shown.
    pub depth: Option<usize>,
    /// `-s`: only this subtree.
    pub scope: Option<NodeId>,
    /// `--all`: neither runs nor the text are cut.
    pub all: bool,
    /// `--raw`: every node, without distilling.
    pub raw: bool,
    /// Bound of the text in bytes, header included.
    pub max_bytes: usize,
    /// How many digits a ref may have: the bound is applied before the numbers are known.
    pub ref_digits: usize,
}

impl Default for View {
    fn default() -> Self {
        Self {
            interactive: false,
            depth: None,
            scope: None,
            all: false,
            raw: false,
            max_bytes: DEFAULT_MAX_BYTES,
            ref_digits: 5,
        }
    }
}

/// What a plan asks of those who know more than the tree.
pub struct Cues<'a> {
    /// Whether a ref of this node was issued and stands: its row is not cut away.
    pub held: &'a dyn Fn(NodeId) -> bool,
    /// The shortest text that tells its row from the sibling rows.
    pub telling: &'a dyn Fn(NodeId) -> Option<String>,
}

impl Cues<'_> {
    /// Nothing is held, nothing is told apart.
    pub const NONE: Cues<'static> = Cues { held: &|_| false, telling: &|_| None };
}

/// A text in lower case, its white space collapsed.
pub(crate) fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}
