//! Where the app is: navigations, and tabs that come and go by themselves.

use crate::command::context::Cx;
use std::sync::atomic::Ordering;
use std::time::Duration;
use stickpin_device::{Arrived, Dispatched, ErrorCode, Leave, Navigation, Page, Result, TabEnd, TabEnded};

impl Cx {
    /// Takes the app somewhere else. An address that the device refuses was not gone to.
    ///
    /// # Errors
    /// What the device says.
    pub(crate) async fn navigate(
        &mut self,
        to: &Navigation,
        leave: Leave,
        ready: Duration,
    ) -> Result<Arrived> {
        self.check()?;
        let before = self.dispatched.swap(true, Ordering::Relaxed);
        let cancel = self.cancel.clone();
        let under_way = self.under_way();
        let arrived = self.device()?.navigate(to, leave, ready, &cancel).await;
        drop(under_way);
        match &arrived {
            Ok(at) => {
                let client = self.client();
                let live = self.live()?;
                live.at = Some(Page { url: at.url.clone(), title: at.title.clone() });
                live.pictures.leave(&client, &at.url);
            }
            Err(e) => {
                self.dispatched.store(before || e.dispatched == Dispatched::Unknown, Ordering::Relaxed);
                // An address that nobody answers may have left something else in its place.
                if e.code == ErrorCode::DeviceNotFound
                    && let Ok(Some(page)) = self.device()?.page().await
                {
                    self.live()?.at = Some(page);
                }
            }
        }
        arrived
    }

    /// Takes note of tabs that ended. Says so when the one that this session was in is among them: it goes on in another
    /// one then.
    pub(crate) fn attend(&mut self) -> Option<String> {
        let live = self.live().ok()?;
        let mut moved = None;
        let ended = live.device.tabs().map(|tabs| tabs.ended_tabs()).unwrap_or_default();
        for TabEnded { id, surface, how, now } in ended {
            live.session.end_surface(surface);
            let why = match how {
                TabEnd::Asked => continue,
                TabEnd::Closed => "was closed",
                TabEnd::Crashed => "crashed",
            };
            if let Some(now) = now {
                live.at = None;
                moved = Some(format!("tab {id} {why}; the session goes on in {now}"));
            }
        }
        moved
    }

    /// Says what became of the device beside all acts, unless the receipt says it already.
    pub(crate) fn tell_asides(&mut self) {
        let Ok(live) = self.live() else { return };
        let asides = live.device.lifecycle().map(|life| life.asides()).unwrap_or_default();
        for line in asides.iter().filter_map(crate::observe::receipt::aside) {
            if !self.envelope.receipt.contains(&line) {
                self.warn(format!("Note: {line}."));
            }
        }
    }

    /// The same for what is only to be said.
    pub(crate) fn attend_aloud(&mut self) {
        if let Some(moved) = self.attend() {
            self.warn(format!("Note: {moved}."));
        }
    }
}
