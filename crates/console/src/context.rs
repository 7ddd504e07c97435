//! The conversation of a console: what a prompt can refer to because an earlier prompt established
//! it.
//!
//! A store is the only owner of a conversation. The console itself keeps no copy: it reads the
//! conversation from the store for each prompt. Each entry is committed when its command is
//! complete, so a crash loses at most the entry of the running command, and never duplicates one.

mod log_backed;
mod memory;

pub use log_backed::LogBacked;
pub use memory::Memory;

use async_trait::async_trait;
use stickpin_kernel::Result;

/// A completed prompt.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Entry {
    /// The command line, without text that may be secret.
    pub prompt: String,
    /// The outcome in one line.
    pub result: String,
    /// The element that `it` refers to from then on.
    pub target: Option<String>,
    /// The generation of the refs that the entry showed.
    pub generation: Option<u64>,
    /// The numbers of the refs that the entry showed, as inclusive ranges.
    pub pins: Vec<(u32, u32)>,
    /// The records of the session log that were shown before the prompt: messages, and whatever is
    /// addressed to the person.
    pub events: Vec<u64>,
}

impl Entry {
    /// Returns whether the entry showed the ref with this number.
    fn has_shown(&self, number: u32) -> bool {
        self.pins.iter().any(|&(first, last)| (first..=last).contains(&number))
    }
}

/// The entries since the conversation was last cleared, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Conversation {
    entries: Vec<Entry>,
}

impl Conversation {
    /// Adds an entry.
    pub(crate) fn push(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    /// Drops all entries.
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
    }

    /// Returns the entries, oldest first.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the element that `it` refers to: the target of the last entry that has one; `None`
    /// if no entry has one. If that target is a ref, the last entry up to then that showed the ref
    /// determines the pin, so that a refusal names the snapshot that the person saw.
    #[must_use]
    pub fn target(&self) -> Option<String> {
        let at = self.entries.iter().rposition(|entry| entry.target.is_some())?;
        let target = self.entries[at].target.clone()?;
        let number = target.strip_prefix("@e").and_then(|number| number.parse().ok());
        let has_shown = |entry: &Entry| number.is_some_and(|number| entry.has_shown(number));
        let up_to_then = self.entries[..=at].iter().rev();
        let pin = up_to_then.filter(|entry| has_shown(entry)).find_map(|entry| entry.generation);
        Some(match pin {
            Some(pin) => format!("{target}~s{pin}"),
            None => target,
        })
    }
}

/// The storage of a conversation.
#[async_trait]
pub trait ContextStore: Send + Sync {
    /// Returns the current conversation.
    ///
    /// # Errors
    /// Returns the errors of the command that reads the log.
    async fn snapshot(&self) -> Result<Conversation>;

    /// Commits a completed entry.
    ///
    /// # Errors
    /// Returns the errors of the command that writes to the log; the entry is then not stored.
    async fn append(&self, entry: Entry) -> Result<()>;

    /// Clears the context for later prompts.
    ///
    /// # Errors
    /// Returns the errors of the command that writes to the log; the context is then unchanged.
    async fn clear(&self) -> Result<()>;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(target: Option<&str>, generation: Option<u64>, pins: &[(u32, u32)]) -> Entry {
        Entry { target: target.map(str::to_owned), generation, pins: pins.to_vec(), ..Entry::default() }
    }

    fn target(entries: &[Entry]) -> Option<String> {
        let mut conversation = Conversation::default();
        entries.iter().cloned().for_each(|entry| conversation.push(entry));
        conversation.target()
    }

    #[test]
    fn ref_has_the_pin_of_the_entry_that_showed_it() {
        let snapshot = |generation| entry(None, Some(generation), &[(1, 40), (57, 57)]);
        let press = |target| entry(Some(target), None, &[]);
        let of = |entries: &[Entry]| target(entries).expect("an element");
        assert_eq!(of(&[press("@e3")]), "@e3", "nothing showed it");
        assert_eq!(of(&[snapshot(7), press("@e3")]), "@e3~s7");
        assert_eq!(of(&[snapshot(7), snapshot(9), press("@e57")]), "@e57~s9");
        assert_eq!(of(&[snapshot(7), press("@e57"), snapshot(9)]), "@e57~s7", "9 may be another app");
        assert_eq!(of(&[snapshot(7), press("@e56")]), "@e56", "not shown");
        assert_eq!(of(&[snapshot(9), press("@e3~s7")]), "@e3~s7", "typed");
        assert_eq!(of(&[snapshot(7), press("role=button \"~s1\"")]), "role=button \"~s1\"");
        assert_eq!(target(&[snapshot(7)]), None);
    }
}
