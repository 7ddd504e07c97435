//! Records what each client was shown, to find what has changed around an element since then.
//!
//! When the context of a target changed without the client's knowledge, the client gets
//! `CONTEXT_CHANGED` before anything is sent. Per client and surface, the session keeps the tree of
//! the last full read. It also keeps the segments that the client has since been shown, been
//! informed of, or changed itself.

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

/// The maximum number of nodes in trees that clients were shown and that are no longer current:
/// about 12 MB. Above this, only the facts of these trees are kept.
const MAX_NODES: usize = 200_000;

/// The maximum number of segments that are remembered per client and surface since the last full
/// read.
const MAX_LATER: usize = 8_192;

/// The maximum number of surfaces that are remembered per client.
const MAX_SURFACES: usize = 16;

/// One client's knowledge of one surface.
#[derive(Debug)]
pub(crate) struct ClientView {
    base: FullReading,
    /// The segments that the client has been shown, been informed of, or changed itself since the
    /// last full read.
    later_segments: ContextMap,
    /// When this knowledge was last used; larger is later.
    used: u64,
}

/// One client's last full read of one surface.
#[derive(Debug)]
struct FullReading {
    /// The tree; `None` if only its facts are kept.
    tree: Option<Arc<Tree>>,
    /// The facts of the tree, computed on first use: most full reads are replaced by the next one
    /// before their facts are needed.
    facts: OnceCell<ContextMap>,
}

impl FullReading {
    fn is(&self, tree: &Tree) -> bool {
        self.tree.as_ref().is_some_and(|base| std::ptr::eq(&**base, tree))
    }

    fn facts(&self, openers: &Openers) -> &ContextMap {
        self.facts.get_or_init(|| self.tree.as_ref().map(|tree| facts_of(tree, openers)).unwrap_or_default())
    }
}

impl ClientView {
    fn new(tree: &Arc<Tree>, used: u64) -> Self {
        let base = FullReading { tree: Some(Arc::clone(tree)), facts: OnceCell::new() };
        Self { base, later_segments: ContextMap::default(), used }
    }

    /// Returns the segments of a context as the client knows them.
    fn context_of(&self, now: &Context, openers: &Openers) -> Context {
        self.later_segments.update(&self.base.facts(openers).context_of(now), now)
    }

    fn limit_size(&mut self) {
        self.later_segments.truncate_front(MAX_LATER);
    }
}

fn facts_of(tree: &Tree, openers: &Openers) -> ContextMap {
    ContextReader::new(&Records::new(tree, openers)).map()
}

/// Each client's knowledge of each surface.
#[derive(Debug)]
pub(crate) struct ClientViews {
    all: HashMap<(ClientId, SurfaceId), ClientView>,
    clock: u64,
    /// [`MAX_NODES`], or a smaller bound in tests.
    pub(crate) max_nodes: usize,
}

impl Default for ClientViews {
    fn default() -> Self {
        Self { all: HashMap::new(), clock: 0, max_nodes: MAX_NODES }
    }
}

impl ClientViews {
    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    /// Records that the client was shown this tree in full.
    pub(crate) fn note_shown(&mut self, client: &ClientId, tree: &Arc<Tree>) {
        let used = self.tick();
        self.all.insert((client.clone(), tree.surface()), ClientView::new(tree, used));
        let theirs = self.all.iter().filter(|((c, _), _)| c == client);
        if theirs.clone().count() > MAX_SURFACES
            && let Some(key) = theirs.min_by_key(|(_, shown)| shown.used).map(|(key, _)| key.clone())
        {
            self.all.remove(&key);
        }
    }

    /// Records that the client was shown these nodes of a tree. Segments that the client has never
    /// been shown count as known in their current state.
    pub(crate) fn note_part_shown(
        &mut self,
        client: &ClientId,
        tree: &Arc<Tree>,
        nodes: &[NodeId],
        records: &Records<'_>,
        openers: &Openers,
    ) {
        let used = self.tick();
        let Some(shown) = self.all.get_mut(&(client.clone(), tree.surface())) else {
            self.note_shown(client, tree);
            return;
        };
        shown.used = used;
        if shown.base.is(tree) {
            return;
        }
        let known = |keys: &HashSet<SegmentKey>| shown.base.facts(openers).segments_among(keys);
        ContextReader::new(records).adopt_new(nodes, &mut shown.later_segments, known);
        shown.limit_size();
    }

    /// Returns what an action of this client replaced among the facts that `only` selects. From
    /// then on, the client knows these facts as they are after the action.
    fn take_replaced_facts(
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
            shown.later_segments.note_effects(&then, &now, |touched| base.context_of(touched), || base.all());
            shown.limit_size();
        }
        drop((then, now));
        self.share_later(client, after.surface());
        changes
    }

    /// Forgets what the client was shown of a surface, except for window titles.
    fn keep_titles(&mut self, client: &ClientId, surface: SurfaceId, openers: &Openers) {
        let Some(shown) = self.all.get_mut(&(client.clone(), surface)) else { return };
        let mut titles = shown.base.facts(openers).titles();
        titles.note_shown(&shown.later_segments.titles().all());
        shown.base = FullReading { tree: None, facts: OnceCell::from(titles) };
        shown.later_segments = ContextMap::default();
    }

    /// Forgets a closed surface.
    pub(crate) fn end_surface(&mut self, surface: SurfaceId) {
        self.all.retain(|(_, shown), _| *shown != surface);
    }

    /// Forgets clients that the session has forgotten.
    pub(crate) fn retain(&mut self, known: impl Fn(&ClientId) -> bool) {
        self.all.retain(|(client, _), _| known(client));
    }

    /// Drops trees that are no longer current but keeps their facts. Trees whose facts were already
    /// computed are always dropped. The remaining trees are dropped only if they exceed the limit
    /// together.
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

    /// Shares the parts that one client's facts have in common with the other facts, so that these
    /// parts are stored once. The facts must have no other owner, which would prevent sharing.
    fn share(&mut self, key: &(ClientId, SurfaceId), part: fn(&mut ClientView) -> Option<&mut ContextMap>) {
        let Some(mut facts) = self.all.get_mut(key).and_then(part).map(std::mem::take) else { return };
        self.maps().for_each(|other| facts.share(other));
        if let Some(part) = self.all.get_mut(key).and_then(part) {
            *part = facts;
        }
    }

    fn share_later(&mut self, client: &ClientId, surface: SurfaceId) {
        self.share(&(client.clone(), surface), |shown| Some(&mut shown.later_segments));
    }

    /// Returns all facts held in memory.
    pub(crate) fn maps(&self) -> impl Iterator<Item = &ContextMap> {
        self.all.values().flat_map(|shown| shown.base.facts.get().into_iter().chain([&shown.later_segments]))
    }
}

impl Session {
    /// Returns the changes around an element since this client was last shown its context, nearest
    /// first. Omits what is known to change by itself. `node` belongs to `tree`, which may be newer
    /// than the stored tree. Returns no changes if the client was never shown any part of the
    /// surface.
    #[must_use]
    pub fn unseen_changes(&self, client: &ClientId, tree: &Tree, node: NodeId) -> Vec<ContextChange> {
        let Some(shown) = self.views.all.get(&(client.clone(), tree.surface())) else { return Vec::new() };
        if shown.base.is(tree) && shown.later_segments.is_empty() {
            return Vec::new();
        }
        let records = self.records(tree);
        let reader = ContextReader::new(&records);
        let now = reader.context(node);
        let then = shown.context_of(&now, &self.openers);
        let mut changes =
            then.changes_to(&now, &reader.own_content(node), |key| self.tickers.is_ticking(key));
        changes.retain(|change| {
            !(self.tickers.is_similar_to_known(change) || self.tickers.is_known_state(change))
        });
        changes
    }

    /// Returns whether the text at a node is known to change by itself.
    #[must_use]
    pub fn is_ticker(&self, tree: &Tree, node: NodeId) -> bool {
        let node = tree.node(node);
        let place = if node.is_text() { node.parent() } else { Some(node) };
        place
            .and_then(|n| n.handle())
            .is_some_and(|handle| self.tickers.is_changing_text(FactKey::text_at(handle)))
            || number_pattern(node).is_some_and(|pattern| self.tickers.is_known_pattern(pattern))
    }

    /// Returns whether another client made the last action in this session.
    #[must_use]
    pub fn was_last_act_by_another(&self, client: &ClientId) -> bool {
        self.actor.as_ref().is_some_and(|actor| actor != client)
    }

    /// Records a full read of the app whose tree is not stored, to learn what changes by itself.
    pub fn observe(&mut self, tree: &Arc<Tree>) {
        if self.context != ContextPolicy::Off {
            self.tickers.observe(tree);
        }
    }

    /// Records that this client was notified of the context of an element, and that its own actions
    /// caused none of `changes`.
    pub fn note_notice(&mut self, client: &ClientId, tree: &Tree, node: NodeId, changes: &[ContextChange]) {
        // A change that another client made is not one that the app made by itself.
        if !self.was_last_act_by_another(client) {
            self.tickers.note_reported(changes);
        }
        let now = ContextReader::new(&self.records(tree)).context(node);
        if let Some(shown) = self.views.all.get_mut(&(client.clone(), tree.surface())) {
            shown.later_segments.note_shown(&now);
            shown.limit_size();
        }
        drop(now);
        self.views.share_later(client, tree.surface());
    }

    /// Records the effects of an action of this client, which turned `before` into `after`. Changes
    /// from before the action that the client does not know stay unknown.
    ///
    /// Returns the changes for the receipt, without the content of `target` itself, and the refs
    /// that stay valid although the action changed a number in their record.
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
        let mut changes = self.views.take_replaced_facts(client, before, after, &self.openers, |_| None);
        // The target has its own line in the receipt.
        let node = target.and_then(|handle| after.find_address(handle));
        let own: Vec<Handle> =
            node.into_iter().flat_map(|n| n.subtree()).filter_map(|n| n.handle()).collect();
        changes.retain(|change| !own.iter().any(|&handle| change.key.is_at(handle)));
        let kept = if changes.is_empty() {
            Vec::new()
        } else {
            self.keep_refs_with_changed_counts(client, before, after)
        };
        (changes, kept)
    }

    /// Records that the effects of an action of this client are unknown. The client's earlier
    /// knowledge can no longer be compared, except for window titles. Returns the changed titles
    /// for the receipt if the app was captured before and after the action.
    pub fn waive_context(&mut self, client: &ClientId, looks: Option<(&Tree, &Tree)>) -> Vec<ContextChange> {
        let Some(surface) = self.tree().map(|tree| tree.surface()) else { return Vec::new() };
        self.views.keep_titles(client, surface, &self.openers);
        match looks.filter(|(before, after)| [before, after].iter().all(|tree| tree.surface() == surface)) {
            Some((before, after)) => {
                self.views.take_replaced_facts(client, before, after, &self.openers, |all| Some(all.titles()))
            }
            None => Vec::new(),
        }
    }
}
