//! Text leaves, and walks that skip parts of a tree.

use std::borrow::Cow;

use crate::identity::step_count;
use crate::{NodeId, NodeRef, Role, States};

/// Visits the descendants of a node in document order. `visit` returns whether to descend into a
/// node.
pub(crate) fn walk<'t>(root: NodeRef<'t>, mut visit: impl FnMut(NodeRef<'t>) -> bool) {
    let end = root.subtree_end();
    let mut next = root.id();
    next.0 += 1;
    while next < end {
        step_count::count_step();
        let node = root.tree().node(next);
        if visit(node) {
            next.0 += 1;
        } else {
            next = node.subtree_end();
        }
    }
}

/// Returns the text of a leaf joined with adjacent text nodes, for the first of these nodes. `None`
/// for the other nodes, or if the text is empty. Frameworks split `3 items` into two nodes and join
/// them again at will.
pub(crate) fn leaf_text(node: NodeRef<'_>) -> Option<Cow<'_, str>> {
    debug_assert!(node.is_text());
    let tree = node.tree();
    let is_sibling = |id: u32| {
        let other = ((id as usize) < tree.len()).then(|| tree.node(NodeId(id)))?;
        (other.is_text() && other.parent() == node.parent()).then_some(other)
    };
    if is_sibling(node.id().0 - 1).is_some() {
        return None;
    }
    let mut text = Cow::Borrowed(node.name());
    let mut next = node.id().0 + 1;
    while let Some(other) = is_sibling(next) {
        if !other.name().is_empty() {
            let text = text.to_mut();
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(other.name());
        }
        next += 1;
    }
    (!text.is_empty()).then_some(text)
}

/// Returns all text leaves below a node.
pub(crate) fn leaves<'t>(root: NodeRef<'t>) -> Vec<(NodeRef<'t>, Cow<'t, str>)> {
    leaves_except(root, |_| false)
}

/// Returns whether a node is structurally a wrapper: its role does not group its content.
pub(crate) fn is_plain(node: NodeRef<'_>) -> bool {
    matches!(node.role(), Role::Generic | Role::Clickable | Role::Label | Role::Legend)
}

/// Returns whether elements with a given role are rows.
pub(crate) fn is_row_role(role: Role) -> bool {
    role.is_row() || role == Role::Group
}

/// Returns whether a node is a field or editable, so that its content comes from a person.
pub(crate) fn is_field(node: NodeRef<'_>) -> bool {
    node.role().is_input() || node.is(States::EDIT_HOST)
}

/// Returns the text leaves below a node, without descendants of nodes for which `skip` is true.
pub(crate) fn leaves_except<'t>(
    root: NodeRef<'t>,
    skip: impl Fn(NodeRef<'t>) -> bool,
) -> Vec<(NodeRef<'t>, Cow<'t, str>)> {
    let mut found = Vec::new();
    walk(root, |n| {
        if n.is_text() {
            found.extend(leaf_text(n).map(|text| (n, text)));
            return true;
        }
        !skip(n)
    });
    found
}
