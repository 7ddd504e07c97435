//! Compares two contexts of one element, then and now.
//!
//! A change is a replacement in place. Examples are a text or value that changed in its node, a
//! node replaced by one of the same shape, a selection that moved, and another URL. Pure additions
//! and removals are not changes. A node that moved together with its text is not a change either.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use super::clocks::{
    contains_number, differ_in_numbers, differ_in_state, is_clock_change, is_quantity, split_at_numbers,
};
use super::fact::{ElementContent, Fact, FactKey, FactKind, Slot, nonzero_hash, slots};
use super::map::{Context, ContextMap};
use crate::model::pairing::pair_equal;

/// A change around an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextChange {
    /// The kind of fact that changed.
    pub kind: FactKind,
    /// The earlier text, which may be empty.
    pub before: String,
    /// The current text, which may be empty.
    pub after: String,
    /// The key of the fact across captures.
    pub key: FactKey,
    /// A hash of the fact's position, equal for facts in similar positions, such as in the rows of
    /// a list.
    shape: u32,
}

impl ContextChange {
    /// Returns whether the texts differ only in their numbers.
    #[must_use]
    pub fn differs_in_numbers(&self) -> bool {
        differ_in_numbers(&self.before, &self.after)
    }

    /// Returns whether the texts name different states of something, such as `per second, rising`
    /// and `per second, falling`.
    #[must_use]
    pub fn differs_in_state(&self) -> bool {
        self.kind == FactKind::Text && differ_in_state(&self.before, &self.after)
    }

    /// Returns whether only percentages or prices changed, which never distinguish records.
    #[must_use]
    pub fn is_of_quantity(&self) -> bool {
        self.differs_in_numbers() && is_quantity(&self.before)
    }

    /// Returns a key shared by changes of numbers in similar positions between the same words: `82
    /// %` in two rows, but not `Load 82 %` and `Order 17`.
    #[must_use]
    pub fn pattern(&self) -> u64 {
        pattern(self.kind, self.shape, &self.after)
    }
}

/// Returns a hash of a fact's kind and shape and of the words around the numbers in its text.
pub(super) fn pattern(kind: FactKind, shape: u32, text: &str) -> u64 {
    nonzero_hash(&(kind, shape, split_at_numbers(text)))
}

impl Fact {
    /// Returns the key of the fact across captures, which also identifies a position whose text
    /// changes by itself. A text is keyed by its parent, because an app may put a new node into the
    /// parent each time it rewrites a text. Other facts are keyed by their slot and, without
    /// identity, by their shape.
    pub(super) fn key(&self) -> FactKey {
        let place = match (self.kind, self.parent, self.slot) {
            (FactKind::Text, 1.., _) => self.parent,
            (_, _, 1..) => self.slot,
            _ => u64::from(self.shape),
        };
        FactKey { kind: self.kind, position: place }
    }
}

/// A fact and its text.
pub(super) type FactText<'c> = (&'c Fact, &'c str);

/// Keys under which facts of two captures are the same fact, most certain first. A fact without a
/// key is skipped.
const KEYS: [fn(FactText<'_>) -> Option<u64>; 11] = [
    // The same text in the same parent stayed, in any position among its siblings.
    |(f, text)| Some(nonzero_hash(&(f.kind, f.parent, f.shape, text))),
    // Another text in the same slot replaced the earlier one.
    |(f, _)| (f.slot != 0).then(|| nonzero_hash(&(f.kind, f.slot))),
    // The same text elsewhere was re-rendered.
    |(f, text)| Some(nonzero_hash(&(f.kind, f.shape, text))),
    // A node was replaced by one of the same shape: in the same parent, otherwise below the same
    // grandparent. Of several re-rendered nodes, such as the marks of a chart, those between the
    // same words belong together: `6 s` and `7 s`, not `6 s` and `30`.
    |read| parent_keys(read).zip(own_keys(read)).map(|key| nonzero_hash(&key)),
    |read| nested_keys(read).zip(own_keys(read)).map(|key| nonzero_hash(&key)),
    |read| {
        own_keys(read)
            .filter(|_| read.0.slot != 0)
            .map(|words| nonzero_hash(&(read.0.kind, read.0.shape, words)))
    },
    parent_keys,
    nested_keys,
    // Without identity, only the shape locates a fact.
    |(f, _)| (f.slot == 0).then(|| nonzero_hash(&(f.kind, f.shape))),
    // The same text in another shape moved. The rest was replaced by facts of the same shape
    // anywhere.
    |(f, text)| Some(nonzero_hash(&(f.kind, text))),
    |(f, _)| Some(nonzero_hash(&(f.kind, f.shape))),
];

fn own_keys((_, text): FactText<'_>) -> Option<Vec<&str>> {
    contains_number(text).then(|| split_at_numbers(text))
}

fn parent_keys((f, _): FactText<'_>) -> Option<u64> {
    (f.parent != 0).then(|| nonzero_hash(&(f.kind, f.shape, f.parent)))
}

fn nested_keys((f, _): FactText<'_>) -> Option<u64> {
    (f.grandparent != 0).then(|| nonzero_hash(&(f.kind, f.shape, f.grandparent)))
}

/// The facts that are the same in two captures, as indices.
#[derive(Default)]
pub(super) struct FactPairs {
    /// Pairs of an earlier and a current fact, whether or not their texts are equal.
    pub(super) found: Vec<(usize, usize)>,
    /// Earlier facts without a current counterpart.
    pub(super) gone: Vec<usize>,
}

impl FactPairs {
    pub(super) fn of(then: &[FactText<'_>], now: &[FactText<'_>]) -> Self {
        let (mut gone, mut came): (Vec<usize>, Vec<usize>) =
            ((0..then.len()).collect(), (0..now.len()).collect());
        let mut found = Vec::with_capacity(now.len());
        for key in KEYS {
            let keys = (|at: usize| key(then[at]), |at: usize| key(now[at]));
            pair_equal(&mut gone, &mut came, keys, |was, current| found.push((was, current)));
        }
        Self { found, gone }
    }
}

impl Context {
    /// Returns the changes from this context to `now`, nearest first. `content` contains what
    /// belongs to the element itself in `now`; that content is judged elsewhere, except for its
    /// numbers. `is_ticker` determines whether the numbers of a fact change by themselves.
    #[must_use]
    pub fn changes_to(
        &self,
        now: &Self,
        content: &ElementContent,
        is_ticker: impl Fn(FactKey) -> bool,
    ) -> Vec<ContextChange> {
        let then: Vec<FactText<'_>> = self.facts().filter(|(f, _)| !content.is_state(f)).collect();
        let now: Vec<FactText<'_>> = now.facts().filter(|(f, _)| !content.is_state(f)).collect();
        let own_words: HashSet<&str> =
            now.iter().filter(|(fact, _)| content.is_name(fact)).map(|&(_, text)| text).collect();
        let replaced = FactPairs::of(&then, &now).found.into_iter().map(|(was, is)| (then[was], is));
        let mut changes: Vec<(usize, ContextChange)> = Vec::new();
        let mut name_changed = false;
        for (was, at) in replaced {
            let is = now[at];
            if was.1 == is.1 || is_clock_change(was.1, is.1) {
                continue;
            }
            // Locating a single element does not report the title of its window.
            let is_unreported =
                matches!(is.0.kind, FactKind::Title | FactKind::WindowTitle | FactKind::Address)
                    && is.1.is_empty();
            // A selection that follows the pointer to the element itself, such as the highlighted
            // menu item, is not a change.
            let marks_own_selection = is.0.kind == FactKind::Selected && own_words.contains(is.1);
            if is_unreported || marks_own_selection {
                continue;
            }
            let own = content.is_name(was.0) || content.is_name(is.0) || content.reads(is.0, is.1);
            let only_numbers = differ_in_numbers(was.1, is.1);
            // Another name means another element and was judged before, but a count in the name was
            // not. Elsewhere, numbers may change by themselves, but words do not.
            let counts = if own { only_numbers } else { !(only_numbers && is_ticker(is.0.key())) };
            // The changed name is reported, so the texts that form it need not be.
            let follows_name = own && is.0.kind == FactKind::Text && name_changed;
            if counts && !follows_name {
                name_changed |= own && is.0.kind == FactKind::Name;
                changes.push((at, change(was, is)));
            }
        }
        changes.sort_by_key(|&(at, _)| at);
        changes.into_iter().map(|(_, change)| change).collect()
    }
}

impl ContextMap {
    /// Returns the changes between two captures of the whole tree, segment by segment.
    #[must_use]
    pub fn changes_to(&self, now: &Self) -> Vec<ContextChange> {
        let mut changes = Vec::new();
        let mut moved = Vec::new();
        for segment in &now.segments {
            let then = self.get(segment.key);
            if then == Some(segment) {
                continue;
            }
            let places: HashSet<Slot> =
                then.into_iter().flat_map(|then| slots(then)).map(|(slot, _)| slot).collect();
            moved.extend(segment.facts().filter(|(f, _)| f.slot != 0 && !places.contains(&(f.kind, f.slot))));
            if let Some(then) = then {
                let [then, now] = [then, segment].map(|s| Context::of(vec![Arc::clone(s)]));
                changes.extend(then.changes_to(&now, &ElementContent::default(), |_| false));
            }
        }
        if moved.is_empty() {
            return changes;
        }
        // A node that becomes a segment, or stops being one, takes its facts along.
        let changed = self.segments.iter().filter(|then| now.get(then.key) != Some(*then));
        let then: HashMap<Slot, &str> = changed.flat_map(|then| slots(then)).collect();
        for (fact, text) in moved {
            let Some(was) = then.get(&(fact.kind, fact.slot)).filter(|was| **was != text) else { continue };
            let is_known = |change: &ContextChange| change.key == fact.key() && change.after == text;
            if !is_clock_change(was, text) && !changes.iter().any(is_known) {
                changes.push(change((fact, was), (fact, text)));
            }
        }
        changes
    }
}

fn change(before: FactText<'_>, after: FactText<'_>) -> ContextChange {
    let (was, now) = (before.1.to_owned(), after.1.to_owned());
    ContextChange { kind: after.0.kind, before: was, after: now, key: after.0.key(), shape: after.0.shape }
}
