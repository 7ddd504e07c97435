//! Two contexts of one element, then and now: what was replaced.
//!
//! A change is something replaced in place: a text or value that differs in its node, a node replaced by one of the
//! same shape, a selection that moved, another address. What was only added or only removed is no change, and what
//! moved with its node reads the same.

use std::hash::Hash;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use super::clockwork::{differ_in_numbers, is_clockwork};
use super::fact::{Context, ContextMap, Fact, FactKey, FactKind};

/// Something around an element that reads otherwise now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextChange {
    /// What kind of thing it is.
    pub kind: FactKind,
    /// What it said; empty if nothing.
    pub was: String,
    /// What it says now; empty if nothing.
    pub now: String,
    /// Names the fact in other readings.
    pub key: FactKey,
    /// Alike for facts that stand in alike places, as in the rows of one list.
    pub shape: u32,
}

impl ContextChange {
    /// Whether both texts are the same but for their numbers.
    #[must_use]
    pub fn differs_in_numbers(&self) -> bool {
        differ_in_numbers(&self.was, &self.now)
    }
}

impl Fact {
    /// What names the fact from one reading to the next, and where it may be seen to change by itself. An app that writes
    /// a text anew may put a new node into the old parent each time. Where the device has no identity it is the shape.
    pub(super) fn key(&self) -> FactKey {
        let place = match (self.kind, self.parent, self.slot) {
            (FactKind::Text, 1.., _) => self.parent,
            (_, _, 1..) => self.slot,
            _ => u64::from(self.shape),
        };
        FactKey { kind: self.kind, place }
    }
}

type Read<'c> = (&'c Fact, &'c str);

impl Context {
    /// What of this context is replaced in `now`, the nearest first. `inside` says of the id of a node whether it belongs
    /// to the element itself, whose own content is judged elsewhere but for its numbers; `ticks` of a fact whether it
    /// changes by itself.
    #[must_use]
    pub fn changes_to(
        &self,
        now: &Self,
        inside: impl Fn(u64) -> bool,
        ticks: impl Fn(FactKey) -> bool,
    ) -> Vec<ContextChange> {
        // A description, a picture or the options of the element itself say what it belongs to; the rest is its own.
        let is_name = |fact: &Fact| match fact.kind {
            FactKind::Text => inside(fact.parent),
            FactKind::Name => inside(fact.slot),
            _ => false,
        };
        let own = |fact: &Fact| {
            matches!(fact.kind, FactKind::Value | FactKind::Checked) && inside(fact.slot)
        };
        let counts = |fact: &Fact| !(own(fact) || ticks(fact.key()));
        let mut then: Vec<Read<'_>> = self.facts().filter(|(f, _)| counts(f)).collect();
        let mut left: Vec<Read<'_>> = now.facts().filter(|(f, _)| counts(f)).collect();
        let mut changes: Vec<(usize, ContextChange)> = Vec::new();
        let order: HashMap<*const Fact, usize> =
            left.iter().enumerate().map(|(at, (fact, _))| (std::ptr::from_ref(*fact), at)).collect();
        let mut replaced = |was: Read<'_>, is: Read<'_>| {
            let change = ContextChange {
                kind: is.0.kind,
                was: was.1.to_owned(),
                now: is.1.to_owned(),
                key: is.0.key(),
                shape: is.0.shape,
            };
            // Another name is another element, which was judged before; a count in a name is not.
            let judged = (is_name(was.0) || is_name(is.0)) && !change.differs_in_numbers();
            if judged || is_clockwork(&change.was, &change.now) {
                return;
            }
            changes.push((order[&std::ptr::from_ref(is.0)], change));
        };
        // What reads the same in the same parent stayed, wherever it stands among its siblings.
        pair(&mut then, &mut left, |(f, text)| Some((f.kind, f.parent, f.shape, text)), |_, _| ());
        // Another text in the same place was replaced.
        pair(&mut then, &mut left, |(f, _)| (f.slot != 0).then_some((f.kind, f.slot)), &mut replaced);
        // What reads the same elsewhere was moved or rendered again.
        pair(&mut then, &mut left, |(f, text)| Some((f.kind, text)), |_, _| ());
        // A node was replaced by one of the same shape: in the same parent, else below the same element, else anywhere.
        pair(
            &mut then,
            &mut left,
            |(f, _)| (f.parent != 0).then_some((f.kind, f.shape, f.parent)),
            &mut replaced,
        );
        pair(
            &mut then,
            &mut left,
            |(f, _)| (f.grandparent != 0).then_some((f.kind, f.shape, f.grandparent)),
            &mut replaced,
        );
        pair(&mut then, &mut left, |(f, _)| Some((f.kind, f.shape)), &mut replaced);
        changes.sort_by_key(|&(at, _)| at);
        changes.into_iter().map(|(_, change)| change).collect()
    }
}

impl ContextMap {
    /// What is replaced anywhere between two readings of the whole tree, segment by segment.
    #[must_use]
    pub fn changes_to(&self, now: &Self) -> Vec<ContextChange> {
        let mut changes = Vec::new();
        for segment in &now.segments {
            let Some(then) = self.get(segment.key).filter(|then| !Arc::ptr_eq(then, segment)) else {
                continue;
            };
            if then == segment {
                continue;
            }
            let [then, now] = [then, segment].map(|s| Context { segments: vec![Arc::clone(s)] });
            changes.extend(then.changes_to(&now, |_| false, |_| false));
        }
        changes
    }
}

/// Pairs what has equal keys on both sides, in order, and takes it out.
fn pair<'c, K: Hash + Eq>(
    then: &mut Vec<Read<'c>>,
    now: &mut Vec<Read<'c>>,
    key: impl Fn(Read<'c>) -> Option<K>,
    mut paired: impl FnMut(Read<'c>, Read<'c>),
) {
    if then.is_empty() || now.is_empty() {
        return;
    }
    let mut waiting: HashMap<K, std::collections::VecDeque<usize>> = HashMap::new();
    for (at, read) in then.iter().enumerate() {
        if let Some(key) = key(*read) {
            waiting.entry(key).or_default().push_back(at);
        }
    }
    let mut taken: HashSet<usize> = HashSet::new();
    now.retain(|read| {
        let partner = key(*read).and_then(|key| waiting.get_mut(&key)?.pop_front());
        if let Some(at) = partner {
            paired(then[at], *read);
            taken.insert(at);
        }
        partner.is_none()
    });
    let mut at = 0;
    then.retain(|_| {
        at += 1;
        !taken.contains(&(at - 1))
    });
}
