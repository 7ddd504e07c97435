//! Reads ahead: walks a page as soon as the page has changed and come to rest, before any command
//! needs the walk. The next capture then has only to prove that nothing has changed since
//! (`agent/script/read/unchanged.js`). Without that proof, the capture is never used.

use crate::read::page::Page;
use crate::read::walk_cache;
use crate::read::walk_cache::WalkRequest;
use crate::state::TabState;
use std::future::pending;
use std::time::Duration;
use stickpin_tree::Handle;
use tokio::time::timeout;

/// The time without a change after which a page is at rest. The agent reports changes at this
/// interval.
const QUIET_TIME: Duration = Duration::from_millis(50);

/// The factor by which the required rest grows with each further unused capture. A walk holds up
/// the page's scripts, so a page that changes every second forever is walked only three times.
const BACKOFF: u32 = 4;

/// The state of reading ahead: the number of read-aheads since a command last read the page, and
/// the activity at the last capture.
#[derive(Debug, Default)]
pub(crate) struct ReadAhead {
    unused_captures: u32,
    /// The tab's activity counter at the last capture of any kind.
    read: Option<u64>,
}

impl ReadAhead {
    /// Records that a capture begins at this count of activity.
    pub(crate) fn note_capture(&mut self, activity: u64) {
        self.read = Some(activity);
    }

    /// Records that a command reads the page.
    pub(crate) fn note_command(&mut self) {
        self.unused_captures = 0;
    }

    /// Returns the time for which the page must be at rest before the next read-ahead.
    fn quiet_time(&self) -> Duration {
        QUIET_TIME.saturating_mul(BACKOFF.saturating_pow(self.unused_captures))
    }

    /// Returns whether a read-ahead is due: something may have changed since the last capture, and
    /// the page is complete.
    fn is_due(&self, tab: &TabState) -> bool {
        self.read != Some(tab.activity) && tab.is_complete()
    }
}

/// Waits until the page has changed since the last capture and is at rest. Waits forever if the
/// last walk cannot be proven unchanged, or if the tab is gone.
pub async fn wait_until_idle(page: &mut Page) {
    // When nothing can be proven, a read-ahead is useless.
    if page.last_walk.as_ref().is_some_and(|walked| !walked.can_be_proven()) {
        return pending().await;
    }
    let (ahead, rest) = (&page.read_ahead, page.read_ahead.quiet_time());
    let due = || page.tab.until(|tab| ahead.is_due(tab).then_some(tab.activity));
    while let Ok(activity) = due().await {
        let stirs = page.tab.until(|tab| (tab.activity != activity || !tab.is_complete()).then_some(()));
        if timeout(rest, stirs).await.is_err() {
            return;
        }
    }
    // The tab is gone; the next command reports it.
    pending().await
}

/// Walks the page ahead of the next command. Failures are only logged.
pub async fn read_ahead(page: &mut Page, watch: &[Handle]) {
    let walk_request = WalkRequest { watch, target: None, strict: true };
    page.read_ahead.unused_captures += 1;
    if let Err(fault) = walk_cache::current_page(page, walk_request).await {
        tracing::debug!(?fault, "the page was not read ahead");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_further_reading_waits_longer_until_somebody_asks() {
        let mut read_ahead = ReadAhead::default();
        let mut rests = Vec::new();
        for _ in 0..4 {
            rests.push(read_ahead.quiet_time().as_millis());
            read_ahead.unused_captures += 1;
        }
        assert_eq!(rests, [50, 200, 800, 3200]);
        read_ahead.unused_captures = u32::MAX;
        assert!(read_ahead.quiet_time() > Duration::from_secs(1 << 20), "it does not wrap");
        read_ahead.note_command();
        assert_eq!(read_ahead.quiet_time(), QUIET_TIME);
    }
}
