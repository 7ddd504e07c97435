//! Waiting for the app, between looks that others may use.

use crate::command::context::Cx;
use std::pin::Pin;
use std::time::Duration;
use stickpin_device::{Error, Moving, Result, SettleRequest};
use tokio::time::Instant;

/// The net under the events: how long at most until a wait looks again.
const LOOK: Duration = Duration::from_millis(250);

/// How often an expression is looked at when nothing else says that it may have become true.
const EXPRESSION: Duration = Duration::from_millis(100);

/// How long nothing may move until an app counts as quiet.
pub(crate) const QUIET: Duration = Duration::from_millis(150);

/// Characters of what still moves.
const STILL: usize = 500;

/// How long a wait goes on. Between looks, [`Patience::next`] waits for a change and lets other commands in.
#[derive(Debug)]
pub(crate) struct Patience {
    timeout: Duration,
    end: Instant,
}

impl Patience {
    pub(crate) fn new(timeout: Duration) -> Self {
        Self { timeout, end: Instant::now() + timeout }
    }

    /// How much time is left.
    pub(crate) fn left(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    /// Waits until it is worth looking at the app again.
    ///
    /// # Errors
    /// `TIMEOUT` when the time is over, naming what was waited for, what is true instead, and what still moves.
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
            .hint("--timeout MS waits longer; stickpin snapshot -i shows what is there");
        if !still.is_empty() {
            message.push_str("; still moving: ");
            message.push_str(&stickpin_tree::escape(&still.join(", "), STILL));
            e = e.details(serde_json::json!({ "still": still }));
        }
        e.message = message;
        Ok(e)
    }
}

/// What ends a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listen {
    /// A capture may differ from the last one.
    Changes,
    /// Anything was seen, also what is no part of a capture.
    News,
    /// As `News`; values of the page's script change without a sign.
    Script,
}

/// What still moves in the app, in words: requests, animations, mutations.
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
    let now = SettleRequest { quiet: QUIET, cap: Duration::ZERO };
    let others = cx.device()?.settle(now, &cancel).await?.still;
    // Requests were named with their age.
    still.extend(others.iter().filter(|other| !matches!(other, Moving::Request(_))).map(ToString::to_string));
    Ok(still)
}

/// Fails when a dialog keeps the app from going on.
///
/// # Errors
/// `DIALOG_OPEN`.
pub(crate) fn no_dialog(cx: &mut Cx) -> Result<()> {
    cx.check()?;
    match cx.device()?.dialog() {
        Some(dialog) => Err(crate::observe::capture::blocked(&dialog)),
        None => Ok(()),
    }
}

/// Waits until a capture may differ from the last one, at most so long. Nobody else is let in.
///
/// # Errors
/// What the device says; `TIMEOUT` when the command was ended.
pub(crate) async fn change(cx: &mut Cx, at_most: Duration) -> Result<()> {
    let cancel = cx.cancel.clone();
    cx.device()?.changed(at_most, &cancel).await?;
    cx.check()
}

/// Waits until it is worth looking again, at most so long: something may have changed, or other commands had
/// their turn. Commands go first at once, other waits after a look of this one.
///
/// # Errors
/// `TIMEOUT` when the command was ended, `SESSION_NOT_FOUND` when the session was closed meanwhile.
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
                // Not dropped: the device ends its waiting by itself.
                stop.cancel();
                changed.await?
            }
        };
    }
    cx.looked = true;
    cx.check()?;
    if wanted.is_cancelled() { cx.let_others_in().await } else { Ok(()) }
}
