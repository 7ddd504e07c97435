//! What a page exchanges with the world: the requests that are remembered, and waits for what an act set off.

use crate::device::WebDevice;
use crate::downloads::Coming;
use crate::events::clip;
use crate::mouse::NONE;
use crate::state::TabState;
use crate::tab::{Fault, expression};
use std::time::{Duration, Instant};
use stickpin_device::{CancellationToken, Notice, RequestEnd, Result, SeenRequest};
use tokio::time::timeout;

/// Requests that are remembered.
const REMEMBERED: usize = 300;

/// What takes longer than this is held open by the server.
const LONG: Duration = Duration::from_secs(5);

/// How long an act is watched while something that it set off is under way.
const UNDER_WAY: Duration = Duration::from_millis(300);

/// How long a page that is busy may take until nothing is said to have happened in it.
const BUSY: Duration = Duration::from_secs(1);

/// How long a script is given to react to what came.
const REACTION: Duration = Duration::from_millis(50);

/// Notices of requests that an act set off.
const TOLD: usize = 3;

/// A request that was seen.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) id: String,
    pub(crate) method: String,
    pub(crate) url: String,
    pub(crate) began: Instant,
    /// What it was answered with, while its body still comes.
    pub(crate) status: Option<u16>,
    pub(crate) end: Option<(RequestEnd, Instant)>,
    /// As in [`crate::state::Request`].
    pub(crate) counts: bool,
    /// A script asked, by `fetch` or the like.
    pub(crate) by_script: bool,
    /// It was told as the effect of an act.
    told: bool,
    /// The document of a frame.
    document: bool,
}

impl Seen {
    pub(crate) fn new(id: String, method: String, url: String, kind: &str) -> Self {
        let document = kind == "Document";
        let began = Instant::now();
        Self {
            id,
            method,
            url,
            began,
            status: None,
            end: None,
            counts: true,
            by_script: false,
            told: false,
            document,
        }
    }

    fn took(&self) -> Duration {
        self.end.as_ref().map_or_else(Instant::now, |(_, at)| *at).duration_since(self.began)
    }

    /// Whether it took so long that it is no answer that anybody waits for.
    pub(crate) fn is_long(&self) -> bool {
        self.by_script && self.took() >= LONG
    }

    /// Whether two ask for the same, queries aside.
    pub(crate) fn asks_like(&self, other: &Self) -> bool {
        let path = |url: &str| url.split(['?', '#']).next().unwrap_or_default().to_owned();
        self.method == other.method && path(&self.url) == path(&other.url)
    }

    /// Whether it belongs to what came after a moment.
    fn is_since(&self, begun: Instant) -> bool {
        self.began >= begun || self.end.as_ref().is_none_or(|(_, at)| *at >= begun)
    }
}

impl TabState {
    /// Remembers a request.
    pub(crate) fn saw(&mut self, seen: Seen) {
        if self.traffic.len() == REMEMBERED {
            self.traffic.pop_front();
        }
        self.traffic.push_back(seen);
    }

    /// The document went away, and what its scripts waited for with it.
    pub(crate) fn left_traffic(&mut self) {
        for seen in self.traffic.iter_mut().filter(|s| !s.document && s.end.is_none()) {
            seen.end = Some((RequestEnd::Failed("the page was left".to_owned()), Instant::now()));
        }
    }

    /// What the last document that was asked for since then was answered with.
    pub(crate) fn answered_with(&self, since: Instant) -> Option<u16> {
        self.traffic.iter().rev().find(|s| s.document && s.began >= since)?.status
    }

    /// Whether something that began since then, and that an act may have set off, is not over.
    fn under_way(&self, begun: Instant) -> bool {
        let request = |s: &Seen| s.by_script && s.counts && s.end.is_none() && s.began >= begun;
        self.navigating.is_some() || self.traffic.iter().any(request)
    }
}

impl WebDevice {
    pub(crate) async fn wait_for_effects(
        &mut self,
        at_most: Duration,
        cancel: &CancellationToken,
    ) -> Result<()> {
        let (told, begun) = (self.told, self.begun);
        let arrivals = self.tab.read(|tab| tab.arrivals)?;
        let stirred = |tab: &TabState| {
            let seen = tab.changes != told || !tab.notices.is_empty() || tab.dialog.is_some();
            (seen || tab.under_way(begun)).then_some(())
        };
        self.listen_closely(at_most, stirred).await?;
        let quiet = tokio::select! {
            stirred = timeout(at_most, self.tab.until(stirred)) => match stirred {
                Ok(stirred) => { stirred?; false }
                Err(_) => true,
            },
            () = cancel.cancelled() => return Ok(()),
        };
        if quiet {
            // The time is over by our clock. A page that had no time of its own yet did nothing yet, either.
            tokio::select! {
                stirred = self.tab.until(stirred) => stirred?,
                _ = timeout(BUSY, self.tab.turn()) => {}
                () = cancel.cancelled() => return Ok(()),
            }
        }
        if !self.tab.read(|tab| tab.under_way(begun))? {
            return Ok(());
        }
        let over = self.tab.until(|tab| {
            let gone = tab.dialog.is_some() || tab.navigating.is_none() && tab.arrivals != arrivals;
            (gone || !tab.under_way(begun)).then_some(tab.notices.len())
        });
        let noticed = tokio::select! {
            over = timeout(UNDER_WAY, over) => match over {
                Ok(noticed) => noticed?,
                Err(_) => return Ok(()),
            },
            () = cancel.cancelled() => return Ok(()),
        };
        // What the script says about it: an error on the console, a toast.
        let reaction = self.tab.until(|tab| (tab.notices.len() > noticed).then_some(()));
        timeout(REACTION, reaction).await.unwrap_or(Ok(()))
    }

    /// Unless something is seen already, lets every document tell at once of what changes: otherwise what comes soon
    /// after another change is held back for a moment.
    async fn listen_closely(
        &self,
        at_most: Duration,
        stirred: impl Fn(&TabState) -> Option<()>,
    ) -> Result<()> {
        if self.tab.read(stirred)?.is_some() {
            return Ok(());
        }
        let worlds = match timeout(at_most, self.tab.worlds()).await {
            // It shows something else, or nothing yet: that is a sign by itself.
            Err(_) | Ok(Err(Fault::Dialog(_) | Fault::WorldGone)) => return Ok(()),
            Ok(worlds) => worlds?,
        };
        match self.tab.ask_all(&worlds, |_| expression("tell", NONE)) {
            // What they are asked for comes as signals; the answers say nothing more. A dialog holds them all up.
            Ok(_) | Err(Fault::Dialog(_) | Fault::WorldGone) => Ok(()),
            Err(fault) => Err(fault.into()),
        }
    }

    pub(crate) async fn wait_for_news(&mut self, wait: Duration, cancel: &CancellationToken) -> Result<bool> {
        tokio::task::yield_now().await;
        let heard = self.heard;
        let news = self.tab.shared.until_after(heard);
        let came = tokio::select! {
            version = timeout(wait, news) => version.ok(),
            () = cancel.cancelled() => None,
        };
        if let Some(version) = came {
            self.heard = version;
        }
        // A tab that is gone says so.
        self.tab.read(|_| came.is_some())
    }

    pub(crate) fn seen_requests(&self) -> Result<Vec<SeenRequest>> {
        let begun = self.begun;
        self.tab.read(|tab| {
            let seen = tab.traffic.iter().filter(|s| s.is_since(begun));
            let tell = |s: &Seen| SeenRequest {
                method: s.method.clone(),
                url: s.url.clone(),
                end: s.end.as_ref().map(|(end, _)| end.clone()),
                took: s.took(),
                counts: s.counts,
            };
            seen.map(tell).collect()
        })
    }

    /// What an act set off besides what was noticed by itself.
    pub(crate) fn set_off(&self) -> Result<Vec<Notice>> {
        let begun = self.begun;
        let mut notices = self.tab.write(|tab| {
            let leaving = tab.navigating.as_ref().map(|(url, _)| Notice::Leaving { url: clip(url) });
            let fresh = |s: &&mut Seen| s.by_script && s.counts && !s.told && s.began >= begun;
            let requests = tab.traffic.iter_mut().filter(fresh).filter_map(|s| {
                s.told = true;
                let status = match s.end {
                    None => None,
                    Some((RequestEnd::Status(status), _)) if status < 400 => Some(status),
                    // What failed has a notice of its own.
                    Some(_) => return None,
                };
                Some(Notice::Requested { method: s.method.clone(), url: clip(&s.url), status })
            });
            let requests: Vec<Notice> = requests.collect();
            leaving.into_iter().chain(requests.into_iter().take(TOLD)).collect::<Vec<_>>()
        })?;
        let mut state = self.tab.shared.state();
        notices.extend(state.downloads.iter_mut().filter_map(Coming::under_way));
        Ok(notices)
    }
}
