//! A reading that is under way.

use crate::bus::Link;
use crate::capture::{Known, read, tree};
use crate::events::Heard;
use crate::ids::{Ids, Where};
use crate::model::Picture;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::time::Instant;
use stickpin_tree::Tree;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// A reading that is to come, or has come. Dropped, it ends.
#[derive(Debug)]
pub(crate) struct Ahead {
    pub(crate) reading: Arc<AtomicBool>,
    pub(crate) task: JoinHandle<Option<Read>>,
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Ahead {
    /// Waits for rest, and reads. `pending` is how long the app takes to begin with what it was told to do.
    pub(crate) fn start(basis: Basis, pending: Duration) -> Self {
        let reading = Arc::new(AtomicBool::new(false));
        let task = tokio::spawn(read_at_rest(basis, pending, Arc::clone(&reading)));
        Self { reading, task }
    }

    /// What was read. None where the reading has not begun, because whoever needs one now makes it, and where anything was
    /// signalled since.
    pub(crate) async fn take(mut self, heard: &Heard) -> Option<Read> {
        if !self.reading.load(Ordering::Relaxed) {
            return None;
        }
        // It was aborted with its runtime, if it was.
        let read = (&mut self.task).await.ok().flatten();
        read.filter(|read| heard.state().changes == read.changes)
    }
}

/// What an app is read by.
#[derive(Debug)]
pub(crate) struct Basis {
    pub(crate) link: Link,
    pub(crate) heard: Arc<Heard>,
    pub(crate) ids: Arc<Ids>,
    pub(crate) at: Where,
    /// What is known of its tables.
    pub(crate) known: Known,
    /// Of the last reading: a tree that is the same is this one.
    pub(crate) last: Option<Arc<Tree>>,
}

/// What was read.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) picture: Picture,
    pub(crate) tree: Arc<Tree>,
    /// What is known of its tables since.
    pub(crate) known: Known,
    /// How often the app had changed when it began.
    pub(crate) changes: u64,
}

pub(crate) async fn read_at_rest(basis: Basis, pending: Duration, reading: Arc<AtomicBool>) -> Option<Read> {
    let Basis { link, heard, ids, at, mut known, last } = basis;
    let start = Instant::now();
    sleep(pending).await;
    let changes = loop {
        let changes = heard.state().changes;
        let more = heard.until(|heard| (heard.changes != changes || heard.gone).then_some(heard.gone));
        match timeout(REST, more).await {
            Err(_) => break changes,
            Ok(false) if start.elapsed() < pending + PATIENCE => {}
            Ok(_) => return None,
        }
    };
    reading.store(true, Ordering::Relaxed);
    known.appeared.paths = heard.state().appeared();
    let picture = timeout(MOST, async {
        let picture = read::read(&link, &mut known).await?;
        link.barrier().await.map(|()| picture)
    });
    // Whoever looks next is told what is wrong with the app, if anything is.
    let picture = picture.await.ok()?.ok()?;
    let tree = tree::kept(&picture, &ids, &at, &[], last.as_ref()).ok()?;
    Some(Read { picture, tree, known, changes })
}

/// How long the reading itself may take. What was read last took less than a tenth of that; whoever needs one now is not
/// kept waiting by an app that has become slow.
pub(crate) const MOST: Duration = Duration::from_millis(600);

/// When it is given up on an app that does not come to rest.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

/// How long nothing may be signalled until an app is at rest: longer than what `--settle` waits for, which reads the app
/// itself then.
pub(crate) const REST: Duration = Duration::from_millis(200);
