//! What each client has been shown, and what changed around an element since (`CONTEXT_CHANGED`).
//!
//! A client that acts on what it has seen is told before anything is sent if what its target stands in has changed
//! unseen. Per client and surface the session keeps the tree of the last full reading, and the segments that the client
//! was shown, told of or changed itself since.

use crate::client::ClientId;
use crate::session::Session;
use crate::standing::ContextPolicy;
use hashbrown::{HashMap, HashSet};
use std::cell::OnceCell;
use std::sync::Arc;
use stickpin_refs::Ref;
use stickpin_tree::{
    Context, ContextChange, ContextMap, ContextReader, FactKey, Handle, NodeId, Openers, Records, SegmentKey,
    SurfaceId, Tree, number_pattern,
};

/// Nodes of the trees that clients were shown and that are no longer current, at most: about 12 MB. Beyond that their
/// facts alone are kept.
const MAX_NODES: usize = 200_000;

/// Segments that one client knows later than its last full reading, at most.
const MAX_LATER: usize = 8_192;

/// Surfaces of which one client's knowledge is kept, at most.
const MAX_SURFACES: usize = 16;

/// What one client was shown of one surface.
#[derive(Debug)]
pub(crate) struct Shown {
    base: Base,
    /// What it was shown or told of segments since.
    later: ContextMap,
    /// For forgetting: larger is later.
    used: u64,
}

/// The last full reading of one client.
#[derive(Debug)]
struct Base {
    /// `None` where the facts alone are kept.
    tree: Option<Arc<Tree>>,
    /// Read when they are asked for first: most readings are followed by another one.
    facts: OnceCell<ContextMap>,
}

impl Base {
    fn is(&self, tree: &Tree) -> bool {
        self.tree.as_ref().is_some_and(|base| std::ptr::eq(&**base, tree))
    }

    fn facts(&self, openers: &Openers) -> &ContextMap {
        self.facts.get_or_init(|| self.tree.as_ref().map(|tree| facts_of(tree, openers)).unwrap_or_default())
    }
}

impl Shown {
    fn new(tree: &Arc<Tree>, used: u64) -> Self {
        let base = Base { tree: Some(Arc::clone(tree)), facts: OnceCell::new() };
        Self { base, later: ContextMap::default(), used }
    }

    /// What the client knows of the segments of a context.
    fn context_of(&self, now: &Context, openers: &Openers) -> Context {
        self.later.update(&self.base.facts(openers).context_of(now), now)
    }

    fn bound(&mut self) {
        self.later.truncate_front(MAX_LATER);
    }
}

fn facts_of(tree: &Tree, openers: &Openers) -> ContextMap {
    ContextReader::new(&Records::new(tree, openers)).map()
}

/// What each client was shown of each surface.
#[derive(Debug)]
pub(crate) struct Showings {
    all: HashMap<(ClientId, SurfaceId), Shown>,
    clock: u64,
    /// [`MAX_NODES`], or what a test takes for it.
    pub(crate) max_nodes: usize,
}

impl Default for Showings {
    fn default() -> Self {
        Self { all: HashMap::new(), clock: 0, max_nodes: MAX_NODES }
    }
}

impl Showings {
    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    /// The client was shown this tree in full.
    pub(crate) fn show(&mut self, client: &ClientId, tree: &Arc<Tree>) {
        let used = self.tick();
        self.all.insert((client.clone(), tree.surface()), Shown::new(tree, used));
        let theirs = self.all.iter().filter(|((c, _), _)| c == client);
        if theirs.clone().count() > MAX_SURFACES
            && let Some(key) = theirs.min_by_key(|(_, shown)| shown.used).map(|(key, _)| key.clone())
        {
            self.all.remove(&key);
        }
    }

    /// The client was shown these nodes of a tree. Of what it has never been shown it knows what is there now.
    pub(crate) fn show_part(
        &mut self,
        client: &ClientId,
        tree: &Arc<Tree>,
        nodes: &[NodeId],
        records: &Records<'_>,
        openers: &Openers,
    ) {
        let used = self.tick();
        let Some(shown) = self.all.get_mut(&(client.clone(), tree.surface())) else {
            self.show(client, tree);
            return;
        };
        shown.used = used;
        if shown.base.is(tree) {
            return;
        }
        let known = |keys: &HashSet<SegmentKey>| shown.base.facts(openers).segments_among(keys);
        ContextReader::new(records).adopt_new(nodes, &mut shown.later, known);
        shown.bound();
    }

    /// What an act of this client replaced, of the facts that are read; it knows them as they are after the act.
    fn tell_replaced(
        &mut self,
        client: &ClientId,
        before: &Tree,
        after: &Tree,
        openers: &Openers,
        only: fn(&ContextMap) -> Option<ContextMap>,
    ) -> Vec<ContextChange> {
        let [then, now] = [before, after].map(|tree| {
            let all = facts_of(tree, openers);
            only(&all).unwrap_or(all)
        });
        let changes = then.changes_to(&now);
        if let Some(shown) = self.all.get_mut(&(client.clone(), after.surface())) {
            let base = shown.base.facts(openers);
            shown.later.tell_effects(&then, &now, |touched| base.context_of(touched), || base.all());
            shown.bound();
        }
        drop((then, now));
        self.share_later(client, after.surface());
        changes
    }

    /// What the client was shown of a surface is forgotten but for the titles of windows.
    fn keep_titles(&mut self, client: &ClientId, surface: SurfaceId, openers: &Openers) {
        let Some(shown) = self.all.get_mut(&(client.clone(), surface)) else { return };
        let mut titles = shown.base.facts(openers).titles();
        titles.tell(&shown.later.titles().all());
        shown.base = Base { tree: None, facts: OnceCell::from(titles) };
        shown.later = ContextMap::default();
    }

    /// Forgets a surface that is closed.
    pub(crate) fn end_surface(&mut self, surface: SurfaceId) {
        self.all.retain(|(_, shown), _| *shown != surface);
    }

    /// Forgets clients that the session has forgotten.
    pub(crate) fn retain(&mut self, known: impl Fn(&ClientId) -> bool) {
        self.all.retain(|(client, _), _| known(client));
    }

    /// Keeps the facts alone of trees that are no longer current: where they are read already, and where the trees are
    /// more than the bound.
    pub(crate) fn compact(&mut self, current: Option<&Arc<Tree>>, openers: &Openers) {
        let is_old = |tree: &&Arc<Tree>| !current.is_some_and(|current| Arc::ptr_eq(current, tree));
        let (mut read, mut unread) = (Vec::new(), Vec::new());
        let mut sizes: HashMap<*const Tree, usize> = HashMap::new();
        for (key, shown) in &self.all {
            let Some(tree) = shown.base.tree.as_ref().filter(is_old) else { continue };
            if shown.base.facts.get().is_some() {
                read.push(key.clone());
            } else {
                unread.push(key.clone());
                sizes.insert(Arc::as_ptr(tree), tree.len());
            }
        }
        if sizes.values().sum::<usize>() <= self.max_nodes {
            unread.clear();
        }
        for key in read.into_iter().chain(unread) {
            if let Some(shown) = self.all.get_mut(&key) {
                shown.base.facts(openers);
                shown.base.tree = None;
            }
            self.share(&key, |shown| shown.base.facts.get_mut());
        }
    }

    /// Holds a part of what a client knows once with all others. What else holds it would keep it apart.
    fn share(&mut self, key: &(ClientId, SurfaceId), part: fn(&mut Shown) -> Option<&mut ContextMap>) {
        let Some(mut facts) = self.all.get_mut(key).and_then(part).map(std::mem::take) else { return };
        self.maps().for_each(|other| facts.share(other));
        if let Some(part) = self.all.get_mut(key).and_then(part) {
            *part = facts;
        }
    }

    fn share_later(&mut self, client: &ClientId, surface: SurfaceId) {
        self.share(&(client.clone(), surface), |shown| Some(&mut shown.later));
    }

    /// All facts that are held.
    pub(crate) fn maps(&self) -> impl Iterator<Item = &ContextMap> {
        self.all.values().flat_map(|shown| shown.base.facts.get().into_iter().chain([&shown.later]))
    }
}

impl Session {
    /// What changed around an element since this client was shown it, the nearest first: `node` of `tree`, which may be
    /// newer than the stored one. Nothing where the client has never been shown any of it.
    #[must_use]
    pub fn unseen_changes(&self, client: &ClientId, tree: &Tree, node: NodeId) -> Vec<ContextChange> {
        let Some(shown) = self.showings.all.get(&(client.clone(), tree.surface())) else { return Vec::new() };
        if shown.base.is(tree) && shown.later.is_empty() {
            return Vec::new();
        }
        let records = self.records(tree);
        let reader = ContextReader::new(&records);
        let now = reader.context(node);
        let then = shown.context_of(&now, &self.openers);
        let mut changes = then.changes_to(&now, &reader.content_of(node), |key| self.tickers.knows(key));
        changes.retain(|change| !(self.tickers.knows_alike(change) || self.tickers.knows_state(change)));
        changes
    }

    /// Whether the text at a node is known to change by itself.
    #[must_use]
    pub fn is_ticker(&self, tree: &Tree, node: NodeId) -> bool {
        let node = tree.node(node);
        let place = if node.is_text() { node.parent() } else { Some(node) };
        place.and_then(|n| n.handle()).is_some_and(|handle| self.tickers.knows_text(FactKey::text_at(handle)))
            || number_pattern(node).is_some_and(|pattern| self.tickers.knows_pattern(pattern))
    }

    /// Whether the last act in this session was another client's.
    #[must_use]
    pub fn another_acted(&self, client: &ClientId) -> bool {
        self.actor.as_ref().is_some_and(|actor| actor != client)
    }

    /// Notes that the app was read as a whole, where the tree is not stored: what changes by itself is learned from it.
    pub fn observe(&mut self, tree: &Arc<Tree>) {
        if self.context != ContextPolicy::Off {
            self.tickers.observe(tree);
        }
    }

    /// Notes that this client was told what stands around an element, and that these changes were none of its acts.
    pub fn note_told(&mut self, client: &ClientId, tree: &Tree, node: NodeId, changes: &[ContextChange]) {
        // What another client did is no change by itself.
        if !self.another_acted(client) {
            self.tickers.note_told(changes);
        }
        let now = ContextReader::new(&self.records(tree)).context(node);
        if let Some(shown) = self.showings.all.get_mut(&(client.clone(), tree.surface())) {
            shown.later.tell(&now);
            shown.bound();
        }
        drop(now);
        self.showings.share_later(client, tree.surface());
    }

    /// Notes what an act of this client turned `before` into. What had changed unseen before the act stays unseen. Returns
    /// what the act replaced besides the content of `target`, for the receipt, and the refs that go on although the act
    /// counted up their record.
    pub fn note_effects(
        &mut self,
        client: &ClientId,
        before: &Tree,
        after: &Tree,
        target: Option<Handle>,
    ) -> (Vec<ContextChange>, Vec<Ref>) {
        self.actor = Some(client.clone());
        let same = before.surface() == after.surface() && !std::ptr::eq(before, after);
        if !same || before == after {
            return (Vec::new(), Vec::new());
        }
        let mut changes = self.showings.tell_replaced(client, before, after, &self.openers, |_| None);
        // What became of the target itself is told by its own line.
        let node = target.and_then(|handle| after.find_address(handle));
        let own: Vec<Handle> =
            node.into_iter().flat_map(|n| n.subtree()).filter_map(|n| n.handle()).collect();
        changes.retain(|change| !own.iter().any(|&handle| change.key.is_at(handle)));
        let kept = if changes.is_empty() { Vec::new() } else { self.keep_counted(client, before, after) };
        (changes, kept)
    }

    /// Notes that nobody knows what an act of this client did: what it was shown before is nothing to compare with any
    /// more, but for the titles of windows. What the act made of those is returned for the receipt, where they were looked
    /// at before it and after.
    pub fn waive_context(&mut self, client: &ClientId, looks: Option<(&Tree, &Tree)>) -> Vec<ContextChange> {
        let Some(surface) = self.tree().map(|tree| tree.surface()) else { return Vec::new() };
        self.showings.keep_titles(client, surface, &self.openers);
        match looks.filter(|(before, after)| [before, after].iter().all(|tree| tree.surface() == surface)) {
            Some((before, after)) => {
                self.showings.tell_replaced(client, before, after, &self.openers, |all| Some(all.titles()))
            }
            None => Vec::new(),
        }
    }
}
