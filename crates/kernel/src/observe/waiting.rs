//! Waits for the app, which let other commands run between their checks.

use crate::command::context::Cx;
use std::pin::Pin;
use std::time::Duration;
use stickpin_device::{Error, Moving, Result, SettleRequest};
use tokio::time::Instant;

/// The maximum time between two checks, in case an event is missed.
const LOOK: Duration = Duration::from_millis(250);

/// The interval between two evaluations of a script expression, which may become true without any
/// event.
const EXPRESSION: Duration = Duration::from_millis(100);

/// How long nothing may change until an app counts as quiet.
pub(crate) const QUIET: Duration = Duration::from_millis(150);

/// The maximum length of the list of pending activities, in characters.
const STILL: usize = 500;

/// The timeout of a wait. Between checks, [`Patience::next`] waits for a change and lets other
/// commands run.
#[derive(Debug)]
pub(crate) struct Patience {
    timeout: Duration,
    end: Instant,
}

impl Patience {
    pub(crate) fn new(timeout: Duration) -> Self {
        Self { timeout, end: Instant::now() + timeout }
    }

    /// Returns the remaining time.
    pub(crate) fn left(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    /// Waits until it is worth checking the app again.
    ///
    /// # Errors
    /// Returns `TIMEOUT` when no time is left, with what was awaited, the actual state, and pending
    /// activities.
    pub(crate) async fn next(&self, cx: &mut Cx, listen: Listen, what: &str, instead: &str) -> Result<()> {
        let left = self.left();
        if left.is_zero() {
            return Err(self.over(cx, what, instead).await?);
        }
        let look = if listen == Listen::Script { EXPRESSION } else { LOOK };
        pause(cx, left.min(look), listen).await
    }

    async fn over(&self, cx: &mut Cx, what: &str, instead: &str) -> Result<Error> {
        let mut message = format!("waited {} ms for {what}; {instead}", self.timeout.as_millis());
        let still = moving(cx).await?;
        let mut e = Error::timeout(String::new())
            .hint("`--timeout MS` waits longer; run `stickpin snapshot -i` to see what is there");
        if !still.is_empty() {
            message.push_str("; still moving: ");
            message.push_str(&stickpin_tree::escape(&still.join(", "), STILL));
            e = e.details(serde_json::json!({ "still": still }));
        }
        e.message = message;
        Ok(e)
    }
}

/// The events that end a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listen {
    /// A capture may differ from the last one.
    Changes,
    /// Anything happened, including events that a capture does not show.
    News,
    /// Any event, or a short interval, because script values change without events.
    Script,
}

/// Returns pending activities of the app in words: requests, animations, mutations.
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
        still.extend(pending.take(3).map(crate::observe::traffic::words));
    }
    let now = SettleRequest::new(QUIET, Duration::ZERO);
    let others = cx.device()?.settle(now, &cancel).await?.still;
    // Requests are already listed with their age.
    still.extend(others.iter().filter(|other| !matches!(other, Moving::Request(_))).map(ToString::to_string));
    Ok(still)
}

/// Fails when a dialog blocks the app.
///
/// # Errors
/// Returns `DIALOG_OPEN`, or `TIMEOUT` when the command was cancelled.
pub(crate) fn no_dialog(cx: &mut Cx) -> Result<()> {
    cx.check()?;
    match cx.device()?.dialog() {
        Some(dialog) => Err(crate::observe::capture::blocked(&dialog)),
        None => Ok(()),
    }
}

/// Waits up to `at_most` until a capture may differ from the last one. Does not let other commands
/// run.
///
/// # Errors
/// Returns errors of the device, and `TIMEOUT` when the command was cancelled.
pub(crate) async fn change(cx: &mut Cx, at_most: Duration) -> Result<()> {
    let cancel = cx.cancel.clone();
    cx.device()?.changed(at_most, &cancel).await?;
    cx.check()
}

/// Waits up to `at_most` until it is worth checking again: something may have changed, or other
/// commands had their turn.
///
/// Other commands run at once, other waits only after this one has checked.
///
/// # Errors
/// Returns `TIMEOUT` when the command was cancelled, and `SESSION_NOT_FOUND` when the session was
/// closed meanwhile.
async fn pause(cx: &mut Cx, at_most: Duration, listen: Listen) -> Result<()> {
    cx.check()?;
    let Some(loan) = &cx.loan else { return Err(crate::host::queue::closed(&cx.session_name)) };
    let (wanted, again) = (loan.wanted.clone(), loan.wanted_again.clone());
    if cx.looked && again.is_cancelled() {
        cx.looked = false;
        return cx.let_others_in().await;
    }
    let stop = cx.cancel.child_token();
    {
        let device = cx.device()?;
        let mut changed: Pin<Box<dyn Future<Output = Result<bool>> + Send + '_>> = match listen {
            Listen::Changes => device.changed(at_most, &stop),
            Listen::News | Listen::Script => Box::pin(device.wait_event(at_most, &stop)),
        };
        tokio::select! {
            biased;
            changed = &mut changed => changed?,
            () = wanted.cancelled() => {
                // Not dropped: the device ends its own wait.
                stop.cancel();
                changed.await?
            }
        };
    }
    cx.looked = true;
    cx.check()?;
    if wanted.is_cancelled() { cx.let_others_in().await } else { Ok(()) }
}
