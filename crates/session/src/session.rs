//! The state of one session, with a single writer.

use crate::align::Alignment;
use crate::client::{ClientId, Clients};
use crate::client_views::ClientViews;
use crate::numbers::{NumberError, NumberSource};
use crate::retained::Retained;
use crate::standing::{ContextPolicy, Ladder};
use crate::table::{Presence, Table};
use crate::tickers::Tickers;
use std::collections::BTreeSet;
use std::sync::Arc;
use stickpin_refs::{Generation, Ref};
use stickpin_tree::{CachedTree, Handle, NodeId, Openers, Records, SurfaceId, Tree};

/// The initial values of a session. Random and stored values come from the caller.
#[derive(Debug)]
pub struct SessionConfig {
    /// Identifies this lifetime, for clients that keep pins across lifetimes.
    pub lifetime: String,
    /// The generation of the first stored tree: a random number of six digits.
    pub seed: Generation,
    /// The strictness towards uncertain refs.
    pub ladder: Ladder,
    /// The source of ref numbers.
    pub numbers: Box<dyn NumberSource>,
}

/// Why a tree is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A client requested the tree, as with `snapshot` or `diff snapshot`: the generation always
    /// advances.
    Snapshot,
    /// A command captured the tree for itself: the generation advances unless the tree is equal by
    /// value to the stored one.
    Internal,
}

/// The result of storing a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreOutcome {
    /// The generation of the stored tree.
    pub generation: Generation,
    /// Whether the generation advanced.
    pub stored: bool,
    /// Refs that stopped standing for their element, sorted.
    pub ended: Vec<Ref>,
}

#[derive(Debug)]
struct Current {
    generation: Generation,
    /// The tree, with its cached records.
    cached: CachedTree,
}

/// The state of one session: its tree, its refs, and which client received which ref.
///
/// A session uses no device and no clock. Only its [`NumberSource`] may use files.
#[derive(Debug)]
pub struct Session {
    lifetime: String,
    pub(crate) seed: Generation,
    ladder: Ladder,
    current: Option<Current>,
    pub(crate) table: Table,
    pub(crate) clients: Clients,
    pub(crate) retained: Retained,
    pub(crate) openers: Openers,
    pub(crate) views: ClientViews,
    pub(crate) tickers: Tickers,
    pub(crate) context: ContextPolicy,
    /// The client of the last action.
    pub(crate) actor: Option<ClientId>,
}

impl Session {
    /// Creates a session without a tree.
    #[must_use]
    pub fn new(config: SessionConfig) -> Self {
        Self {
            lifetime: config.lifetime,
            seed: config.seed,
            ladder: config.ladder,
            current: None,
            table: Table::new(config.numbers),
            clients: Clients::default(),
            retained: Retained::default(),
            openers: Openers::default(),
            views: ClientViews::default(),
            tickers: Tickers::default(),
            context: ContextPolicy::default(),
            actor: None,
        }
    }

    /// Returns the identifier of this lifetime.
    #[must_use]
    pub fn lifetime(&self) -> &str {
        &self.lifetime
    }

    /// Returns the generation of the stored tree; `None` before the first tree is stored.
    #[must_use]
    pub fn generation(&self) -> Option<Generation> {
        self.current.as_ref().map(|c| c.generation)
    }

    /// Returns the stored tree; `None` before the first one is stored.
    #[must_use]
    pub fn tree(&self) -> Option<&Arc<Tree>> {
        self.current.as_ref().map(|c| c.cached.tree())
    }

    /// Returns the records of a tree. Records of the stored tree are cached.
    #[must_use]
    pub fn records<'s>(&'s self, tree: &'s Tree) -> Records<'s> {
        match &self.current {
            Some(Current { cached, .. }) if std::ptr::eq(&**cached.tree(), tree) => {
                cached.records(&self.openers)
            }
            _ => Records::new(tree, &self.openers),
        }
    }

    /// Returns the strictness towards uncertain refs.
    #[must_use]
    pub fn ladder(&self) -> Ladder {
        self.ladder
    }

    /// Returns the handles of the elements that have refs, belong to the current surface and are
    /// not gone. A capture should look for these handles, because the elements may now be hidden.
    #[must_use]
    pub fn watched_handles(&self) -> Vec<Handle> {
        let surface = self.tree().map(|t| t.surface());
        let there = self
            .table
            .elements
            .values()
            .filter(|e| Some(e.surface) == surface && e.presence != Presence::Gone);
        there.filter_map(|e| e.handle).collect()
    }

    /// Sets how strictly uncertain refs are treated.
    pub fn set_ladder(&mut self, ladder: Ladder) {
        self.ladder = ladder;
    }

    /// Returns how the session reacts if the context of a target changed without the client's
    /// knowledge.
    #[must_use]
    pub fn context_policy(&self) -> ContextPolicy {
        self.context
    }

    /// Sets how the session reacts if the context of a target changed without the client's
    /// knowledge.
    pub fn set_context_policy(&mut self, policy: ContextPolicy) {
        self.context = policy;
    }

    /// Records that a surface was closed: its elements then count as gone, not as elsewhere.
    pub fn end_surface(&mut self, surface: SurfaceId) {
        self.table.end_surface(surface);
        self.views.end_surface(surface);
    }

    /// Stores a tree. Only this function advances the generation, finds elements again and ends
    /// refs.
    pub fn replace_tree(&mut self, tree: impl Into<Arc<Tree>>, origin: Origin) -> StoreOutcome {
        let tree = tree.into();
        let before = self.current.take();
        let is_equal = |a: &Arc<Tree>, b: &Arc<Tree>| Arc::ptr_eq(a, b) || a == b;
        let generation = match &before {
            None => self.seed,
            Some(c) if origin == Origin::Internal && is_equal(c.cached.tree(), &tree) => c.generation,
            Some(c) => Generation::new(c.generation.get() + 1),
        };
        let stored = before.as_ref().is_none_or(|c| c.generation != generation);
        if !tree.is_truncated() {
            self.openers.observe(&tree);
        }
        if let Some(c) = &before
            && stored
        {
            self.retained.insert(c.generation, Arc::clone(c.cached.tree()));
        }
        self.observe(&tree);
        let before_tree = before.as_ref().map(|c| Arc::clone(c.cached.tree()));
        let (cached, last_cached) = match before.map(|c| c.cached) {
            Some(cached) if Arc::ptr_eq(cached.tree(), &tree) => (cached, None),
            last => (CachedTree::new(tree), last),
        };
        let alignment = Alignment {
            cached: &cached,
            generation,
            openers: &self.openers,
            before: before_tree.as_deref(),
            last_cached: last_cached.as_ref(),
            retained: &self.retained,
        };
        alignment.align(&mut self.table);
        let ended = self.table.note_ends(generation);
        // Keep an equal tree as well: on a device without identity, only the new tree's addresses
        // work.
        self.current = Some(Current { generation, cached });
        let forgotten = self.table.forget();
        self.clients.forget(&forgotten);
        self.prune();
        StoreOutcome { generation, stored, ended }
    }

    /// Drops kept trees that neither a client's base nor an absent element needs, and the views of
    /// forgotten clients.
    fn prune(&mut self) {
        let away = self.table.elements.values().filter(|e| e.presence.node().is_none() && e.active.is_some());
        let seen: BTreeSet<Generation> = away.map(|e| e.last_seen.0).collect();
        let bases: BTreeSet<Generation> = self.clients.bases().collect();
        self.retained.prune(&seen, &bases);
        let clients = &self.clients;
        self.views.retain(|client| clients.is_remembered(client));
        self.views.compact(self.current.as_ref().map(|c| c.cached.tree()), &self.openers);
    }

    /// Issues refs for nodes of the stored tree to this client, in the order of `nodes`. Nodes that
    /// have refs keep them; the others get new refs. Either all refs are issued or none.
    ///
    /// # Errors
    /// Returns [`NumberError`] when no new numbers can be reserved.
    pub fn issue(&mut self, client: &ClientId, nodes: &[NodeId]) -> Result<Vec<Ref>, NumberError> {
        let refs = self.issue_for_nodes(client, nodes)?;
        if let Some(Current { cached, .. }) = &self.current
            && self.context != ContextPolicy::Off
        {
            self.views.note_part_shown(
                client,
                cached.tree(),
                nodes,
                &cached.records(&self.openers),
                &self.openers,
            );
        }
        Ok(refs)
    }

    /// Issues refs to a client that is shown the stored tree in full, without a scope and without a
    /// depth limit. The tree becomes the client's base.
    ///
    /// # Errors
    /// Returns [`NumberError`] when no new numbers can be reserved; the base is then unchanged.
    pub fn issue_in_full(&mut self, client: &ClientId, nodes: &[NodeId]) -> Result<Vec<Ref>, NumberError> {
        let refs = self.issue_for_nodes(client, nodes)?;
        self.mark_read_in_full(client);
        Ok(refs)
    }

    fn issue_for_nodes(&mut self, client: &ClientId, nodes: &[NodeId]) -> Result<Vec<Ref>, NumberError> {
        let Some(Current { generation, cached }) = &self.current else { return Ok(Vec::new()) };
        let (generation, tree) = (*generation, cached.tree());
        self.table.ensure(nodes.iter().filter(|&&n| self.table.ref_at(n).is_none()).count())?;
        let records = cached.records(&self.openers);
        let mut refs = Vec::with_capacity(nodes.len());
        for &node in nodes {
            refs.push(match self.table.ref_at(node) {
                Some(r) => r,
                None => {
                    let (handle, surface) = (tree.node(node).handle(), tree.surface());
                    self.table.mint(node, handle, surface, records.meaning(node), generation)?
                }
            });
        }
        self.note_received(client, &refs, generation);
        Ok(refs)
    }

    pub(crate) fn note_received(&mut self, client: &ClientId, refs: &[Ref], at: Generation) {
        self.table.note_received(refs, at);
        self.clients.note_received(client, refs, at);
    }

    /// Returns the ref that stands for a node of the stored tree, if one was issued.
    #[must_use]
    pub fn ref_of(&self, node: NodeId) -> Option<Ref> {
        self.table.ref_at(node)
    }

    /// Records an action on a node of the stored tree. The node counts as the opener of popups that
    /// appear next.
    pub fn note_act(&mut self, node: NodeId) {
        self.tickers.note_act();
        if let Some(Current { cached, .. }) = &self.current {
            let opener = cached.records(&self.openers).as_opener(node);
            self.openers.note_act(opener);
        }
    }

    /// Ends the lifetime cleanly and returns unused numbers to their source.
    pub fn close(mut self) {
        self.table.close();
    }
}
