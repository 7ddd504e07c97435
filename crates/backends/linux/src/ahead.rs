//! Reading ahead: when an app has come to rest after an act it is read once, before anybody asks, so that the next act
//! finds a reading to compare with, and the tree of it, instead of making them. It counts only while nothing was signalled
//! since, and what is acted on is asked again all the same (`verify.rs`). A capture never is what was read ahead.

use crate::bus::{Link, guest};
use crate::capture::{Known, read, tree};
use crate::device::{Last, LinuxDevice};
use crate::events::Heard;
use crate::ids::{Ids, Where};
use crate::model::Picture;
use crate::toolkit::Toolkit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use stickpin_tree::Tree;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// How long nothing may be signalled until an app is at rest: longer than what `--settle` waits for, which reads the app
/// itself then.
const REST: Duration = Duration::from_millis(200);

/// How long the reading itself may take. What was read last took less than a tenth of that; whoever needs one now is not
/// kept waiting by an app that has become slow.
const MOST: Duration = Duration::from_millis(600);

/// When it is given up on an app that does not come to rest.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long the app's last reading may have taken for it to be read ahead.
const LITTLE: Duration = Duration::from_millis(60);

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

impl LinuxDevice {
    /// Reads the app once it has come to rest after an act, where that is little work for it.
    pub(crate) fn look_ahead(&mut self) {
        let little =
            self.took < LITTLE && !self.known.cells.have_sheets() && self.link.toolkit != Toolkit::Office;
        let guests = !self.heard.state().guests.is_empty();
        self.ahead = (little && !guests).then(|| {
            let basis = Basis {
                link: self.link.clone(),
                heard: Arc::clone(&self.heard),
                ids: Arc::clone(&self.ids),
                at: self.at.clone(),
                known: self.known.clone(),
                last: self.last.as_ref().map(|last| Arc::clone(&last.tree)),
            };
            Ahead::start(basis, self.pending())
        });
    }

    /// Takes what was read ahead for the last reading, if nothing was signalled since.
    pub(crate) async fn take_ahead(&mut self) {
        let Some(ahead) = self.ahead.take() else { return };
        match ahead.take(&self.heard).await {
            // The signals of a process that has come into a window are not heard yet.
            Some(read) if read.picture.objects.iter().any(|o| guest(&o.path).is_some()) => {}
            Some(Read { picture, tree, known, changes }) => {
                (self.known, self.seen) = (known, changes);
                self.last = Some(Last { picture, tree });
            }
            None => {}
        }
    }
}

async fn read_at_rest(basis: Basis, pending: Duration, reading: Arc<AtomicBool>) -> Option<Read> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::peer::App;

    fn ahead(link: Link, heard: &Arc<Heard>) -> Ahead {
        let heard = Arc::clone(heard);
        let (ids, at, known, last) = Default::default();
        Ahead::start(Basis { link, heard, ids, at, known, last }, Duration::ZERO)
    }

    /// An app that was read ahead, and what it has signalled.
    async fn started(app: &App) -> (Ahead, Arc<Heard>) {
        let heard = Arc::new(Heard::new());
        (ahead(app.link(&heard).await, &heard), heard)
    }

    #[tokio::test]
    async fn a_reading_that_nothing_was_signalled_since_is_taken() {
        let app = App::start();
        let (ahead, heard) = started(&app).await;
        app.asked().await;
        let read = ahead.take(&heard).await.expect("a reading");
        assert_eq!((read.picture.objects.len(), read.changes), (1, 0));
        assert_eq!(read.tree.nodes().count(), 1);
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
    async fn an_app_that_has_become_slow_keeps_nobody_waiting() {
        let app = App::start();
        let (link, heard) = (app.link(&Arc::new(Heard::new())).await, Arc::new(Heard::new()));
        app.hold();
        let ahead = ahead(link.clone(), &heard);
        app.asked().await;
        // As long as an app may say nothing when it is asked.
        tokio::select! {
            biased;
            read = ahead.take(&heard) => assert!(read.is_none()),
            _ = link.barrier() => panic!("it was waited for as for one that hangs"),
        }
    }

    #[tokio::test]
    async fn a_signal_that_is_still_on_its_way_counts() {
        let (bus, own, heard) = (App::start(), App::start(), Arc::new(Heard::new()));
        let link = bus.link_and_own(&heard, &own).await;
        bus.signals_first(1);
        let ahead = ahead(link, &heard);
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
        assert_eq!(ahead.take(&heard).await.map(|read| read.changes), Some(1));
    }
}
