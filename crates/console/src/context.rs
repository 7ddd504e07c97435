//! The conversation of a console: what a prompt can refer to because an earlier prompt established
//! it.
//!
//! A store is the only owner of a conversation. The console reads it for each prompt and keeps no
//! copy. Each entry is committed when its command is complete, so a crash loses at most the entry
//! of the running command, and never duplicates one.

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
    /// The element that `it` refers to from now on.
    pub target: Option<String>,
    /// The generation of the refs that the entry showed.
    pub generation: Option<u64>,
}

/// The entries that are in effect, oldest first.
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

    /// Returns the element that `it` refers to: that of the last entry that has one.
    #[must_use]
    pub fn target(&self) -> Option<&str> {
        self.entries.iter().rev().find_map(|entry| entry.target.as_deref())
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

    /// Returns the name of the conversation.
    fn id(&self) -> &str;
}
