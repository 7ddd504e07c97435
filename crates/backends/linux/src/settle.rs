//! Waiting: for a change, for quiet, for the end.

use crate::act::ACTIVATION;
use crate::device::LinuxDevice;
use std::time::{Duration, Instant};
use stickpin_kernel::Result;
use stickpin_kernel::device::{CancellationToken, SettleRequest, Settled};
use tokio::time::timeout;

/// The net below events: how long `changed` waits before it says that something *may* have changed, because toolkits do
/// not signal everything.
const NET: Duration = Duration::from_millis(500);

/// How often it is asked whether an app has come to something that it does not signal.
pub(crate) const FRAME: Duration = Duration::from_millis(16);

impl LinuxDevice {
    /// How long it takes until GTK 4 does what it was told to activate.
    pub(crate) fn pending(&self) -> Duration {
        let activated = self.activated.as_ref();
        activated.map_or(Duration::ZERO, |(_, at)| ACTIVATION.saturating_sub(at.elapsed()))
    }

    /// Waits until nothing was signalled for `request.quiet`, at most `request.cap`.
    pub(crate) async fn until_quiet(
        &mut self,
        request: SettleRequest,
        cancel: &CancellationToken,
    ) -> Result<Settled> {
        // What is about to happen has not been signalled yet.
        let pending = self.pending();
        let start = Instant::now() + pending;
        let end = start + request.cap;
        loop {
            self.alive().await?;
            let (changes, last) = {
                let heard = self.heard.state();
                (heard.changes, heard.changed_at.map_or(start, |at| at.max(start)))
            };
            let quiet_at = last + request.quiet;
            let now = Instant::now();
            if now >= quiet_at {
                // What it signalled until now has arrived when it answers: an app that is busy has not signalled yet.
                self.link.barrier().await.map_err(|e| self.lost(&e))?;
                if self.heard.state().changes == changes {
                    return Ok(Settled { settled: true, still: Vec::new() });
                }
                // One that signals whenever it is asked is never at rest.
                if now < end && !cancel.is_cancelled() {
                    continue;
                }
            }
            if now >= end || cancel.is_cancelled() {
                let still = vec![self.heard.state().last.clone()];
                return Ok(Settled { settled: false, still });
            }
            let wait = quiet_at.min(end).saturating_duration_since(now);
            let more = self.heard.until(|heard| (heard.changes != changes || heard.gone).then_some(()));
            tokio::select! {
                // Either may come first: both are looked at again.
                woken = timeout(wait, more) => drop(woken),
                () = cancel.cancelled() => {}
            }
        }
    }

    /// Waits until something may have changed since the last capture.
    pub(crate) async fn until_changed(&mut self, wait: Duration, cancel: &CancellationToken) -> Result<bool> {
        // Whoever asks again and again must not keep events from being read.
        tokio::task::yield_now().await;
        let seen = self.seen;
        let changed = self.heard.until(|heard| (heard.changes != seen || heard.gone).then_some(()));
        let changed = tokio::select! {
            changed = timeout(wait.min(NET), changed) => changed.is_ok(),
            () = cancel.cancelled() => return Ok(false),
        };
        self.alive().await?;
        // The net is shorter than the wait: something may have changed without a word.
        Ok(changed || wait > NET)
    }

    /// Waits until an act shows an effect. What GTK 4 was told to activate it only does a moment later.
    pub(crate) async fn until_effect(&mut self, at_most: Duration, cancel: &CancellationToken) -> Result<()> {
        let pending = self.pending();
        let told = self.told;
        let effect = self.heard.until(|heard| (heard.changes != told || heard.gone).then_some(()));
        tokio::select! {
            // Whether it came or not: the notices say.
            came = timeout(at_most + pending, effect) => drop(came),
            () = cancel.cancelled() => {}
        }
        self.alive().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::Desktop;
    use crate::events::Heard;
    use crate::screen::Screen;
    use crate::tests::peer::App;
    use std::sync::Arc;

    #[tokio::test]
    async fn one_that_signals_whenever_it_is_asked_is_not_waited_for_longer_than_it_may_take() {
        let (app, heard) = (App::start(), Arc::new(Heard::new()));
        let (link, bus) = (app.link(&heard).await, Desktop::over(app.connect(Box::new(|_| {})).await));
        let screen = Screen::shared(None, false);
        let mut device = LinuxDevice::new(bus, link, heard, screen, "app".to_owned(), "linux:app");
        app.signals_always();
        let request = SettleRequest { quiet: Duration::ZERO, cap: Duration::from_millis(50) };
        let cancel = CancellationToken::new();
        let settled = timeout(Duration::from_secs(30), device.until_quiet(request, &cancel)).await;
        let settled = settled.expect("it comes back").unwrap();
        assert!(!settled.settled && settled.still[0].contains("focused"), "{settled:?}");
    }
}
