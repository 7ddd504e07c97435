//! Which way a press goes: by the element's own action, where that does what a person's press does, or by the pointer.

use crate::act::mouse;
use crate::aim::press;
use crate::app::{App, LinuxDevice, ask, life, unknown};
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
    let at = device.view().index(target).map(|at| &device.last.objects()[at]);
    let object = at.filter(|object| press::is_group_box(&device.app, &device.last.picture, object)).cloned();
    let Some(object) = object else { return Ok(Performed::default()) };
    let before = ask::states_of(&device.app, &object.path).await? & s::CHECKED;
    let performed = mouse::press_at(device, action, cancel).await?;
    life::taken(&device.app).await.map_err(unknown)?;
    if ask::states_of(&device.app, &object.path).await.map_err(unknown)? & s::CHECKED == before {
        let actions = ask::actions_of(&device.app, &object.path).await.map_err(unknown)?;
        if let Some(index) = actions.iter().position(|action| is_toggle(action)) {
            ask::ordered(&device.app, &ask::do_action(&object.path, index)).await?;
            tell_of_toggle(&device.app, &object, &actions[index], "its indicator was not found");
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
