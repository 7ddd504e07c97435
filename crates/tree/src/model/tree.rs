//! The immutable tree, with its nodes in document order.

use crate::model::node::{Attr, Document, Handle, IdentityGrade, NodeId, SurfaceId};
use crate::model::strings::{StrId, Strings};
use crate::{Role, States};

/// A capture of the whole UI of a device at one moment.
///
/// Nodes are in document order and take 40 bytes each. Strings are stored separately, each once.
#[derive(Debug, Clone)]
pub struct Tree {
    pub(crate) strings: Strings,
    pub(crate) nodes: Vec<Node>,
    /// Rare attributes, sorted by node, then attribute.
    pub(crate) attrs: Vec<(NodeId, Attr, StrId)>,
    /// One bit per node: whether it has rare attributes. Most nodes have none but are queried for
    /// several.
    pub(crate) attributed: Vec<u64>,
    pub(crate) documents: Vec<Document>,
    pub(crate) hidden: Vec<Handle>,
    pub(crate) surface: SurfaceId,
    pub(crate) grade: IdentityGrade,
    pub(crate) truncated: bool,
}

/// One node as stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    /// The id in the node's handle, within the scope of its document; 0 for a node without an id,
    /// such as a text leaf of a web page.
    pub(crate) id: u64,
    pub(crate) parent: NodeId,
    /// The first node after the subtree.
    pub(crate) end: NodeId,
    pub(crate) states: States,
    pub(crate) tag: StrId,
    pub(crate) name: StrId,
    pub(crate) value: StrId,
    pub(crate) document: u16,
    pub(crate) role: Role,
    pub(crate) level: u8,
}

impl Tree {
    /// Returns the number of nodes, text leaves and wrappers included. Never 0: there is always a
    /// root document.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns false, because a tree has at least its root. Exists by convention.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns the root document.
    #[must_use]
    pub fn root(&self) -> NodeRef<'_> {
        self.node(NodeId::ROOT)
    }

    /// Returns the node at a position of *this* tree.
    ///
    /// # Panics
    /// Panics when the position is out of range.
    #[must_use]
    pub fn node(&self, id: NodeId) -> NodeRef<'_> {
        assert!(id.index() < self.len(), "node {} of a tree of {}", id.0, self.len());
        NodeRef { tree: self, id }
    }

    /// Returns all nodes in document order.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = NodeRef<'_>> + ExactSizeIterator {
        (0..u32::try_from(self.len()).expect("node positions are u32"))
            .map(|i| NodeRef { tree: self, id: NodeId(i) })
    }

    /// Finds the node with an [address](NodeRef::address). Takes linear time.
    #[must_use]
    pub fn find_address(&self, address: Handle) -> Option<NodeRef<'_>> {
        self.nodes().find(|n| n.address() == Some(address))
    }

    /// Finds the node with a handle. Takes linear time; for many lookups, use
    /// [`Tree::handle_index`].
    #[must_use]
    pub fn find_handle(&self, handle: Handle) -> Option<NodeRef<'_>> {
        self.nodes().find(|n| n.handle() == Some(handle))
    }

    /// Builds an index of all handles.
    #[must_use]
    pub fn handle_index(&self) -> hashbrown::HashMap<Handle, NodeId> {
        self.nodes().filter_map(|n| Some((n.handle()?, n.id()))).collect()
    }

    /// Returns the documents, the top one first.
    #[must_use]
    pub fn documents(&self) -> &[Document] {
        &self.documents
    }

    /// Returns the watched handles of elements that are still in a document but not in the tree:
    /// hidden, not replaced.
    #[must_use]
    pub fn hidden(&self) -> &[Handle] {
        &self.hidden
    }

    /// Returns the captured surface.
    #[must_use]
    pub fn surface(&self) -> SurfaceId {
        self.surface
    }

    /// Returns the identity grade of the handles of this tree.
    #[must_use]
    pub fn grade(&self) -> IdentityGrade {
        self.grade
    }

    /// Returns whether a limit truncated the capture, so that absence proves nothing.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        self.truncated
    }

    /// Returns the size on the heap in bytes, without documents and hidden handles.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.strings.heap_bytes()
            + self.nodes.capacity() * size_of::<Node>()
            + self.attrs.capacity() * size_of::<(NodeId, Attr, StrId)>()
            + self.attributed.capacity() * size_of::<u64>()
    }
}

/// Compares by value what a device reported: the surface, the documents, the nodes, and whether the
/// capture was truncated, but not the hidden handles. `Session::replace_tree` uses this to detect
/// an unchanged tree.
impl PartialEq for Tree {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len()
            && self.surface == other.surface
            && self.truncated == other.truncated
            && self.documents == other.documents
            && self.attrs.len() == other.attrs.len()
            && self.nodes().zip(other.nodes()).all(|(a, b)| a.reads_as(b))
            && self
                .attrs
                .iter()
                .zip(&other.attrs)
                .all(|(a, b)| (a.0, a.1) == (b.0, b.1) && self.strings.get(a.2) == other.strings.get(b.2))
    }
}

/// A node of a tree; cheap to copy.
#[derive(Clone, Copy)]
pub struct NodeRef<'t> {
    tree: &'t Tree,
    id: NodeId,
}

impl<'t> NodeRef<'t> {
    fn node(self) -> &'t Node {
        &self.tree.nodes[self.id.index()]
    }

    /// Returns whether this node and `other`, a node at the same position of another tree, have
    /// equal values. Ignores rare attributes. Ignores ids if the identity grade is
    /// [`IdentityGrade::None`].
    fn reads_as(self, other: NodeRef<'_>) -> bool {
        let (a, b) = (self.node(), other.node());
        (a.end, a.role, a.states, a.level, a.document) == (b.end, b.role, b.states, b.level, b.document)
            && (self.tree.grade == IdentityGrade::None || a.id == b.id)
            && (self.name(), self.value(), self.tag()) == (other.name(), other.value(), other.tag())
    }

    /// Returns the position of the node.
    #[must_use]
    pub fn id(self) -> NodeId {
        self.id
    }

    /// Returns the tree of the node.
    #[must_use]
    pub fn tree(self) -> &'t Tree {
        self.tree
    }

    /// Returns the role.
    #[must_use]
    pub fn role(self) -> Role {
        self.node().role
    }

    /// Returns the accessible name, or the text of a text leaf, with white space collapsed. Empty
    /// if there is no name.
    #[must_use]
    pub fn name(self) -> &'t str {
        self.tree.strings.get(self.node().name)
    }

    /// Returns the name as a string id of this tree: equal ids mean equal names.
    #[must_use]
    pub fn name_id(self) -> StrId {
        self.node().name
    }

    /// Returns the value; empty if there is none.
    #[must_use]
    pub fn value(self) -> &'t str {
        self.tree.strings.get(self.node().value)
    }

    /// Returns the platform's own name for the kind of element: an HTML tag, an AT-SPI role, a
    /// class name. Empty for text leaves and for the root nodes of [`Tree::documents`].
    #[must_use]
    pub fn tag(self) -> &'t str {
        self.tree.strings.get(self.node().tag)
    }

    /// Returns the tag as a string id of this tree.
    #[must_use]
    pub fn tag_id(self) -> StrId {
        self.node().tag
    }

    /// Returns the states.
    #[must_use]
    pub fn states(self) -> States {
        self.node().states
    }

    /// Returns whether all of these states are set.
    #[must_use]
    pub fn is(self, states: States) -> bool {
        self.states().contains(states)
    }

    /// Returns the level of a heading, list item, tree item or row; 0 if there is none.
    #[must_use]
    pub fn level(self) -> u8 {
        self.node().level
    }

    /// Returns the value of a rare attribute.
    #[must_use]
    pub fn attr(self, attr: Attr) -> Option<&'t str> {
        let (word, bit) = (self.id.index() / 64, self.id.index() % 64);
        if self.tree.attributed.get(word).is_none_or(|bits| bits >> bit & 1 == 0) {
            return None;
        }
        let at = self.tree.attrs.binary_search_by_key(&(self.id, attr), |&(n, a, _)| (n, a)).ok()?;
        Some(self.tree.strings.get(self.tree.attrs[at].2))
    }

    /// Returns all rare attributes.
    pub fn attrs(self) -> impl Iterator<Item = (Attr, &'t str)> {
        let from = self.tree.attrs.partition_point(|&(n, ..)| n < self.id);
        let id = self.id;
        self.tree.attrs[from..]
            .iter()
            .take_while(move |&&(n, ..)| n == id)
            .map(move |&(_, a, s)| (a, self.tree.strings.get(s)))
    }

    /// Returns the device's name for the element across captures; `None` if the identity grade is
    /// [`IdentityGrade::None`] or the node has no id.
    #[must_use]
    pub fn handle(self) -> Option<Handle> {
        if self.tree.grade == IdentityGrade::None { None } else { self.address() }
    }

    /// Returns the device's name for the element until the next capture, whatever the grade; `None`
    /// for a node without an id, such as a text leaf of a web page.
    #[must_use]
    pub fn address(self) -> Option<Handle> {
        let id = self.node().id;
        (id != 0).then(|| Handle { scope: self.document().scope, id })
    }

    /// Returns the document of the node; for a document node, that document.
    #[must_use]
    pub fn document(self) -> &'t Document {
        &self.tree.documents[usize::from(self.node().document)]
    }

    /// Returns the index of the node's document in [`Tree::documents`].
    #[must_use]
    pub fn document_index(self) -> usize {
        usize::from(self.node().document)
    }

    /// Returns the parent; `None` for the root.
    #[must_use]
    pub fn parent(self) -> Option<NodeRef<'t>> {
        (self.id != NodeId::ROOT).then(|| NodeRef { tree: self.tree, id: self.node().parent })
    }

    /// Returns the ancestors from the parent up to the root.
    pub fn ancestors(self) -> impl Iterator<Item = NodeRef<'t>> {
        std::iter::successors(self.parent(), |n| n.parent())
    }

    /// Returns the children in order.
    pub fn children(self) -> impl Iterator<Item = NodeRef<'t>> {
        let (tree, end) = (self.tree, self.node().end);
        let mut next = NodeId(self.id.0 + 1);
        std::iter::from_fn(move || {
            (next < end).then(|| {
                let child = NodeRef { tree, id: next };
                next = child.node().end;
                child
            })
        })
    }

    /// Returns the node and all of its descendants, in order.
    pub fn subtree(self) -> impl Iterator<Item = NodeRef<'t>> {
        let tree = self.tree;
        (self.id.0..self.node().end.0).map(move |i| NodeRef { tree, id: NodeId(i) })
    }

    /// Returns the first position after the subtree.
    #[must_use]
    pub fn subtree_end(self) -> NodeId {
        self.node().end
    }

    /// Returns whether `other` is this node or a descendant.
    #[must_use]
    pub fn contains(self, other: NodeId) -> bool {
        other >= self.id && other < self.node().end
    }

    /// Returns whether the node is a text leaf.
    #[must_use]
    pub fn is_text(self) -> bool {
        self.role() == Role::Text
    }
}

impl PartialEq for NodeRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.tree, other.tree) && self.id == other.id
    }
}

impl Eq for NodeRef<'_> {}

impl std::fmt::Debug for NodeRef<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "#{} {} {:?}", self.id.0, self.role(), self.name())
    }
}
