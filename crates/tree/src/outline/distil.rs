//! Distils a tree by running the passes, for a view or for reading.

use super::sketch::Sketch;
use super::view::View;
use super::{interactive, passes};
use crate::{NodeId, Tree};

/// Returns the lines of a view, before runs are cut.
pub(crate) fn distilled<'t>(tree: &'t Tree, view: &View) -> Sketch<'t> {
    let mut sketch = Sketch::raw(tree, view.scope);
    if !view.raw {
        for pass in passes::ALL {
            pass(&mut sketch);
        }
        if view.interactive {
            interactive::apply(&mut sketch, !view.all);
        }
    }
    // An explicitly named scope always has a line.
    if let Some(scope) = view.scope.filter(|s| *s != NodeId::ROOT) {
        sketch.show(tree.node(scope));
    }
    sketch
}

/// Returns the lines for Markdown: drops hidden nodes and repetitions of names, and keeps all
/// markup.
pub(crate) fn readable(tree: &Tree, scope: NodeId) -> Sketch<'_> {
    let mut sketch = Sketch::raw(tree, Some(scope));
    for pass in passes::FOR_READING {
        pass(&mut sketch);
    }
    sketch
}
