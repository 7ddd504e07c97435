//! Which thing among its likes is this element, and does what was issued still hold?

mod meaning;
mod openers;
mod verdict;

use std::sync::Arc;

pub use meaning::Meaning;
pub use openers::{Opener, Openers};
pub use verdict::{Clause, Refused, Verdict};

use crate::{NodeId, NodeRef, Tree};

/// The records of one tree. Build one per capture: what it learns about a container serves all its elements.
#[derive(Debug)]
pub struct Records<'t> {
    tree: &'t Tree,
    openers: &'t Openers,
}

impl<'t> Records<'t> {
    /// The records of a tree, with what is known about the openers of its popups. Lazy: costs little by itself.
    #[must_use]
    pub fn new(tree: &'t Tree, openers: &'t Openers) -> Self {
        Self { tree, openers }
    }

    /// The tree.
    #[must_use]
    pub fn tree(&self) -> &'t Tree {
        self.tree
    }

    /// What an element is now.
    #[must_use]
    pub fn meaning(&self, node: NodeId) -> Meaning {
        let n = self.tree.node(node);
        Meaning(Arc::new(meaning::Inner { role: n.role(), name: n.name().into() }))
    }

    /// Whether what was issued still holds for a node of this tree.
    #[must_use]
    pub fn judge(&self, issued: &Meaning, node: NodeId) -> Verdict {
        let n = self.tree.node(node);
        if n.role() != issued.role() {
            return Verdict::Changed(Clause::Role);
        }
        if n.name() != issued.name() {
            return Verdict::Changed(Clause::Name);
        }
        Verdict::Same { reads_now: None }
    }

    /// The shortest text that tells the row of an element from its sibling rows, for lines that read the same.
    #[must_use]
    pub fn telling(&self, node: NodeId) -> Option<String> {
        let _unused = (node, self.openers);
        None
    }

    /// The element as the opener of what appears after an act on it. `None` if it stands in a popup itself.
    #[must_use]
    pub fn opener(&self, node: NodeId) -> Option<Opener> {
        let n = self.tree.node(node);
        if n.ancestors().any(openers::is_popup) {
            return None;
        }
        Some(Opener { meaning: self.meaning(node) })
    }
}

/// The node of a new tree that takes the place of an element whose own node is gone.
///
/// `old_node` is where the element was seen last, in the tree of `old`; `meaning` is what was issued.
///
/// # Errors
/// The reason why no node is accepted.
pub fn content_match(
    old: &Records<'_>,
    old_node: NodeId,
    meaning: &Meaning,
    new: &Records<'_>,
) -> Result<NodeId, Refused> {
    let last = old.tree.node(old_node);
    if last.handle().is_some_and(|h| new.tree.hidden().binary_search(&h).is_ok()) {
        return Err(Refused::Hidden);
    }
    let same = |n: &NodeRef<'_>| new.judge(meaning, n.id()).is_same();
    let mut found = new.tree.nodes().filter(same);
    match (found.next(), found.next()) {
        (Some(n), None) => Ok(n.id()),
        (None, _) => Err(Refused::Absent),
        (Some(_), Some(_)) => Err(Refused::NotUnique),
    }
}
