//! Facts, and the segments that they are kept in.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use crate::Handle;

/// What kind of thing a fact says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FactKind {
    /// A text leaf.
    Text,
    /// An accessible name that is not made of the element's own text: of an image, a field, a labelled group.
    Name,
    /// The value of a field.
    Value,
    /// Whether a box is checked, a toggle pressed.
    Checked,
    /// An accessible description.
    Description,
    /// The placeholder of a field.
    Placeholder,
    /// The source of an image.
    Source,
    /// A fingerprint of the options of a native list.
    Options,
    /// Which items of a list, of tabs, of a tree or of steps are selected or current.
    Selected,
    /// The one button whose menu or part of the page is open, with the row that it stands in.
    Expanded,
    /// The address of a document: path and query.
    Address,
    /// The title of a document, counts and the mark of what is not saved aside.
    Title,
    /// The title of a window, likewise.
    WindowTitle,
}

/// One thing that a reader sees, as a segment keeps it.
///
/// The numbers name nodes of the device by their handles; they are 0 where the device has no identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fact {
    /// The place of the fact: the element, or of a text its parent and which of its texts it is.
    pub(super) slot: u64,
    /// The parent of the node that says it.
    pub(super) parent: u64,
    /// The parent of that one.
    pub(super) grandparent: u64,
    /// Roles and tags of the node and what is right above it, as one number.
    pub(super) shape: u32,
    /// Where its text ends in the text of its chunk.
    pub(super) end: u16,
    pub(super) kind: FactKind,
}

/// Where a fact stands, whatever segment it is in.
pub(super) type Slot = (FactKind, u64);

/// The facts of a segment whose slots say where they stand.
pub(super) fn slots(segment: &Segment) -> impl Iterator<Item = (Slot, &str)> {
    segment.facts().filter(|(fact, _)| fact.slot != 0).map(|(fact, text)| ((fact.kind, fact.slot), text))
}

/// What names a fact from one reading to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FactKey {
    pub(super) kind: FactKind,
    pub(super) place: u64,
}

/// Names a segment from one tree to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SegmentKey {
    /// The node around it.
    Node(Handle),
    /// A document of a device without identity, by a hash of its frame.
    Document(u64),
    /// The device does not say which one it is.
    Unnamed,
}

impl FactKey {
    /// The texts in a node.
    #[must_use]
    pub fn text_at(node: Handle) -> Self {
        Self { kind: FactKind::Text, place: place_of(Some(node)) }
    }

    /// Whether the fact is at this node: of a text its parent.
    #[must_use]
    pub fn is_at(self, node: Handle) -> bool {
        self.place == place_of(Some(node))
    }
}

/// A node as one number, other than 0: ids of two documents may be equal.
pub(super) fn place_of(node: Option<Handle>) -> u64 {
    node.map_or(0, |handle| number(&handle))
}

/// A number other than 0.
pub(super) fn number(of: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish().max(1)
}

/// Facts of a segment that stand one behind another. Two versions of a large segment have most of them in common.
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

    /// The segment without the facts in these slots, if it has any of them.
    pub(super) fn without(&self, slots: &HashSet<Slot>) -> Option<Self> {
        let is_there = |fact: &Fact| slots.contains(&(fact.kind, fact.slot));
        self.facts().any(|(fact, _)| is_there(fact)).then(|| self.filtered(|fact| !is_there(fact)))
    }

    /// The titles of windows in it, without all else.
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

    /// Takes over the chunks of another version that read the same, so that they are held once.
    pub(super) fn share(&mut self, other: &Self) {
        // A chunk is found by its first fact, which begins it in other versions as well.
        let begin = |at: usize, chunk: &Chunk| match chunk.facts.first() {
            Some(fact) if fact.slot != 0 => fact.slot,
            _ => at as u64,
        };
        let theirs: HashMap<u64, &Arc<Chunk>> =
            other.chunks.iter().enumerate().map(|(at, chunk)| (begin(at, chunk), chunk)).collect();
        for (at, chunk) in self.chunks.iter_mut().enumerate() {
            if Arc::strong_count(chunk) == 1
                && let Some(theirs) = theirs.get(&begin(at, chunk)).filter(|theirs| **theirs == chunk)
            {
                *chunk = Arc::clone(theirs);
            }
        }
    }
}

/// Facts of a chunk, at most.
const CHUNK: usize = 32;

/// Collects the facts of a segment.
#[derive(Debug, Default)]
pub(super) struct SegmentBuilder {
    text: String,
    facts: Vec<Fact>,
    chunks: Vec<Arc<Chunk>>,
}

impl SegmentBuilder {
    /// Adds a fact; `fact.end` is set here.
    pub(super) fn push(&mut self, mut fact: Fact, text: &str) {
        // Where a chunk begins depends on its first fact, so that one that is added changes one chunk.
        let is_full = self.facts.len() == CHUNK || self.text.len() + text.len() > usize::from(u16::MAX);
        if is_full || fact.slot != 0 && fact.slot.is_multiple_of(CHUNK as u64 / 2) {
            self.cut();
        }
        // A text is cut before it becomes a fact, and fits.
        let Ok(end) = u16::try_from(self.text.len() + text.len()) else { return };
        self.text.push_str(text);
        fact.end = end;
        self.facts.push(fact);
    }

    fn cut(&mut self) {
        if !self.facts.is_empty() {
            let chunk = Chunk { text: self.text.as_str().into(), facts: self.facts.as_slice().into() };
            self.chunks.push(Arc::new(chunk));
            self.text.clear();
            self.facts.clear();
        }
    }

    pub(super) fn finish(mut self, key: SegmentKey) -> Segment {
        self.cut();
        Segment { key, chunks: self.chunks.into() }
    }
}

/// What belongs to an element itself.
#[derive(Debug, Clone, Default)]
pub struct Content {
    pub(super) ids: HashSet<u64>,
    /// What nodes without identity say, by kind and shape.
    pub(super) unnamed: HashSet<(FactKind, u32, String)>,
}

impl Content {
    /// Whether a fact is a state of the element: what it holds, whether it is on.
    pub(super) fn is_state(&self, fact: &Fact) -> bool {
        matches!(fact.kind, FactKind::Value | FactKind::Checked) && self.ids.contains(&fact.slot)
    }

    /// Whether a fact is of what names the element. A description, a picture or the options of the element say what it
    /// belongs to.
    pub(super) fn is_name(&self, fact: &Fact) -> bool {
        match fact.kind {
            FactKind::Text => self.ids.contains(&fact.parent),
            FactKind::Name => self.ids.contains(&fact.slot),
            _ => false,
        }
    }

    /// Whether a fact of the tree that the content was read from reads like the element's own, where nodes have no
    /// identity.
    pub(super) fn reads(&self, fact: &Fact, text: &str) -> bool {
        let own = matches!(fact.kind, FactKind::Text | FactKind::Name | FactKind::Value | FactKind::Checked);
        own && !self.unnamed.is_empty() && self.unnamed.contains(&(fact.kind, fact.shape, text.to_owned()))
    }
}
