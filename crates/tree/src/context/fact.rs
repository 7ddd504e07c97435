//! Facts, and the segments that they are kept in.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use hashbrown::HashMap;

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
    /// The title of a document, counts aside.
    Title,
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
    /// Where its text ends in the text of the segment.
    pub(super) end: u32,
    pub(super) kind: FactKind,
}

/// What names a fact from one reading to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FactKey {
    pub(super) kind: FactKind,
    pub(super) place: u64,
}

/// Names a segment from one tree to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum SegmentKey {
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

/// The facts of one segment, without those of the segments inside it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) key: SegmentKey,
    text: Box<str>,
    facts: Box<[Fact]>,
}

impl Segment {
    pub(super) fn facts(&self) -> impl Iterator<Item = (&Fact, &str)> {
        let mut from = 0;
        self.facts.iter().map(move |fact| {
            let end = fact.end as usize;
            (fact, &self.text[std::mem::replace(&mut from, end)..end])
        })
    }

    fn heap_bytes(&self) -> usize {
        self.text.len() + self.facts.len() * size_of::<Fact>() + size_of::<Self>() + 2 * size_of::<usize>()
    }
}

/// Collects the facts of a segment.
#[derive(Debug, Default)]
pub(super) struct SegmentBuilder {
    text: String,
    facts: Vec<Fact>,
}

impl SegmentBuilder {
    /// Adds a fact; `fact.end` is set here.
    pub(super) fn push(&mut self, mut fact: Fact, text: &str) {
        // Texts beyond 4 GB are beyond every capture.
        let Ok(end) = u32::try_from(self.text.len() + text.len()) else { return };
        self.text.push_str(text);
        fact.end = end;
        self.facts.push(fact);
    }

    pub(super) fn finish(self, key: SegmentKey) -> Segment {
        Segment { key, text: self.text.into(), facts: self.facts.into() }
    }
}

/// The context of one element: the segments around it, the innermost first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Context {
    pub(super) segments: Vec<Arc<Segment>>,
}

impl Segment {
    /// What a client knows of this segment that knew `known` when an act turned `self` into `after` and told what it
    /// replaced: the state after the act, but what had changed unseen before it.
    fn known_after(self: &Arc<Self>, known: &Self, after: &Arc<Self>) -> Arc<Self> {
        if known == &**self {
            return Arc::clone(after);
        }
        let key = |fact: &Fact| (fact.kind, fact.slot, fact.shape);
        let read = |segment: &Self| -> HashMap<_, String> {
            segment.facts().map(|(fact, text)| (key(fact), text.to_owned())).collect()
        };
        let (then, known) = (read(self), read(known));
        let mut builder = SegmentBuilder::default();
        for (fact, text) in after.facts() {
            let untouched = then.get(&key(fact)).is_some_and(|then| then == text);
            let text = known.get(&key(fact)).filter(|_| untouched).map_or(text, String::as_str);
            builder.push(*fact, text);
        }
        Arc::new(builder.finish(after.key))
    }
}

impl Context {
    /// Whether nothing is known of what stands around the element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Without the outermost segment, which is the document or the window.
    #[must_use]
    pub fn inner(mut self) -> Self {
        self.segments.pop();
        self
    }

    pub(super) fn facts(&self) -> impl Iterator<Item = (&Fact, &str)> {
        self.segments.iter().flat_map(|segment| segment.facts())
    }
}

/// The facts of a whole tree, segment by segment: what a client was shown, in about a tenth of the size of the tree.
/// Segments that read the same in two maps are held once.
#[derive(Debug, Default)]
pub struct ContextMap {
    /// In document order.
    pub(super) segments: Vec<Arc<Segment>>,
    index: HashMap<SegmentKey, usize>,
}

impl ContextMap {
    pub(super) fn new(segments: Vec<Arc<Segment>>) -> Self {
        let index = segments.iter().enumerate().map(|(at, segment)| (segment.key, at)).collect();
        Self { segments, index }
    }

    pub(super) fn get(&self, key: SegmentKey) -> Option<&Arc<Segment>> {
        self.index.get(&key).map(|&at| &self.segments[at])
    }

    pub(super) fn has(&self, key: SegmentKey) -> bool {
        self.index.contains_key(&key)
    }

    /// Replaces the segments of a context: a client was told what they show.
    pub fn tell(&mut self, context: &Context) {
        self.replace(context.segments.iter().cloned());
    }

    fn replace(&mut self, segments: impl IntoIterator<Item = Arc<Segment>>) {
        for segment in segments {
            match self.index.get(&segment.key) {
                _ if segment.key == SegmentKey::Unnamed => {}
                Some(&at) => self.segments[at] = segment,
                None => {
                    self.index.insert(segment.key, self.segments.len());
                    self.segments.push(segment);
                }
            }
        }
    }

    /// Drops the segments that were added first, down to `most`.
    pub fn truncate_front(&mut self, most: usize) {
        let surplus = self.segments.len().saturating_sub(most);
        if surplus > 0 {
            let kept = self.segments.split_off(surplus);
            *self = Self::new(kept);
        }
    }

    /// A context that was shown, with what these segments show later.
    #[must_use]
    pub fn update(&self, shown: &Context, now: &Context) -> Context {
        let segments = now.segments.iter().filter_map(|segment| {
            let earlier = || shown.segments.iter().find(|s| s.key == segment.key);
            self.get(segment.key).or_else(earlier).cloned()
        });
        Context { segments: segments.collect() }
    }

    /// How many segments there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.segments.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// What these segments showed when the map was made: the context then of an element whose context now is `now`.
    /// Segments that were not there yet are left out.
    #[must_use]
    pub fn context_of(&self, now: &Context) -> Context {
        let segments = now.segments.iter().filter_map(|segment| self.get(segment.key).cloned());
        Context { segments: segments.collect() }
    }

    /// What a client knows whose act turned `before` into `after` and told what it replaced; `self` is what it was shown
    /// of segments later than the rest, and `shown` what the rest showed.
    pub fn tell_effects(&mut self, before: &Self, after: &Self, shown: impl Fn(&Context) -> Context) {
        for segment in &after.segments {
            let Some(then) = before.get(segment.key) else {
                // It came with the act.
                self.replace([Arc::clone(segment)]);
                continue;
            };
            if then == segment {
                continue;
            }
            let alone = Context { segments: vec![Arc::clone(then)] };
            let known = self.get(segment.key).cloned().or_else(|| shown(&alone).segments.pop());
            let known = known.map_or_else(|| Arc::clone(segment), |known| then.known_after(&known, segment));
            self.replace([known]);
        }
    }

    /// Takes over the segments of another map that read the same, so that they are held once.
    #[must_use]
    pub fn sharing(mut self, other: &Self) -> Self {
        for segment in &mut self.segments {
            if let Some(theirs) = other.get(segment.key).filter(|theirs| *theirs == segment) {
                *segment = Arc::clone(theirs);
            }
        }
        self
    }

    /// Bytes on the heap. Segments that another map holds as well count only once for all maps that are given together.
    #[must_use]
    pub fn heap_bytes<'m>(maps: impl IntoIterator<Item = &'m Self>) -> usize {
        let mut seen = hashbrown::HashSet::new();
        let mut bytes = 0;
        for map in maps {
            bytes += map.segments.capacity() * size_of::<Arc<Segment>>();
            bytes += map.index.capacity() * (size_of::<(SegmentKey, usize)>() + 1);
            let new = map.segments.iter().filter(|segment| seen.insert(Arc::as_ptr(segment)));
            bytes += new.map(|segment| segment.heap_bytes()).sum::<usize>();
        }
        bytes
    }
}
