//! Reading ahead: when an app has come to rest after an act it is read once, before anybody asks, so that the next act
//! finds a reading to compare with instead of making one. It counts only while nothing was signalled since, and what is
//! acted on is asked again all the same (`verify.rs`). A capture never is what was read ahead.

use crate::bus::Link;
use crate::capture::read;
use crate::events::Heard;
use crate::model::Picture;
use crate::tables::Cells;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// How long nothing may be signalled until an app is at rest: longer than what `--settle` waits for, which reads the app
/// itself then.
const REST: Duration = Duration::from_millis(200);

/// When it is given up on an app that does not come to rest.
const PATIENCE: Duration = Duration::from_secs(2);

/// A reading that is to come, or has come. Dropped, it ends.
#[derive(Debug)]
pub(crate) struct Ahead {
    reading: Arc<AtomicBool>,
    task: JoinHandle<Option<(Picture, u64)>>,
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Ahead {
    /// Waits for rest, and reads. `pending` is how long the app takes to begin with what it was told to do.
    pub(crate) fn start(link: &Link, heard: &Arc<Heard>, pending: Duration) -> Self {
        let reading = Arc::new(AtomicBool::new(false));
        let task = tokio::spawn(read_at_rest(link.clone(), Arc::clone(heard), pending, Arc::clone(&reading)));
        Self { reading, task }
    }

    /// What was read, and how often the app had changed when that began. None where the reading has not begun: whoever
    /// needs one now makes it.
    pub(crate) async fn take(mut self) -> Option<(Picture, u64)> {
        if !self.reading.load(Ordering::Relaxed) {
            return None;
        }
        // It was aborted with its runtime, if it was.
        (&mut self.task).await.ok().flatten()
    }
}

async fn read_at_rest(
    link: Link,
    heard: Arc<Heard>,
    pending: Duration,
    reading: Arc<AtomicBool>,
) -> Option<(Picture, u64)> {
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
    // Whoever looks next is told what is wrong with the app, if anything is.
    let picture = read::read(&link, &mut Cells::default()).await.ok()?;
    link.barrier().await.ok()?;
    (heard.state().changes == changes).then_some((picture, changes))
}
