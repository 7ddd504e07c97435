//! The thread that writes stored trees while commands are running, and the trees that each session
//! keeps.

use parking_lot::{Condvar, Mutex};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use stickpin_session::log::{BlobId, BlobRef};
use stickpin_store::{Blobs, Result};

/// The maximum number of waiting trees. If there are more, the oldest one is omitted.
const MAX_QUEUED: usize = 8;

/// The maximum size of the trees that one session keeps, in bytes. If they are larger, the oldest
/// ones are removed; their records stay.
const SESSION_BYTES: u64 = 32 << 20;

/// The number of entries at which the list of trees is rewritten, if at least half of them refer to
/// trees that were removed or stored again.
const MAX_LISTED: usize = 1_024;

/// The trees of each session, as the thread knows them, by the session's `uid`.
pub(crate) type Trees = BTreeMap<String, KeptTrees>;

/// A task that writes one tree.
type Job = Box<dyn FnOnce(&mut Trees) + Send>;

/// The trees that are waiting to be written, and the thread that writes them.
#[derive(Debug, Default)]
pub(crate) struct SnapshotQueue {
    waiting: Arc<Waiting>,
}

#[derive(Default)]
struct Waiting {
    jobs: Mutex<Jobs>,
    changed: Condvar,
}

impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiting").field("trees", &self.jobs.lock().list.len()).finish_non_exhaustive()
    }
}

#[derive(Default)]
struct Jobs {
    list: VecDeque<Job>,
    /// Whether the thread is running. The first tree starts it.
    started: bool,
    /// Whether the queue was dropped. The thread then ends when the list is empty.
    ended: bool,
}

impl Waiting {
    /// Waits for the next job; `None` if there will be no more.
    fn next(&self) -> Option<Job> {
        let mut jobs = self.jobs.lock();
        loop {
            if let Some(job) = jobs.list.pop_front() {
                return Some(job);
            }
            if jobs.ended {
                return None;
            }
            self.changed.wait(&mut jobs);
        }
    }
}

impl Drop for SnapshotQueue {
    fn drop(&mut self) {
        self.waiting.jobs.lock().ended = true;
        self.waiting.changed.notify_all();
    }
}

impl SnapshotQueue {
    /// Queues a job without waiting for it. If the queue is full, drops the oldest waiting job.
    pub(crate) fn push(&self, job: Job) {
        let mut jobs = self.waiting.jobs.lock();
        if !jobs.started {
            let waiting = Arc::clone(&self.waiting);
            let work = move || {
                let mut trees = Trees::new();
                while let Some(job) = waiting.next() {
                    job(&mut trees);
                }
            };
            if let Err(e) = std::thread::Builder::new().name("log-trees".into()).spawn(work) {
                tracing::warn!("stored trees cannot be added to the session log: {e}");
                return;
            }
            jobs.started = true;
        }
        let left_out = if jobs.list.len() < MAX_QUEUED { None } else { jobs.list.pop_front() };
        jobs.list.push_back(job);
        drop(jobs);
        self.waiting.changed.notify_one();
        if left_out.is_some() {
            tracing::debug!("a stored tree is left out of the session log: {MAX_QUEUED} others are waiting");
        }
    }
}

/// The blobs of the trees that a session keeps, oldest first, according to the list on disk.
#[derive(Debug, Default)]
pub(crate) struct KeptTrees {
    blobs: VecDeque<BlobRef>,
    bytes: u64,
    /// The number of entries in the list on disk.
    listed: usize,
}

impl KeptTrees {
    /// Returns the trees that are listed on disk, including those of earlier processes.
    pub(crate) fn of(blobs: &Blobs) -> Self {
        let blobs = VecDeque::from(blobs.trees());
        let bytes = blobs.iter().map(|tree| tree.bytes).sum();
        // The list may contain more entries, so it is rewritten soon.
        Self { listed: blobs.len().max(MAX_LISTED), blobs, bytes }
    }

    /// Writes a tree, and removes the oldest ones if the total size exceeds the limit.
    pub(crate) fn put(&mut self, blobs: &Blobs, text: &[u8]) -> Result<BlobRef> {
        let tree = Blobs::reference(text);
        if self.listed >= MAX_LISTED && self.listed >= 2 * self.blobs.len() {
            blobs.replace_trees(&self.blobs)?;
            self.listed = self.blobs.len();
        }
        blobs.list_tree(&tree)?;
        self.listed += 1;
        blobs.put(text)?;
        for old in self.add(tree.clone()) {
            blobs.remove(&old)?;
        }
        Ok(tree)
    }

    /// Adds a blob, and returns the blobs that must be removed.
    fn add(&mut self, tree: BlobRef) -> Vec<BlobId> {
        if let Some(at) = self.blobs.iter().position(|known| *known == tree) {
            // This tree is stored again: it is now the newest one.
            let known = self.blobs.remove(at);
            self.blobs.extend(known);
            return Vec::new();
        }
        self.bytes += tree.bytes;
        self.blobs.push_back(tree);
        let mut over = Vec::new();
        while self.bytes > SESSION_BYTES
            && let Some(oldest) = self.blobs.pop_front()
        {
            self.bytes -= oldest.bytes;
            over.push(oldest.blob);
        }
        over
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    fn id(n: u8) -> BlobId {
        BlobId::new([n; 32])
    }

    fn tree(n: u8, bytes: u64) -> BlobRef {
        BlobRef { blob: id(n), bytes }
    }

    #[test]
    fn oldest_trees_go_when_the_budget_is_spent() {
        let mut kept = KeptTrees::default();
        let half = SESSION_BYTES / 2;
        assert_eq!(kept.add(tree(1, half)), []);
        assert_eq!(kept.add(tree(2, half)), []);
        // Stored again, so the other one is now older.
        assert_eq!(kept.add(tree(1, half)), []);
        assert_eq!(kept.add(tree(3, 1)), [id(2)]);
        assert_eq!(kept.bytes, half + 1);
    }

    #[test]
    fn trees_that_pile_up_are_left_out_oldest_first() {
        let queue = SnapshotQueue::default();
        let (begun, begins) = mpsc::channel();
        let (go, goes) = mpsc::channel::<()>();
        let (written, writes) = mpsc::channel();
        // The first one keeps the thread busy.
        queue.push(Box::new(move |_| {
            begun.send(()).unwrap();
            goes.recv().unwrap();
        }));
        begins.recv().unwrap();
        for n in 0..=MAX_QUEUED {
            let written = written.clone();
            queue.push(Box::new(move |_| written.send(n).unwrap()));
        }
        go.send(()).unwrap();
        drop((queue, written));
        assert_eq!(writes.iter().collect::<Vec<_>>(), (1..=MAX_QUEUED).collect::<Vec<_>>());
    }
}
