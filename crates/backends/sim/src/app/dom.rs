//! The document of a running app. Nodes keep their identity across renderings, as in a browser or a
//! toolkit.

use super::eval::Env;
use super::expr::Expr;
use super::view::Element;
use super::vocabulary::Prop;
use crate::roles::{Flow, Kind};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use stickpin_tree::{Attr, Document, Role, States};

/// Identifies a node across renderings by its view line and loop iteration.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) tpl: u32,
    /// The keys or positions of the loop iterations between this node and its parent, and how often
    /// the parent's children have been replaced.
    pub(crate) part: Arc<str>,
}

/// The properties that layout, drawing, hit tests and captures need.
#[derive(Debug, Clone, PartialEq, Default)]
#[allow(clippy::struct_excessive_bools, reason = "independent flags of the view language")]
pub(crate) struct Style {
    pub(crate) flow: Flow,
    pub(crate) width: Option<i64>,
    pub(crate) height: Option<i64>,
    /// The position in the viewport, above the flow.
    pub(crate) fixed: Option<(i64, i64)>,
    /// The position relative to the top of the parent, outside the flow (rows of virtual lists).
    pub(crate) top: Option<i64>,
    pub(crate) scroll: bool,
    pub(crate) ghost: bool,
    pub(crate) clear: bool,
    pub(crate) inert: bool,
    pub(crate) hidden: bool,
}

/// A node. Nodes are stored in document order.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    /// The node's identity; 0 until the node has been compared with the previous rendering.
    pub(crate) id: u64,
    /// A number that, unlike `id`, is never reused, whatever the identity grade. It is not visible
    /// outside the device.
    pub(crate) serial: u64,
    pub(crate) parent: usize,
    /// The first position after the node's subtree.
    pub(crate) end: usize,
    pub(crate) depth: usize,
    pub(crate) key: Key,
    pub(crate) kind: &'static Kind,
    pub(crate) role: Role,
    pub(crate) level: u8,
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) states: States,
    pub(crate) attrs: Vec<(Attr, String)>,
    pub(crate) style: Style,
    /// The view line that produced the node and contains its handlers; `None` for text leaves and
    /// generated nodes.
    pub(crate) element: Option<Arc<Element>>,
    pub(crate) env: Env,
    pub(crate) mark: String,
    /// The element's record and control in the app's terms. Used in the log, never in captures.
    pub(crate) truth: String,
    /// The document that begins at the node; `None` for other nodes.
    pub(crate) document: Option<Box<Document>>,
}

impl Node {
    /// Returns the expression of a property in the node's view line.
    pub(crate) fn prop(&self, prop: Prop) -> Option<&Expr> {
        self.element.as_ref()?.prop(prop)
    }

    pub(crate) fn is_text(&self) -> bool {
        self.role == Role::Text
    }

    /// Returns whether both nodes are captured and laid out identically.
    fn reads_as(&self, other: &Self) -> bool {
        self.id == other.id
            && self.depth == other.depth
            && self.role == other.role
            && self.name == other.name
            && self.value == other.value
            && self.states == other.states
            && self.level == other.level
            && self.attrs == other.attrs
            && self.style == other.style
            && self.document == other.document
    }
}

/// All nodes of one tab.
#[derive(Debug, Clone, Default)]
pub(crate) struct Dom {
    pub(crate) nodes: Vec<Node>,
    index: HashMap<u64, usize>,
}

/// Assigns identities.
#[derive(Debug)]
pub(crate) struct IdentityAllocator {
    next: u64,
    /// The ids of removed nodes in order of removal, each with the rendering that removed the node.
    removed: VecDeque<(u64, u64)>,
    /// The number of renderings after which the id of a removed node is reused; `None` if ids are
    /// never reused. Only renderings that add or remove nodes count.
    reuse_after: Option<u64>,
    renderings: u64,
    next_scope: u64,
    next_serial: u64,
}

impl IdentityAllocator {
    pub(crate) fn new(rest: Option<u64>) -> Self {
        Self {
            next: 1,
            removed: VecDeque::new(),
            reuse_after: rest,
            renderings: 0,
            next_scope: 1,
            next_serial: 1,
        }
    }

    fn id(&mut self) -> u64 {
        let rested =
            |(_, since): &(u64, u64)| self.reuse_after.is_some_and(|rest| since + rest <= self.renderings);
        if self.removed.front().is_some_and(rested)
            && let Some((id, _)) = self.removed.pop_front()
        {
            return id;
        }
        self.next += 1;
        self.next - 1
    }

    fn next_serial(&mut self) -> u64 {
        self.next_serial += 1;
        self.next_serial - 1
    }

    /// Returns a number for a new document.
    pub(crate) fn scope(&mut self) -> u64 {
        self.next_scope += 1;
        self.next_scope - 1
    }
}

impl Dom {
    /// Creates a rendering whose nodes have no identity yet.
    pub(crate) fn without_identities(nodes: Vec<Node>) -> Self {
        Self { nodes, index: HashMap::new() }
    }

    /// Returns the children of a node.
    pub(crate) fn children(&self, of: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.nodes[of].end;
        let mut next = of + 1;
        std::iter::from_fn(move || {
            (next < end).then(|| {
                let child = next;
                next = self.nodes[child].end;
                child
            })
        })
    }

    /// Returns the ancestors, from the parent to the root.
    pub(crate) fn ancestors(&self, of: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(of), |&i| (i != 0).then(|| self.nodes[i].parent)).skip(1)
    }

    /// Returns the node itself, then its ancestors.
    pub(crate) fn path(&self, of: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::once(of).chain(self.ancestors(of))
    }

    pub(crate) fn contains(&self, outer: usize, inner: usize) -> bool {
        inner >= outer && inner < self.nodes[outer].end
    }

    pub(crate) fn find(&self, id: u64) -> Option<usize> {
        self.index.get(&id).copied()
    }

    /// Returns the element with a mark.
    pub(crate) fn find_by_mark(&self, mark: &str) -> Option<usize> {
        (!mark.is_empty()).then(|| self.nodes.iter().position(|n| n.mark == mark)).flatten()
    }

    /// Returns the document of a node.
    pub(crate) fn document(&self, of: usize) -> &Document {
        self.path(of).find_map(|i| self.nodes[i].document.as_deref()).expect("the root is a document")
    }

    /// Returns the texts of a node's subtree that are not hidden, separated by spaces.
    pub(crate) fn text(&self, of: usize) -> String {
        let texts = self.nodes[of..self.nodes[of].end].iter().filter(|n| n.is_text() && !n.style.hidden);
        let mut out = String::new();
        for leaf in texts {
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(&leaf.name);
        }
        out
    }

    /// Removes a subtree.
    pub(crate) fn remove(&mut self, at: usize) {
        let (end, len) = (self.nodes[at].end, self.nodes[at].end - at);
        self.nodes.drain(at..end);
        for (i, node) in self.nodes.iter_mut().enumerate() {
            if node.parent >= end {
                node.parent -= len;
            }
            if node.end >= end && (i < at || node.end > end) {
                node.end -= len;
            }
        }
    }

    /// Inserts a node without children as the first child of the root.
    pub(crate) fn insert_first(&mut self, mut node: Node) {
        if self.nodes.is_empty() {
            return;
        }
        for old in &mut self.nodes {
            old.end += 1;
            if old.parent > 0 {
                old.parent += 1;
            }
        }
        (node.parent, node.depth, node.end) = (0, 1, 2);
        self.nodes.insert(1, node);
    }

    /// Assigns an identity to every node of a new rendering: that of the matching old node, or a
    /// new one.
    pub(crate) fn assign_identities(mut self, old: &Dom, ids: &mut IdentityAllocator) -> Dom {
        let same_document = match (old.nodes.first(), self.nodes.first()) {
            (Some(a), Some(b)) => {
                a.document.as_ref().map(|d| d.scope) == b.document.as_ref().map(|d| d.scope)
            }
            _ => false,
        };
        let mut kept = vec![false; old.nodes.len()];
        let mut pairs = vec![None; self.nodes.len()];
        if same_document {
            pairs[0] = Some(0);
            for at in 0..self.nodes.len() {
                let Some(old_at) = pairs[at] else { continue };
                kept[old_at] = true;
                // Nodes with equal keys keep their order: `pop` takes the first child from the
                // reversed list.
                let mut by_key: HashMap<&Key, Vec<usize>> = HashMap::new();
                let children: Vec<usize> = old.children(old_at).collect();
                for child in children.into_iter().rev() {
                    by_key.entry(&old.nodes[child].key).or_default().push(child);
                }
                for child in self.children(at) {
                    pairs[child] = by_key.get_mut(&self.nodes[child].key).and_then(Vec::pop);
                }
            }
        }
        if kept.contains(&false) || pairs.contains(&None) {
            ids.renderings += 1;
        }
        if ids.reuse_after.is_some() {
            let removed = old.nodes.iter().zip(&kept).filter(|(_, kept)| !**kept).map(|(n, _)| n.id);
            ids.removed.extend(removed.map(|id| (id, ids.renderings)));
        }
        for (at, pair) in pairs.into_iter().enumerate() {
            let kept = pair.map(|p| (old.nodes[p].id, old.nodes[p].serial));
            (self.nodes[at].id, self.nodes[at].serial) =
                kept.unwrap_or_else(|| (ids.id(), ids.next_serial()));
            if at > 0
                && let Some(document) = &mut self.nodes[at].document
            {
                let before = pair.and_then(|p| old.nodes[p].document.as_ref());
                document.scope = before.map_or_else(|| ids.scope(), |d| d.scope);
            }
        }
        self.index = self.nodes.iter().enumerate().map(|(at, n)| (n.id, at)).collect();
        self
    }

    /// Returns whether both documents are captured and laid out identically.
    pub(crate) fn reads_as(&self, other: &Self) -> bool {
        self.nodes.len() == other.nodes.len()
            && self.nodes.iter().zip(&other.nodes).all(|(a, b)| a.reads_as(b))
    }
}
