//! Which way a press goes: by the element's own action, where that does what a person's press does, or by the pointer.

use crate::act::mouse;
use crate::aim::press;
use crate::app::{LinuxDevice, ask, life, reading, unknown};
use crate::bus::names::ACTION;
use crate::bus::{Args, Call};
use crate::limits::DONE;
use crate::model::Object;
use crate::model::states as s;
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
    let picture = device.last.as_ref().map(|last| &last.picture);
    let at = reading::index(device, target)
        .zip(picture)
        .filter(|(at, p)| press::is_group_box(device, p, &p.objects[*at]));
    let Some(object) = at.map(|(at, picture)| picture.objects[at].clone()) else {
        return Ok(Performed::default());
    };
    let before = ask::states_of(device, &object.path).await? & s::CHECKED;
    let performed = mouse::press_at(device, action, cancel).await?;
    // It may answer before it takes what has come at the same time, but not twice.
    for _ in 0..2 {
        device.link.barrier().await.map_err(|fault| unknown(life::lost_by(device, &fault)))?;
    }
    if ask::states_of(device, &object.path).await.map_err(unknown)? & s::CHECKED == before {
        let actions = ask::actions_of(device, &object.path).await.map_err(unknown)?;
        let toggle = actions.iter().position(|action| is_toggle(action));
        if let Some(index) = toggle.and_then(|at| i32::try_from(at).ok()) {
            let args = Args::new().int(index);
            let call = Call { path: &object.path, interface: ACTION, member: "DoAction", args };
            if let Err(fault) = device.link.order(&call, DONE).await {
                ask::refused(device, &object.path, fault).await?;
            }
            tell_of_toggle(
                device,
                &object,
                &actions[toggle.unwrap_or_default()],
                "its indicator was not found",
            );
        }
    }
    Ok(performed)
}

/// Tells the caller that an action was used that is not what a person's press does.
pub(crate) fn tell_of_toggle(device: &LinuxDevice, object: &Object, action: &str, why: &str) {
    if device.link.toolkit.profile().turns_without_click && is_toggle(action) {
        let what = format!(
            "{why}: {} was turned by its accessibility action, and what the app does on a click may not have \
             happened",
            object.words()
        );
        device.heard.state().notices.push_back(Notice::Lacks { what });
    }
}

fn is_toggle(action: &str) -> bool {
    action.eq_ignore_ascii_case("toggle")
}
