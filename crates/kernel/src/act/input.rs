//! The last steps of an action: check that the target accepts the input, send it, and verify where
//! it landed.

use crate::act;
use crate::act::action_target::{ActionTarget, Actionability};
use crate::act::locate::MAX_RELOCATIONS;
use crate::act::{context_rule, outcome};
use crate::api::target::Target;
use crate::command::args::ActionOptions;
use crate::command::context::Cx;
use crate::observe::{capture, resolve};
use std::sync::atomic::Ordering;
use std::time::Duration;
use stickpin_device::{
    Action, Delivery, Dispatched, Error, ErrorCode, InputOutcome, MAX_DESCRIPTION, Result, SettleRequest,
    Ticket,
};
use stickpin_session::Origin;
use stickpin_tree::{Role, States, escape};

/// The settle criteria after a stopped press, before it is retried.
const RETRY_SETTLE: SettleRequest =
    SettleRequest::new(Duration::from_millis(100), Duration::from_millis(500));

/// The position of an input within its action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InputPosition {
    /// The first input: clears the notices seen so far, because no input of this action caused
    /// them.
    First,
    /// A further input: keeps the notices since the first input for the receipt.
    Further,
}

/// An input that did not arrive at its target.
#[derive(Debug)]
pub(crate) struct MissedInput {
    error: Error,
    /// Whether the device stopped the input on its way to another element, before the app saw any
    /// of it.
    stopped: bool,
}

impl From<Error> for MissedInput {
    fn from(error: Error) -> Self {
        Self { error, stopped: false }
    }
}

impl From<MissedInput> for Error {
    fn from(missed: MissedInput) -> Self {
        missed.error
    }
}

/// The failed attempts of an action so far.
#[derive(Debug, Default)]
pub(crate) struct FailedAttempts {
    stopped: bool,
    vanished: usize,
}

impl FailedAttempts {
    /// Prepares another attempt after an input that the app did not see.
    ///
    /// Allows one attempt after the device stopped the input, because an obstacle may have moved
    /// away, and up to [`MAX_RELOCATIONS`] when the target vanished or its context changed.
    ///
    /// # Errors
    /// Returns the original error when another attempt is not justified, and errors from the
    /// device.
    pub(crate) async fn prepare_retry(
        &mut self,
        cx: &mut Cx,
        ready: &ActionTarget,
        missed: MissedInput,
    ) -> Result<()> {
        if missed.stopped && !self.stopped {
            self.stopped = true;
            let cancel = cx.cancel.clone();
            cx.device()?.settle(RETRY_SETTLE, &cancel).await?;
            return Ok(());
        }
        if missed.error.code == ErrorCode::ContextChanged {
            return context_rule::report_change_in_flight(cx, ready, missed.error, &mut self.vanished).await;
        }
        self.count_vanished(missed.error)
    }

    /// Counts an error that reports a target as vanished after it was judged, with nothing sent.
    ///
    /// # Errors
    /// Returns the error itself when it reports something else or was counted too often.
    pub(crate) fn count_vanished(&mut self, e: Error) -> Result<()> {
        if self.vanished >= MAX_RELOCATIONS
            || e.code != ErrorCode::ElementNotFound
            || e.dispatched != Dispatched::No
        {
            return Err(e);
        }
        self.vanished += 1;
        tracing::debug!("the target disappeared before the input: {e}");
        Ok(())
    }
}

/// Checks that the target accepts text.
///
/// # Errors
/// Returns `INVALID_ARGS` when it does not, and `ELEMENT_DISABLED` when it is read-only.
pub(crate) fn check_editable(ready: &ActionTarget) -> Result<()> {
    let Some(before) = &ready.before else { return Ok(()) };
    if before.states.contains(States::READONLY) {
        return Err(Error::element_disabled(format!("{} is read-only", ready.description))
            .hint("make it editable first, or run `stickpin get value @REF` to read it"));
    }
    if !before.editable {
        return Err(Error::invalid_args(format!("{} does not accept text", ready.description))
            .hint("run `stickpin snapshot -i` to list the fields; use `select`, `check` or `press` for other controls"));
    }
    Ok(())
}

/// Checks that the target accepts a value: as text, or through a picker or slider that the device
/// sets.
///
/// # Errors
/// Returns the errors of [`check_editable`].
pub(crate) fn check_fillable(ready: &ActionTarget) -> Result<()> {
    let by_picker = |role| matches!(role, Role::Slider | Role::TextBox | Role::SpinButton);
    let read_only = ready.before.as_ref().is_some_and(|b| b.states.contains(States::READONLY));
    match &ready.found {
        Some(found) if by_picker(found.meaning.role()) && !read_only => Ok(()),
        _ => check_editable(ready),
    }
}

/// Sends one input to a target that is ready.
///
/// # Errors
/// Returns the errors of [`send_untargeted`], and `STALE_REF` when the target was given as a ref
/// and vanished before the input.
pub(crate) async fn send_to_target(
    cx: &mut Cx,
    action: &Action,
    ready: &ActionTarget,
) -> Result<InputOutcome, MissedInput> {
    let performed = deliver(cx, action, &ready.description, ready.ticket.clone()).await;
    if let Err(MissedInput { error: e, .. }) = &performed
        && e.code == ErrorCode::ElementNotFound
        && e.dispatched == Dispatched::No
        && let Some(r) = ready.found.as_ref().and_then(|f| f.target_ref)
    {
        capture::capture_app(cx, Origin::Internal).await?;
        resolve::resolve_after_capture(cx, r)?;
    }
    performed
}

/// Brings a target to where it can be pressed, and presses it. `plain` declares an ordinary click.
///
/// # Errors
/// Returns the errors of [`aim_and_send`].
pub(crate) async fn press_target(
    cx: &mut Cx,
    target: &Target,
    plain: bool,
    opts: ActionOptions,
    action: impl Fn(&ActionTarget) -> Action + Send,
) -> Result<ActionTarget> {
    let reach = Actionability::Press { plain };
    let (ready, _) = aim_and_send(cx, target, reach, opts, move |ready| Ok(action(ready))).await?;
    Ok(ready)
}

/// Brings a target to where it can be acted on, and sends it one input.
///
/// Retries only while the app has received none of the input. Retries once if the device stopped
/// the input on its way to another element, because the obstacle may have been moving, like a frame
/// that scrolls into view. Retries a few times if the target was re-rendered, or something around
/// it changed, after it was last judged.
///
/// # Errors
/// Returns the errors of [`act::wait_actionable`](crate::act::wait_actionable), [`send_to_target`]
/// and `action`.
pub(crate) async fn aim_and_send(
    cx: &mut Cx,
    target: &Target,
    reach: Actionability,
    opts: ActionOptions,
    action: impl Fn(&ActionTarget) -> Result<Action> + Send,
) -> Result<(ActionTarget, InputOutcome)> {
    let action = move |ready: &ActionTarget| action(ready).map(Some);
    let (ready, performed) = aim_and_send_if(cx, target, reach, opts, InputPosition::First, action).await?;
    Ok((ready, performed.unwrap_or_default()))
}

/// Sends one input like [`aim_and_send`], in an action that may consist of several inputs. Returns
/// no outcome when `action` decides that no input is needed.
///
/// # Errors
/// Returns the errors of [`aim_and_send`].
pub(crate) async fn aim_and_send_if(
    cx: &mut Cx,
    target: &Target,
    reach: Actionability,
    opts: ActionOptions,
    which: InputPosition,
    action: impl Fn(&ActionTarget) -> Result<Option<Action>> + Send,
) -> Result<(ActionTarget, Option<InputOutcome>)> {
    let mut attempts = FailedAttempts::default();
    loop {
        let mut ready = act::wait_actionable(cx, target, reach, opts).await?;
        let Some(action) = action(&ready)? else { return Ok((ready, None)) };
        if which != InputPosition::Further {
            outcome::begin_action(cx, &ready).await?;
        }
        match send_to_target(cx, &action, &ready).await {
            Ok(performed) => {
                ready.ticket = performed.ticket.clone();
                return Ok((ready, Some(performed)));
            }
            Err(missed) => attempts.prepare_retry(cx, &ready, missed).await?,
        }
    }
}

/// Sends one input without a prepared target. After its first event has been sent, a failure leaves
/// the outcome unknown.
///
/// # Errors
/// Returns errors from the device, `ELEMENT_COVERED` when another element received the input or
/// would have, `CONTEXT_CHANGED` when the context changed during the input, and `TIMEOUT` when the
/// command was cancelled.
pub(crate) async fn send_untargeted(cx: &mut Cx, action: &Action, words: &str) -> Result<InputOutcome> {
    Ok(deliver(cx, action, words, Ticket::default()).await?)
}

async fn deliver(
    cx: &mut Cx,
    action: &Action,
    words: &str,
    prepared: Ticket,
) -> Result<InputOutcome, MissedInput> {
    cx.check()?;
    let before = cx.dispatched.swap(true, Ordering::Relaxed);
    let cancel = cx.cancel.clone();
    let under_way = cx.begin_operation();
    let performed = cx.device()?.commit(action, prepared, &cancel).await;
    drop(under_way);
    let performed = match performed {
        Ok(performed) => {
            // An action that the device rejected, or stopped in time, reached nothing.
            let arrived = performed.handled && performed.delivery != Delivery::Changed { stopped: true };
            cx.dispatched.store(before || arrived, Ordering::Relaxed);
            cx.open_session()?.unfocused = performed.unfocused.then(|| words.to_owned());
            performed
        }
        Err(e) => {
            cx.dispatched.store(before || e.dispatched == Dispatched::Unknown, Ordering::Relaxed);
            return Err(e.into());
        }
    };
    match &performed.delivery {
        Delivery::Confirmed | Delivery::Unknown => Ok(performed),
        Delivery::Changed { stopped } => {
            let (became, dispatched) = match stopped {
                true => ("no input reached the app", Dispatched::No),
                false => ("the rest of the input was stopped", Dispatched::Unknown),
            };
            Err(Error::context_changed(format!(
                "the context of {words} changed while the input was being sent; {became}"
            ))
            .dispatched(dispatched)
            .hint("run `stickpin snapshot -i` to see what is there now")
            .into())
        }
        Delivery::Elsewhere { what, stopped } => {
            let what = escape(what, MAX_DESCRIPTION);
            let message = if *stopped {
                format!("{what} would have received the input for {words}; the input was stopped")
            } else {
                format!("{what} received the input for {words}")
            };
            let error = Error::element_covered(message)
            .hint(
                "run `stickpin snapshot -i` to see what is there now, or use `--force` to send the input to whatever is there",
            )
            .details(serde_json::json!({ "stopped": stopped }));
            Err(MissedInput { error, stopped: *stopped })
        }
        other => {
            let error = Error::internal(format!("the device returned {other:?} for an input"));
            Err(error.dispatched(Dispatched::Unknown).into())
        }
    }
}
