//! Presses and drags with the pointer.

use crate::act::Act;
use crate::aim::{self, input_grab, press};
use crate::app::pointer::{move_pointer, press_pointer, wait_double_click_interval};
use crate::app::{App, LinuxDevice, ask, lifecycle, unknown};
use crate::model::{Object, Point, states as s};
use std::time::{Duration, Instant};
use stickpin_device::{Action, AimOptions, Button, HitResult, InputOutcome, Modifiers, Notice, Result};
use stickpin_tree::Handle;
use stickpin_x11desk::{HeldInput, pings, pointer};
use tokio::time::sleep;

/// The number of moves in a drag: apps do not recognize a drag by a single jump of the pointer.
const STEPS: u32 = 12;

/// The duration of each move.
const STEP: Duration = Duration::from_millis(10);

/// Presses with the pointer.
pub(crate) async fn press_at(act: &mut Act<'_>, action: &Action) -> Result<InputOutcome> {
    let Action::Press { point: (x, y), target, .. } = *action else { return Ok(InputOutcome::default()) };
    wait_double_click_interval(act.device, (x, y)).await;
    let (sight, window) =
        input_grab::own_window_at(act.device.view(), "press with the pointer", (x, y), target).await?;
    let link = Some(&act.device.app.link);
    let pressed = press_pointer(&sight.x11, &window, action, link, act.cancel).await;
    act.device.last_press = Some((Instant::now(), (x, y)));
    pressed.map(|()| InputOutcome::done())
}

/// Presses the indicator of a group box. Returns `None` for any other element. If the press does
/// not toggle the box, its indicator is elsewhere, and the box is toggled through its action
/// instead.
pub(crate) async fn press_group_box(
    act: &mut Act<'_>,
    action: &Action,
    target: Handle,
) -> Result<Option<InputOutcome>> {
    let view = act.device.view();
    let object = view.index(target).map(|at| &view.last[at]);
    let object = object.filter(|object| press::is_group_box(view.app, &view.last.picture, object)).cloned();
    let Some(object) = object else { return Ok(None) };
    let before = ask::states_of(view.app, &object.path).await? & s::CHECKED;
    let performed = press_at(act, action).await?;
    let app = &act.device.app;
    let read = lifecycle::wait_until_input_read(&app.link).await;
    lifecycle::check_answer(app, read).await.map_err(unknown)?;
    if ask::states_of(app, &object.path).await.map_err(unknown)? & s::CHECKED == before {
        let actions = ask::actions_of(app, &object.path).await.map_err(unknown)?;
        if let Some(index) = actions.iter().position(|action| is_toggle(action)) {
            ask::send_order(app, &ask::do_action(&object.path, index)).await.map_err(unknown)?;
            note_toggle(app, &object, &actions[index], "the indicator was not found");
        }
    }
    Ok(Some(performed))
}

/// Adds a notice if the accessibility action that was used instead of a press may have toggled the
/// element without running the element's click handler.
pub(crate) fn note_toggle(app: &App, object: &Object, action: &str, why: &str) {
    if app.profile().turns_without_click && is_toggle(action) {
        let what = format!(
            "{why}: {} was toggled through its accessibility action, so the element's click handler may not have run",
            object.describe()
        );
        app.events.state().notices.push_back(Notice::ComponentMissing { what });
    }
}

fn is_toggle(action: &str) -> bool {
    action.eq_ignore_ascii_case("toggle")
}

/// Presses an element with the pointer instead of using its action. The inner error is the refusal
/// of a press that would not reach the element.
pub(crate) async fn press_unless_covered(act: &mut Act<'_>, target: Handle) -> Result<Result<InputOutcome>> {
    let options = AimOptions::default().pointer(true).press(true).plain(false);
    let aim = aim::aim_at(act.device, target, options, &mut None).await?;
    let words = act.device.last.words(target).unwrap_or_else(|| "the element".to_owned());
    match aim.hit.refusal(&words) {
        Some(refusal) => Ok(Err(refusal)),
        None => press_at(act, &Action::press(aim.point, Some(target))).await.map(Ok),
    }
}

/// Presses at one point, moves to another, and releases there.
pub(crate) async fn drag(
    device: &mut LinuxDevice,
    (source, from): (Option<Handle>, Point),
    (target, to): (Option<Handle>, Point),
) -> Result<InputOutcome> {
    // The target of the drag is checked before the press: afterwards, the dragged element may cover
    // it.
    if let Some(target) = target {
        let aim = aim::aim_at(device, target, AimOptions::default(), &mut None).await?;
        match aim.hit {
            HitResult::Target | HitResult::Unknown => {}
            HitResult::Covered { what, .. } | HitResult::PopupGrab { what, .. } => {
                return Ok(InputOutcome::stopped(what));
            }
            _ => return Ok(InputOutcome::default()),
        }
    }
    let (sight, window) = input_grab::own_window_at(device.view(), "drag", from, source).await?;
    let (x11, id) = (sight.x11, window.id);
    move_pointer(&x11, Some(id), from).await.map_err(unknown)?;
    let held = HeldInput::new(&x11, Modifiers::default(), Button::Left);
    let dragged = async {
        x11.run(|d| pointer::press(d, Button::Left)).await?;
        for step in 1..=STEPS {
            let part = f64::from(step) / f64::from(STEPS);
            let (x, y) = (from.0 + (to.0 - from.0) * part, from.1 + (to.1 - from.1) * part);
            x11.run(move |d| pointer::move_to(d, x, y)).await?;
            // Move at the speed of a hand: toolkits recognize a drag by its path.
            sleep(STEP).await;
        }
        x11.run(move |d| pings::await_delivery(d, id)).await
    };
    // The button is released in any case.
    dragged.await.and(held.release_now().await).map_err(unknown)?;
    x11.run(move |d| pings::await_delivery(d, id)).await.map_err(unknown)?;
    Ok(InputOutcome::done())
}
