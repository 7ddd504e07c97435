//! Pairs the nodes of two trees that a diff shows as one.
//!
//! Nodes are paired by handle first. If handles do not help, as after a re-render or on a device
//! without identity, the children of two paired nodes are paired by their text. Equal subtrees are
//! paired first, then equal elements, then wrappers of the same kind. The pairs decide whether a
//! diff shows a change or a removal and an addition. Refs never depend on them.

use crate::model::pairing::pair_equal;
use crate::{IdentityGrade, NodeId, NodeRef, Role, Tree};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Returns the pairs of nodes that a diff shows as one, in the order of the second tree. The node
/// of the first tree comes first in each pair.
#[must_use]
pub fn pairs(old: &Tree, new: &Tree) -> Vec<(NodeId, NodeId)> {
    let mut paired = Pairing { old: vec![None; old.len()], new: vec![None; new.len()] };
    paired.by_handle(old, new);
    if paired.new[0].is_none() && paired.old[0].is_none() {
        paired.pair_nodes(NodeId::ROOT, NodeId::ROOT);
    }
    let prints = (fingerprints(old), fingerprints(new));
    // Parents come before their children, so children paired here are visited later.
    for at in new.nodes() {
        if let Some(before) = paired.new[at.id().index()] {
            paired.children(old.node(before), at, (&prints.0, &prints.1));
        }
    }
    let to_pair = |(i, o): (usize, Option<NodeId>)| Some((o?, NodeId(u32::try_from(i).ok()?)));
    paired.new.into_iter().enumerate().filter_map(to_pair).collect()
}

struct Pairing {
    /// For each node of the first tree, its partner in the second tree, if any.
    old: Vec<Option<NodeId>>,
    /// For each node of the second tree, its partner in the first tree, if any.
    new: Vec<Option<NodeId>>,
}

impl Pairing {
    fn pair_nodes(&mut self, old: NodeId, new: NodeId) {
        self.old[old.index()] = Some(new);
        self.new[new.index()] = Some(old);
    }

    fn by_handle(&mut self, old: &Tree, new: &Tree) {
        let index = old.handle_index();
        for n in new.nodes() {
            if let Some(&before) = n.handle().and_then(|h| index.get(&h))
                && self.old[before.index()].is_none()
                && old.node(before).role() == n.role()
            {
                self.pair_nodes(before, n.id());
            }
        }
    }

    fn children<'t>(&mut self, old: NodeRef<'t>, new: NodeRef<'t>, prints: (&[u64], &[u64])) {
        let mut left: Vec<NodeRef<'_>> =
            old.children().filter(|c| self.old[c.id().index()].is_none()).collect();
        let mut right: Vec<NodeRef<'_>> =
            new.children().filter(|c| self.new[c.id().index()].is_none()).collect();
        let keys = (
            |n: NodeRef<'_>| Some(prints.0[n.id().index()]),
            |n: NodeRef<'_>| Some(prints.1[n.id().index()]),
        );
        pair_equal(&mut left, &mut right, keys, |a, b| self.pair_nodes(a.id(), b.id()));
        let named = |n: NodeRef<'t>| (!n.name().is_empty()).then(|| (n.role(), n.tag(), n.name()));
        pair_equal(&mut left, &mut right, (named, named), |a, b| self.pair_nodes(a.id(), b.id()));
        let loose = new.tree().grade() == IdentityGrade::None;
        // A text or control with another name is a different element, unless the device has no
        // identity.
        let wrapper = |n: NodeRef<'t>| {
            let is_wrapper = n.name().is_empty() && n.role() != Role::Text;
            (is_wrapper || loose).then(|| (n.role(), n.tag()))
        };
        pair_equal(&mut left, &mut right, (wrapper, wrapper), |a, b| self.pair_nodes(a.id(), b.id()));
    }
}

/// Returns, for each node, a hash of the roles, names and tags in its subtree.
fn fingerprints(tree: &Tree) -> Vec<u64> {
    let mut prints = vec![0; tree.len()];
    for n in tree.nodes().rev() {
        let mut hasher = DefaultHasher::new();
        (n.role(), n.name(), n.tag()).hash(&mut hasher);
        for child in n.children() {
            prints[child.id().index()].hash(&mut hasher);
        }
        prints[n.id().index()] = hasher.finish();
    }
    prints
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::tree;

    /// Returns the pairs as `before -> after` by role and name, and the unpaired nodes.
    fn shown(old: &str, new: &str) -> String {
        let (old, new) = (tree(old), tree(new));
        let pairs = pairs(&old, &new);
        let mut lines: Vec<String> = Vec::new();
        let line = |n: NodeRef<'_>| format!("{} {:?}", n.role(), n.name());
        for &(o, n) in &pairs {
            let (o, n) = (line(old.node(o)), line(new.node(n)));
            if o != n {
                lines.push(format!("~ {o} -> {n}"));
            }
        }
        let has = |side: &dyn Fn(&(NodeId, NodeId)) -> NodeId, n: NodeId| pairs.iter().any(|p| side(p) == n);
        lines.extend(old.nodes().filter(|n| !has(&|p| p.0, n.id())).map(|n| format!("- {}", line(n))));
        lines.extend(new.nodes().filter(|n| !has(&|p| p.1, n.id())).map(|n| format!("+ {}", line(n))));
        lines.join("\n")
    }

    const ROWS: &str = "page \"P\" / grade=GRADE\n  list #2\n    listitem #3\n      text \"one\"\n      button \"Go\" #4\n    listitem #5\n      text \"two\"\n      button \"Go\" #6\n";

    fn graded(text: &str, grade: &str) -> String {
        text.replace("GRADE", grade)
    }

    #[test]
    fn equal_rows_pair_after_reordering_with_new_nodes() {
        let swapped = "page \"P\" / grade=GRADE\n  list #12\n    listitem #13\n      text \"two\"\n      button \"Go\" #14\n    listitem #15\n      text \"new\"\n      button \"Go\" #16\n    listitem #17\n      text \"one\"\n      button \"Go\" #18\n";
        for grade in ["never-reused", "none"] {
            let got = shown(&graded(ROWS, grade), &graded(swapped, grade));
            assert_eq!(got, "+ listitem \"\"\n+ text \"new\"\n+ button \"Go\"", "{grade}");
        }
    }

    #[test]
    fn renamed_node_pairs_by_handle_or_as_only_candidate() {
        let renamed = ROWS.replace("button \"Go\" #4", "button \"Stop\" #4");
        for grade in ["never-reused", "none"] {
            let got = shown(&graded(ROWS, grade), &graded(&renamed, grade));
            assert_eq!(got, "~ button \"Go\" -> button \"Stop\"", "{grade}");
        }
        let replaced = ROWS.replace("button \"Go\" #4", "button \"Stop\" #40");
        let got = shown(&graded(ROWS, "never-reused"), &graded(&replaced, "never-reused"));
        assert_eq!(got, "- button \"Go\"\n+ button \"Stop\"");
    }

    #[test]
    fn no_node_is_paired_twice() {
        let old = tree(&graded(ROWS, "none"));
        let pairs = pairs(&old, &old);
        assert_eq!(pairs, old.nodes().map(|n| (n.id(), n.id())).collect::<Vec<_>>());
    }
}
