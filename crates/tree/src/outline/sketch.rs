//! A tree with a fate for every node: what the passes work on.

use crate::{NodeId, NodeRef, Tree};
use hashbrown::HashMap;

/// What becomes of a node in a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It has a line.
    Show,
    /// It has none; its children move up.
    Fold,
    /// It has none, nor has anything below.
    Drop,
}

/// A node with a line, and where it stands among the lines.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shown<'t> {
    pub(crate) node: NodeRef<'t>,
    /// Its level, from 0.
    pub(crate) depth: usize,
    /// The line that it stands under, as a position among the lines.
    pub(crate) parent: Option<usize>,
    /// The line before it under the same parent.
    pub(crate) before: Option<usize>,
    /// How many lines stand directly under it. The first of them is the next line.
    pub(crate) children: usize,
}

/// The tree with the fates.
#[derive(Debug)]
pub(crate) struct Sketch<'t> {
    pub(crate) tree: &'t Tree,
    pub(super) fate: Vec<Fate>,
    /// What is printed in the place of the name.
    label: HashMap<NodeId, String>,
    /// How many buttons of a toolbar have no line.
    folded: HashMap<NodeId, usize>,
    /// The room of lines that were read. They are made for every pass, and of large pages they are megabytes.
    room: Vec<Shown<'t>>,
    start: usize,
    end: usize,
}

impl<'t> Sketch<'t> {
    /// Everything in the scope is shown, but the top document.
    pub(crate) fn raw(tree: &'t Tree, scope: Option<NodeId>) -> Self {
        let root = tree.node(scope.unwrap_or(NodeId::ROOT));
        let mut fate = vec![Fate::Show; tree.len()];
        fate[NodeId::ROOT.index()] = Fate::Fold;
        let (start, end) = (root.id().index(), root.subtree_end().index());
        Self { tree, fate, label: HashMap::new(), folded: HashMap::new(), room: Vec::new(), start, end }
    }

    /// Whether the view is of this part only.
    pub(super) fn is_scope(&self, node: NodeRef<'_>) -> bool {
        self.start > 0 && node.id().index() == self.start
    }

    /// How many buttons of a toolbar the view leaves out.
    pub(crate) fn folded(&self, node: NodeRef<'_>) -> usize {
        self.folded.get(&node.id()).copied().unwrap_or(0)
    }

    pub(super) fn set_folded(&mut self, toolbar: NodeRef<'_>, buttons: usize) {
        self.folded.insert(toolbar.id(), buttons);
    }

    /// Whether a node is dropped with all below.
    pub(crate) fn drops(&self, node: NodeRef<'_>) -> bool {
        self.fate[node.id().index()] == Fate::Drop
    }

    /// How many nodes the scope has.
    pub(crate) fn total(&self) -> usize {
        self.end - self.start
    }

    /// The nodes in the scope that are not dropped with something above them.
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

    /// Whether something above a node is dropped.
    pub(super) fn is_dropped(&self, node: NodeRef<'_>) -> bool {
        node.ancestors().take_while(|n| n.id().index() >= self.start).any(|n| self.drops(n))
    }

    pub(super) fn fate(&self, node: NodeRef<'_>) -> Fate {
        self.fate[node.id().index()]
    }

    pub(super) fn shows(&self, node: NodeRef<'_>) -> bool {
        self.fate(node) == Fate::Show
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

    /// What is printed between the quotes of its line.
    pub(crate) fn label<'s>(&'s self, node: NodeRef<'t>) -> &'s str {
        self.label.get(&node.id()).map_or_else(|| node.name(), String::as_str)
    }

    pub(super) fn set_label(&mut self, node: NodeRef<'_>, label: String) {
        self.label.insert(node.id(), label);
    }

    /// Lends a pass the lines as they are now, in order; what it changes shows in the next ones.
    pub(super) fn with_lines(&mut self, pass: impl FnOnce(&mut Self, &[Shown<'t>])) {
        let lines = self.lines();
        pass(self, &lines);
        self.room = lines;
    }

    /// The lines as they are now, in order, for whoever keeps them.
    pub(crate) fn lines(&mut self) -> Vec<Shown<'t>> {
        let most = self.fate[self.start..self.end].iter().filter(|f| **f == Fate::Show).count();
        let mut lines = std::mem::take(&mut self.room);
        lines.clear();
        lines.reserve(most);
        // Open lines: (first position after its subtree, its line, its last child's line).
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
            lines.push(Shown { node, depth, parent, before, children: 0 });
            open.push((node.subtree_end(), at, None));
        }
        lines
    }
}
