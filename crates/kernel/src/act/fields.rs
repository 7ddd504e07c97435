//! Sets a field to a value; the field's role decides how. Shared by `check` and `form`.

use crate::act;
use crate::act::action_target::{ActionTarget, Actionability};
use crate::act::input::InputPosition;
use crate::act::outcome::ActionOutput;
use crate::act::{choice, fill, input, outcome};
use crate::api::target::Target;
use crate::command::args::ActionOptions;
use crate::command::context::Cx;
use crate::observe::waiting;
use std::time::Duration;
use stickpin_device::{Action, Error, Result};
use stickpin_tree::{Role, quote};
use tokio::time::Instant;

/// How long a control may take to show its new state.
const TOGGLE_TIMEOUT: Duration = Duration::from_millis(500);

/// The kind of value that a field accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldKind {
    /// Text.
    Text,
    /// On if true, off if false.
    Check(bool),
    /// One of the field's options.
    Choice,
}

/// Whether a control shows the state that it was set to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ToggleState {
    Requested,
    Other,
    /// The control disappeared.
    Gone,
    /// A dialog waits for an answer.
    DialogOpen,
}

/// Determines how to set the target's field to this value. Sends nothing.
///
/// # Errors
/// Returns errors from resolving the target, `ELEMENT_DISABLED` when the field is disabled or
/// read-only, and `INVALID_ARGS` when it accepts no value, or does not accept this value.
pub(crate) async fn field_kind(
    cx: &mut Cx,
    target: &Target,
    value: &str,
    opts: ActionOptions,
) -> Result<(FieldKind, ActionTarget)> {
    let ready = act::wait_actionable(cx, target, Actionability::Enabled, opts).await?;
    let role = ready.found.as_ref().map(|f| f.meaning.role());
    let editable = ready.before.as_ref().is_some_and(|b| b.editable);
    let kind = match role {
        Some(Role::Checkbox | Role::Radio | Role::Switch | Role::MenuItemCheckbox | Role::MenuItemRadio) => {
            match value.to_ascii_lowercase().as_str() {
                "true" | "on" | "yes" | "1" => FieldKind::Check(true),
                "false" | "off" | "no" | "0" => FieldKind::Check(false),
                _ => {
                    return Err(Error::invalid_args(format!(
                        "{} accepts true or false, not {}",
                        ready.description,
                        quote(value)
                    )));
                }
            }
        }
        Some(Role::Combobox | Role::ListBox | Role::RadioGroup) if !editable => FieldKind::Choice,
        _ => {
            input::check_fillable(&ready)?;
            FieldKind::Text
        }
    };
    Ok((kind, ready))
}

/// Sets a field to a value.
///
/// # Errors
/// Returns the errors of `fill`, `check` and `select`.
pub(crate) async fn set_field(
    cx: &mut Cx,
    target: &Target,
    value: &str,
    opts: ActionOptions,
) -> Result<(ActionTarget, ActionOutput)> {
    match field_kind(cx, target, value, opts).await?.0 {
        FieldKind::Text => fill::fill(cx, target, value, opts).await,
        FieldKind::Check(on) => set_checked(cx, target, on, opts).await,
        FieldKind::Choice => choice::choose(cx, target, &[value.to_owned()], opts).await,
    }
}

/// Turns a checkbox, radio button, switch or toggle on or off.
///
/// # Errors
/// Returns errors from resolving the target and from the guards, `INVALID_ARGS` when the control
/// cannot be on or off or when a radio button is to be turned off, and `FILL_MISMATCH` when the
/// control does not change.
pub(crate) async fn set_checked(
    cx: &mut Cx,
    target: &Target,
    on: bool,
    opts: ActionOptions,
) -> Result<(ActionTarget, ActionOutput)> {
    let ready = act::wait_actionable(cx, target, Actionability::Enabled, opts).await?;
    if is_checked(&ready)? == Some(on) {
        return Ok(already(ready, on));
    }
    let word = if on { "checked" } else { "unchecked" };
    let turn = |ready: &ActionTarget| {
        // The pointer's arrival may have toggled the control already; a press would undo that.
        if is_checked(ready)? == Some(on) {
            return Ok(None);
        }
        if !on && ready.found.as_ref().is_some_and(|f| f.meaning.role() == Role::Radio) {
            let message = format!(
                "{} cannot be unchecked: a radio button is cleared by checking another one",
                ready.description
            );
            return Err(Error::invalid_args(message).hint(
                "run `stickpin snapshot -i` to find another radio button in its group, then check that one",
            ));
        }
        Ok(Some(press_action(ready)))
    };
    let (ready, performed) =
        input::aim_and_send_if(cx, target, Actionability::Pointer, opts, InputPosition::First, turn).await?;
    if performed.is_none() {
        return Ok(already(ready, on));
    }
    let mut follows = comes_to_follow(cx, target, &ready, on).await?;
    if follows == ToggleState::Other && is_checked(&ready)?.is_none() {
        // A mixed control turns on with the first press and off with the next.
        let off = |ready: &ActionTarget| Ok((is_checked(ready)? == Some(!on)).then(|| press_action(ready)));
        let (again, performed) =
            input::aim_and_send_if(cx, target, Actionability::Pointer, opts, InputPosition::Further, off)
                .await?;
        if performed.is_some() {
            follows = comes_to_follow(cx, target, &again, on).await?;
        }
    }
    let acted = match follows {
        ToggleState::Requested => ActionOutput::new(word, &ready.description),
        // Report only what is known.
        ToggleState::DialogOpen => {
            ActionOutput::new("pressed", format!("{}; the app asks for confirmation", ready.description))
        }
        ToggleState::Gone => ActionOutput::new(
            "pressed",
            format!("{}, which then disappeared; it may or may not be {word}", ready.description),
        ),
        ToggleState::Other => {
            return Err(Error::fill_mismatch(format!(
                "{} did not become {word} after it was pressed",
                ready.description
            ))
            .hint(
                "the app may have refused the change; run `stickpin snapshot -i` to see the control's state",
            )
            .dispatched(cx.dispatched()));
        }
    };
    Ok((ready, acted))
}

/// Waits until a control shows the requested state. Does not wait for a control that disappeared.
async fn comes_to_follow(
    cx: &mut Cx,
    target: &Target,
    ready: &ActionTarget,
    on: bool,
) -> Result<ToggleState> {
    let until = Instant::now() + TOGGLE_TIMEOUT;
    loop {
        if cx.device()?.dialog().is_some() {
            return Ok(ToggleState::DialogOpen);
        }
        let Some(reading) = outcome::reread_target(cx, ready).await? else {
            tracing::debug!(%target, "gone after it was pressed");
            return Ok(ToggleState::Gone);
        };
        if reading.checked() == Some(on) && !reading.is_mixed() {
            return Ok(ToggleState::Requested);
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(ToggleState::Other);
        }
        waiting::wait_for_change(cx, left).await?;
    }
}

/// Returns whether a control is on; `None` when it is mixed. Fails for a control that cannot be on
/// or off.
fn is_checked(ready: &ActionTarget) -> Result<Option<bool>> {
    let latest = ready.after_aim.as_ref().or(ready.before.as_ref());
    let Some((reading, on)) = latest.and_then(|r| Some((r, r.checked()?))) else {
        return Err(Error::invalid_args(format!(
            "{} is not a checkbox, radio button, switch or toggle",
            ready.description
        ))
        .hint("use `press` for other controls"));
    };
    Ok((!reading.is_mixed()).then_some(on))
}

fn already(ready: ActionTarget, on: bool) -> (ActionTarget, ActionOutput) {
    let acted =
        ActionOutput::new(if on { "already checked" } else { "already unchecked" }, &ready.description);
    (ready, acted)
}

/// Creates a press at the point that was aimed at.
pub(crate) fn press_action(ready: &ActionTarget) -> Action {
    Action::press(ready.point, ready.receiver())
}
