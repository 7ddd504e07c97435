//! Reading ahead: when an app has come to rest after an act it is read once, before anybody asks, so that the next act
//! finds a reading to compare with, and the tree of it, instead of making them. It counts only while nothing was signalled
//! since, and what is acted on is asked again all the same (`verify.rs`). A capture never is what was read ahead.

use crate::app::ahead::{Ahead, Basis, Read};
use crate::app::{Last, LinuxDevice};
use crate::bus::guest;
use crate::toolkit::Toolkit;
use std::sync::Arc;
use std::time::Duration;

/// How long the app's last reading may have taken for it to be read ahead.
const LITTLE: Duration = Duration::from_millis(60);

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::ahead::REST;
    use crate::bus::Link;
    use crate::events::Heard;
    use crate::tests::peer::App;
    use tokio::time::{Instant, sleep};

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
