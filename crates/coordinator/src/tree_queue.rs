//! A thread that works in the background of the commands, and the trees that each session keeps.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use stickpin_session::log::BlobId;

/// The maximum number of waiting trees. Above it, the oldest one is omitted.
const MAX_QUEUED: usize = 8;

/// The maximum size of the trees that one session keeps, in bytes. Above it, the oldest ones are
/// removed; their records stay.
const SESSION_BYTES: u64 = 32 << 20;

/// What the thread knows about the trees of each session.
pub(crate) type Trees = BTreeMap<String, KeptTrees>;

/// Writes one tree.
type Job = Box<dyn FnOnce(&mut Trees) + Send>;

/// The trees that wait to be written, and the thread that writes them.
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
        f.debug_struct("Waiting").field("trees", &self.lock().list.len()).finish_non_exhaustive()
    }
}

#[derive(Default)]
struct Jobs {
    list: VecDeque<Job>,
    /// Whether the thread runs. The first tree starts it.
    started: bool,
    /// Whether the owner is gone: the thread ends once the list is empty.
    ended: bool,
}

impl Waiting {
    fn lock(&self) -> MutexGuard<'_, Jobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next job; `None` if there will be no more.
    fn next(&self) -> Option<Job> {
        let mut jobs = self.lock();
        loop {
            if let Some(job) = jobs.list.pop_front() {
                return Some(job);
            }
            if jobs.ended {
                return None;
            }
            jobs = self.changed.wait(jobs).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for SnapshotQueue {
    fn drop(&mut self) {
        self.waiting.lock().ended = true;
        self.waiting.changed.notify_all();
    }
}

impl SnapshotQueue {
    /// Queues a job. Never waits for one.
    pub(crate) fn push(&self, job: Job) {
        let mut jobs = self.waiting.lock();
        if !jobs.started {
            let waiting = Arc::clone(&self.waiting);
            let work = move || {
                let mut trees = Trees::new();
                while let Some(job) = waiting.next() {
                    job(&mut trees);
                }
            };
            if let Err(e) = std::thread::Builder::new().name("log-trees".into()).spawn(work) {
                tracing::warn!("stored trees are not in the session log: {e}");
                return;
            }
            jobs.started = true;
        }
        let left_out = if jobs.list.len() < MAX_QUEUED { None } else { jobs.list.pop_front() };
        jobs.list.push_back(job);
        drop(jobs);
        self.waiting.changed.notify_one();
        if left_out.is_some() {
            tracing::debug!("a stored tree is left out of the session log: {MAX_QUEUED} others wait");
        }
    }
}

/// The blobs of the trees that a session keeps, oldest first, with their sizes.
#[derive(Debug, Default)]
pub(crate) struct KeptTrees {
    blobs: VecDeque<(BlobId, u64)>,
    bytes: u64,
}

impl KeptTrees {
    /// Adds a blob, and returns the blobs that must be removed.
    pub(crate) fn add(&mut self, id: &BlobId, bytes: u64) -> Vec<BlobId> {
        if let Some(at) = self.blobs.iter().position(|(known, _)| known == id) {
            // This tree is stored again: it is now the newest one.
            let known = self.blobs.remove(at);
            self.blobs.extend(known);
            return Vec::new();
        }
        self.blobs.push_back((id.clone(), bytes));
        self.bytes += bytes;
        let mut over = Vec::new();
        while self.bytes > SESSION_BYTES
            && let Some((oldest, bytes)) = self.blobs.pop_front()
        {
            self.bytes -= bytes;
            over.push(oldest);
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

    #[test]
    fn oldest_trees_go_when_the_budget_is_spent() {
        let mut kept = KeptTrees::default();
        let half = SESSION_BYTES / 2;
        assert_eq!(kept.add(&id(1), half), []);
        assert_eq!(kept.add(&id(2), half), []);
        // Stored again, so the other one is now older.
        assert_eq!(kept.add(&id(1), half), []);
        assert_eq!(kept.add(&id(3), 1), [id(2)]);
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
