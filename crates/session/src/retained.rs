//! Trees kept in addition to the current one: bases of diffs, and trees in which absent elements
//! were last seen.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use stickpin_refs::Generation;
use stickpin_tree::Tree;

/// The maximum total number of nodes of the kept trees, without the current tree. They take about
/// 12 MB.
pub(crate) const MAX_NODES: usize = 200_000;
/// The maximum number of kept trees. Keeps the search for absent elements cheap.
pub(crate) const MAX_TREES: usize = 16;

#[derive(Debug, Default)]
pub(crate) struct Retained {
    trees: BTreeMap<Generation, Arc<Tree>>,
}

impl Retained {
    pub(crate) fn insert(&mut self, at: Generation, tree: Arc<Tree>) {
        self.trees.insert(at, tree);
    }

    pub(crate) fn get(&self, at: Generation) -> Option<&Arc<Tree>> {
        self.trees.get(&at)
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.trees.len()
    }

    /// Removes trees that are neither wanted nor a base, then the oldest trees until the bounds
    /// hold. Clients' bases are removed last.
    pub(crate) fn prune(&mut self, wanted: &BTreeSet<Generation>, bases: &BTreeSet<Generation>) {
        self.trees.retain(|at, _| wanted.contains(at) || bases.contains(at));
        let mut nodes: usize = self.trees.values().map(|t| t.len()).sum();
        while nodes > MAX_NODES || self.trees.len() > MAX_TREES {
            let oldest = self.trees.keys().copied().find(|at| !bases.contains(at));
            let Some(at) = oldest.or_else(|| self.trees.keys().next().copied()) else { break };
            nodes -= self.trees.remove(&at).map_or(0, |t| t.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stickpin_tree::{Document, IdentityGrade, NodeSpec, TreeBuilder};

    fn tree(nodes: usize) -> Arc<Tree> {
        let mut b = TreeBuilder::new(IdentityGrade::None);
        b.document(
            0,
            Document { scope: 1, frame: String::new(), url: String::new(), title: String::new() },
            0,
        )
        .unwrap();
        for _ in 1..nodes {
            b.node(1, NodeSpec::default()).unwrap();
        }
        Arc::new(b.finish().unwrap())
    }

    fn set(numbers: &[u64]) -> BTreeSet<Generation> {
        numbers.iter().map(|&n| Generation::new(n)).collect()
    }

    #[test]
    fn prune_drops_unneeded_trees_first_and_bases_last() {
        let mut kept = Retained::default();
        for n in 1..=4 {
            kept.insert(Generation::new(n), tree(MAX_NODES / 3));
        }
        kept.prune(&set(&[2, 3, 4]), &set(&[2]));
        assert_eq!(kept.trees.keys().map(|g| g.get()).collect::<Vec<_>>(), [2, 3, 4]);
        kept.insert(Generation::new(5), tree(MAX_NODES / 3));
        kept.prune(&set(&[3, 4, 5]), &set(&[2]));
        assert_eq!(kept.trees.keys().map(|g| g.get()).collect::<Vec<_>>(), [2, 4, 5]);
    }

    #[test]
    fn number_of_retained_trees_is_bounded() {
        let mut kept = Retained::default();
        let all: Vec<u64> = (1..=40).collect();
        for &n in &all {
            kept.insert(Generation::new(n), tree(2));
        }
        kept.prune(&set(&all), &set(&[1]));
        assert_eq!(kept.trees.len(), MAX_TREES);
        assert!(kept.get(Generation::new(1)).is_some() && kept.get(Generation::new(2)).is_none());
    }
}
