//! A conversation in memory, which ends with the console.

use super::{ContextStore, Conversation, Entry};
use async_trait::async_trait;
use parking_lot::RwLock;
use stickpin_kernel::Result;

/// A conversation that is not stored.
#[derive(Debug)]
pub struct Memory {
    id: String,
    conversation: RwLock<Conversation>,
}

impl Memory {
    /// Creates an empty conversation.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), conversation: RwLock::default() }
    }
}

// A panic elsewhere leaves the conversation consistent: each change is one call.
#[async_trait]
impl ContextStore for Memory {
    async fn snapshot(&self) -> Result<Conversation> {
        Ok(self.conversation.read().clone())
    }

    async fn append(&self, entry: Entry) -> Result<()> {
        self.conversation.write().push(entry);
        Ok(())
    }

    async fn clear(&self) -> Result<()> {
        self.conversation.write().clear();
        Ok(())
    }

    fn id(&self) -> &str {
        &self.id
    }
}
