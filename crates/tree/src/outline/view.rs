//! The input of a plan: the part of a tree to show, and what the session knows.

use crate::NodeId;

/// The default size limit of the text, in bytes.
pub const DEFAULT_MAX_BYTES: usize = 24_000;

/// The part of a tree to show, and the amount of detail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// `-i`: show what is needed to choose an action.
    pub interactive: bool,
    /// `-d`: the number of levels shown.
    pub depth: Option<usize>,
    /// `-s`: show only this subtree.
    pub scope: Option<NodeId>,
    /// `--all`: cut neither runs nor the text, and fold no toolbars.
    pub all: bool,
    /// `--raw`: show every node, without distilling.
    pub raw: bool,
    /// The size limit of the text in bytes, including the header. Ignored when `all` is set.
    /// Notes about what was omitted may exceed a small limit.
    pub max_bytes: usize,
    /// The number of digits to reserve for a ref, because the limit is applied before the numbers
    /// are known.
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

/// The callbacks through which a plan queries its caller.
pub struct OutlineQueries<'a> {
    /// Whether a ref to this node was issued and still holds; its row must then not be cut.
    pub has_live_ref: &'a dyn Fn(NodeId) -> bool,
    /// The shortest text that distinguishes the node's row from its sibling rows.
    pub distinguishing_text: &'a dyn Fn(NodeId) -> Option<String>,
}

impl OutlineQueries<'_> {
    /// The answers for a session without refs and without rows to distinguish.
    pub const NONE: OutlineQueries<'static> =
        OutlineQueries { has_live_ref: &|_| false, distinguishing_text: &|_| None };
}

/// Converts a text to lower case and collapses its white space.
pub(crate) fn normalize_text(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}
