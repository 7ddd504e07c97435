//! Reading ahead: when an app has come to rest after an act it is read once, before anybody asks, so that the next act
//! finds a reading to compare with instead of making one. It counts only while nothing was signalled since, and what is
//! acted on is asked again all the same (`verify.rs`). A capture never is what was read ahead.

use crate::bus::Link;
use crate::capture::{Known, read};
use crate::events::Heard;
use crate::model::Picture;
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

/// What was read, what is known of its tables since, and how often the app had changed when it began.
type Read = (Picture, Known, u64);

/// A reading that is to come, or has come. Dropped, it ends.
#[derive(Debug)]
pub(crate) struct Ahead {
    reading: Arc<AtomicBool>,
    task: JoinHandle<Option<Read>>,
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Ahead {
    /// Waits for rest, and reads. `pending` is how long the app takes to begin with what it was told to do.
    pub(crate) fn start(link: &Link, heard: &Arc<Heard>, known: &Known, pending: Duration) -> Self {
        let reading = Arc::new(AtomicBool::new(false));
        let (link, heard, known) = (link.clone(), Arc::clone(heard), known.clone());
        let task = tokio::spawn(read_at_rest(link, heard, known, pending, Arc::clone(&reading)));
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
        read.filter(|(_, _, changes)| heard.state().changes == *changes)
    }
}

async fn read_at_rest(
    link: Link,
    heard: Arc<Heard>,
    mut known: Known,
    pending: Duration,
    reading: Arc<AtomicBool>,
) -> Option<Read> {
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
    known.appeared.paths = heard.state().appeared.iter().cloned().collect();
    // Whoever looks next is told what is wrong with the app, if anything is.
    let picture = read::read(&link, &mut known).await.ok()?;
    link.barrier().await.ok()?;
    Some((picture, known, changes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::peer::App;

    /// An app that was read ahead, and what it has signalled.
    async fn started(app: &App) -> (Ahead, Arc<Heard>) {
        let heard = Arc::new(Heard::new());
        (Ahead::start(&app.link(&heard).await, &heard, &Known::default(), Duration::ZERO), heard)
    }

    #[tokio::test]
    async fn a_reading_that_nothing_was_signalled_since_is_taken() {
        let app = App::start();
        let (ahead, heard) = started(&app).await;
        app.asked().await;
        let (picture, _, changes) = ahead.take(&heard).await.expect("a reading");
        assert_eq!((picture.objects.len(), changes), (1, 0));
    }

    #[tokio::test]
    async fn a_reading_that_has_not_begun_is_not_waited_for() {
        let app = App::start();
        let (ahead, heard) = started(&app).await;
        assert!(ahead.take(&heard).await.is_none());
        assert_eq!(app.calls(), 0);
    }

    #[tokio::test]
    async fn what_was_signalled_while_the_app_was_read_makes_the_reading_worthless() {
        let app = App::start();
        app.hold();
        let (ahead, heard) = started(&app).await;
        app.asked().await;
        heard.state().change("a row came".to_owned());
        app.go_on();
        assert!(ahead.take(&heard).await.is_none());
    }

    #[tokio::test]
    async fn a_signal_that_is_still_on_its_way_counts() {
        let (bus, own, heard) = (App::start(), App::start(), Arc::new(Heard::new()));
        let link = bus.link_and_own(&heard, &own).await;
        bus.signals_first(1);
        let ahead = Ahead::start(&link, &heard, &Known::default(), Duration::ZERO);
        own.asked().await;
        assert!(ahead.take(&heard).await.is_none());
    }

    #[tokio::test]
    async fn what_was_signalled_since_makes_the_reading_worthless() {
        let app = App::start();
        let (ahead, heard) = started(&app).await;
        while !ahead.task.is_finished() {
            tokio::task::yield_now().await;
        }
        heard.state().change("a row came".to_owned());
        assert!(ahead.take(&heard).await.is_none());
    }

    #[tokio::test]
    async fn an_app_is_read_when_it_has_been_at_rest_since_its_last_signal() {
        let app = App::start();
        let (ahead, heard) = started(&app).await;
        sleep(REST / 2).await;
        let last = Instant::now();
        let signal = app.signal();
        heard.hear(&signal);
        app.asked().await;
        assert!(last.elapsed() >= REST, "{:?}", last.elapsed());
        assert_eq!(ahead.take(&heard).await.map(|(_, _, changes)| changes), Some(1));
    }
}
