//! Builds a tree from nodes that are pushed in document order with their depth.

use crate::model::node::{Attr, Document, Handle, IdentityGrade, NodeId, SurfaceId};
use crate::model::strings::{Interner, StrId, Strings};
use crate::model::tree::Node;
use crate::{Role, States, Tree};

/// One node as a device reports it.
#[derive(Debug, Clone, Copy, Default)]
pub struct NodeSpec<'a> {
    /// The role; `None` for a generic wrapper.
    pub role: Option<Role>,
    /// The accessible name, or the text of a text leaf. The builder collapses white space.
    pub name: &'a str,
    /// The value; leave it empty for secrets.
    pub value: &'a str,
    /// The platform's own name for the kind of element.
    pub tag: &'a str,
    /// The states of the node.
    pub states: States,
    /// The level of a heading, list item, tree item or row; 0 for none.
    pub level: u8,
    /// The id in the node's handle, within the scope of its document; 0 for none.
    pub id: u64,
    /// Rare attributes. The builder drops empty values.
    pub attrs: &'a [(Attr, &'a str)],
}

/// Why a tree could not be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// The first node is not a document at depth 0, a later node is at depth 0, or a node is more
    /// than one level deeper than its predecessor.
    #[error("node {node} is at an invalid depth: {depth}")]
    Depth {
        /// The position of the node in document order, from 0.
        node: usize,
        /// The depth of the node.
        depth: usize,
    },
    /// There are too many nodes or documents, or there is too much text.
    #[error("the tree is too large: {0}")]
    TooLarge(&'static str),
    /// No root was pushed.
    #[error("the tree is empty")]
    Empty,
}

/// Collects the nodes of one capture.
///
/// ```
/// use stickpin_tree::{Document, IdentityGrade, NodeSpec, Role, TreeBuilder};
/// let mut b = TreeBuilder::new(IdentityGrade::NeverReused);
/// let doc = Document { scope: 1, frame: String::new(), url: "/".into(), title: "Shop".into() };
/// b.document(0, doc, 1).unwrap();
/// let role = Some(Role::Button);
/// b.node(1, NodeSpec { role, name: " Buy  now ", id: 2, ..Default::default() }).unwrap();
/// let tree = b.finish().unwrap();
/// assert_eq!(tree.root().children().next().unwrap().name(), "Buy now");
/// ```
#[derive(Debug)]
pub struct TreeBuilder {
    tree: Tree,
    strings: Interner,
    /// The open ancestors, each with the index of its document.
    open: Vec<(NodeId, u16)>,
    scratch: String,
}

impl TreeBuilder {
    /// Creates an empty builder for a device whose handles promise `grade`.
    #[must_use]
    pub fn new(grade: IdentityGrade) -> Self {
        let tree = Tree {
            strings: Strings::default(),
            nodes: Vec::new(),
            attrs: Vec::new(),
            attributed: Vec::new(),
            documents: Vec::new(),
            hidden: Vec::new(),
            surface: SurfaceId::default(),
            grade,
            truncated: false,
        };
        Self { tree, strings: Interner::new(), open: Vec::new(), scratch: String::new() }
    }

    /// Reserves capacity for `nodes` more nodes.
    pub fn reserve(&mut self, nodes: usize) -> &mut Self {
        self.tree.nodes.reserve(nodes);
        self
    }

    /// Sets the captured surface.
    pub fn set_surface(&mut self, surface: SurfaceId) -> &mut Self {
        self.tree.surface = surface;
        self
    }

    /// Sets whether a limit truncated the capture.
    pub fn set_truncated(&mut self, truncated: bool) -> &mut Self {
        self.tree.truncated = truncated;
        self
    }

    /// Adds watched handles of elements that are in a document but not in the tree.
    pub fn add_hidden(&mut self, handles: impl IntoIterator<Item = Handle>) -> &mut Self {
        self.tree.hidden.extend(handles);
        self
    }

    /// Returns the number of nodes pushed.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tree.nodes.len()
    }

    /// Returns whether no node has been pushed yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Pushes a document: the root at depth 0, or a frame's document below the element that shows
    /// it.
    ///
    /// # Errors
    /// Returns [`TreeError::Depth`] if the depth does not fit, and [`TreeError::TooLarge`] if a
    /// limit is exceeded.
    pub fn document(&mut self, depth: usize, document: Document, id: u64) -> Result<NodeId, TreeError> {
        let index = u16::try_from(self.tree.documents.len())
            .map_err(|_| TreeError::TooLarge("too many documents"))?;
        let spec = NodeSpec { role: Some(Role::Document), name: &document.title, id, ..NodeSpec::default() };
        let node = self.push(depth, spec, Some(index))?;
        self.tree.documents.push(document);
        Ok(node)
    }

    /// Pushes an element or a text leaf. Depth 1 is directly below the root.
    ///
    /// # Errors
    /// Returns [`TreeError::Depth`] if the depth does not fit, and [`TreeError::TooLarge`] if a
    /// limit is exceeded.
    pub fn node(&mut self, depth: usize, spec: NodeSpec<'_>) -> Result<NodeId, TreeError> {
        self.push(depth, spec, None)
    }

    fn push(&mut self, depth: usize, spec: NodeSpec<'_>, document: Option<u16>) -> Result<NodeId, TreeError> {
        let node = self.len();
        let bad_depth = || TreeError::Depth { node, depth };
        let id = NodeId(u32::try_from(node).map_err(|_| TreeError::TooLarge("too many nodes"))?);
        if depth > self.open.len() || (depth == 0) != (node == 0) {
            return Err(bad_depth());
        }
        self.close(depth, id);
        let parent = self.open.last().copied();
        let doc = document.or(parent.map(|(_, d)| d)).ok_or_else(bad_depth)?;
        let role = spec.role.unwrap_or(Role::Generic);
        let name = self.collapsed(spec.name)?;
        let value = self.intern(spec.value)?;
        let tag = self.intern(spec.tag)?;
        self.tree.nodes.push(Node {
            id: spec.id,
            parent: parent.map_or(NodeId::ROOT, |(p, _)| p),
            end: id,
            states: spec.states,
            tag,
            name,
            value,
            document: doc,
            role,
            level: spec.level,
        });
        let from = self.tree.attrs.len();
        for &(attr, text) in spec.attrs {
            if !text.is_empty() {
                let text = self.intern(text)?;
                self.tree.attrs.push((id, attr, text));
            }
        }
        self.tree.attrs[from..].sort_unstable_by_key(|&(_, a, _)| a);
        self.open.push((id, doc));
        Ok(id)
    }

    fn close(&mut self, depth: usize, end: NodeId) {
        for (node, _) in self.open.drain(depth..) {
            self.tree.nodes[node.index()].end = end;
        }
    }

    fn intern(&mut self, s: &str) -> Result<StrId, TreeError> {
        self.strings.intern(s).ok_or(TreeError::TooLarge("too much text"))
    }

    fn collapsed(&mut self, s: &str) -> Result<StrId, TreeError> {
        let mut words = s.split_whitespace();
        let first = words.next().unwrap_or("");
        if first.len() == s.len() {
            return self.intern(s);
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        scratch.push_str(first);
        for word in words {
            scratch.push(' ');
            scratch.push_str(word);
        }
        let id = self.intern(&scratch);
        self.scratch = scratch;
        id
    }

    /// Returns the finished tree.
    ///
    /// # Errors
    /// Returns [`TreeError::Empty`] when nothing was pushed, and [`TreeError::TooLarge`] if there
    /// are too many nodes.
    pub fn finish(mut self) -> Result<Tree, TreeError> {
        if self.is_empty() {
            return Err(TreeError::Empty);
        }
        let end = NodeId(u32::try_from(self.len()).map_err(|_| TreeError::TooLarge("too many nodes"))?);
        self.close(0, end);
        self.tree.strings = self.strings.finish();
        let t = &mut self.tree;
        t.nodes.shrink_to_fit();
        t.attrs.shrink_to_fit();
        t.hidden.sort_unstable();
        t.attributed = vec![0; t.nodes.len().div_ceil(64)];
        for &(node, ..) in &t.attrs {
            t.attributed[node.index() / 64] |= 1 << (node.index() % 64);
        }
        Ok(self.tree)
    }
}
