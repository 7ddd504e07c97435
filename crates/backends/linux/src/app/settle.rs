//! Waiting for changes and for quiet.

use crate::app::{self, App, AppView, LinuxDevice, lifecycle};
use async_trait::async_trait;
use std::time::{Duration, Instant};
use stickpin_device::{CancellationToken, Events, PendingActivity, Result, SettleRequest, SettleResult};
use stickpin_process::ProcessorTime;
use tokio::time::timeout;

/// The interval after which [`until_changed`] reports a *possible* change, because toolkits do not
/// signal everything.
const RECHECK_INTERVAL: Duration = Duration::from_millis(500);

/// How long a process that works without signaling may delay an action; after that, it counts as
/// always busy.
const BUSY: Duration = Duration::from_secs(3);

/// Waits, for at most `request.cap`, until nothing has been signaled for `request.quiet` and the
/// app's process is idle or known to be always busy.
pub(crate) async fn until_quiet(
    device: &mut LinuxDevice,
    request: SettleRequest,
    cancel: &CancellationToken,
) -> Result<SettleResult> {
    // A pending activation has not been signaled yet.
    let start = Instant::now() + app::pending(device);
    let end = start + request.cap;
    let mut work = ProcessorTime::of(device.app.info.pid);
    loop {
        lifecycle::alive(&device.app).await?;
        let (changes, last) = {
            let heard = device.app.events.state();
            (heard.changes, heard.changed_at.map_or(start, |at| at.max(start)))
        };
        let quiet_at = last + request.quiet;
        let now = Instant::now();
        if now >= quiet_at {
            // The answer comes after all earlier signals, which a busy app may not have sent yet.
            lifecycle::barrier(&device.app).await?;
            let unchanged = |app: &App| app.events.state().changes == changes;
            if unchanged(&device.app)
                && works_on(device, &mut work, start, end)
                // The process will signal the result.
                && wait_for_signal(&device.app, changes, request.quiet, cancel).await.is_some()
            {
                continue;
            }
            if unchanged(&device.app) {
                return Ok(SettleResult::quiet());
            }
        }
        // An app that signals whenever it is queried never becomes quiet.
        if now >= end || cancel.is_cancelled() {
            let still = vec![PendingActivity::Other(device.app.events.state().last.clone())];
            return Ok(SettleResult::new(false, still));
        }
        // Whichever happens first, everything is checked again.
        let wait = quiet_at.min(end).saturating_duration_since(now);
        wait_for_signal(&device.app, changes, wait, cancel).await;
    }
}

/// Waits until the app signals a change beyond this count or leaves. Returns false after `wait`;
/// `None` if cancelled.
pub(crate) async fn wait_for_signal(
    app: &App,
    changes: u64,
    wait: Duration,
    cancel: &CancellationToken,
) -> Option<bool> {
    let more = app.events.until(|heard| (heard.changes != changes || heard.gone).then_some(()));
    cancel.run_until_cancelled(timeout(wait, more)).await.map(|more| more.is_ok())
}

/// Returns whether the app's process is working on something that it has not signaled yet. Returns
/// false after `end`, and for a process that is known to work constantly without signals, for
/// example to show an animation.
fn works_on(device: &mut LinuxDevice, work: &mut ProcessorTime, start: Instant, end: Instant) -> bool {
    let busy = !device.always_busy && work.is_busy();
    device.always_busy |= busy && Instant::now() >= start + BUSY;
    busy && !device.always_busy && Instant::now() < end
}

/// Waits until something may have changed since the last capture. Returns false after `wait` or
/// when cancelled.
pub(crate) async fn until_changed(
    AppView { app, last }: AppView<'_>,
    wait: Duration,
    cancel: &CancellationToken,
) -> Result<bool> {
    // A caller that polls in a loop must not keep events from being received.
    tokio::task::yield_now().await;
    let changed = wait_for_signal(app, last.changes_when_read, wait.min(RECHECK_INTERVAL), cancel).await;
    let Some(changed) = changed else { return Ok(false) };
    lifecycle::alive(app).await?;
    // If the interval is shorter than the wait, something may have changed without a signal.
    Ok(changed || wait > RECHECK_INTERVAL)
}

#[async_trait]
impl Events for LinuxDevice {
    async fn wait_event(&mut self, timeout: Duration, cancel: &CancellationToken) -> Result<bool> {
        until_changed(self.view(), timeout, cancel).await
    }

    /// Waits until an action shows an effect. GTK 4 performs activations after a delay.
    async fn wait_effect(&mut self, at_most: Duration, cancel: &CancellationToken) -> Result<()> {
        let wait = at_most + app::pending(self);
        let (told, start) = (self.changes_reported, Instant::now());
        let mut work = ProcessorTime::of(self.app.info.pid);
        loop {
            // The notices show whether there was an effect.
            let ended = wait_for_signal(&self.app, told, wait, cancel).await.unwrap_or(true);
            if ended || !works_on(self, &mut work, start, start + wait + BUSY) {
                break;
            }
        }
        lifecycle::alive(&self.app).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::AccessibilityBus;
    use crate::events::AppEvents;
    use crate::screen::Screen;
    use crate::tests::peer::App as Peer;
    use std::sync::Arc;
    use stickpin_process::ProcessStat;

    #[tokio::test]
    async fn an_app_is_not_at_rest_while_its_process_works() {
        let (app, heard) = (Peer::start(), Arc::new(AppEvents::default()));
        let (link, bus) =
            (app.link(&heard).await, AccessibilityBus::over(app.connect(Box::new(|_| {})).await));
        let screen = Screen::shared(None, false);
        let mut device =
            LinuxDevice::new(bus, link, heard, screen, ("app".to_owned(), None), Some("linux:app"));
        let mut shell = tokio::process::Command::new("sh");
        let mut worker = shell.args(["-c", "while :; do :; done"]).kill_on_drop(true).spawn().unwrap();
        let pid = worker.id().unwrap();
        device.app.info.pid = Some(pid);
        let request = SettleRequest::new(Duration::from_millis(20), Duration::from_secs(20));
        let cancel = CancellationToken::new();
        let ended = std::sync::atomic::AtomicBool::new(false);
        let work = async {
            let begun = ProcessStat::of(pid).unwrap().ticks;
            while ProcessStat::of(pid).unwrap().ticks < begun + 5 {
                tokio::time::sleep(crate::limits::FRAME).await;
            }
            ended.store(true, std::sync::atomic::Ordering::SeqCst);
            worker.kill().await.unwrap();
        };
        let settle = async {
            let settled = until_quiet(&mut device, request, &cancel).await.unwrap();
            (settled.is_quiet, ended.load(std::sync::atomic::Ordering::SeqCst))
        };
        let ((settled, after), ()) = tokio::join!(settle, work);
        assert!(settled && after, "it waited until the work was done: {settled} {after}");
    }

    #[tokio::test]
    async fn app_that_signals_on_every_call_does_not_extend_the_wait() {
        let (app, heard) = (Peer::start(), Arc::new(AppEvents::default()));
        let (link, bus) =
            (app.link(&heard).await, AccessibilityBus::over(app.connect(Box::new(|_| {})).await));
        let screen = Screen::shared(None, false);
        let mut device =
            LinuxDevice::new(bus, link, heard, screen, ("app".to_owned(), None), Some("linux:app"));
        app.signals_always();
        let request = SettleRequest::new(Duration::ZERO, Duration::from_millis(50));
        let cancel = CancellationToken::new();
        let settled = timeout(Duration::from_secs(30), until_quiet(&mut device, request, &cancel)).await;
        let settled = settled.expect("it comes back").unwrap();
        assert!(!settled.is_quiet && settled.pending[0].to_string().contains("focused"), "{settled:?}");
    }
}
