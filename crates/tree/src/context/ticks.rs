//! Which texts differ between two readings of one page: a clock, a price, a counter that nobody touched.

use hashbrown::HashMap;

use super::clockwork::differ_in_numbers;
use super::fact::{FactKey, FactKind, place_of};
use crate::{Handle, NodeId, NodeRef, Tree};

/// The places of the texts of which only a number differs between two trees of one surface: words that change by
/// themselves may be another record. Where a text is written anew, its node may be
/// another one in the same parent, so a text is named by its parent. Nothing where the device has no identity.
///
/// Pages mostly keep their nodes, so the trees are walked side by side, and an index is made only where they part.
#[must_use]
pub fn texts_changed(before: &Tree, now: &Tree) -> Vec<FactKey> {
    let mut changed = Vec::new();
    let mut index: Option<HashMap<Handle, NodeId>> = None;
    // Where the parent of the last text stands in the tree before.
    let mut last: Option<(NodeId, Option<NodeId>)> = None;
    let mut nth = 0;
    for text in now.nodes().filter(|n| n.is_text()) {
        let Some(parent) = text.parent() else { continue };
        let Some(handle) = parent.handle() else { continue };
        let then = match last {
            Some((id, then)) if id == parent.id() => {
                nth += 1;
                then
            }
            _ => {
                nth = 0;
                let same = |id: NodeId| {
                    let there = id.index() < before.len();
                    (there && before.node(id).handle() == Some(handle)).then_some(id)
                };
                let then = same(parent.id())
                    .or_else(|| index.get_or_insert_with(|| before.handle_index()).get(&handle).copied());
                last = Some((parent.id(), then));
                then
            }
        };
        let Some(then) = then.map(|id| before.node(id)) else { continue };
        let was = then.children().filter(|n| n.is_text()).nth(nth).map(NodeRef::name);
        if was.is_some_and(|was| differ_in_numbers(was, text.name())) {
            changed.push(FactKey { kind: FactKind::Text, place: place_of(Some(handle)) });
        }
    }
    changed.dedup();
    changed
}
