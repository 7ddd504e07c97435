//! The draft of an outline: a tree with a fate for every node, which the passes change.

use crate::{NodeId, NodeRef, Tree};
use hashbrown::HashMap;

/// How a view displays a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The node has a line.
    Show,
    /// The node has no line; its children move up.
    Fold,
    /// Neither the node nor its descendants have a line.
    Drop,
}

/// A node with a line, and its position among the lines.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DraftLine<'t> {
    pub(crate) node: NodeRef<'t>,
    /// The indentation level, from 0.
    pub(crate) depth: usize,
    /// The index of the parent line; `None` at the top level.
    pub(crate) parent: Option<usize>,
    /// The index of the previous line with the same parent.
    pub(crate) before: Option<usize>,
    /// The number of direct child lines. The first of them is the next line.
    pub(crate) children: usize,
}

/// A tree with the fates of its nodes.
#[derive(Debug)]
pub(crate) struct Draft<'t> {
    pub(crate) tree: &'t Tree,
    pub(super) fate: Vec<Fate>,
    /// The labels that are printed instead of names.
    label: HashMap<NodeId, String>,
    /// The number of buttons without a line, per folded toolbar.
    folded: HashMap<NodeId, usize>,
    /// A buffer for lines, reused because every pass needs the lines, and those of a large page
    /// take megabytes.
    line_buffer: Vec<DraftLine<'t>>,
    start: usize,
    end: usize,
}

impl<'t> Draft<'t> {
    /// Creates a draft in which everything in the scope is shown, except for the top document.
    pub(crate) fn raw(tree: &'t Tree, scope: Option<NodeId>) -> Self {
        let root = tree.node(scope.unwrap_or(NodeId::ROOT));
        let mut fate = vec![Fate::Show; tree.len()];
        fate[NodeId::ROOT.index()] = Fate::Fold;
        let (start, end) = (root.id().index(), root.subtree_end().index());
        Self {
            tree,
            fate,
            label: HashMap::new(),
            folded: HashMap::new(),
            line_buffer: Vec::new(),
            start,
            end,
        }
    }

    /// Returns whether a node is the scope of a view that does not show the whole tree.
    pub(super) fn is_scope(&self, node: NodeRef<'_>) -> bool {
        self.start > 0 && node.id().index() == self.start
    }

    /// Returns how many of a toolbar's buttons the view leaves out.
    pub(crate) fn folded(&self, node: NodeRef<'_>) -> usize {
        self.folded.get(&node.id()).copied().unwrap_or(0)
    }

    pub(super) fn set_folded(&mut self, toolbar: NodeRef<'_>, buttons: usize) {
        self.folded.insert(toolbar.id(), buttons);
    }

    /// Returns whether a node is dropped with all of its descendants.
    pub(crate) fn drops(&self, node: NodeRef<'_>) -> bool {
        self.fate[node.id().index()] == Fate::Drop
    }

    /// Returns the number of nodes in the scope.
    pub(crate) fn total(&self) -> usize {
        self.end - self.start
    }

    /// Returns the nodes in the scope that are neither dropped nor below a dropped node.
    pub(super) fn nodes(&self) -> impl Iterator<Item = NodeRef<'t>> {
        let tree = self.tree;
        let mut next = self.start;
        std::iter::from_fn(move || {
            while next < self.end {
                let node = tree.node(NodeId(u32::try_from(next).expect("node positions are u32")));
                if self.fate[next] == Fate::Drop {
                    next = node.subtree_end().index();
                } else {
                    next += 1;
                    return Some(node);
                }
            }
            None
        })
    }

    /// Returns whether a node has a dropped ancestor in the scope.
    pub(super) fn is_dropped(&self, node: NodeRef<'_>) -> bool {
        node.ancestors().take_while(|n| n.id().index() >= self.start).any(|n| self.drops(n))
    }

    pub(super) fn fate_of(&self, node: NodeRef<'_>) -> Fate {
        self.fate[node.id().index()]
    }

    pub(super) fn shows(&self, node: NodeRef<'_>) -> bool {
        self.fate_of(node) == Fate::Show
    }

    pub(super) fn fold(&mut self, node: NodeRef<'_>) {
        self.fate[node.id().index()] = Fate::Fold;
    }

    pub(super) fn drop(&mut self, node: NodeRef<'_>) {
        self.fate[node.id().index()] = Fate::Drop;
    }

    pub(super) fn show(&mut self, node: NodeRef<'_>) {
        self.fate[node.id().index()] = Fate::Show;
    }

    /// Returns the text between the quotes of the node's line.
    pub(crate) fn label<'s>(&'s self, node: NodeRef<'t>) -> &'s str {
        self.label.get(&node.id()).map_or_else(|| node.name(), String::as_str)
    }

    pub(super) fn set_label(&mut self, node: NodeRef<'_>, label: String) {
        self.label.insert(node.id(), label);
    }

    /// Passes the current lines, in order, to a pass. The changes that the pass makes show in the
    /// lines of the next pass.
    pub(super) fn with_lines(&mut self, pass: impl FnOnce(&mut Self, &[DraftLine<'t>])) {
        let lines = self.lines();
        pass(self, &lines);
        self.line_buffer = lines;
    }

    /// Returns the current lines, in order.
    pub(crate) fn lines(&mut self) -> Vec<DraftLine<'t>> {
        let shown_count = self.fate[self.start..self.end].iter().filter(|f| **f == Fate::Show).count();
        let mut lines = std::mem::take(&mut self.line_buffer);
        lines.clear();
        lines.reserve(shown_count);
        // Open lines as (first position after the subtree, line, line of the last child).
        let mut open: Vec<(NodeId, usize, Option<usize>)> = Vec::new();
        let mut top = None;
        for node in self.nodes().filter(|&n| self.shows(n)) {
            while open.last().is_some_and(|&(end, ..)| end <= node.id()) {
                open.pop();
            }
            let at = lines.len();
            let depth = open.len();
            let (parent, before) = match open.last_mut() {
                Some((_, parent, last)) => (Some(*parent), last.replace(at)),
                None => (None, top.replace(at)),
            };
            if let Some(parent) = parent {
                lines[parent].children += 1;
            }
            lines.push(DraftLine { node, depth, parent, before, children: 0 });
            open.push((node.subtree_end(), at, None));
        }
        lines
    }
}
