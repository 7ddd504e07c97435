//! Performs actions: through the app's accessibility interfaces (an element's action, the text of a
//! field, a value) where possible, otherwise by pointer and keys (`mouse`, `keyboard`). Selections
//! are in `select`.

mod fill_readback;
pub(crate) mod focus;
pub(crate) mod keyboard;
pub(crate) mod mouse;
pub(crate) mod screenshot;
mod select;
mod typing;
pub(crate) mod upload;

use crate::act::fill_readback::comparable;
use crate::aim::{press, scroll};
use crate::app::{ActionPrefetch, App, LinuxDevice, ask, unknown};
use crate::bus::{BusError, Call, EDITABLE, VALUE, calls, on_the_wire};
use crate::limits::DONE;
use crate::model::{Interfaces, Object, names, role as n};
use std::time::Instant;
use stickpin_device::{
    Action, CancellationToken, Delivery, Dispatched, Error, InputOutcome, Result, is_plain, unsupported,
};
use stickpin_tree::{Handle, quote};

/// Names of actions that have the effect of a press, in lower case, most likely first.
const PRESSES: &[&str] =
    &["click", "press", "toggle", "activate", "jump", "open", "showmenu", "check", "select"];

/// Returns the outcome of a completed input that only the target can have received.
pub(crate) fn delivered_to_target() -> InputOutcome {
    InputOutcome::done().delivery(Delivery::Confirmed)
}

/// An action in progress.
pub(crate) struct Act<'d> {
    pub(crate) device: &'d mut LinuxDevice,
    /// Cancels the action between two of its steps. Input that was already sent is not undone.
    pub(crate) cancel: &'d CancellationToken,
}

/// Performs one action. `ahead` contains the answers that were prefetched when the target was
/// judged.
///
/// # Errors
/// Returns the errors of [`stickpin_device::Device::perform`].
pub(crate) async fn perform(
    device: &mut LinuxDevice,
    action: &Action,
    ahead: Option<ActionPrefetch>,
    cancel: &CancellationToken,
) -> Result<InputOutcome> {
    let act = &mut Act { device, cancel };
    match action {
        Action::Press { target, button, count, modifiers, hold, .. } => {
            if let Some(target) = target
                && is_plain(*button, *count, *modifiers, *hold)
            {
                if let Some(performed) = mouse::press_group_box(act, action, *target).await? {
                    return Ok(performed);
                }
                if let Some(performed) = press(act.device, *target, ahead).await? {
                    return Ok(performed);
                }
                if press::is_by_action(act.device.view(), *target) {
                    return mouse::press_unless_covered(act, *target).await?;
                }
            }
            mouse::press_at(act, action).await
        }
        Action::Fill { target, text } => {
            let focused = focus::focus_to_fill(act.device, *target).await?;
            let performed = match fill(act, *target, text).await? {
                Some(performed) => performed,
                None => keyboard::fill_by_keys(act, *target, text).await?,
            };
            Ok(performed.unfocused(!focused))
        }
        Action::Select { target, options } => {
            select::select(act.device, *target, options).await.map(Option::unwrap_or_default)
        }
        Action::Drag { from, source, to, target } => {
            mouse::drag(act.device, (*source, *from), (*target, *to)).await
        }
        Action::Type { target, text } => typing::type_text(act, *target, text).await,
        Action::Key { modifiers, key } => keyboard::chord(act, *modifiers, key).await,
        Action::Scroll { target, dx, dy } => scroll::scroll(act.device.view(), *target, (*dx, *dy)).await,
        Action::Choose { point, target } => upload::choose(act, *point, *target).await,
        Action::Upload { target, files } => upload::give_files(act, *target, files).await,
        // Drop targets do not identify themselves.
        Action::Drop { .. } => Ok(InputOutcome::default()),
        _ => Err(unsupported("linux", "send this kind of input")),
    }
}

/// Presses an element through its own action. Returns `None` if nothing was pressed and the pointer
/// must be used instead, for example because none of the element's actions has the effect of a
/// press.
///
/// # Errors
/// Returns `ELEMENT_NOT_FOUND`, `BACKEND_LOST` or `TIMEOUT`, or `UNSUPPORTED` if the app answers
/// with an error; the action may have taken effect nevertheless.
pub(crate) async fn press(
    device: &mut LinuxDevice,
    target: Handle,
    ahead: Option<ActionPrefetch>,
) -> Result<Option<InputOutcome>> {
    let object = device.view().object(target)?;
    if !press::is_by_action(device.view(), target) {
        return Ok(None);
    }
    let actions = match ahead.filter(|ahead| ahead.is_fresh(&device.app, target)) {
        Some(ahead) => ahead.actions,
        None => ask::actions_of(&device.app, &object.path).await?,
    };
    let Some(index) = own_action(&actions) else { return Ok(None) };
    // A press may show a Qt button's menu only on one part of the button. No action presses the
    // other part.
    let menu = actions[index].eq_ignore_ascii_case("showmenu");
    if menu && device.app.profile().menu_on_a_part && device.app.screen.has_pointer() {
        return Ok(None);
    }
    mouse::note_toggle(&device.app, &object, &actions[index], "there is no pointer");
    if device.app.profile().acts_later {
        device.activated = Some((object.path.clone(), Instant::now()));
    }
    let call = ask::do_action(&object.path, index);
    let answer = device.app.link.order(&call, DONE).await;
    if let Some((_, at)) = device.activated.as_mut().filter(|_| matches!(answer, Ok(Some(_)))) {
        // The app may have been busy until now: the delay starts when it accepts the order.
        *at = Instant::now();
    }
    match answer {
        Ok(Some(answer)) if !answer.read().unwrap_or(true) => Ok(None),
        // The app is busy with the action, shows a dialog from inside it, or exited during it; the
        // exit is reported after the action.
        Ok(_) | Err(BusError::Closed(_)) => Ok(Some(delivered_to_target())),
        // The action may have failed after taking effect, so a retry could press twice.
        Err(BusError::Refused(why)) => Err(perhaps_pressed(&object, &why)),
        // There is no such action or object, so nothing happened.
        Err(fault) => ask::refused(&device.app, &object.path, fault).await.map(|()| None),
    }
}

/// Replaces the content of a field through the accessibility interfaces, and reads it back. Returns
/// `None` if the app does not accept the content.
async fn fill(act: &Act<'_>, target: Handle, text: &str) -> Result<Option<InputOutcome>> {
    let (app, object) = (&act.device.app, act.device.view().object(target)?);
    if object.role == n::TERMINAL {
        return Err(Error::invalid_args("the content of a terminal cannot be replaced").hint(
            "run `stickpin type --into @REF TEXT` to type into the terminal, then `stickpin key Enter`",
        ));
    }
    let hides = object.role == n::PASSWORD;
    let has_value = object.has(Interfaces::VALUE) && !hides;
    let number = text.trim().parse::<f64>().ok().filter(|n| n.is_finite() && has_value);
    if let Some(number) = number {
        let call = calls::set(&object.path, VALUE, "CurrentValue", number.into());
        if ask::unless_vanished(app, &object.path, app.link.order(&call, DONE).await).await?.is_some() {
            let value = ask::number(app, &object.path, VALUE, "CurrentValue").await;
            let value = ask::unless_vanished(app, &object.path, value).await.map_err(unknown)?.flatten();
            let performed = delivered_to_target().unread(value.is_none());
            return Ok(Some(performed.value(value.map(names::number))));
        }
    }
    let editable = hides || object.has(Interfaces::EDITABLE);
    if !editable || !set_text(app, &object, text).await? {
        return Ok(None);
    }
    let value = fill_readback::read_back(app, &object, text).await;
    let value = ask::unless_vanished(app, &object.path, value).await.map_err(unknown)?.flatten();
    if value.as_ref().is_some_and(|value| value != text) {
        // Some browser fields report that they accepted the text although they did not. The earlier
        // content of a password field is unknown.
        let before = object.text.as_deref().map(|before| comparable(&object, text, before));
        if hides || value.as_deref() == before {
            return Ok(None);
        }
    } else {
        // Not after a completion, which the app may have selected: moving the caret would discard
        // it.
        focus::caret_to_end(app, &object, text).await.map_err(unknown)?;
    }
    let stable = fill_readback::wait_stable_value(app, &object, text, value, act.cancel).await;
    stable.map(|performed| Some(performed.delivery(Delivery::Confirmed))).map_err(unknown)
}

/// Sets the text of a field. Returns whether the app accepted it.
pub(crate) async fn set_text(app: &App, object: &Object, text: &str) -> Result<bool> {
    let call = Call::new(&object.path, EDITABLE, "SetTextContents").with((on_the_wire(text),));
    // If the app is busy with the order, it counts as accepted; the content of the field decides.
    ask::send_order(app, &call).await
}

/// Returns the error for a press that may have taken effect although the app answered with an
/// error.
fn perhaps_pressed(object: &Object, why: &str) -> Error {
    let (action, why) = (object.describe(), quote(why));
    let message = format!("the action of {action} failed with {why}, but may have taken effect");
    Error::unsupported(message)
        .hint("run `stickpin snapshot -i` to check the effect before you press again")
        .dispatched(Dispatched::Unknown)
}

/// Returns the index of the element's own action that has the effect of a press. In GTK 4, the list
/// also contains actions of the window, such as `win.undo`, which do not count.
fn own_action(actions: &[String]) -> Option<usize> {
    PRESSES.iter().find_map(|press| actions.iter().position(|action| action.eq_ignore_ascii_case(press)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_action_is_found_among_those_of_the_window() {
        let own = |names: &[&str]| own_action(&names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>());
        assert_eq!(own(&["win.undo", "clipboard.copy", "Click"]), Some(2));
        assert_eq!(own(&["SetFocus", "Press"]), Some(1));
        assert_eq!(own(&["ShowMenu"]), Some(0));
        assert_eq!(own(&["win.undo"]), None);
    }
}
