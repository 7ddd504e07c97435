//! Tracks the refs that each client received, so that a read by one client never renews the refs of
//! another.

use hashbrown::HashMap;
use std::fmt;
use std::sync::Arc;
use stickpin_refs::{Generation, Ref};

/// The maximum number of clients that are remembered. Beyond this number, the client that has been
/// idle longest is forgotten. Such a client loses only precision: its refs are judged by when any
/// client last received them.
const MAX_CLIENTS: usize = 32;

/// The id of a client: a reader with its own memory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(Arc<str>);

impl ClientId {
    /// Creates the id from a caller's key.
    #[must_use]
    pub fn new(key: &str) -> Self {
        Self(key.into())
    }

    /// Returns the caller's key.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ClientId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Debug, Default)]
struct Client {
    /// When each ref was last issued to this client or renewed for it.
    received_at: HashMap<Ref, Generation>,
    /// The tree that the client last read in full or through a complete diff.
    base: Option<Generation>,
    /// The tree up to which the client was informed of the effects of its actions, or of how to
    /// read those that did not fit.
    effects_shown: Option<Generation>,
    /// When the client was last used; larger is later.
    used: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Clients {
    all: HashMap<ClientId, Client>,
    clock: u64,
}

impl Clients {
    fn touch(&mut self, id: &ClientId) -> &mut Client {
        self.clock += 1;
        if !self.all.contains_key(id) && self.all.len() >= MAX_CLIENTS {
            let oldest = self.all.iter().min_by_key(|(_, c)| c.used).map(|(id, _)| id.clone());
            if let Some(oldest) = oldest {
                self.all.remove(&oldest);
            }
        }
        let client = self.all.entry(id.clone()).or_default();
        client.used = self.clock;
        client
    }

    pub(crate) fn note_received(&mut self, id: &ClientId, refs: &[Ref], at: Generation) {
        let client = self.touch(id);
        client.received_at.extend(refs.iter().map(|&r| (r, at)));
    }

    /// Returns whether this client is remembered.
    pub(crate) fn is_remembered(&self, id: &ClientId) -> bool {
        self.all.contains_key(id)
    }

    pub(crate) fn received_at(&self, id: &ClientId, r#ref: Ref) -> Option<Generation> {
        self.all.get(id)?.received_at.get(&r#ref).copied()
    }

    /// Returns the refs that this client last received at `from` or later and before `to`, sorted.
    pub(crate) fn received_between(&self, id: &ClientId, from: Generation, to: Generation) -> Vec<Ref> {
        let given = self.all.get(id).into_iter().flat_map(|c| &c.received_at);
        let mut refs: Vec<Ref> = given.filter(|&(_, &at)| from <= at && at < to).map(|(&r, _)| r).collect();
        refs.sort_unstable();
        refs
    }

    pub(crate) fn base(&self, id: &ClientId) -> Option<Generation> {
        self.all.get(id)?.base
    }

    pub(crate) fn set_base(&mut self, id: &ClientId, at: Generation) {
        self.touch(id).base = Some(at);
    }

    pub(crate) fn effects_shown(&self, id: &ClientId) -> Option<Generation> {
        self.all.get(id)?.effects_shown
    }

    pub(crate) fn set_effects_shown(&mut self, id: &ClientId, at: Generation) {
        self.touch(id).effects_shown = Some(at);
    }

    /// Returns the generations of all trees that a client may use as the base of a diff.
    pub(crate) fn bases(&self) -> impl Iterator<Item = Generation> {
        self.all
            .values()
            .flat_map(|c| c.base.into_iter().chain(c.effects_shown.filter(|told| c.base < Some(*told))))
    }

    /// Removes refs that the table has forgotten.
    pub(crate) fn forget(&mut self, refs: &[Ref]) {
        for client in self.all.values_mut() {
            for r in refs {
                client.received_at.remove(r);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_recently_used_client_is_forgotten_first() {
        let mut clients = Clients::default();
        let r = Ref::new(1).unwrap();
        let ids: Vec<ClientId> = (0..=MAX_CLIENTS).map(|i| ClientId::new(&format!("c{i}"))).collect();
        for id in &ids[..MAX_CLIENTS] {
            clients.note_received(id, &[r], Generation::new(7));
        }
        clients.set_base(&ids[0], Generation::new(7));
        clients.note_received(&ids[MAX_CLIENTS], &[r], Generation::new(8));
        assert_eq!(clients.received_at(&ids[0], r), Some(Generation::new(7)));
        assert_eq!(clients.received_at(&ids[1], r), None);
        assert_eq!(clients.received_at(&ids[MAX_CLIENTS], r), Some(Generation::new(8)));
    }
}
