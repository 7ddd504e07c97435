//! The read positions of agents in the feeds of sessions. If they are lost, the only effect is that
//! events are repeated.

use crate::atomic;
use crate::error::{Result, StoreError};
use crate::layout;
use crate::store::Store;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;
use stickpin_session::Timestamp;

/// How far an agent has read the feed of a session, and when this position was stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Position {
    cursor_seq: u64,
    updated_at: Timestamp,
}

/// The read positions of an agent, by session uid.
type Positions = BTreeMap<String, Position>;

impl Store {
    /// Returns how far an agent has read the session with this uid; `None` if no position is
    /// stored.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read. A file that cannot be parsed counts as missing.
    pub fn cursor(&self, agent: &str, session_uid: &str) -> Result<Option<u64>> {
        let positions = self.positions(&layout::cursors(&self.state_dir, agent))?;
        Ok(positions.get(session_uid).map(|position| position.cursor_seq))
    }

    /// Stores how far an agent has read, unless it has already read further.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or written.
    pub fn save_cursor(&self, agent: &str, session_uid: &str, seq: u64, at: Timestamp) -> Result<()> {
        let path = layout::cursors(&self.state_dir, agent);
        let mut positions = self.positions(&path)?;
        if positions.get(session_uid).is_some_and(|known| known.cursor_seq >= seq) {
            return Ok(());
        }
        positions.insert(session_uid.to_owned(), Position { cursor_seq: seq, updated_at: at });
        if let Some(folder) = path.parent() {
            self.files.make_dir(folder).map_err(|e| StoreError::io("create", folder, e))?;
        }
        let bytes = serde_json::to_vec(&positions)
            .map_err(|e| StoreError::io("write", &path, std::io::Error::other(e)))?;
        atomic::replace(&*self.files, &path, None, &bytes)
    }

    fn positions(&self, path: &Path) -> Result<Positions> {
        match self.files.read(path, 0) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).unwrap_or_default()),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(Positions::new()),
            Err(e) => Err(StoreError::io("read", path, e)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saved_cursor_never_moves_backwards() {
        let folder = tempfile::tempdir().unwrap();
        let at = Timestamp::from_millis(1);
        let store = Store::open(folder.path()).unwrap();
        assert_eq!(store.cursor("claude:ada", "u1").unwrap(), None);
        for (seq, kept) in [(7, 7), (5, 7), (9, 9)] {
            store.save_cursor("claude:ada", "u1", seq, at).unwrap();
            assert_eq!(store.cursor("claude:ada", "u1").unwrap(), Some(kept));
        }
        store.save_cursor("claude:ada", "u2", 1, at).unwrap();
        assert_eq!(store.cursor("claude:ada", "u1").unwrap(), Some(9));
        assert_eq!(store.cursor("claude:bob", "u1").unwrap(), None);
    }
}
