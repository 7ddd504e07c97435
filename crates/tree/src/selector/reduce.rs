//! Reduces several matches to those that a person would consider distinct.

use crate::{NodeId, NodeRef, Role, States, Tree};

/// Removes matches that only wrap another match, are only a part of another match, or are labels of
/// a matched control. The remaining matches are distinct: more than one is ambiguous.
/// Ignores geometry.
///
/// `matches` must be in document order. The result is in document order, too.
#[must_use]
pub fn reduce(tree: &Tree, matches: &[NodeId]) -> Vec<NodeId> {
    let mut kept: Vec<NodeId> = Vec::with_capacity(matches.len());
    // Open matches around the current one, innermost last.
    let mut enclosing: Vec<NodeId> = Vec::new();
    for &id in matches {
        let node = tree.node(id);
        while enclosing.last().is_some_and(|&a| !tree.node(a).contains(id)) {
            enclosing.pop();
        }
        let mut part = false;
        while let Some(&outer) = enclosing.last() {
            match relation(tree.node(outer), node) {
                Relation::Part => {
                    part = true;
                    break;
                }
                Relation::Wrapper => {
                    kept.retain(|&k| k != outer);
                    enclosing.pop();
                }
                Relation::Separate => break,
            }
        }
        if !part {
            kept.push(id);
            enclosing.push(id);
        }
    }
    let labels = |id: NodeId| tree.node(id).role() == Role::Label;
    if kept.iter().any(|&id| labels(id)) {
        let controls: Vec<&str> = kept
            .iter()
            .map(|&id| tree.node(id))
            .filter(|n| n.role().is_control())
            .map(NodeRef::name)
            .collect();
        if !controls.is_empty() {
            kept.retain(|&id| !labels(id) || !controls.contains(&label_text(tree.node(id)).as_str()));
        }
    }
    kept
}

enum Relation {
    /// The inner element is only a part of the outer one.
    Part,
    /// The outer element only wraps the inner one.
    Wrapper,
    /// Two distinct elements.
    Separate,
}

fn relation(outer: NodeRef<'_>, inner: NodeRef<'_>) -> Relation {
    let is_control = |n: NodeRef<'_>| n.is(States::ACTIONABLE) || n.role().is_control();
    let weak = |n: NodeRef<'_>| matches!(n.role(), Role::Clickable | Role::Label | Role::Generic);
    match (is_control(outer), is_control(inner)) {
        (true, false) => Relation::Part,
        (false, true) | (true, true) if !is_control(outer) || weak(outer) => {
            let others = outer
                .subtree()
                .skip(1)
                .any(|n| is_control(n) && !inner.contains(n.id()) && !n.contains(inner.id()));
            if others { Relation::Separate } else { Relation::Wrapper }
        }
        (true, true) if weak(inner) => Relation::Part,
        (false, false) if inner.role() == Role::Generic || inner.is_text() => Relation::Part,
        // A row that is named by its cells, and the cell.
        (false, false) if outer.role() == Role::Generic || outer.is(States::NAME_FROM_CONTENT) => {
            Relation::Wrapper
        }
        _ => Relation::Separate,
    }
}

/// Returns the name of a label, otherwise its text.
fn label_text(label: NodeRef<'_>) -> String {
    if !label.name().is_empty() {
        return label.name().to_owned();
    }
    let leaves: Vec<&str> = label.subtree().filter(|n| n.is_text()).map(NodeRef::name).collect();
    leaves.join(" ")
}
