//! Distills a tree by running the passes, for a view or for Markdown.

use super::draft::Draft;
use super::view::View;
use super::{interactive, passes};
use crate::{NodeId, Tree};

/// Returns the distilled draft of a view, before runs are cut.
pub(crate) fn distilled_draft<'t>(tree: &'t Tree, view: &View) -> Draft<'t> {
    let mut draft = Draft::raw(tree, view.scope);
    if !view.raw {
        for pass in passes::ALL {
            pass(&mut draft);
        }
        if view.interactive {
            interactive::apply(&mut draft, !view.all);
        }
    }
    // An explicitly named scope always has a line.
    if let Some(scope) = view.scope.filter(|s| *s != NodeId::ROOT) {
        draft.show(tree.node(scope));
    }
    draft
}

/// Returns the draft for Markdown: leaves out hidden nodes and wrappers, and labels and texts that
/// repeat a name. Keeps all markup.
pub(crate) fn markdown_draft(tree: &Tree, scope: NodeId) -> Draft<'_> {
    let mut draft = Draft::raw(tree, Some(scope));
    for pass in passes::FOR_READING {
        pass(&mut draft);
    }
    draft
}
