//! Complete diffs renew: a client that was shown everything that changed need not read the tree again.

use crate::client::ClientId;
use crate::session::Session;
use crate::standing::ContextPolicy;
use crate::table::Entry;
use std::sync::Arc;
use stickpin_refs::{Generation, Ref};
use stickpin_tree::{NodeId, Records, Tree, pairs};

/// A tree that a diff is computed from.
#[derive(Debug, Clone)]
pub struct BaseTree {
    /// Its generation, for the header of the diff.
    pub generation: Generation,
    /// The tree.
    pub tree: Arc<Tree>,
}

impl Session {
    /// The tree that a diff for this client starts from: the one with generation `since` (sent by clients that pin),
    /// else the one of its last full reading or renewal. `None` if that is not kept: a diff from another tree renews
    /// nothing.
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

    /// Notes that this client was shown the stored tree in full: without a scope and without a bound of depth.
    pub fn mark_full_reading(&mut self, client: &ClientId) {
        if let Some((generation, tree)) = self.generation().zip(self.tree().cloned()) {
            self.clients.set_base(client, generation);
            if self.context != ContextPolicy::Off {
                self.showings.show(client, &tree);
            }
        }
    }

    /// Notes that this client was told what its acts changed up to the stored tree, or how to read what there was no room
    /// for: the next act need not repeat it.
    pub fn mark_told(&mut self, client: &ClientId) {
        if let Some(generation) = self.generation() {
            self.clients.set_told(client, generation);
        }
    }

    /// The tree up to which this client was told what its acts changed, where that is later than its base: a diff from there
    /// renews nothing.
    #[must_use]
    pub fn told_base(&self, client: &ClientId, since: Option<Generation>) -> Option<BaseTree> {
        let told = self.clients.told(client)?;
        let base = since.or_else(|| self.clients.base(client));
        if base >= Some(told) { None } else { self.base(client, Some(told)) }
    }

    /// Every ref that ended since a base, whatever the view; a complete diff lists them. `None` when that cannot be
    /// known, because one of the two captures was cut or too much ended since: such a diff renews nothing.
    #[must_use]
    pub fn ended_since(&self, base: &BaseTree) -> Option<Vec<Ref>> {
        if base.tree.truncated() || self.tree()?.truncated() {
            return None;
        }
        self.table.ended_since(base.generation)
    }

    /// Renews for this client what a complete diff from `base` did not list: every ref that it was given with the
    /// base or after it, and that is alive. Returns these refs, sorted. The stored tree is the client's base now.
    pub fn renew(&mut self, client: &ClientId, base: &BaseTree, listed: &[Ref]) -> Vec<Ref> {
        let Some(now) = self.generation() else { return Vec::new() };
        let mut renewed = self.clients.given_between(client, base.generation, now);
        renewed.retain(|r| !listed.contains(r) && self.table.is_live(*r));
        self.give(client, &renewed, now);
        self.mark_full_reading(client);
        renewed
    }

    /// Which ref stood for which node of an older tree, as far as it is known, sorted by node. For the lines of what
    /// went or means something else now.
    #[must_use]
    pub fn refs_in(&self, base: &BaseTree) -> Vec<(NodeId, Ref)> {
        let handles = base.tree.handle_index();
        let records = Records::new(&base.tree, &self.openers);
        let mut refs = Vec::new();
        for element in self.table.elements.values() {
            let by_handle = element.handle.and_then(|h| handles.get(&h).copied());
            let seen = (element.seen.0 == base.generation).then_some(element.seen.1);
            let Some(node) = by_handle.or(seen) else { continue };
            let held = |e: &&Entry| e.ended.is_none_or(|at| at > base.generation);
            let mut held = element.entries.iter().filter(held);
            let entry = match element.entries.len() {
                1 => held.next(),
                _ => held.find(|e| records.judge(&e.meaning, node).is_same()),
            };
            refs.extend(entry.map(|e| (node, e.r#ref)));
        }
        refs.sort_unstable();
        refs
    }

    /// Pairs of nodes, of an older tree and of the stored one, that a diff shows as one: by handle, and by what they
    /// read where handles say nothing. In the order of the stored tree.
    #[must_use]
    pub fn pairs(&self, base: &BaseTree) -> Vec<(NodeId, NodeId)> {
        self.tree().map(|tree| pairs(&base.tree, tree)).unwrap_or_default()
    }
}
