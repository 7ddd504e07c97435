//! Payloads that are too long for a record, named by the digest of their bytes.

use crate::atomic::{absent_is_fine, digest, fresh};
use crate::error::{Result, StoreError};
use crate::files::{Files, write_all};
use crate::session_log::SessionLog;
use crate::unsynced::Unsynced;
use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stickpin_session::log::{BlobId, BlobRef};

/// The maximum length of a text within a record, in bytes; longer texts become blobs.
pub(crate) const LIMIT: usize = 64 * 1024;

/// The name of the file in the blob folder that lists the blobs of stored trees.
const TREES: &str = "trees";

/// The blobs of one session, for a writer that does not hold the session's log. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Blobs {
    files: Arc<dyn Files>,
    dir: PathBuf,
    unsynced: Arc<Unsynced>,
}

impl Blobs {
    /// Returns the blobs of a session, so that a blob can be written before the record that refers
    /// to it.
    #[must_use]
    pub fn of(log: &SessionLog) -> Self {
        Self {
            files: Arc::clone(&log.store.files),
            dir: log.dir.blobs(),
            unsynced: Arc::clone(&log.unsynced),
        }
    }

    /// Returns the reference to the blob with this content. The blob need not exist.
    #[must_use]
    pub fn reference(bytes: &[u8]) -> BlobRef {
        BlobRef { blob: BlobId::new(digest(bytes)), bytes: bytes.len() as u64 }
    }

    /// Writes a blob unless it already exists. The blob is on disk after the next sync of the log.
    ///
    /// # Errors
    /// Returns an error if the blob cannot be written.
    pub fn put(&self, bytes: &[u8]) -> Result<BlobRef> {
        put(&*self.files, &self.dir, &self.unsynced, bytes)
    }

    /// Returns the blobs that were listed as stored trees and still exist, oldest first. The list
    /// serves only to limit the space that trees take up, so a line that cannot be parsed is
    /// ignored.
    #[must_use]
    pub fn trees(&self) -> Vec<BlobRef> {
        let bytes = self.files.read(&self.dir.join(TREES), 0).unwrap_or_default();
        let mut listed: Vec<BlobRef> = Vec::new();
        for line in bytes.split(|byte| *byte == b'\n') {
            let Ok(tree) = serde_json::from_slice::<BlobRef>(line) else { continue };
            listed.push(tree);
        }
        let mut seen = BTreeSet::new();
        // A tree that was stored several times is as new as its last entry.
        listed.reverse();
        listed.retain(|tree| seen.insert(tree.blob.hex().to_owned()));
        listed.retain(|tree| self.files.len(&path(&self.dir, &tree.blob)).is_ok_and(|len| len == tree.bytes));
        listed.reverse();
        listed
    }

    /// Adds a blob to the list of stored trees. Call this before [`Self::put`], so that no tree is
    /// missing from the list after a crash.
    ///
    /// # Errors
    /// Returns an error if the list cannot be written.
    pub fn list_tree(&self, tree: &BlobRef) -> Result<()> {
        let list = self.dir.join(TREES);
        let line = tree_line(tree);
        let written = || -> io::Result<()> {
            self.files.make_dir(&self.dir)?;
            write_all(&*self.files.open(&list)?, line.as_bytes())
        };
        written().map_err(|e| StoreError::io("write", &list, e))
    }

    /// Replaces the list of stored trees with the trees that are kept, oldest first.
    ///
    /// # Errors
    /// Returns an error if the list cannot be written.
    pub fn replace_trees<'t>(&self, kept: impl IntoIterator<Item = &'t BlobRef>) -> Result<()> {
        let lines: String = kept.into_iter().map(tree_line).collect();
        crate::atomic::replace(&*self.files, &self.dir.join(TREES), None, lines.as_bytes())
    }

    /// Reads a blob and verifies its digest. Returns `None` if the blob was removed.
    ///
    /// # Errors
    /// Returns an error if the blob is damaged or cannot be read.
    pub fn get(&self, blob: &BlobRef) -> Result<Option<Vec<u8>>> {
        match self.files.len(&path(&self.dir, &blob.blob)) {
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
            _ => get(&*self.files, &self.dir, blob).map(Some),
        }
    }

    /// Removes a blob if it exists. Records that refer to it stay.
    ///
    /// # Errors
    /// Returns an error if the blob cannot be removed.
    pub fn remove(&self, id: &BlobId) -> Result<()> {
        let path = path(&self.dir, id);
        absent_is_fine(self.files.remove(&path)).map_err(|e| StoreError::io("remove", &path, e))
    }
}

/// Returns the line for a tree in the list of stored trees.
fn tree_line(tree: &BlobRef) -> String {
    let BlobRef { blob, bytes } = tree;
    format!("{}\n", serde_json::json!({ "blob": blob, "bytes": bytes }))
}

fn path(blobs: &Path, id: &BlobId) -> PathBuf {
    blobs.join(&id.hex()[..2]).join(id.hex())
}

/// Writes a blob unless it already exists. The next sync writes the blob to disk before the record
/// that refers to it. If the power fails before that sync, the record may be on disk without its
/// blob; [`get`] reports this.
pub(crate) fn put(files: &dyn Files, blobs: &Path, unsynced: &Unsynced, bytes: &[u8]) -> Result<BlobRef> {
    let known = Blobs::reference(bytes);
    let path = path(blobs, &known.blob);
    if files.len(&path).is_ok_and(|len| len == known.bytes) {
        return Ok(known);
    }
    let folder = path.parent().unwrap_or(blobs);
    let new = fresh(&path);
    let written = || -> io::Result<()> {
        files.make_dir(folder)?;
        let handle = files.open(&new)?;
        handle.truncate(0)?;
        write_all(&*handle, bytes)?;
        files.rename(&new, &path)?;
        unsynced.file(&handle);
        unsynced.folder(folder.to_path_buf());
        unsynced.folder(blobs.to_path_buf());
        Ok(())
    };
    written().map_err(|e| {
        // The next attempt would overwrite the leftover; until then it only takes up space.
        let _ = files.remove(&new);
        StoreError::io("write", &path, e)
    })?;
    Ok(known)
}

/// Reads a blob and verifies its digest. A missing blob counts as damaged.
pub(crate) fn get(files: &dyn Files, blobs: &Path, blob: &BlobRef) -> Result<Vec<u8>> {
    let path = path(blobs, &blob.blob);
    let bytes = match files.read(&path, 0) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Err(StoreError::BlobCorrupt(path)),
        read => read.map_err(|e| StoreError::io("read", &path, e))?,
    };
    if bytes.len() as u64 != blob.bytes || BlobId::new(digest(&bytes)) != blob.blob {
        return Err(StoreError::BlobCorrupt(path));
    }
    Ok(bytes)
}
