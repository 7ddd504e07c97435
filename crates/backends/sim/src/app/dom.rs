//! The document of a running app: nodes with identity, kept over renderings as a browser or a toolkit keeps them.

use super::eval::Env;
use super::expr::Expr;
use super::view::Element;
use super::words::Prop;
use crate::roles::{Flow, Kind};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use stickpin_tree::{Attr, Document, Role, States};

/// What decides whether a node of the next rendering is this one: the line of the view, and which repetition.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) tpl: u32,
    /// Keys or positions of the loops between this node and its parent, and how often the parent was rendered anew.
    pub(crate) part: Arc<str>,
}

/// What layout needs to know.
#[derive(Debug, Clone, PartialEq, Default)]
#[allow(clippy::struct_excessive_bools, reason = "independent flags of the view language")]
pub(crate) struct Style {
    pub(crate) flow: Flow,
    pub(crate) width: Option<i64>,
    pub(crate) height: Option<i64>,
    /// Place in the viewport, on top of the flow.
    pub(crate) fixed: Option<(i64, i64)>,
    /// Place below the top of the parent, out of the flow (rows of virtual lists).
    pub(crate) top: Option<i64>,
    pub(crate) scroll: bool,
    pub(crate) ghost: bool,
    pub(crate) clear: bool,
    pub(crate) inert: bool,
    pub(crate) hidden: bool,
}

/// One node. Nodes lie in document order.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    /// Its identity; 0 until it was compared with the rendering before.
    pub(crate) id: u64,
    /// Which node it is, on every device: unlike `id`, never used again. Nothing outside sees it.
    pub(crate) serial: u64,
    pub(crate) parent: usize,
    /// First position after its subtree.
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
    /// The line of the view, for handlers; none for text leaves and what is made up.
    pub(crate) element: Option<Arc<Element>>,
    pub(crate) env: Env,
    pub(crate) mark: String,
    /// What this element is to the app: which record and which of its controls. For the log, never for captures.
    pub(crate) truth: String,
    /// Of document nodes.
    pub(crate) document: Option<Box<Document>>,
}

impl Node {
    /// What its line in the view says.
    pub(crate) fn prop(&self, prop: Prop) -> Option<&Expr> {
        self.element.as_ref()?.prop(prop)
    }

    pub(crate) fn is_text(&self) -> bool {
        self.role == Role::Text
    }

    /// Whether a capture would report the same.
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

/// Hands out identities.
#[derive(Debug)]
pub(crate) struct Ids {
    next: u64,
    /// Numbers of nodes that are gone, in the order in which they went, with the rendering that took them.
    gone: VecDeque<(u64, u64)>,
    /// How many renderings a number rests before it is used again; none: for ever.
    rest: Option<u64>,
    renderings: u64,
    next_scope: u64,
    next_serial: u64,
}

impl Ids {
    pub(crate) fn new(rest: Option<u64>) -> Self {
        Self { next: 1, gone: VecDeque::new(), rest, renderings: 0, next_scope: 1, next_serial: 1 }
    }

    fn id(&mut self) -> u64 {
        let rested = |(_, since): &(u64, u64)| self.rest.is_some_and(|rest| since + rest <= self.renderings);
        if self.gone.front().is_some_and(rested)
            && let Some((id, _)) = self.gone.pop_front()
        {
            return id;
        }
        self.next += 1;
        self.next - 1
    }

    fn serial(&mut self) -> u64 {
        self.next_serial += 1;
        self.next_serial - 1
    }

    /// A number for a new document.
    pub(crate) fn scope(&mut self) -> u64 {
        self.next_scope += 1;
        self.next_scope - 1
    }
}

impl Dom {
    /// A rendering whose nodes have no identity yet.
    pub(crate) fn unnamed(nodes: Vec<Node>) -> Self {
        Self { nodes, index: HashMap::new() }
    }

    /// The children of a node.
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

    /// From the parent up to the root.
    pub(crate) fn ancestors(&self, of: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(of), |&i| (i != 0).then(|| self.nodes[i].parent)).skip(1)
    }

    /// Itself, then its ancestors.
    pub(crate) fn path(&self, of: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::once(of).chain(self.ancestors(of))
    }

    pub(crate) fn contains(&self, outer: usize, inner: usize) -> bool {
        inner >= outer && inner < self.nodes[outer].end
    }

    pub(crate) fn find(&self, id: u64) -> Option<usize> {
        self.index.get(&id).copied()
    }

    /// The element with a mark.
    pub(crate) fn marked(&self, mark: &str) -> Option<usize> {
        (!mark.is_empty()).then(|| self.nodes.iter().position(|n| n.mark == mark)).flatten()
    }

    /// The document that a node lives in.
    pub(crate) fn document(&self, of: usize) -> &Document {
        self.path(of).find_map(|i| self.nodes[i].document.as_deref()).expect("the root is a document")
    }

    /// The text below a node, as a person would read it in one line.
    pub(crate) fn text(&self, of: usize) -> String {
        let leaves = self.nodes[of..self.nodes[of].end].iter().filter(|n| n.is_text() && !n.style.hidden);
        let mut out = String::new();
        for leaf in leaves {
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(&leaf.name);
        }
        out
    }

    /// Takes a subtree out of a rendering.
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

    /// Puts a node without children before all others below the root.
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

    /// Gives every node of a new rendering its identity: that of the old node at the same place, or a new one.
    pub(crate) fn adopt(mut self, old: &Dom, ids: &mut Ids) -> Dom {
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
                // Equal keys keep their order: the last of the reversed children is the first one.
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
        if ids.rest.is_some() {
            let gone = old.nodes.iter().zip(&kept).filter(|(_, kept)| !**kept).map(|(n, _)| n.id);
            ids.gone.extend(gone.map(|id| (id, ids.renderings)));
        }
        for (at, pair) in pairs.into_iter().enumerate() {
            let kept = pair.map(|p| (old.nodes[p].id, old.nodes[p].serial));
            (self.nodes[at].id, self.nodes[at].serial) = kept.unwrap_or_else(|| (ids.id(), ids.serial()));
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

    /// Whether captures of both would be equal.
    pub(crate) fn reads_as(&self, other: &Self) -> bool {
        self.nodes.len() == other.nodes.len()
            && self.nodes.iter().zip(&other.nodes).all(|(a, b)| a.reads_as(b))
    }
}
