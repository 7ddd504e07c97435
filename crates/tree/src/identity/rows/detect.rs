//! Finds rows, by role or by repeated structure.

use std::cell::OnceCell;
use std::hash::Hash;
use std::sync::Arc;

use hashbrown::HashMap;

use crate::identity::rows::content::{Container, Row};
use crate::identity::rows::text::{is_plain, is_row_role, walk};
use crate::identity::step_count;
use crate::{Attr, NodeId, NodeRef, Role, States, StrId, Tree};

/// The containers of one tree, found on first use. The tree itself is not stored: each method
/// gets it, or nodes that refer to it.
#[derive(Debug)]
pub(crate) struct Structure {
    /// The rows by role, per nearest ancestor that is not a wrapper.
    by_role: Box<[OnceCell<RowsByRole>]>,
    /// The plain children and cards by tag, per parent.
    by_tag: Box<[OnceCell<Vec<Repeated>>]>,
    controls: OnceCell<Controls>,
}

type RowsByRole = Vec<(Role, Container)>;

/// Plain children and cards of one parent, with the same tag.
#[derive(Debug)]
struct Repeated {
    tag: StrId,
    container: Container,
    /// For each child, whether it has similar siblings.
    repeats: Vec<bool>,
}

/// The roles of controls and headings in document order, to compare the skeletons of subtrees.
#[derive(Debug)]
struct Controls {
    roles: Vec<Role>,
    /// The number of controls and headings before each node.
    before: Vec<u32>,
}

/// A row and its position in its container.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowAt<'r> {
    pub(crate) id: NodeId,
    pub(crate) container: &'r Container,
    pub(crate) index: usize,
}

impl Structure {
    pub(crate) fn new(tree: &Tree) -> Self {
        Self {
            by_role: (0..tree.len()).map(|_| OnceCell::new()).collect(),
            by_tag: (0..tree.len()).map(|_| OnceCell::new()).collect(),
            controls: OnceCell::new(),
        }
    }

    /// Returns the content of a row.
    pub(crate) fn row<'r>(&self, tree: &Tree, at: RowAt<'r>) -> &'r Arc<Row> {
        &at.container.rows(tree)[at.index]
    }

    /// Returns the row of an element: the nearest row with its own key or text or, if there is
    /// none, the nearest row.
    pub(crate) fn row_of(&self, element: NodeRef<'_>) -> Option<RowAt<'_>> {
        self.row_around(element, false)
    }

    /// Returns the row of an element, or else an enclosing group without siblings. Such a group is
    /// not one row of several, but a part of the document that re-renders as a unit.
    pub(crate) fn row_or_group_of(&self, element: NodeRef<'_>) -> Option<RowAt<'_>> {
        self.row_around(element, false).or_else(|| self.row_around(element, true))
    }

    fn row_around(&self, element: NodeRef<'_>, lone_groups: bool) -> Option<RowAt<'_>> {
        let nearest = self.next_row(element, lone_groups)?;
        let mut at = nearest;
        loop {
            let row = self.row(element.tree(), at);
            if row.key.is_some() || row.text.distinguishing_outside(element).next().is_some() {
                return Some(at);
            }
            match self.next_row(element.tree().node(at.id), lone_groups) {
                Some(outer) => at = outer,
                None => return Some(nearest),
            }
        }
    }

    fn next_row(&self, below: NodeRef<'_>, lone_groups: bool) -> Option<RowAt<'_>> {
        for node in below.ancestors().take_while(|n| n.role() != Role::Document) {
            if is_row_role(node.role()) {
                let at = self.as_row(node)?;
                if lone_groups || node.role() != Role::Group || at.container.ids.len() > 1 {
                    return Some(at);
                }
            } else if self.is_card(node) || self.repeats(node) {
                return self.as_row(node);
            }
            if matches!(node.role(), Role::Main | Role::Dialog | Role::Form) {
                return None;
            }
        }
        None
    }

    /// Returns whether a node is one row of several. A group counts if a sibling has the same
    /// controls.
    pub(crate) fn is_list_row(&self, node: NodeRef<'_>) -> bool {
        if is_row_role(node.role()) {
            let Some(at) = self.as_row(node) else { return false };
            // A list may have 100,000 rows, so none of them compares itself with the others.
            return match node.role() {
                Role::Group => {
                    let controls = |id: NodeId| self.controls_in(node.tree().node(id));
                    at.container.similar(|ids| find_equal(ids, controls))[at.index]
                }
                _ => at.container.ids.len() > 1,
            };
        }
        // Fields that only their labels distinguish are one form.
        node.role() != Role::Label
            && self.repeats(node)
            && self.as_row(node).is_some_and(|at| !self.row(node.tree(), at).is_of_form)
    }

    /// Returns a node as a row, regardless of its siblings; `None` if the node cannot be a row.
    pub(crate) fn as_row(&self, node: NodeRef<'_>) -> Option<RowAt<'_>> {
        let container = if is_row_role(node.role()) {
            let parent = node.ancestors().find(|n| !is_plain(*n))?;
            &self.rows_by_role(parent).iter().find(|(role, _)| *role == node.role())?.1
        } else if is_plain(node) || self.is_card(node) {
            &self.children_by_tag(node.parent()?).iter().find(|r| r.tag == node.tag_id())?.container
        } else {
            return None;
        };
        Some(RowAt { id: node.id(), container, index: container.index_of(node.id())? })
    }

    fn rows_by_role(&self, parent: NodeRef<'_>) -> &RowsByRole {
        self.by_role[parent.id().index()].get_or_init(|| {
            let mut found: Vec<(Role, Vec<NodeId>)> = Vec::new();
            walk(parent, |n| {
                if is_row_role(n.role()) {
                    match found.iter_mut().find(|(role, _)| *role == n.role()) {
                        Some((_, ids)) => ids.push(n.id()),
                        None => found.push((n.role(), vec![n.id()])),
                    }
                }
                is_plain(n)
            });
            found.into_iter().map(|(role, ids)| (role, Container::new(ids))).collect()
        })
    }

    /// Returns whether a heading is only about the row that contains it. Groups are parts of one
    /// thing, and so are dissimilar wrappers. A level 1 heading in any wrapper is the title of the
    /// content beside it.
    pub(crate) fn is_title_of_row(&self, node: NodeRef<'_>, heading: NodeRef<'_>) -> bool {
        match node.role() {
            Role::Group => false,
            Role::Article => self.as_row(node).is_some_and(|at| at.container.ids.len() > 1),
            role if is_row_role(role) => true,
            _ => {
                let has_control = || self.controls_in(node).iter().any(|role| *role != Role::Heading);
                heading.level() != 1 && self.repeats(node) && has_control()
            }
        }
    }

    /// Returns the roles of the controls and headings in a node, including the node itself.
    pub(crate) fn controls_in(&self, node: NodeRef<'_>) -> &[Role] {
        self.controls(node.tree()).within(node)
    }

    /// Returns whether a plain node or card contains controls or headings, and has a sibling with
    /// the same tag, role and class and the same sequence of controls and headings.
    fn repeats(&self, node: NodeRef<'_>) -> bool {
        let Some(parent) = node.parent().filter(|_| is_plain(node) || self.is_card(node)) else {
            return false;
        };
        let group = self.children_by_tag(parent).iter().find(|r| r.tag == node.tag_id());
        group.is_some_and(|g| g.container.index_of(node.id()).is_some_and(|at| g.repeats[at]))
    }

    /// Returns whether a node is a card, which is pressed or dragged as a whole: a button with
    /// other controls or headings inside.
    fn is_card(&self, node: NodeRef<'_>) -> bool {
        node.role() == Role::Button && self.controls(node.tree()).within(node).len() > 1
    }

    fn controls(&self, tree: &Tree) -> &Controls {
        self.controls.get_or_init(|| Controls::new(tree))
    }

    fn children_by_tag(&self, parent: NodeRef<'_>) -> &[Repeated] {
        self.by_tag[parent.id().index()].get_or_init(|| {
            let mut found: Vec<(StrId, Vec<NodeId>)> = Vec::new();
            let mut surroundings: HashMap<StrId, usize> = HashMap::new();
            for child in parent.children().filter(|n| is_plain(*n) || self.is_card(*n)) {
                let at = *surroundings.entry(child.tag_id()).or_insert_with(|| {
                    found.push((child.tag_id(), Vec::new()));
                    found.len() - 1
                });
                found[at].1.push(child.id());
            }
            found
                .into_iter()
                .map(|(tag, ids)| Repeated {
                    tag,
                    repeats: self.find_repeated(parent.tree(), &ids),
                    container: Container::new(ids),
                })
                .collect()
        })
    }

    fn find_repeated(&self, tree: &Tree, ids: &[NodeId]) -> Vec<bool> {
        if ids.len() < 2 {
            return vec![false; ids.len()];
        }
        let controls = self.controls(tree);
        let likeness = |id: NodeId| {
            let node = tree.node(id);
            (node.role(), node.attr(Attr::Class).unwrap_or(""), controls.within(node))
        };
        let equal = find_equal(ids, likeness);
        let has_controls = |id: &NodeId| !controls.within(tree.node(*id)).is_empty();
        ids.iter().zip(equal).map(|(id, is_equal)| is_equal && has_controls(id)).collect()
    }
}

/// Returns for each node whether another node has an equal `likeness`.
fn find_equal<L: Eq + Hash>(ids: &[NodeId], likeness: impl Fn(NodeId) -> L) -> Vec<bool> {
    let mut counts: HashMap<L, u32> = HashMap::new();
    for &id in ids {
        step_count::count_step();
        *counts.entry(likeness(id)).or_default() += 1;
    }
    ids.iter().map(|&id| counts[&likeness(id)] > 1).collect()
}

impl Controls {
    fn new(tree: &Tree) -> Self {
        let mut roles = Vec::new();
        let mut before = Vec::with_capacity(tree.len() + 1);
        for n in tree.nodes() {
            before.push(u32::try_from(roles.len()).unwrap_or(u32::MAX));
            if n.is(States::ACTIONABLE) || n.role() == Role::Heading {
                roles.push(n.role());
            }
        }
        before.push(u32::try_from(roles.len()).unwrap_or(u32::MAX));
        Self { roles, before }
    }

    fn within(&self, node: NodeRef<'_>) -> &[Role] {
        let at = |id: NodeId| self.before[id.index()] as usize;
        &self.roles[at(node.id())..at(node.subtree_end())]
    }
}
