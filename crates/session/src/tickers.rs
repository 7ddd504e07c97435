//! Positions whose numbers or states change by themselves, learned from captures: clocks, prices,
//! counters of other people's work.
//!
//! Every capture of the app is compared with the previous one, including captures that a command
//! takes for itself. A difference between two captures without an action in between counts as a
//! change that the app made by itself.
//!
//! - A number that changed by itself twice is a ticker.
//! - Numbers of one [pattern](ContextChange::pattern) are tickers as soon as they have been
//!   re-rendered, or a client has been notified of them, twice in total. For percentages and
//!   prices, one notice suffices.
//! - Changed words may belong to another record, however often they change. The exception is a text
//!   that names a state, such as `per second, rising`. Once it has returned to an earlier state
//!   without an action, it is expected to do so again.

use hashbrown::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use stickpin_tree::{ContextChange, FactKey, Tree, compare_texts};

/// The maximum number of positions that are remembered as changing by themselves, and likewise of
/// patterns and of texts with states.
const MAX_TICKERS: usize = 4_096;

/// The minimum number of changes without an action for a number to count as changing by itself.
const MIN_CHANGES: u8 = 2;

/// The maximum number of states that are remembered per text.
const MAX_STATES: usize = 4;

/// The positions, patterns and texts that change by themselves.
#[derive(Debug, Default)]
pub(crate) struct Tickers {
    changed: HashMap<FactKey, u8>,
    /// The number of notices and re-renderings per pattern. A notice of a percentage or a price
    /// counts as [`MIN_CHANGES`].
    reported: HashMap<u64, u8>,
    /// Per text that changed by itself, the states that it named and whether it returned to one of
    /// them.
    states: HashMap<FactKey, NamedStates>,
    /// The document to which the patterns belong.
    document: u64,
    /// The last capture.
    last: Option<Arc<Tree>>,
    /// Whether an action began after the last capture. The next capture may then show effects of
    /// the action.
    acted: bool,
}

/// The hashes of the states that one text has named, in order, and whether the text returned to one
/// of them.
#[derive(Debug, Default)]
struct NamedStates {
    named: Vec<u64>,
    came_back: bool,
}

impl Tickers {
    /// Records that an action begins.
    pub(crate) fn note_act(&mut self) {
        self.acted = true;
    }

    /// Learns from a capture of the whole app.
    pub(crate) fn observe(&mut self, now: &Arc<Tree>) {
        let acted = std::mem::take(&mut self.acted);
        let document = now.documents().first().map_or(0, |d| d.scope);
        if std::mem::replace(&mut self.document, document) != document {
            self.reported.clear();
        }
        let Some(last) = self.last.replace(Arc::clone(now)) else { return };
        if acted || Arc::ptr_eq(&last, now) || last.surface() != now.surface() {
            return;
        }
        let ticks = compare_texts(&last, now);
        ticks.changed_numbers.into_iter().for_each(|key| count(&mut self.changed, key));
        ticks.rerendered.into_iter().for_each(|pattern| count(&mut self.reported, pattern));
        for (key, was, now) in ticks.states {
            self.note_state(key, [&was, &now]);
        }
    }

    fn note_state(&mut self, key: FactKey, texts: [&str; 2]) {
        if self.states.len() >= MAX_TICKERS && !self.states.contains_key(&key) {
            return;
        }
        let states = self.states.entry(key).or_default();
        let [was, now] = texts.map(words_of);
        if !states.named.contains(&was) {
            states.named.push(was);
        }
        if states.named.contains(&now) {
            states.came_back = true;
        } else if states.named.len() < MAX_STATES {
            states.named.push(now);
        }
    }

    /// Returns whether a change leads from one known state of a text to another, and the text is
    /// known to return to earlier states. The numbers in the text must be equal, or be known to
    /// change by themselves.
    pub(crate) fn is_known_state(&self, change: &ContextChange) -> bool {
        let known = self.states.get(&change.key).filter(|states| states.came_back);
        let said = |text: &str| known.is_some_and(|states| states.named.contains(&words_of(text)));
        let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
        let counts = digits(&change.before) == digits(&change.after) || self.is_ticking(change.key);
        change.differs_in_state() && counts && said(&change.before) && said(&change.after)
    }

    /// Returns whether numbers of this pattern are known to change by themselves.
    pub(crate) fn is_known_pattern(&self, pattern: u64) -> bool {
        self.reported.get(&pattern).is_some_and(|&times| times >= MIN_CHANGES)
    }

    /// Returns whether the text at a position is known to change its number or its state by itself.
    pub(crate) fn is_changing_text(&self, key: FactKey) -> bool {
        self.is_ticking(key) || self.states.get(&key).is_some_and(|states| states.came_back)
    }

    /// Records that a client was notified of changes that no client's action made.
    pub(crate) fn note_reported(&mut self, changes: &[ContextChange]) {
        let numbers = changes.iter().filter(|change| change.differs_in_numbers());
        let patterns: HashSet<(u64, bool)> = numbers.map(|c| (c.pattern(), c.is_of_quantity())).collect();
        for (pattern, is_of_quantity) in patterns {
            (0..if is_of_quantity { MIN_CHANGES } else { 1 })
                .for_each(|_| count(&mut self.reported, pattern));
        }
    }

    /// Returns whether the numbers at a position are known to change by themselves.
    pub(crate) fn is_ticking(&self, key: FactKey) -> bool {
        self.changed.get(&key).is_some_and(|&times| times >= MIN_CHANGES)
    }

    /// Returns whether numbers between the same words in similar positions are known to change by
    /// themselves.
    pub(crate) fn is_similar_to_known(&self, change: &ContextChange) -> bool {
        change.differs_in_numbers() && self.is_known_pattern(change.pattern())
    }
}

/// Returns a hash of the words of a text, except for words that contain digits.
fn words_of(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    let words = text.split_whitespace().filter(|word| !word.contains(|c: char| c.is_ascii_digit()));
    words.for_each(|word| word.hash(&mut hasher));
    hasher.finish()
}

/// Increments a count, unless the map is full.
fn count<K: Hash + Eq>(seen: &mut HashMap<K, u8>, key: K) {
    if seen.len() < MAX_TICKERS || seen.contains_key(&key) {
        let times = seen.entry(key).or_default();
        *times = times.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stickpin_tree::Handle;
    use stickpin_tree::testing::tree;

    fn read(tickers: &mut Tickers, price: &str) {
        let page = format!("page \"P\" / grade=never-reused\n  paragraph #4\n    text \"{price}\" #5");
        tickers.observe(&Arc::new(tree(&page)));
    }

    fn knows(tickers: &Tickers) -> bool {
        tickers.is_ticking(FactKey::text_at(Handle { scope: 1, id: 4 }))
    }

    #[test]
    fn number_changed_twice_without_action_is_a_ticker() {
        let mut tickers = Tickers::default();
        read(&mut tickers, "€ 1");
        read(&mut tickers, "€ 2");
        assert!(!knows(&tickers), "one change may be another record");
        read(&mut tickers, "€ 3");
        assert!(knows(&tickers));
    }

    #[test]
    fn change_after_an_action_is_not_learned() {
        let mut tickers = Tickers::default();
        for price in ["€ 1", "€ 2", "€ 3", "€ 4"] {
            read(&mut tickers, price);
            tickers.note_act();
        }
        assert!(!knows(&tickers));
    }

    #[test]
    fn changed_words_are_never_learned() {
        let mut tickers = Tickers::default();
        for name in ["Ada 1", "Bob 2", "Ada 3", "Bob 4"] {
            read(&mut tickers, name);
        }
        assert!(!knows(&tickers) && !knows_state(&tickers));
    }

    fn knows_state(tickers: &Tickers) -> bool {
        tickers.is_changing_text(FactKey::text_at(Handle { scope: 1, id: 4 }))
    }

    #[test]
    fn state_that_returned_by_itself_is_learned() {
        let mut tickers = Tickers::default();
        for (state, known) in [("Load rising", false), ("Load falling", false), ("Load rising", true)] {
            read(&mut tickers, state);
            assert_eq!(knows_state(&tickers), known, "{state}");
        }
        let mut tickers = Tickers::default();
        for state in ["Load rising", "Load falling", "Load rising", "Load falling"] {
            read(&mut tickers, state);
            tickers.note_act();
        }
        assert!(!knows_state(&tickers), "the actions may have caused it");
    }
}
