//! The last steps of an act: check that the target takes the input, send it, and verify where it
//! landed.

use crate::act;
use crate::act::locate::TRIES;
use crate::act::target::{Reach, Ready};
use crate::act::{context_guard, outcome};
use crate::api::target::Target;
use crate::command::args::How;
use crate::command::context::Cx;
use crate::observe::{capture, resolve};
use std::sync::atomic::Ordering;
use std::time::Duration;
use stickpin_device::{
    Action, Dispatched, Error, ErrorCode, Landed, MAX_DESCRIPTION, Performed, Result, SettleRequest, Ticket,
};
use stickpin_session::Origin;
use stickpin_tree::{Role, States, escape};

/// The criteria for calm after a stopped press, before it is tried again.
const REST: SettleRequest = SettleRequest::new(Duration::from_millis(100), Duration::from_millis(500));

/// The position of an input within its act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    /// Clears the notices seen so far, because they belong to no act of ours.
    First,
    /// Keeps the notices since the first input for the receipt.
    Further,
}

/// An input that did not arrive at its target.
#[derive(Debug)]
pub(crate) struct Missed {
    error: Error,
    /// Whether the device stopped the input on its way to another element, before the app saw any
    /// of it.
    stopped: bool,
}

impl From<Error> for Missed {
    fn from(error: Error) -> Self {
        Self { error, stopped: false }
    }
}

impl From<Missed> for Error {
    fn from(missed: Missed) -> Self {
        missed.error
    }
}

/// The failed attempts of an act so far.
#[derive(Debug, Default)]
pub(crate) struct Attempts {
    stopped: bool,
    lost: usize,
}

impl Attempts {
    /// Prepares another attempt after an input that the app did not see.
    ///
    /// Allows one attempt after the device stopped the input, because an obstacle may have moved
    /// away, and up to [`TRIES`] when the target vanished or its context keeps changing.
    ///
    /// # Errors
    /// Returns the original error when another attempt is not justified, and errors of the device.
    pub(crate) async fn again(&mut self, cx: &mut Cx, ready: &Ready, missed: Missed) -> Result<()> {
        if missed.stopped && !self.stopped {
            self.stopped = true;
            let cancel = cx.cancel.clone();
            cx.device()?.settle(REST, &cancel).await?;
            return Ok(());
        }
        if missed.error.code == ErrorCode::ContextChanged {
            return context_guard::changed_in_flight(cx, ready, missed.error, &mut self.lost).await;
        }
        self.lost(missed.error)
    }

    /// Counts an error that reports a target as vanished after it was judged, with nothing sent.
    ///
    /// # Errors
    /// Returns the error itself when it reports something else or was counted too often.
    pub(crate) fn lost(&mut self, e: Error) -> Result<()> {
        if self.lost >= TRIES || e.code != ErrorCode::ElementNotFound || e.dispatched != Dispatched::No {
            return Err(e);
        }
        self.lost += 1;
        tracing::debug!("it disappeared before the input: {e}");
        Ok(())
    }
}

/// Checks that the target takes text.
///
/// # Errors
/// Returns `INVALID_ARGS` when it does not, and `ELEMENT_DISABLED` when it is read-only.
pub(crate) fn editable(ready: &Ready) -> Result<()> {
    let Some(before) = &ready.before else { return Ok(()) };
    if before.states.contains(States::READONLY) {
        return Err(Error::element_disabled(format!("{} is read-only", ready.words))
            .hint("make it editable first; `get value` reads it"));
    }
    if !before.editable {
        return Err(Error::invalid_args(format!("{} takes no text", ready.words))
            .hint("run `stickpin snapshot -i` to list the fields; `select`, `check` and `press` act on other controls"));
    }
    Ok(())
}

/// Checks that the target takes a value: as text, or through a picker or slider that the device
/// sets.
///
/// # Errors
/// Returns the errors of [`editable`].
pub(crate) fn fillable(ready: &Ready) -> Result<()> {
    let by_picker = |role| matches!(role, Role::Slider | Role::TextBox | Role::SpinButton);
    let read_only = ready.before.as_ref().is_some_and(|b| b.states.contains(States::READONLY));
    match &ready.found {
        Some(found) if by_picker(found.meaning.role()) && !read_only => Ok(()),
        _ => editable(ready),
    }
}

/// Sends one input to a target that is ready.
///
/// # Errors
/// Returns the errors of [`perform`], and `STALE_REF` when the target was given as a ref and
/// vanished before the input.
pub(crate) async fn perform_on(cx: &mut Cx, action: &Action, ready: &Ready) -> Result<Performed, Missed> {
    let performed = deliver(cx, action, &ready.words, ready.ticket.clone()).await;
    if let Err(Missed { error: e, .. }) = &performed
        && e.code == ErrorCode::ElementNotFound
        && e.dispatched == Dispatched::No
        && let Some(r) = ready.found.as_ref().and_then(|f| f.r#ref)
    {
        capture::look(cx, Origin::Internal).await?;
        resolve::again(cx, r)?;
    }
    performed
}

/// Brings a target to where it can be pressed, and presses it. `plain` declares an ordinary click.
///
/// # Errors
/// Returns the errors of [`act_on`].
pub(crate) async fn press(
    cx: &mut Cx,
    target: &Target,
    plain: bool,
    how: How,
    action: impl Fn(&Ready) -> Action + Send,
) -> Result<Ready> {
    let reach = Reach::Press { plain };
    let (ready, _) = act_on(cx, target, reach, how, move |ready| Ok(action(ready))).await?;
    Ok(ready)
}

/// Brings a target to where it can be acted on, and sends it one input.
///
/// Starts over while the app saw nothing of the input. That happens once when the device stopped
/// the input on its way to another element, because the obstacle may have been moving, like a
/// frame that scrolls into view. It happens a few times when the target re-rendered after it was
/// last judged.
///
/// # Errors
/// Returns the errors of [`act::ready`](crate::act::ready), [`perform_on`] and `action`.
pub(crate) async fn act_on(
    cx: &mut Cx,
    target: &Target,
    reach: Reach,
    how: How,
    action: impl Fn(&Ready) -> Result<Action> + Send,
) -> Result<(Ready, Performed)> {
    let action = move |ready: &Ready| action(ready).map(Some);
    let (ready, performed) = send_if(cx, target, reach, how, Input::First, action).await?;
    Ok((ready, performed.unwrap_or_default()))
}

/// Sends one input like [`act_on`], in an act that may consist of several inputs. Returns no
/// outcome when `action` decides that no input is needed.
///
/// # Errors
/// Returns the errors of [`act_on`].
pub(crate) async fn send_if(
    cx: &mut Cx,
    target: &Target,
    reach: Reach,
    how: How,
    which: Input,
    action: impl Fn(&Ready) -> Result<Option<Action>> + Send,
) -> Result<(Ready, Option<Performed>)> {
    let mut attempts = Attempts::default();
    loop {
        let mut ready = act::ready(cx, target, reach, how).await?;
        let Some(action) = action(&ready)? else { return Ok((ready, None)) };
        if which != Input::Further {
            outcome::before(cx, &ready).await?;
        }
        match perform_on(cx, &action, &ready).await {
            Ok(performed) => {
                ready.ticket = performed.ticket.clone();
                return Ok((ready, Some(performed)));
            }
            Err(missed) => attempts.again(cx, &ready, missed).await?,
        }
    }
}

/// Sends one input without a prepared target. After its first event, a failure leaves the outcome
/// unknown.
///
/// # Errors
/// Returns errors of the device, and `ELEMENT_COVERED` when another element received the input.
pub(crate) async fn perform(cx: &mut Cx, action: &Action, words: &str) -> Result<Performed> {
    Ok(deliver(cx, action, words, Ticket::default()).await?)
}

async fn deliver(cx: &mut Cx, action: &Action, words: &str, prepared: Ticket) -> Result<Performed, Missed> {
    cx.check()?;
    let before = cx.dispatched.swap(true, Ordering::Relaxed);
    let cancel = cx.cancel.clone();
    let under_way = cx.under_way();
    let performed = cx.device()?.commit(action, prepared, &cancel).await;
    drop(under_way);
    let performed = match performed {
        Ok(performed) => {
            // An action that the device did not accept or stopped in time reached nothing.
            let arrived = performed.handled && performed.landed != Landed::Changed { stopped: true };
            cx.dispatched.store(before || arrived, Ordering::Relaxed);
            cx.live()?.unfocused = performed.unfocused.then(|| words.to_owned());
            performed
        }
        Err(e) => {
            cx.dispatched.store(before || e.dispatched == Dispatched::Unknown, Ordering::Relaxed);
            return Err(e.into());
        }
    };
    match &performed.landed {
        Landed::Confirmed | Landed::Unknown => Ok(performed),
        Landed::Changed { stopped } => {
            let (became, dispatched) = match stopped {
                true => ("no input reached the app", Dispatched::No),
                false => ("the rest of the input was stopped", Dispatched::Unknown),
            };
            Err(Error::context_changed(format!(
                "what {words} belongs to changed while the input was on its way; {became}"
            ))
            .dispatched(dispatched)
            .hint("run `stickpin snapshot -i` to see what is there now")
            .into())
        }
        Landed::Elsewhere { what, stopped } => {
            let became =
                if *stopped { "it was stopped before the app received it" } else { "the app received it" };
            let error = Error::element_covered(format!(
                "the input for {words} reached {} instead; {became}",
                escape(what, MAX_DESCRIPTION)
            ))
            .hint(
                "run `stickpin snapshot -i` to see what is there now; `--force` sends the input to whatever is there",
            )
            .details(serde_json::json!({ "stopped": stopped }));
            Err(Missed { error, stopped: *stopped })
        }
        other => {
            let error = Error::internal(format!("the device says that an input was {other:?}"));
            Err(error.dispatched(Dispatched::Unknown).into())
        }
    }
}
