//! Acting through what the app itself offers: an element's own action, the content of a field, a
//! value; a selection is in `select`. No pointer moves, no key is sent.

mod filled;
pub(crate) mod focus;
pub(crate) mod keyboard;
pub(crate) mod mouse;
pub(crate) mod screenshot;
mod select;
mod typed;
pub(crate) mod upload;

use crate::act::filled::comparable;
use crate::aim::{press, scroll};
use crate::app::look::{Ahead, Momentary};
use crate::app::{App, LinuxDevice, View, ask, unknown};
use crate::bus::body::on_the_wire;
use crate::bus::fault::Fault;
use crate::bus::names::{EDITABLE, VALUE};
use crate::bus::{Call, calls};
use crate::limits::DONE;
use crate::model::roles::number as n;
use crate::model::{Interfaces, Object};
use crate::verify;
use std::sync::Arc;
use std::time::Instant;
use stickpin_device::{
    Action, CancellationToken, Dispatched, Error, Landed, Performed, Result, Ticket, is_plain, unsupported,
};
use stickpin_tree::{Handle, Tree, quote};
use tokio::time::timeout;

/// Names of actions that do what a press does, in lower case, the likeliest first.
const PRESSES: &[&str] =
    &["click", "press", "toggle", "activate", "jump", "open", "showmenu", "check", "select"];

/// Done, and nobody but the target can have received it.
pub(crate) fn done() -> Performed {
    Performed::done().landed(Landed::Confirmed)
}

/// The target of a press as it was told right behind that.
pub(crate) type Seen = Momentary<Arc<Tree>>;

/// Does one thing to the app. `ahead`: what came along with the look by which its target was
/// judged.
///
/// # Errors
/// As [`stickpin_device::Device::perform`].
pub(crate) async fn act(
    device: &mut LinuxDevice,
    action: &Action,
    ahead: Option<Momentary<Ahead>>,
    cancel: &CancellationToken,
) -> Result<Performed> {
    match action {
        Action::Press { target, button, count, modifiers, hold, .. } => {
            if let Some(target) = target
                && is_plain(*button, *count, *modifiers, *hold)
            {
                let performed = mouse::press_group_box(device, action, *target, cancel).await?;
                if performed.handled {
                    return Ok(performed);
                }
                if let Some(performed) = press(device, *target, ahead).await? {
                    return Ok(performed);
                }
                if device.view().index(*target).is_some_and(|at| press::presses_by_action(device.view(), at))
                {
                    return mouse::press_unless_covered(device, *target, cancel).await?;
                }
            }
            mouse::press_at(device, action, cancel).await
        }
        Action::Fill { target, text } => {
            let focused = focus::focus_to_fill(device, *target).await?;
            let performed = match fill(device.view(), *target, text, cancel).await? {
                performed if performed.handled => performed,
                _ => keyboard::fill_by_keys(device, *target, text, cancel).await?,
            };
            Ok(performed.unfocused(!focused))
        }
        Action::Select { target, options } => select::select(device, *target, options).await,
        Action::Drag { from, source, to, target } => {
            mouse::drag(device, (*source, *from), (*target, *to)).await
        }
        Action::Type { target, text } => typed::type_text(device, *target, text, cancel).await,
        Action::Key { modifiers, key } => keyboard::chord(device, *modifiers, key, cancel).await,
        Action::Scroll { target, dx, dy } => scroll::scroll(device.view(), *target, *dx, *dy).await,
        Action::Choose { point, target } => upload::choose(device, *point, *target, cancel).await,
        Action::Upload { target, files } => upload::give_files(device, *target, files, cancel).await,
        // What takes a drop does not say so.
        Action::Drop { .. } => Ok(Performed::default()),
        _ => Err(unsupported("linux", "send such an input")),
    }
}

/// Presses by the element's own action; none when it has none that means a press.
///
/// # Errors
/// `ELEMENT_NOT_FOUND`, `BACKEND_LOST`.
pub(crate) async fn press(
    device: &mut LinuxDevice,
    target: Handle,
    ahead: Option<Momentary<Ahead>>,
) -> Result<Option<Performed>> {
    let object = device.view().object(target)?;
    if !device.view().index(target).is_some_and(|at| press::presses_by_action(device.view(), at)) {
        return Ok(None);
    }
    let (actions, windows) = match ahead.as_ref().and_then(|ahead| ahead.still(&device.app, target)) {
        Some(ahead) => (ahead.actions.clone(), Some(ahead.windows.clone())),
        None => (ask::actions_of(&device.app, &object.path).await?, None),
    };
    let Some(index) = own_action(&actions) else { return Ok(None) };
    // A button of Qt may have a menu on a part of it only: what a press does then, no action does.
    let menu = actions[index].eq_ignore_ascii_case("showmenu");
    if menu && device.app.link.toolkit.profile().menu_on_a_part && device.app.screen.has_pointer() {
        return Ok(None);
    }
    mouse::tell_of_toggle(&device.app, &object, &actions[index], "there is no pointer");
    if device.app.link.toolkit.profile().acts_later {
        device.activated = Some((object.path.clone(), Instant::now()));
    }
    let call = ask::do_action(&object.path, index);
    let (link, profile) = (&device.app.link, device.app.link.toolkit.profile());
    let together = ahead.is_some() && !link.orders_apart() && !profile.locks_up_in_dialogs;
    // On one connection what is asked behind the order is answered after it: the two are one trip
    // to
    // the app.
    let behind = async {
        if !together {
            return None;
        }
        let asked = timeout(DONE, verify::ask_itself(device.view(), target)).await;
        asked.ok().flatten()?.ok()
    };
    let (answer, itself) = tokio::join!(biased; link.order_among(&call, DONE, windows), behind);
    if let Some((_, at)) = device.activated.as_mut().filter(|_| matches!(answer, Ok(Some(_)))) {
        // It may have been busy until then: its time runs from when it takes the word.
        *at = Instant::now();
    }
    let mut performed = match answer {
        Ok(Some(answer)) if answer.read().unwrap_or(true) => done(),
        Ok(Some(_)) => return Ok(None),
        // It is busy with it, or shows a dialog from inside; or it answered a moment ago, and this
        // is what it
        // left on: how it ended is looked at after the act.
        Ok(None) | Err(Fault::Closed(_)) => done(),
        // It may have failed behind what it did: another press could be the second one.
        Err(Fault::Refused(why)) => return Err(perhaps_pressed(&object, &why)),
        // It has no such action, or no such object, and did nothing.
        Err(fault) => return ask::refused(&device.app, &object.path, fault).await.map(|()| None),
    };
    // What was not answered is asked after the act.
    if let Some(itself) = itself {
        let changes = device.app.heard.state().changes;
        let tree = verify::with(device, itself).map_err(unknown)?;
        performed.ticket = Ticket::of(tree.map(|tree| Seen::new(target, changes, tree)));
    }
    Ok(Some(performed))
}

/// Replaces the content of a field, and reads it back.
async fn fill(view: View<'_>, target: Handle, text: &str, cancel: &CancellationToken) -> Result<Performed> {
    let (app, object) = (view.app, view.object(target)?);
    if object.role == n::TERMINAL {
        return Err(Error::invalid_args("what stands in a terminal cannot be replaced")
            .hint("stickpin type TEXT types into it; stickpin key Enter sends it"));
    }
    let number = text.trim().parse::<f64>().ok().filter(|n| n.is_finite());
    let hides = object.role == n::PASSWORD;
    if object.has(Interfaces::VALUE)
        && !hides
        && let Some(number) = number
    {
        let call = calls::set(&object.path, VALUE, "CurrentValue", number.into());
        if ask::answered(app, &object.path, app.link.order(&call, DONE).await).await?.is_some() {
            let value = ask::number(app, &object.path, VALUE, "CurrentValue").await;
            let value = ask::answered(app, &object.path, value).await?.flatten();
            return Ok(done().value(value.map(crate::model::names::number)));
        }
    }
    if (hides || object.has(Interfaces::EDITABLE)) && set_text(app, &object, text).await? {
        let value =
            ask::answered(app, &object.path, filled::holds(app, &object, text).await).await?.flatten();
        // Some fields of browsers say that they took it, and did not. What was in one that hides it
        // is not
        // known.
        let before = object.text.as_deref().map(|before| comparable(&object, text, before));
        let kept = hides || value.as_deref() == before;
        if kept && value.as_ref().is_some_and(|value| value != text) {
            return Ok(Performed::default());
        }
        // What an app completes is selected, and a caret would take that back.
        if value.as_ref().is_none_or(|value| value == text) {
            focus::caret_to_end(app, &object, text).await?;
        }
        let performed = filled::at_rest(app, &object, text, value, cancel).await?;
        return Ok(performed.landed(Landed::Confirmed));
    }
    Ok(Performed::default())
}

/// Whether the app took the text.
pub(crate) async fn set_text(app: &App, object: &Object, text: &str) -> Result<bool> {
    let call = Call::new(&object.path, EDITABLE, "SetTextContents").with((on_the_wire(text),));
    // Where it is busy with it: what the field holds tells.
    ask::ordered(app, &call).await
}

/// The error of a press that the app answered with an error of its own. No toolkit does that of
/// which we know what it did.
fn perhaps_pressed(object: &Object, why: &str) -> Error {
    let message =
        format!("{} was told to act and answered with {}: it may have done it", object.words(), quote(why));
    Error::unsupported(message)
        .hint("look what became of it before you press again: stickpin snapshot -i")
        .dispatched(Dispatched::Unknown)
}

/// The element's own action among those that it lists: GTK 4 lists those of the window, too.
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
