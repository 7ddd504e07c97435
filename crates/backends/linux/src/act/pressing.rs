//! Which way a press goes: by the element's own action, where that does what a person's press does, or by the pointer.

use crate::act::mouse;
use crate::aim::press;
use crate::app::{App, LinuxDevice, ask, life, reading, unknown};
use crate::bus::names::ACTION;
use crate::bus::{Args, Call};
use crate::limits::DONE;
use crate::model::{Object, states as s};
use stickpin_device::{Action, CancellationToken, Notice, Performed, Result};
use stickpin_tree::Handle;

/// Presses a group box at its indicator; not handled where it is none. Where the indicator is elsewhere, nothing has turned
/// when the app has handled the press, and the box is turned by its action, which is told.
pub(crate) async fn press_group_box(
    device: &mut LinuxDevice,
    action: &Action,
    target: Handle,
    cancel: &CancellationToken,
) -> Result<Performed> {
    let picture = device.reading.last.as_ref().map(|last| &last.picture);
    let at = reading::index(&device.app, &device.reading, target)
        .zip(picture)
        .filter(|(at, p)| press::is_group_box(&device.app, p, &p.objects[*at]));
    let Some(object) = at.map(|(at, picture)| picture.objects[at].clone()) else {
        return Ok(Performed::default());
    };
    let before = ask::states_of(&device.app, &object.path).await? & s::CHECKED;
    let performed = mouse::press_at(device, action, cancel).await?;
    // It may answer before it takes what has come at the same time, but not twice.
    for _ in 0..2 {
        device.app.link.barrier().await.map_err(|fault| unknown(life::lost_by(&device.app, &fault)))?;
    }
    if ask::states_of(&device.app, &object.path).await.map_err(unknown)? & s::CHECKED == before {
        let actions = ask::actions_of(&device.app, &object.path).await.map_err(unknown)?;
        let toggle = actions.iter().position(|action| is_toggle(action));
        if let Some(index) = toggle.and_then(|at| i32::try_from(at).ok()) {
            let args = Args::new().int(index);
            let call = Call { path: &object.path, interface: ACTION, member: "DoAction", args };
            if let Err(fault) = device.app.link.order(&call, DONE).await {
                ask::refused(&device.app, &object.path, fault).await?;
            }
            tell_of_toggle(
                &device.app,
                &object,
                &actions[toggle.unwrap_or_default()],
                "its indicator was not found",
            );
        }
    }
    Ok(performed)
}

/// Tells the caller that an action was used that is not what a person's press does.
pub(crate) fn tell_of_toggle(app: &App, object: &Object, action: &str, why: &str) {
    if app.link.toolkit.profile().turns_without_click && is_toggle(action) {
        let what = format!(
            "{why}: {} was turned by its accessibility action, and what the app does on a click may not have \
             happened",
            object.words()
        );
        app.heard.state().notices.push_back(Notice::Lacks { what });
    }
}

fn is_toggle(action: &str) -> bool {
    action.eq_ignore_ascii_case("toggle")
}
