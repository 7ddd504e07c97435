//! Stored trees in the log. A thread writes them later, so that the command that captured a tree
//! only queues it.

use crate::error;
use crate::participant::Participant;
use crate::session::{SessionAuthority, State};
use crate::tree_queue::{KeptTrees, Trees};
use std::fmt;
use std::sync::Arc;
use stickpin_device::{Error, ErrorCode, Result};
use stickpin_session::log::{BlobRef, Kind, Redacted, Snapshot};
use stickpin_store::{Blobs, Origin};

/// The maximum size of one tree, in bytes. A larger one is omitted.
const MAX_TREE_BYTES: usize = 4 << 20;

/// A tree that a session stored.
pub struct StoredTree {
    /// The generation of the tree.
    pub generation: u64,
    /// The number of nodes.
    pub node_count: u64,
    /// Returns the text of the tree. Called later, on another thread.
    pub text: Box<dyn FnOnce() -> Redacted + Send>,
}

impl fmt::Debug for StoredTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredTree").field("generation", &self.generation).finish_non_exhaustive()
    }
}

impl StoredTree {
    /// Queues the tree for the log of its session. Returns immediately. A tree that is too large,
    /// or that cannot be written, is omitted.
    pub fn log(self, session: &Arc<SessionAuthority>, who: Option<&Participant>) {
        let now = session.now();
        let origin = State::origin_of(who, &now);
        let lifetime = session.lock().log.meta().lifetime;
        let of = Arc::clone(session);
        session.shared.snapshots.push(Box::new(move |trees| {
            if let Err(e) = self.write(&of, &origin, lifetime, trees) {
                tracing::debug!(session = of.name(), "a stored tree could not be added to the log: {e}");
            }
        }));
    }

    fn write(
        self,
        session: &SessionAuthority,
        origin: &Origin,
        lifetime: u32,
        trees: &mut Trees,
    ) -> Result<()> {
        let Self { generation, node_count, text } = self;
        let text = text();
        let Some(text) = text.text().filter(|text| text.len() <= MAX_TREE_BYTES) else { return Ok(()) };
        let (uid, blobs) = {
            let state = session.lock();
            if state.log.meta().lifetime != lifetime || state.log.read_only().is_some() {
                return Ok(());
            }
            (state.log.meta().session_uid.clone(), Blobs::of(&state.log))
        };
        // Without the lock, so that no command of the session waits for the files.
        let kept = trees.entry(uid).or_insert_with(|| KeptTrees::of(&blobs));
        let blob = kept.put(&blobs, text.as_bytes()).map_err(error::of_store)?;
        session.change(|state, _| match state.log.meta().lifetime == lifetime {
            true => {
                let snapshot = Kind::Snapshot(Snapshot { generation, blob, node_count });
                state.append(origin, snapshot).map(drop)
            }
            // The session was opened again meanwhile.
            false => Ok(()),
        })
    }
}

/// Reads a tree that the log of a session refers to; `None` if the tree was removed to limit the
/// size of the log. Holds the session's lock only to find the file.
///
/// # Errors
/// Returns `LOG_CORRUPT` for a damaged tree, and `IO`.
pub fn stored_tree(session: &SessionAuthority, blob: &BlobRef) -> Result<Option<String>> {
    let blobs = Blobs::of(&session.lock().log);
    let Some(bytes) = blobs.get(blob).map_err(error::of_store)? else { return Ok(None) };
    let text = String::from_utf8(bytes).map_err(|e| {
        Error::new(ErrorCode::LogCorrupt, format!("the stored tree {} is not text: {e}", blob.blob))
            .caused_by(e)
    })?;
    Ok(Some(text))
}
