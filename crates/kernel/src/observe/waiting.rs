//! Waits for the app. Most waits let other commands run between two checks.

use crate::command::context::Cx;
#[cfg(feature = "pictures")]
use crate::host::queue::Position;
use std::pin::pin;
use std::time::Duration;
use stickpin_device::{CancellationToken, Error, PendingActivity, Result, SettleRequest};
use tokio::time::Instant;

/// The maximum time between two checks, in case an event is missed.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);

/// The interval between two evaluations of a script expression, which may become true without an
/// event.
const SCRIPT_INTERVAL: Duration = Duration::from_millis(100);

/// How long an app must remain unchanged to count as quiet.
pub(crate) const QUIET_TIME: Duration = Duration::from_millis(150);

/// The maximum length of the list of pending activities, in characters.
pub(crate) const MAX_PENDING_CHARS: usize = 500;

/// The timeout of a wait. Between checks, [`WaitTimeout::wait_for_next_check`] waits for a change
/// and lets other commands run.
#[derive(Debug)]
pub(crate) struct WaitTimeout {
    timeout: Duration,
    end: Instant,
}

impl WaitTimeout {
    pub(crate) fn new(timeout: Duration) -> Self {
        Self { timeout, end: Instant::now() + timeout }
    }

    /// Returns the remaining time.
    pub(crate) fn remaining(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    /// Waits until it is worth checking the app again.
    ///
    /// # Errors
    /// Returns `TIMEOUT` when no time is left, with what was awaited, the actual state, and pending
    /// activities. Also returns the errors of [`pause`] and errors from the device.
    pub(crate) async fn wait_for_next_check(
        &self,
        cx: &mut Cx,
        listen: WakeOn,
        what: &str,
        instead: &str,
    ) -> Result<()> {
        let left = self.remaining();
        if left.is_zero() {
            return Err(self.over(cx, what, instead).await?);
        }
        let look = if listen == WakeOn::Script { SCRIPT_INTERVAL } else { CHECK_INTERVAL };
        pause(cx, left.min(look), listen).await.map(|_| ())
    }

    async fn over(&self, cx: &mut Cx, what: &str, instead: &str) -> Result<Error> {
        let mut message = format!("waited {} ms for {what}; {instead}", self.timeout.as_millis());
        let still = moving(cx).await?;
        let mut e = Error::timeout(String::new())
            .hint("use `--timeout MS` to wait longer, or run `stickpin snapshot -i` to see what is there");
        if !still.is_empty() {
            message.push_str("; still active: ");
            message.push_str(&stickpin_tree::escape(&still.join(", "), MAX_PENDING_CHARS));
            e = e.details(serde_json::json!({ "still": still }));
        }
        e.message = message;
        Ok(e)
    }
}

/// The events that end a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WakeOn {
    /// A capture may differ from the last one.
    Changes,
    /// Anything happened, including events that a capture does not show.
    AnyEvent,
    /// Any event, or a short interval, because script values change without events.
    Script,
}

/// Returns the app's pending activities in words: at most three requests, and other activities such
/// as animations. Returns an empty list while a dialog is open.
async fn moving(cx: &mut Cx) -> Result<Vec<String>> {
    let cancel = cx.cancel.clone();
    let device = cx.device()?;
    if device.dialog().is_some() {
        return Ok(Vec::new());
    }
    let mut still = Vec::new();
    if let Some(traffic) = device.traffic() {
        let seen = traffic.requests().await?;
        let pending = seen.iter().filter(|r| r.counts && r.end.is_none());
        still.extend(pending.take(3).map(crate::observe::traffic::describe_network_request));
    }
    let now = SettleRequest::new(QUIET_TIME, Duration::ZERO);
    let others = cx.device()?.settle(now, &cancel).await?.pending;
    // Requests are already listed with their age.
    still.extend(
        others.iter().filter(|other| !matches!(other, PendingActivity::Request(_))).map(ToString::to_string),
    );
    Ok(still)
}

/// Waits up to `at_most` until a capture may differ from the last one. Does not let other commands
/// run.
///
/// # Errors
/// Returns errors from the device, and `TIMEOUT` when the command was cancelled.
pub(crate) async fn wait_for_change(cx: &mut Cx, at_most: Duration) -> Result<()> {
    let cancel = cx.cancel.clone();
    cx.device()?.changed(at_most, &cancel).await?;
    cx.check()
}

/// Lets commands that are waiting for the session run first.
///
/// # Errors
/// Returns the errors of waiting for the session again.
#[cfg(feature = "pictures")]
pub(crate) async fn let_others_pass(cx: &mut Cx) -> Result<()> {
    let requested = cx.checkout.as_ref().is_some_and(|checkout| checkout.requested.is_cancelled());
    if requested { cx.yield_checkout().await } else { Ok(()) }
}

/// Runs work that does not use the session and lets other commands use the session meanwhile. Then
/// queues for the session behind all of them.
///
/// # Errors
/// Returns `TIMEOUT` when the command was cancelled, and the errors of waiting for the session
/// again.
#[cfg(feature = "pictures")]
pub(crate) async fn without_session<T>(cx: &mut Cx, work: impl Future<Output = T> + Send) -> Result<T> {
    let slot = cx.slot.clone();
    cx.check_in();
    let cancel = cx.cancel.clone();
    let Some(done) = cancel.run_until_cancelled(work).await else {
        return Err(Error::timeout("the command was cancelled before it finished"));
    };
    if let Some(slot) = slot {
        cx.check_out(slot, Position::Yielded).await?;
    }
    Ok(done)
}

/// The reason why a pause ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PauseEnd {
    /// The time has passed.
    Time,
    /// Something may have changed.
    Change,
    /// Other commands ran.
    Yield,
}

/// Awaits `work`, which waits for the device. Cancels `stop` when other commands want the session,
/// so that the device ends its wait.
pub(crate) async fn until_wanted<T>(
    work: impl Future<Output = T> + Send,
    wanted: &CancellationToken,
    stop: &CancellationToken,
) -> T {
    let mut work = pin!(work);
    tokio::select! {
        biased;
        done = &mut work => done,
        () = wanted.cancelled() => {
            // The future is not dropped: the device ends its own wait.
            stop.cancel();
            work.await
        }
    }
}

/// Waits up to `at_most` until it is worth checking again: something may have changed, or other
/// commands ran.
///
/// Other commands may run immediately; other waits check only after this wait has checked.
///
/// # Errors
/// Returns errors from the device, `SESSION_NOT_FOUND` without a checkout, `TIMEOUT` when the
/// command was cancelled, and the errors of waiting for the session again.
pub(crate) async fn pause(cx: &mut Cx, at_most: Duration, listen: WakeOn) -> Result<PauseEnd> {
    cx.check()?;
    let Some(checkout) = &cx.checkout else {
        return Err(crate::host::queue::not_open_error(&cx.session_name));
    };
    let (wanted, again) = (checkout.requested.clone(), checkout.requested_by_wait.clone());
    if cx.checked_since_yield && again.is_cancelled() {
        cx.checked_since_yield = false;
        return cx.yield_checkout().await.map(|()| PauseEnd::Yield);
    }
    let stop = cx.cancel.child_token();
    let device = cx.device()?;
    let changed = match listen {
        WakeOn::Changes => until_wanted(device.changed(at_most, &stop), &wanted, &stop).await?,
        WakeOn::AnyEvent | WakeOn::Script => {
            until_wanted(device.wait_event(at_most, &stop), &wanted, &stop).await?
        }
    };
    cx.checked_since_yield = true;
    cx.check()?;
    match (wanted.is_cancelled(), changed) {
        (true, _) => cx.yield_checkout().await.map(|()| PauseEnd::Yield),
        (false, true) => Ok(PauseEnd::Change),
        (false, false) => Ok(PauseEnd::Time),
    }
}
