//! Whether the row of an element shows a text: what `row=` asks.

use crate::identity::rows::detect::Structure;
use crate::identity::rows::text::{leaf_text, walk};
use crate::{NodeId, States, Tree};

/// The rows of a tree, found when they are asked for.
#[derive(Debug)]
pub(crate) struct Rows<'t> {
    tree: &'t Tree,
    structure: Structure,
}

impl<'t> Rows<'t> {
    pub(crate) fn new(tree: &'t Tree) -> Self {
        Self { tree, structure: Structure::new(tree) }
    }

    /// Whether the row of an element, or a row around that one, has a text leaf or a control's name that is `wanted`,
    /// outside of the element itself.
    pub(crate) fn show(&self, element: NodeId, wanted: impl Fn(&str) -> bool) -> bool {
        let element = self.tree.node(element);
        let mut row = self.structure.row_of(element);
        while let Some(at) = row {
            let node = self.tree.node(at.id);
            let mut found = false;
            walk(node, |n| {
                if found || n == element {
                    return false;
                }
                found = if n.is_text() {
                    leaf_text(n).is_some_and(|text| wanted(&text))
                } else {
                    n.is(States::ACTIONABLE) && !n.name().is_empty() && wanted(n.name())
                };
                !found
            });
            if found {
                return true;
            }
            row = self.structure.row_of(node);
        }
        false
    }
}
