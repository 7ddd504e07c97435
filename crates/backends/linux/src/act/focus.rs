//! Giving an element the keyboard focus.

use crate::act::keyboard::HANDLED;
use crate::act::{Act, mouse};
use crate::aim::window;
use crate::app::{App, AppView, LinuxDevice, WindowStack, ask};
use crate::bus::{COMPONENT, Call, TEXT};
use crate::model::{Interfaces, Object, is_field, states as s};
use std::time::Duration;
use stickpin_device::{CancellationToken, Error, ErrorCode, Result};
use stickpin_tree::Handle;
use stickpin_x11desk::{focus, pings};

/// Gives the keyboard focus to the window of an element, as a press in that window would, unless
/// this would take the focus from a person. Returns as soon as the app has noticed the change.
pub(crate) async fn take_keyboard(view: AppView<'_>, target: Handle) -> Result<()> {
    let (Some(at), own) = (view.index(target), view.app.screen.own) else { return Ok(()) };
    let Some(sight) = WindowStack::of(view.app).await? else { return Ok(()) };
    let window = window::window_of(view, at, &sight.windows).await?;
    let Some(window) = window.filter(|w| !w.popup && w.is_shown()) else { return Ok(()) };
    let give = sight.x11.run(move |d| {
        if own || focus::has_own_keyboard(d)? {
            focus::give_keyboard(d, window.id)?;
            pings::await_delivery(d, window.id)?;
        }
        Ok(())
    });
    give.await
}

/// Gives an element the keyboard focus.
///
/// # Errors
/// Returns `ELEMENT_NOT_FOUND`, `BACKEND_LOST` or `TIMEOUT`, or `UNSUPPORTED` when the element does
/// not take the focus. If the element must be pressed to focus it, also returns the errors and the
/// refusal of that press.
pub(crate) async fn focus_element(device: &mut LinuxDevice, target: Handle) -> Result<()> {
    let object = device.view().object(target)?;
    if grab_focus(device.view(), target).await? {
        return Ok(());
    }
    // Not every toolkit grants the request. If it is refused, the element is pressed, as a person
    // would do.
    let mut press = Act { device, cancel: &CancellationToken::new() };
    let refusal = mouse::press_unless_covered(&mut press, target).await?.err();
    if !object.is(s::FOCUSABLE) {
        // Without a press, keys would go to the currently focused element.
        return refusal.map_or(Ok(()), Err);
    }
    // GTK 4 has read the press by now and handles it in its next frame.
    if ask::wait_until(HANDLED, || ask::has_focus(&device.app, &object.path)).await? {
        return Ok(());
    }
    Err(refusal.unwrap_or_else(|| {
        Error::unsupported(format!("{} did not take the keyboard focus", object.describe()))
            .hint("stickpin pressed the element to focus it; run `stickpin snapshot -i` to see what changed")
    }))
}

/// Requests the focus through the accessibility interface. Returns whether the element has it.
///
/// # Errors
/// Returns `ELEMENT_NOT_FOUND`, `BACKEND_LOST` or `TIMEOUT`.
pub(crate) async fn grab_focus(view: AppView<'_>, target: Handle) -> Result<bool> {
    let path = view.object(target)?.path;
    if ask::has_focus(view.app, &path).await? {
        return Ok(true);
    }
    let call = Call::new(&path, COMPONENT, "GrabFocus");
    let granted = ask::send_order(view.app, &call).await?;
    // GTK 3 reports the focus only after its window has noticed that it has the keyboard.
    let patience = if granted { HANDLED } else { Duration::ZERO };
    ask::wait_until(patience, || ask::has_focus(view.app, &path)).await
}

/// Gives a field the focus before it is filled, so that it ends up focused as if a person had
/// filled it. Returns false if the field does not take the focus. Only text fields are pressed for
/// this, because pressing any other element could change it.
///
/// # Errors
/// Returns `ELEMENT_NOT_FOUND`, `BACKEND_LOST` or `TIMEOUT`, or the errors of the display.
pub(crate) async fn focus_to_fill(device: &mut LinuxDevice, target: Handle) -> Result<bool> {
    let object = device.view().object(target)?;
    if ask::has_focus(&device.app, &object.path).await? {
        return Ok(true);
    }
    take_keyboard(device.view(), target).await?;
    if grab_focus(device.view(), target).await? {
        return Ok(true);
    }
    if !is_field(object.role) {
        return Ok(false);
    }
    let Err(e) = focus_element(device, target).await else { return Ok(true) };
    if matches!(e.code, ErrorCode::ElementNotFound | ErrorCode::BackendLost | ErrorCode::Io) {
        return Err(e);
    }
    // The field is filled anyway; later keys without a target are refused.
    tracing::debug!("{} does not accept the focus: {e}", object.describe());
    Ok(false)
}

/// Moves the caret to the end of the text that was set, as after typing. GTK leaves the caret
/// before the text.
///
/// # Errors
/// Returns `ELEMENT_NOT_FOUND`, `BACKEND_LOST` or `TIMEOUT`.
pub(crate) async fn caret_to_end(app: &App, field: &Object, text: &str) -> Result<()> {
    if !app.profile().caret_stays_before_text || !field.has(Interfaces::TEXT) {
        return Ok(());
    }
    let end = i32::try_from(text.chars().count()).unwrap_or(i32::MAX);
    let call = Call::new(&field.path, TEXT, "SetCaretOffset").with((end,));
    ask::send_order(app, &call).await.map(drop)
}
