//! The ref table: the element and the meaning of every issued number.
//!
//! Numbers are never reassigned and never reused. An element whose meaning changes gets another
//! number for the new meaning. The old number is remembered and becomes valid again when the old
//! meaning returns. There is one exception, in `count_changes.rs`: if an action changed only
//! numbers in the element's record, the element keeps its ref number.

use crate::numbers::{NumberError, NumberSource, Numbers};
use hashbrown::{HashMap, HashSet};
use std::collections::BTreeMap;
use stickpin_refs::{Generation, Ref};
use stickpin_tree::{Handle, Meaning, NodeId, SurfaceId};

/// The maximum number of refs that are remembered with their meanings although they have ended or
/// their elements are missing from truncated captures.
pub(crate) const MAX_ENDED: usize = 4_096;
/// The maximum number of meanings that are remembered per element.
const MAX_PAST: usize = 16;

/// The key of an element. Elements are numbered in the order in which they first got a ref.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ElementKey(u64);

/// The presence of an element according to the last captures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    /// In the current tree.
    Here(NodeId),
    /// Not in the current tree, which was truncated and therefore proves nothing.
    Unseen,
    /// Not in the current tree but still in the document.
    Hidden,
    /// On a surface that the current tree does not show.
    Elsewhere,
    /// Missing from a complete capture, or on a closed surface.
    Gone,
}

impl Presence {
    pub(crate) fn node(self) -> Option<NodeId> {
        if let Self::Here(node) = self { Some(node) } else { None }
    }

    /// Returns whether a ref can stand for an element with this presence.
    pub(crate) fn resolves(self) -> bool {
        matches!(self, Self::Here(_) | Self::Unseen)
    }
}

/// One number of an element. The number stands for the element while the element has this meaning.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) id: Ref,
    pub(crate) meaning: Meaning,
    /// When the number was last issued to or renewed for any client.
    pub(crate) received_at: Generation,
    /// When the number stopped standing for the element; `None` while it stands.
    pub(crate) ended: Option<Generation>,
}

#[derive(Debug)]
pub(crate) struct Element {
    /// The element's handle; `None` if there is none or it is no longer reliable.
    pub(crate) handle: Option<Handle>,
    /// The element's handle before it became unreliable. Reported when a ref has ended, but never
    /// used to find the element.
    pub(crate) unreliable_handle: Option<Handle>,
    pub(crate) surface: SurfaceId,
    pub(crate) presence: Presence,
    /// The generation in which the element was last seen, and its node in that tree.
    pub(crate) last_seen: (Generation, NodeId),
    /// Whether the element was matched by content in a truncated capture, in which another element
    /// may look the same.
    pub(crate) unproven: bool,
    /// Whether the element is gone because its row left a list that stayed. An equal row that
    /// appears later is a new row unless its key matches.
    pub(crate) row_lost: bool,
    /// The number that is valid now; for an absent element, the one that was valid when it was last
    /// seen. `None` if no number has the meaning that the element has now or had then.
    pub(crate) active: Option<Ref>,
    /// The element's numbers, oldest first.
    pub(crate) entries: Vec<Entry>,
}

impl Element {
    /// Returns the number that stands for the element now.
    pub(crate) fn live(&self) -> Option<Ref> {
        self.active.filter(|_| self.presence.resolves())
    }

    pub(crate) fn entry(&self, r#ref: Ref) -> Option<&Entry> {
        self.entries.iter().find(|e| e.id == r#ref)
    }

    /// Updates the meaning of an element that was found in nodes other than those for which its ref
    /// was issued: the meaning now refers to the new nodes.
    pub(crate) fn take_nodes_of(&mut self, now: &Meaning) {
        let Some(active) = self.active else { return };
        if let Some(entry) = self.entries.iter_mut().find(|e| e.id == active) {
            entry.meaning = entry.meaning.with_nodes_of(now);
        }
    }

    /// Returns the meaning that was valid when the element was last seen.
    pub(crate) fn active_meaning(&self) -> Option<&Meaning> {
        self.active.and_then(|r| self.entry(r)).map(|e| &e.meaning)
    }
}

#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) elements: BTreeMap<ElementKey, Element>,
    by_ref: HashMap<Ref, ElementKey>,
    pub(crate) by_handle: HashMap<Handle, ElementKey>,
    /// The elements of the table that are in the current tree, by node, each with the number that
    /// stands for it.
    by_node: HashMap<NodeId, (ElementKey, Option<Ref>)>,
    /// Closed surfaces that contained elements.
    ended_surfaces: HashSet<SurfaceId>,
    numbers: Numbers,
    next_key: u64,
    /// Numbers forgotten since [`Table::forget`] last reported them.
    dropped: Vec<Ref>,
    /// The newest generation at which a forgotten number ended. If its element was missing from
    /// truncated captures, the generation in which the element was last seen counts.
    forgotten_through: Option<Generation>,
}

impl Table {
    pub(crate) fn new(numbers: Box<dyn NumberSource>) -> Self {
        Self {
            elements: BTreeMap::new(),
            by_ref: HashMap::new(),
            by_handle: HashMap::new(),
            by_node: HashMap::new(),
            ended_surfaces: HashSet::new(),
            numbers: Numbers::new(numbers),
            next_key: 0,
            dropped: Vec::new(),
            forgotten_through: None,
        }
    }

    pub(crate) fn find(&self, r#ref: Ref) -> Option<(&Element, &Entry)> {
        let element = self.elements.get(self.by_ref.get(&r#ref)?)?;
        Some((element, element.entry(r#ref)?))
    }

    /// Returns whether a ref stands for its element now.
    pub(crate) fn is_live(&self, r#ref: Ref) -> bool {
        self.find(r#ref).is_some_and(|(element, _)| element.live() == Some(r#ref))
    }

    pub(crate) fn was_minted(&self, r#ref: Ref) -> bool {
        self.numbers.was_minted(r#ref)
    }

    /// Returns the number that stands for a node of the current tree.
    pub(crate) fn ref_at(&self, node: NodeId) -> Option<Ref> {
        self.by_node.get(&node)?.1
    }

    pub(crate) fn ensure(&mut self, count: usize) -> Result<(), NumberError> {
        self.numbers.ensure(count)
    }

    /// Marks the elements of a closed surface as gone for good. Elements of the current tree keep
    /// their presence until the next tree, which shows another surface, is stored.
    pub(crate) fn end_surface(&mut self, surface: SurfaceId) {
        for element in self.elements.values_mut().filter(|e| e.surface == surface) {
            if element.presence == Presence::Elsewhere {
                element.presence = Presence::Gone;
            }
            self.ended_surfaces.insert(surface);
        }
    }

    /// Returns the presence of an element whose surface the current tree does not show.
    pub(crate) fn off_surface_presence(ended: &HashSet<SurfaceId>, element: &Element) -> Presence {
        let gone = element.presence == Presence::Gone || ended.contains(&element.surface);
        if gone { Presence::Gone } else { Presence::Elsewhere }
    }

    /// Returns the closed surfaces.
    pub(crate) fn ended_surfaces(&self) -> HashSet<SurfaceId> {
        self.ended_surfaces.clone()
    }

    /// Assigns the next number, which was [ensured](Table::ensure), to a node of the current tree.
    pub(crate) fn mint(
        &mut self,
        node: NodeId,
        handle: Option<Handle>,
        surface: SurfaceId,
        meaning: Meaning,
        at: Generation,
    ) -> Result<Ref, NumberError> {
        let r#ref = self.numbers.mint().ok_or(NumberError::Exhausted)?;
        let entry = Entry { id: r#ref, meaning, received_at: at, ended: None };
        let key = match self.by_node.get(&node) {
            Some(&(key, _)) => key,
            None => {
                let key = ElementKey(self.next_key);
                self.next_key += 1;
                let element = Element {
                    handle,
                    unreliable_handle: None,
                    surface,
                    presence: Presence::Here(node),
                    last_seen: (at, node),
                    unproven: false,
                    row_lost: false,
                    active: None,
                    entries: Vec::new(),
                };
                self.elements.insert(key, element);
                if let Some(handle) = handle {
                    self.by_handle.insert(handle, key);
                }
                key
            }
        };
        if let Some(element) = self.elements.get_mut(&key) {
            if element.entries.len() >= MAX_PAST {
                let oldest = element.entries.remove(0);
                self.by_ref.remove(&oldest.id);
                self.dropped.push(oldest.id);
                self.forgotten_through = self.forgotten_through.max(oldest.ended);
            }
            element.active = Some(r#ref);
            element.entries.push(entry);
        }
        self.by_node.insert(node, (key, Some(r#ref)));
        self.by_ref.insert(r#ref, key);
        Ok(r#ref)
    }

    /// Records that refs were issued to a client or renewed for it.
    pub(crate) fn note_received(&mut self, refs: &[Ref], at: Generation) {
        for r in refs {
            let element = self.by_ref.get(r).and_then(|key| self.elements.get_mut(key));
            let entry = element.and_then(|e| e.entries.iter_mut().find(|e| e.id == *r));
            if let Some(entry) = entry {
                entry.received_at = at;
            }
        }
    }

    /// Records which numbers ended or became valid again after an alignment. Returns those that
    /// ended now, sorted.
    pub(crate) fn note_ends(&mut self, at: Generation) -> Vec<Ref> {
        let mut now_ended = Vec::new();
        self.by_node.clear();
        for (&key, element) in &mut self.elements {
            let live = element.live();
            if let Presence::Here(node) = element.presence {
                self.by_node.insert(node, (key, live));
            }
            for entry in &mut element.entries {
                if live == Some(entry.id) {
                    entry.ended = None;
                } else if entry.ended.is_none() {
                    entry.ended = Some(at);
                    now_ended.push(entry.id);
                }
            }
        }
        now_ended.sort_unstable();
        now_ended
    }

    /// Returns the numbers that ended at this generation, with handles, for elements that are in
    /// the current tree and have no other number yet. Elements without a handle are omitted.
    pub(crate) fn ended_at(&self, at: Generation) -> Vec<(Ref, Handle)> {
        let here = self.elements.values().filter(|e| e.active.is_none() && e.presence.node().is_some());
        let ended = here.filter_map(|e| {
            let entry = e.entries.iter().find(|entry| entry.ended == Some(at))?;
            Some((entry.id, e.handle?))
        });
        ended.collect()
    }

    /// Returns the numbers that stand for elements now, with the elements' handles. Elements
    /// without a handle are omitted.
    pub(crate) fn live(&self) -> Vec<(Ref, Handle)> {
        self.elements.values().filter_map(|e| e.live().zip(e.handle)).collect()
    }

    /// Keeps a number for its element with a new meaning, even if the number had ended.
    pub(crate) fn continue_with_meaning(&mut self, r#ref: Ref, meaning: Meaning) {
        let Some(&key) = self.by_ref.get(&r#ref) else { return };
        let Some(element) = self.elements.get_mut(&key) else { return };
        if let Some(entry) = element.entries.iter_mut().find(|e| e.id == r#ref) {
            entry.meaning = meaning;
            entry.ended = None;
            element.active = Some(r#ref);
            if let Presence::Here(node) = element.presence {
                self.by_node.insert(node, (key, Some(r#ref)));
            }
        }
    }

    /// Returns every number that ended after `from`, sorted; `None` when some of them may have been
    /// forgotten.
    pub(crate) fn ended_since(&self, from: Generation) -> Option<Vec<Ref>> {
        if self.forgotten_through.is_some_and(|g| g > from) {
            return None;
        }
        let entries = self.elements.values().flat_map(|e| &e.entries);
        let mut ended: Vec<Ref> =
            entries.filter(|e| e.ended.is_some_and(|g| g > from)).map(|e| e.id).collect();
        ended.sort_unstable();
        Some(ended)
    }

    /// Forgets the numbers that ended first, or whose elements have been missing from truncated
    /// captures the longest, until the limit holds. Returns all numbers forgotten since the last
    /// call.
    pub(crate) fn forget(&mut self) -> Vec<Ref> {
        // Elements that truncated captures never show again would otherwise accumulate.
        let unseen = |e: &Element| (e.presence == Presence::Unseen).then_some(e.last_seen.0);
        let entries = self.elements.values().flat_map(|e| e.entries.iter().map(move |entry| (e, entry)));
        let mut ends: Vec<(Generation, Ref)> =
            entries.filter_map(|(e, entry)| Some((entry.ended.or(unseen(e))?, entry.id))).collect();
        ends.sort_unstable();
        ends.truncate(ends.len().saturating_sub(MAX_ENDED));
        self.forgotten_through = self.forgotten_through.max(ends.last().map(|&(g, _)| g));
        for (_, r) in ends {
            self.forget_one(r);
            self.dropped.push(r);
        }
        std::mem::take(&mut self.dropped)
    }

    fn forget_one(&mut self, r#ref: Ref) {
        let Some(key) = self.by_ref.remove(&r#ref) else { return };
        let Some(element) = self.elements.get_mut(&key) else { return };
        element.entries.retain(|e| e.id != r#ref);
        element.active = element.active.filter(|&a| a != r#ref);
        if !element.entries.is_empty() {
            if let (Some(node), live) = (element.presence.node(), element.live()) {
                self.by_node.insert(node, (key, live));
            }
            return;
        }
        let (handle, node) = (element.handle, element.presence.node());
        self.elements.remove(&key);
        // By now, the handle may belong to another element.
        if let Some(h) = handle.filter(|h| self.by_handle.get(h) == Some(&key)) {
            self.by_handle.remove(&h);
        }
        if let Some(n) = node {
            self.by_node.remove(&n);
        }
    }

    pub(crate) fn close(&mut self) {
        self.numbers.close();
    }
}
