//! A conversation in memory, which ends with the console.

use super::{ContextStore, Conversation, Entry};
use async_trait::async_trait;
use parking_lot::RwLock;
use stickpin_kernel::Result;

/// A conversation that is not stored.
#[derive(Debug, Default)]
pub struct Memory(RwLock<Conversation>);

#[async_trait]
impl ContextStore for Memory {
    async fn snapshot(&self) -> Result<Conversation> {
        Ok(self.0.read().clone())
    }

    async fn append(&self, entry: Entry) -> Result<()> {
        self.0.write().push(entry);
        Ok(())
    }

    async fn clear(&self) -> Result<()> {
        self.0.write().clear();
        Ok(())
    }
}
