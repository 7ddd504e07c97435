//! The knowledge of a client: contexts, and the facts of whole trees.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use super::compare::{FactPairs, FactText};
use super::fact::{Fact, Segment, SegmentBuilder, SegmentKey, Slot, slots};

/// The context of one element: the segments around it, innermost first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Context {
    pub(super) segments: Vec<Arc<Segment>>,
    /// The keys of the element and its ancestors, innermost first, and of dialogs that were opened
    /// earlier. A node that is not a segment now may have been one before: the last remaining row
    /// of a list is not a segment.
    pub(super) enclosing: Vec<SegmentKey>,
}

impl Context {
    /// Returns a context of these segments, regardless of the element that they surround.
    pub(super) fn of(segments: Vec<Arc<Segment>>) -> Self {
        let enclosing = segments.iter().map(|segment| segment.key).collect();
        Self { segments, enclosing }
    }

    /// Returns whether nothing is known about the surroundings of the element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Returns the context without its outermost segment, which is the root document.
    #[must_use]
    pub fn without_document(mut self) -> Self {
        if let Some(outermost) = self.segments.pop() {
            self.enclosing.retain(|key| *key != outermost.key);
        }
        self
    }

    pub(super) fn facts(&self) -> impl Iterator<Item = (&Fact, &str)> {
        self.segments.iter().flat_map(|segment| segment.facts())
    }
}

/// The facts of a whole tree, by segment: what a client was shown, in about a tenth of the tree's
/// size. Equal parts of two maps can be stored once.
#[derive(Debug, Default)]
pub struct ContextMap {
    /// The segments in document order, followed by those that were added later.
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

    /// Returns a map that contains only the window titles.
    #[must_use]
    pub fn titles(&self) -> Self {
        let only = self.segments.iter().map(|segment| Arc::new(segment.titles()));
        Self::new(only.filter(|segment| !segment.is_empty()).collect())
    }

    /// Returns those of `keys` for which the map contains a segment.
    #[must_use]
    pub fn segments_among(&self, keys: &HashSet<SegmentKey>) -> HashSet<SegmentKey> {
        keys.iter().filter(|key| self.has(**key)).copied().collect()
    }

    pub(super) fn has(&self, key: SegmentKey) -> bool {
        self.index.contains_key(&key)
    }

    /// Replaces the segments of a context, because the client was informed of what they show.
    pub fn note_shown(&mut self, context: &Context) {
        self.adopt_segments(&context.segments);
    }

    /// Replaces segments and drops their facts from all others, because nodes can become segments
    /// and stop being segments.
    fn adopt_segments(&mut self, shown: &[Arc<Segment>]) {
        let slots: HashSet<Slot> =
            shown.iter().flat_map(|segment| slots(segment)).map(|(slot, _)| slot).collect();
        for segment in &mut self.segments {
            if let Some(rest) = segment.without(&slots) {
                *segment = Arc::new(rest);
            }
        }
        self.replace(shown.iter().cloned());
    }

    pub(super) fn replace(&mut self, segments: impl IntoIterator<Item = Arc<Segment>>) {
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

    /// Drops the segments that were added first, until at most `max` remain.
    pub fn truncate_front(&mut self, max: usize) {
        let surplus = self.segments.len().saturating_sub(max);
        if surplus > 0 {
            let kept = self.segments.split_off(surplus);
            *self = Self::new(kept);
        }
    }

    /// Returns the shown context of an element whose current context is `now`, updated with the
    /// later content of the segments in this map.
    #[must_use]
    pub fn update(&self, shown: &Context, now: &Context) -> Context {
        if shown.is_empty() {
            return self.update_except(shown, now, &HashSet::new());
        }
        let later = now.enclosing.iter().filter_map(|&key| self.get(key));
        let later = later.flat_map(|segment| slots(segment)).map(|(slot, _)| slot).collect();
        self.update_except(shown, now, &later)
    }

    /// Returns the context with the content of the segments in this map. All other segments stay as
    /// shown, without the facts in `later`.
    fn update_except(&self, shown: &Context, now: &Context, later: &HashSet<Slot>) -> Context {
        let shown: HashMap<SegmentKey, &Arc<Segment>> =
            shown.segments.iter().map(|segment| (segment.key, segment)).collect();
        let segments = now.enclosing.iter().filter_map(|&key| {
            let earlier_segments = || {
                let shown = *shown.get(&key)?;
                Some(shown.without(later).map_or_else(|| Arc::clone(shown), Arc::new))
            };
            self.get(key).cloned().or_else(earlier_segments)
        });
        Context { segments: segments.collect(), enclosing: now.enclosing.clone() }
    }

    /// Returns a context of all segments in this map.
    #[must_use]
    pub fn all(&self) -> Context {
        Context::of(self.segments.clone())
    }

    /// Returns the number of segments.
    #[must_use]
    pub fn len(&self) -> usize {
        self.segments.len()
    }

    /// Returns whether there are no segments.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Returns the earlier context, according to this map, of an element whose current context is
    /// `now`. Segments that did not exist yet are omitted.
    #[must_use]
    pub fn context_of(&self, now: &Context) -> Context {
        self.update(&Context::default(), now)
    }

    /// Updates a client's knowledge after its action turned `before` into `after`. The client was
    /// informed of what the action replaced, so it knows the state after the action. Earlier
    /// changes that it did not know about stay unknown.
    ///
    /// `self` contains what the client was shown after its last full read. `shown` returns the
    /// earlier context from that read, and `all` returns the whole read as a context.
    pub fn note_effects(
        &mut self,
        before: &Self,
        after: &Self,
        shown: impl Fn(&Context) -> Context,
        all: impl Fn() -> Context,
    ) {
        let is_changed = |segment: &&Arc<Segment>| after.get(segment.key) != Some(*segment);
        let then: Vec<&Arc<Segment>> = before.segments.iter().filter(is_changed).collect();
        let is_new_or_changed = |segment: &&Arc<Segment>| before.get(segment.key) != Some(*segment);
        let now: Vec<&Arc<Segment>> = after.segments.iter().filter(is_new_or_changed).collect();
        let added = now.iter().filter(|segment| !before.has(segment.key));
        let relevant = Context::of(then.iter().chain(added).map(|segment| Arc::clone(segment)).collect());
        let later: HashSet<Slot> =
            self.segments.iter().flat_map(|segment| slots(segment)).map(|(slot, _)| slot).collect();
        let known = self.update_except(&shown(&relevant), &relevant, &later);
        let known_keys: HashMap<SegmentKey, &Arc<Segment>> =
            known.segments.iter().map(|segment| (segment.key, segment)).collect();
        let mut known: Vec<FactText<'_>> = known.facts().collect();
        // Nodes become segments and stop being segments. Compare the facts of all of them at once,
        // together with what the client was shown of them in other segments.
        let mut missing: HashSet<Slot> =
            then.iter().flat_map(|then| slots(then)).map(|(slot, _)| slot).collect();
        for (fact, _) in &known {
            missing.remove(&(fact.kind, fact.slot));
        }
        let moved_facts = if missing.is_empty() {
            Context::default()
        } else {
            let mut all = all();
            all.enclosing.retain(|key| !known_keys.contains_key(key));
            let shown: HashSet<SegmentKey> = all.enclosing.iter().copied().collect();
            let others = self.segments.iter().map(|segment| segment.key);
            all.enclosing.extend(others.filter(|key| !known_keys.contains_key(key) && !shown.contains(key)));
            self.update_except(&all, &all, &later)
        };
        known.extend(moved_facts.facts().filter(|(fact, _)| missing.remove(&(fact.kind, fact.slot))));
        // A segment that the client was never shown counts as known in its earlier state.
        let new = then.iter().filter(|segment| !known_keys.contains_key(&segment.key));
        known.extend(
            new.flat_map(|segment| segment.facts())
                .filter(|(fact, _)| fact.slot == 0 || missing.contains(&(fact.kind, fact.slot))),
        );
        let (facts_then, facts_now) = (facts(&then), facts(&now));
        let unseen = FactPairs::of(&known, &facts_then);
        let known_text: HashMap<usize, &str> =
            unseen.found.iter().map(|&(at, then)| (then, known[at].1)).collect();
        // Facts that the action did not change keep the text that the client knows.
        let effects = FactPairs::of(&facts_then, &facts_now).found.into_iter();
        let unchanged: HashMap<*const Fact, &str> = effects
            .filter(|&(then, now)| facts_then[then].1 == facts_now[now].1)
            .filter_map(|(then, now)| Some((std::ptr::from_ref(facts_now[now].0), *known_text.get(&then)?)))
            .collect();
        let gone: HashSet<*const Fact> =
            unseen.gone.iter().map(|&at| std::ptr::from_ref(known[at].0)).collect();
        let slots_then: HashSet<Slot> =
            then.iter().flat_map(|then| slots(then)).map(|(slot, _)| slot).collect();
        let mut reported = Vec::with_capacity(now.len());
        for segment in now {
            let known = known_keys.get(&segment.key).copied().filter(|known| !known.is_empty());
            let is_moved = || slots(segment).any(|(slot, _)| slots_then.contains(&slot));
            // A dialog that reappears may be about something else, so its text stays unknown.
            if known.is_some() && !before.has(segment.key) && !is_moved() {
                continue;
            }
            let mut builder = SegmentBuilder::default();
            for (fact, text) in segment.facts() {
                builder.push(*fact, unchanged.get(&std::ptr::from_ref(fact)).unwrap_or(&text));
            }
            // A fact that disappeared without the client's knowledge may reappear as something
            // else.
            for (fact, text) in known.into_iter().flat_map(|known| known.facts()) {
                if gone.contains(&std::ptr::from_ref(fact)) {
                    builder.push(*fact, text);
                }
            }
            reported.push(Arc::new(builder.finish(segment.key)));
        }
        // Facts that the action touched no longer count in the other segments that showed them.
        let rest = moved_facts.segments.iter().filter_map(|segment| segment.without(&slots_then));
        reported.extend(rest.map(Arc::new));
        self.adopt_segments(&reported);
    }

    /// Replaces parts that are equal in another map with the parts of that map, so that each is
    /// stored only once. Skips parts that are already shared.
    pub fn share(&mut self, other: &Self) {
        for segment in &mut self.segments {
            let Some(theirs) = other.get(segment.key).filter(|_| Arc::strong_count(segment) == 1) else {
                continue;
            };
            if theirs == segment {
                *segment = Arc::clone(theirs);
            } else {
                Arc::make_mut(segment).share(theirs);
            }
        }
    }
}

fn facts<'c>(segments: &[&'c Arc<Segment>]) -> Vec<FactText<'c>> {
    segments.iter().flat_map(|segment| segment.facts()).collect()
}
