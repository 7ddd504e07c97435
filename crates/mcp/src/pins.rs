//! Automatic pins: the refs that one client session was given, and the tree with which it got each
//! of them.
//!
//! Pure. The server passes every response through here before its client sees it, and every target
//! before it is sent. The client neither reads nor types a pin. **Invariant:** a ref is never
//! forwarded with a pin newer than the generation at which it was last issued or renewed *for this
//! client*.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use stickpin_kernel::{RefsEnvelope, Response};
use stickpin_refs::{Generation, RefToken};

/// The maximum number of pins per scope. The oldest are dropped first, which only costs precision.
const MAX_PINS: usize = 1_000;

/// The maximum number of sessions in which one client has pins. The least recently used is dropped
/// first.
const MAX_SCOPES: usize = 64;

/// The pins of one client session, by state directory and session.
#[derive(Debug, Default)]
pub struct Pins {
    scopes: HashMap<(PathBuf, String), Scope>,
    clock: u64,
}

#[derive(Debug, Default)]
struct Scope {
    lifetime: String,
    pins: HashMap<u32, Pin>,
    /// The newest generation that this client read in full, or at which all its refs were renewed.
    since: Option<u64>,
    last_used: u64,
}

#[derive(Debug, Clone, Copy)]
struct Pin {
    generation: u64,
    received_at: u64,
}

/// How much of a response the client sees.
#[derive(Debug, Clone)]
pub enum Shown {
    /// The whole response.
    Whole,
    /// Truncated text. Only the refs in it count as issued, and the base of a diff renews no refs.
    Cut(HashSet<u32>),
}

impl Pins {
    /// Returns the target with its pin, if it is a plain ref that this client was given. Returns
    /// `None` for any other target, which is sent unchanged.
    #[must_use]
    pub fn pin(&self, state_dir: &Path, session: &str, target: &str) -> Option<String> {
        let token: RefToken = target.parse().ok()?;
        if token.pin.is_some() {
            return None;
        }
        let pin = self.scope(state_dir, session)?.pins.get(&token.id.get())?;
        Some(RefToken { pin: Some(Generation::new(pin.generation)), ..token }.to_string())
    }

    /// Returns the generation to send as `since`; `None` before the client has read a tree in full.
    #[must_use]
    pub fn since(&self, state_dir: &Path, session: &str) -> Option<u64> {
        self.scope(state_dir, session)?.since
    }

    fn scope(&self, state_dir: &Path, session: &str) -> Option<&Scope> {
        self.scopes.get(&(state_dir.to_owned(), session.to_owned()))
    }

    /// Records a response that the client is about to see.
    pub fn merge(&mut self, state_dir: &Path, response: &Response, shown: &Shown) {
        // A batch names its state directory once, not in each step.
        let state_dir = response.state_dir.as_deref().unwrap_or(state_dir);
        if let Some(session) = &response.session
            && let Some(refs) = &response.refs
        {
            self.refs(state_dir, session, refs, shown);
        }
        for step in steps(response) {
            self.merge(state_dir, &step, shown);
        }
        // `close` ends lifetimes without refs for them in its response. A lifetime that ended in
        // another way is recognized by the next one.
        if response.ok && response.command == "close" {
            self.scopes.retain(|(dir, name), _| {
                dir != state_dir || response.session.as_ref().is_some_and(|closed| closed != name)
            });
        }
    }

    fn refs(&mut self, state_dir: &Path, session: &str, refs: &RefsEnvelope, shown: &Shown) {
        self.clock += 1;
        let clock = self.clock;
        let key = (state_dir.to_owned(), session.to_owned());
        if !self.scopes.contains_key(&key) && self.scopes.len() >= MAX_SCOPES {
            let oldest = self.scopes.iter().min_by_key(|(_, s)| s.last_used).map(|(key, _)| key.clone());
            self.scopes.retain(|key, _| Some(key) != oldest.as_ref());
        }
        let scope = self.scopes.entry(key).or_default();
        scope.last_used = clock;
        if scope.lifetime != refs.lifetime {
            *scope = Scope { lifetime: refs.lifetime.clone(), last_used: clock, ..Scope::default() };
        }
        scope.merge(refs, shown, clock);
    }
}

impl Scope {
    fn merge(&mut self, refs: &RefsEnvelope, shown: &Shown, clock: u64) {
        for n in numbers(&refs.ended) {
            self.pins.remove(&n);
        }
        let Some(generation) = refs.generation else {
            if !refs.issued.is_empty() {
                // Refs were issued from an unknown tree: drop the pins instead of guessing.
                self.pins.clear();
                self.since = None;
            }
            return;
        };
        let give = |pin: &mut Pin| {
            // Answers may arrive out of order, so the newest generation wins.
            pin.generation = pin.generation.max(generation);
            pin.received_at = clock;
        };
        if let (Some(base), Shown::Whole) = (refs.base, shown) {
            let renewed = self.pins.values_mut().filter(|p| (base..generation).contains(&p.generation));
            renewed.for_each(give);
        }
        let is_visible = |n: &u32| match shown {
            Shown::Whole => true,
            Shown::Cut(seen) => seen.contains(n),
        };
        for n in numbers(&refs.issued).filter(is_visible) {
            give(self.pins.entry(n).or_insert(Pin { generation, received_at: clock }));
        }
        let is_full_snapshot = matches!(shown, Shown::Whole) && (refs.full || refs.base.is_some());
        if is_full_snapshot && self.since.is_none_or(|since| since < generation) {
            self.since = Some(generation);
        }
        self.evict_oldest();
    }

    fn evict_oldest(&mut self) {
        let Some(surplus) = self.pins.len().checked_sub(MAX_PINS).filter(|n| *n > 0) else { return };
        let mut oldest: Vec<(u64, u32)> = self.pins.iter().map(|(&n, pin)| (pin.received_at, n)).collect();
        oldest.select_nth_unstable(surplus - 1);
        for (_, n) in &oldest[..surplus] {
            self.pins.remove(n);
        }
    }
}

/// Returns the responses of a batch's steps.
fn steps(response: &Response) -> Vec<Response> {
    let steps = response.output.as_ref().and_then(|output| output["steps"].as_array());
    let parse_step = |step: &serde_json::Value| serde_json::from_value(step.clone()).ok();
    // Only a response deserializes as a response; the `steps` of other outputs do not.
    steps.into_iter().flatten().filter_map(parse_step).collect()
}

fn numbers(ranges: &[(u32, u32)]) -> impl Iterator<Item = u32> + '_ {
    ranges.iter().flat_map(|&(first, last)| first..=last)
}

/// Returns the numbers of all refs anywhere in the text.
#[must_use]
pub fn refs_in(text: &str) -> HashSet<u32> {
    let found = text.match_indices("@e").filter_map(|(at, _)| {
        let end = text[at + 2..].find(|c: char| !c.is_ascii_digit()).map_or(text.len(), |n| at + 2 + n);
        text[at..end].parse::<RefToken>().ok()
    });
    found.map(|token| token.id.get()).collect()
}

#[cfg(test)]
mod tests;
