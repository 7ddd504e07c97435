//! Renewal by complete diffs: a client that was shown every change need not read the tree again.

use crate::client::ClientId;
use crate::session::Session;
use crate::standing::ContextPolicy;
use crate::table::Entry;
use std::sync::Arc;
use stickpin_refs::{Generation, Ref};
use stickpin_tree::{NodeId, Records, Tree, pairs};

/// A tree from which a diff is computed.
#[derive(Debug, Clone)]
pub struct BaseTree {
    /// The generation of the tree, for the header of the diff.
    pub generation: Generation,
    /// The tree as it was stored with this generation.
    pub tree: Arc<Tree>,
}

impl Session {
    /// Returns the tree from which a diff for this client starts. This is the tree of generation
    /// `since` or, without `since`, the one that the client last read in full or through a complete
    /// diff. `None` if there is no such tree or it is no longer kept.
    #[must_use]
    pub fn base(&self, client: &ClientId, since: Option<Generation>) -> Option<BaseTree> {
        let generation = since.or_else(|| self.clients.base(client))?;
        let tree = if Some(generation) == self.generation() {
            self.tree()?
        } else {
            self.retained.get(generation)?
        };
        Some(BaseTree { generation, tree: Arc::clone(tree) })
    }

    /// Records that this client was shown the stored tree in full, without a scope and without a
    /// depth limit.
    pub fn mark_read_in_full(&mut self, client: &ClientId) {
        if let Some((generation, tree)) = self.generation().zip(self.tree().cloned()) {
            self.clients.set_base(client, generation);
            if self.context != ContextPolicy::Off {
                self.views.note_shown(client, &tree);
            }
        }
    }

    /// Records that this client was informed of the effects of its actions up to the stored tree,
    /// or of how to read those that did not fit. The next action need not report these effects
    /// again.
    pub fn mark_effects_shown(&mut self, client: &ClientId) {
        if let Some(generation) = self.generation() {
            self.clients.set_effects_shown(client, generation);
        }
    }

    /// Returns the newest tree up to which this client was informed of the effects of its actions.
    /// `None` if the tree is no longer kept, or is not later than `since` or, without `since`, than
    /// the client's base. A diff from that tree renews nothing.
    #[must_use]
    pub fn effects_base(&self, client: &ClientId, since: Option<Generation>) -> Option<BaseTree> {
        let told = self.clients.effects_shown(client)?;
        let base = since.or_else(|| self.clients.base(client));
        if base >= Some(told) { None } else { self.base(client, Some(told)) }
    }

    /// Returns every ref that ended after `base` was stored, sorted; a complete diff lists all of
    /// them, whatever its view. `None` when the list would be incomplete: `base` or the stored tree
    /// was truncated, or refs that ended after `base` may have been forgotten. In that case, a diff
    /// renews nothing.
    #[must_use]
    pub fn ended_since(&self, base: &BaseTree) -> Option<Vec<Ref>> {
        if base.tree.is_truncated() || self.tree()?.is_truncated() {
            return None;
        }
        self.table.ended_since(base.generation)
    }

    /// Renews for this client the live refs that it received with `base` or later, but before the
    /// stored tree, and that a complete diff from `base` did not list. Returns these refs, sorted.
    /// The stored tree becomes the client's base.
    pub fn renew(&mut self, client: &ClientId, base: &BaseTree, listed: &[Ref]) -> Vec<Ref> {
        let Some(now) = self.generation() else { return Vec::new() };
        let mut renewed = self.clients.received_between(client, base.generation, now);
        renewed.retain(|r| !listed.contains(r) && self.table.is_live(*r));
        self.note_received(client, &renewed, now);
        self.mark_read_in_full(client);
        renewed
    }

    /// Returns the remembered refs of the elements in an older tree, sorted by node. Used for the
    /// lines of a diff about nodes that are gone or have changed their meaning.
    #[must_use]
    pub fn refs_in(&self, base: &BaseTree) -> Vec<(NodeId, Ref)> {
        let handles = base.tree.handle_index();
        let records = Records::new(&base.tree, &self.openers);
        let mut refs = Vec::new();
        for element in self.table.elements.values() {
            let by_handle = element.handle.and_then(|h| handles.get(&h).copied());
            let seen = (element.last_seen.0 == base.generation).then_some(element.last_seen.1);
            let Some(node) = by_handle.or(seen) else { continue };
            let held = |e: &&Entry| e.ended.is_none_or(|at| at > base.generation);
            let mut held = element.entries.iter().filter(held);
            let entry = match element.entries.len() {
                1 => held.next(),
                _ => held.find(|e| records.judge(&e.meaning, node).is_same()),
            };
            refs.extend(entry.map(|e| (node, e.id)));
        }
        refs.sort_unstable();
        refs
    }

    /// Returns the pairs of nodes, one from an older tree and one from the stored tree, that a diff
    /// shows as one node, in the order of the stored tree. Nodes are matched by handle, or by their
    /// text if handles do not help.
    #[must_use]
    pub fn pairs(&self, base: &BaseTree) -> Vec<(NodeId, NodeId)> {
        self.tree().map(|tree| pairs(&base.tree, tree)).unwrap_or_default()
    }
}
