//! Facts, and the segments that contain them.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use crate::Handle;

/// The kind of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FactKind {
    /// A text leaf.
    Text,
    /// An accessible name that does not come from the element's own text, such as the name of an
    /// image, a field or a labelled group.
    Name,
    /// The value of a field.
    Value,
    /// Whether a checkbox is checked or a toggle is pressed.
    Checked,
    /// An accessible description.
    Description,
    /// The placeholder of a field.
    Placeholder,
    /// The source of an image.
    Source,
    /// A fingerprint of the options of a native list.
    Options,
    /// The selected or current items of a list, tab list, tree or stepper.
    Selected,
    /// The single button whose menu or section is open, with its row.
    Expanded,
    /// The URL of a document, without its fragment unless the fragment is a route.
    Address,
    /// The title of a document, without counts and unsaved marks.
    Title,
    /// The title of a window, without counts and unsaved marks.
    WindowTitle,
}

/// One thing that a reader sees, as a segment stores it.
///
/// `slot`, `parent` and `grandparent` are made from hashes of handles; they are 0 for nodes without
/// a handle. The slot of an address or page title is instead a hash of the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fact {
    /// The position of the fact: its element or, for a text, the parent and the index among the
    /// parent's texts.
    pub(super) slot: u64,
    /// A hash of the handle of the node's parent.
    pub(super) parent: u64,
    /// A hash of the handle of the node's grandparent.
    pub(super) grandparent: u64,
    /// A hash of the kind, and of the roles and tags of the node and its three nearest ancestors.
    pub(super) shape: u32,
    /// The end offset of the fact's text in the text of its chunk.
    pub(super) end: u16,
    pub(super) kind: FactKind,
}

/// The position of a fact, independent of its segment.
pub(super) type Slot = (FactKind, u64);

/// Returns a segment's facts that have a slot.
pub(super) fn slots(segment: &Segment) -> impl Iterator<Item = (Slot, &str)> {
    segment.facts().filter(|(fact, _)| fact.slot != 0).map(|(fact, text)| ((fact.kind, fact.slot), text))
}

/// The key of a fact across captures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FactKey {
    pub(super) kind: FactKind,
    pub(super) position: u64,
}

/// The key of a segment across trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SegmentKey {
    /// The node of the segment.
    Node(Handle),
    /// A document on a device without identity, by a hash of its frame.
    Document(u64),
    /// A segment that the device cannot identify.
    Unnamed,
}

impl FactKey {
    /// Returns the key of the texts in a node.
    #[must_use]
    pub fn text_at(node: Handle) -> Self {
        Self { kind: FactKind::Text, position: handle_hash(Some(node)) }
    }

    /// Returns whether the fact is at this node; for a text, whether this node is the text's
    /// parent.
    #[must_use]
    pub fn is_at(self, node: Handle) -> bool {
        self.position == handle_hash(Some(node))
    }
}

/// Returns a nonzero hash of a node's handle, which distinguishes equal ids of two documents; 0 if
/// the node has no handle.
pub(super) fn handle_hash(node: Option<Handle>) -> u64 {
    node.map_or(0, |handle| nonzero_hash(&handle))
}

/// Returns a hash of a value. The hash is never 0.
pub(super) fn nonzero_hash(of: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish().max(1)
}

/// Consecutive facts of a segment. Two versions of a large segment share most chunks.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Chunk {
    text: Box<str>,
    facts: Box<[Fact]>,
}

impl Chunk {
    fn facts(&self) -> impl Iterator<Item = (&Fact, &str)> {
        let mut from = 0;
        self.facts.iter().map(move |fact| {
            let end = usize::from(fact.end);
            (fact, &self.text[std::mem::replace(&mut from, end)..end])
        })
    }
}

/// The facts of one segment, without those of the segments inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) key: SegmentKey,
    pub(super) chunks: Box<[Arc<Chunk>]>,
}

impl Segment {
    pub(super) fn facts(&self) -> impl Iterator<Item = (&Fact, &str)> {
        self.chunks.iter().flat_map(|chunk| chunk.facts())
    }

    /// Returns the segment without the facts in these slots; `None` if it contains none of them.
    pub(super) fn without(&self, slots: &HashSet<Slot>) -> Option<Self> {
        let has_slot = |fact: &Fact| slots.contains(&(fact.kind, fact.slot));
        self.facts().any(|(fact, _)| has_slot(fact)).then(|| self.filtered(|fact| !has_slot(fact)))
    }

    /// Returns the segment with only its window titles.
    pub(super) fn titles(&self) -> Self {
        self.filtered(|fact| fact.kind == FactKind::WindowTitle)
    }

    fn filtered(&self, is_kept: impl Fn(&Fact) -> bool) -> Self {
        let mut builder = SegmentBuilder::default();
        self.facts().filter(|(fact, _)| is_kept(fact)).for_each(|(fact, text)| builder.push(*fact, text));
        builder.finish(self.key)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Replaces chunks with equal chunks of another version, so that each is stored only once.
    pub(super) fn share(&mut self, other: &Self) {
        // Chunks are matched by their first fact, which starts a chunk in other versions as well.
        let begin = |at: usize, chunk: &Chunk| match chunk.facts.first() {
            Some(fact) if fact.slot != 0 => fact.slot,
            _ => at as u64,
        };
        let other_chunks: HashMap<u64, &Arc<Chunk>> =
            other.chunks.iter().enumerate().map(|(at, chunk)| (begin(at, chunk), chunk)).collect();
        for (at, chunk) in self.chunks.iter_mut().enumerate() {
            if Arc::strong_count(chunk) == 1
                && let Some(theirs) = other_chunks.get(&begin(at, chunk)).filter(|theirs| **theirs == chunk)
            {
                *chunk = Arc::clone(theirs);
            }
        }
    }
}

/// The maximum number of facts in a chunk.
const MAX_CHUNK_FACTS: usize = 32;

/// Collects the facts of a segment.
#[derive(Debug, Default)]
pub(super) struct SegmentBuilder {
    text: String,
    facts: Vec<Fact>,
    chunks: Vec<Arc<Chunk>>,
}

impl SegmentBuilder {
    /// Adds a fact. Sets `fact.end`.
    pub(super) fn push(&mut self, mut fact: Fact, text: &str) {
        // The first fact determines where a chunk begins, so an added fact changes only one chunk.
        let is_full =
            self.facts.len() == MAX_CHUNK_FACTS || self.text.len() + text.len() > usize::from(u16::MAX);
        if is_full || fact.slot != 0 && fact.slot.is_multiple_of(MAX_CHUNK_FACTS as u64 / 2) {
            self.finish_chunk();
        }
        // Texts are cut before they become facts, so the end fits.
        let Ok(end) = u16::try_from(self.text.len() + text.len()) else { return };
        self.text.push_str(text);
        fact.end = end;
        self.facts.push(fact);
    }

    fn finish_chunk(&mut self) {
        if !self.facts.is_empty() {
            let chunk = Chunk { text: self.text.as_str().into(), facts: self.facts.as_slice().into() };
            self.chunks.push(Arc::new(chunk));
            self.text.clear();
            self.facts.clear();
        }
    }

    pub(super) fn finish(mut self, key: SegmentKey) -> Segment {
        self.finish_chunk();
        Segment { key, chunks: self.chunks.into() }
    }
}

/// The nodes and facts that belong to an element itself.
#[derive(Debug, Clone, Default)]
pub struct ElementContent {
    pub(super) ids: HashSet<u64>,
    /// The facts of nodes without identity, by kind, shape and text.
    pub(super) unnamed: HashSet<(FactKind, u32, String)>,
}

impl ElementContent {
    /// Returns whether a fact is a state of the element: the element's value, or whether the
    /// element is on.
    pub(super) fn is_state(&self, fact: &Fact) -> bool {
        matches!(fact.kind, FactKind::Value | FactKind::Checked) && self.ids.contains(&fact.slot)
    }

    /// Returns whether a fact is part of the element's name. A description, picture or option list
    /// instead indicates what the element belongs to.
    pub(super) fn is_name(&self, fact: &Fact) -> bool {
        match fact.kind {
            FactKind::Text => self.ids.contains(&fact.parent),
            FactKind::Name => self.ids.contains(&fact.slot),
            _ => false,
        }
    }

    /// Returns whether a fact in the tree that the content was read from equals one of the
    /// element's own facts. Used for nodes without identity.
    pub(super) fn reads(&self, fact: &Fact, text: &str) -> bool {
        let own = matches!(fact.kind, FactKind::Text | FactKind::Name | FactKind::Value | FactKind::Checked);
        own && !self.unnamed.is_empty() && self.unnamed.contains(&(fact.kind, fact.shape, text.to_owned()))
    }
}
