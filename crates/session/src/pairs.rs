//! Which nodes of two trees are shown as one in a diff.
//!
//! By handle first. Where handles say nothing (a re-render, a device without identity), the children of two paired
//! nodes are paired by what they read: equal subtrees, then equal elements, then wrappers of one kind. This decides
//! what a diff shows as changed rather than removed and added; refs never follow it.

use hashbrown::{HashMap, HashSet};
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use stickpin_tree::{IdentityGrade, NodeId, NodeRef, Role, Tree};

/// Pairs of nodes, of the first and of the second tree, that are the same for a reader; in the order of the second.
pub(crate) fn pairs(old: &Tree, new: &Tree) -> Vec<(NodeId, NodeId)> {
    let mut paired = Paired { old: vec![None; old.len()], new: vec![None; new.len()] };
    paired.by_handle(old, new);
    if paired.new[0].is_none() && paired.old[0].is_none() {
        paired.put(NodeId::ROOT, NodeId::ROOT);
    }
    let prints = (fingerprints(old), fingerprints(new));
    // Parents come before their children, so that what is paired here is visited itself later.
    for at in new.nodes() {
        if let Some(before) = paired.new[at.id().index()] {
            paired.children(old.node(before), at, (&prints.0, &prints.1));
        }
    }
    let both = |(i, o): (usize, Option<NodeId>)| Some((o?, NodeId(u32::try_from(i).ok()?)));
    paired.new.into_iter().enumerate().filter_map(both).collect()
}

struct Paired {
    /// For each node of the first tree its partner.
    old: Vec<Option<NodeId>>,
    /// For each node of the second tree its partner.
    new: Vec<Option<NodeId>>,
}

impl Paired {
    fn put(&mut self, old: NodeId, new: NodeId) {
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
                self.put(before, n.id());
            }
        }
    }

    fn children(&mut self, old: NodeRef<'_>, new: NodeRef<'_>, prints: (&[u64], &[u64])) {
        let mut left: Vec<NodeRef<'_>> =
            old.children().filter(|c| self.old[c.id().index()].is_none()).collect();
        let mut right: Vec<NodeRef<'_>> =
            new.children().filter(|c| self.new[c.id().index()].is_none()).collect();
        if left.is_empty() || right.is_empty() {
            return;
        }
        self.match_by(&mut left, &mut right, |n, is_old| {
            Some(if is_old { prints.0[n.id().index()] } else { prints.1[n.id().index()] })
        });
        self.match_by(&mut left, &mut right, |n, _| {
            (!n.name().is_empty()).then(|| (n.role(), n.tag(), n.name()))
        });
        let loose = new.tree().grade() == IdentityGrade::None;
        self.match_by(&mut left, &mut right, |n, _| {
            // A text or a control with another name is another one, unless there is nothing else to go by.
            let wrapper = n.name().is_empty() && n.role() != Role::Text;
            (wrapper || loose).then(|| (n.role(), n.tag()))
        });
    }

    /// Pairs what has equal keys, in order.
    fn match_by<'a, K: Hash + Eq>(
        &mut self,
        left: &mut Vec<NodeRef<'a>>,
        right: &mut Vec<NodeRef<'a>>,
        key: impl Fn(NodeRef<'a>, bool) -> Option<K>,
    ) {
        let mut waiting: HashMap<K, VecDeque<NodeId>> = HashMap::new();
        for &n in left.iter() {
            if let Some(key) = key(n, true) {
                waiting.entry(key).or_default().push_back(n.id());
            }
        }
        let mut matched: HashSet<NodeId> = HashSet::new();
        right.retain(|&n| {
            let partner = key(n, false).and_then(|k| waiting.get_mut(&k)?.pop_front());
            if let Some(old) = partner {
                self.put(old, n.id());
                matched.insert(old);
            }
            partner.is_none()
        });
        left.retain(|n| !matched.contains(&n.id()));
    }
}

/// What each subtree reads, as one number.
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
    use stickpin_tree::testing::tree;

    /// The pairs as `before -> after` by role and name, and what is left over.
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
    fn equal_rows_find_each_other_in_another_order_and_with_new_nodes() {
        let swapped = "page \"P\" / grade=GRADE\n  list #12\n    listitem #13\n      text \"two\"\n      button \"Go\" #14\n    listitem #15\n      text \"new\"\n      button \"Go\" #16\n    listitem #17\n      text \"one\"\n      button \"Go\" #18\n";
        for grade in ["never-reused", "none"] {
            let got = shown(&graded(ROWS, grade), &graded(swapped, grade));
            assert_eq!(got, "+ listitem \"\"\n+ text \"new\"\n+ button \"Go\"", "{grade}");
        }
    }

    #[test]
    fn another_name_is_a_change_by_handle_and_where_nothing_else_is_left() {
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
    fn no_node_is_in_two_pairs() {
        let old = tree(&graded(ROWS, "none"));
        let pairs = pairs(&old, &old);
        assert_eq!(pairs, old.nodes().map(|n| (n.id(), n.id())).collect::<Vec<_>>());
    }
}
