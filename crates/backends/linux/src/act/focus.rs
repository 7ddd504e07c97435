//! Giving an element the keyboard focus, as a press or typing would.

use crate::act::keyboard::HANDLED;
use crate::act::mouse;
use crate::aim::{place, window};
use crate::app::{App, LinuxDevice, View, ask};
use crate::bus::Call;
use crate::bus::names::{COMPONENT, TEXT};
use crate::model::roles::is_field;
use crate::model::{Interfaces, Object, states as s};
use std::time::Duration;
use stickpin_device::{CancellationToken, Error, ErrorCode, Result};
use stickpin_tree::Handle;
use stickpin_x11desk::{Presence, focus, pings};

/// Gives the window of an element the keyboard, as a press in it would, where that takes it from no
/// person; returns when the app has noticed.
pub(crate) async fn take_keyboard(view: View<'_>, target: Handle) -> Result<()> {
    let (Some(at), own) = (view.index(target), view.app.screen.is_own()) else { return Ok(()) };
    let Some(sight) = place::sight(view.app).await? else { return Ok(()) };
    let window = window::window_of(view, at, &sight.windows).await?;
    let Some(window) = window.filter(|w| !w.popup && w.presence == Presence::Shown) else {
        return Ok(());
    };
    let give = sight.x11.run(move |d| {
        if !own && !d.has_seat() {
            return Ok(());
        }
        focus::give(d, window.id)?;
        pings::await_delivery(d, window.id)
    });
    give.await
}

/// Gives an element the keyboard's focus.
///
/// # Errors
/// `ELEMENT_NOT_FOUND`; `UNSUPPORTED` when it does not take it; what is in the way, where it would
/// have to be pressed.
pub(crate) async fn focus_element(device: &mut LinuxDevice, target: Handle) -> Result<()> {
    let object = device.view().object(target)?;
    if grab_focus(device.view(), target).await? {
        return Ok(());
    }
    // Not every toolkit takes the word of a stranger: then as a person would.
    let refusal = mouse::press_unless_covered(device, target, &CancellationToken::new()).await?.err();
    if !object.is(s::FOCUSABLE) {
        // Unless it was pressed, the keys would go to whatever has the focus.
        return refusal.map_or(Ok(()), Err);
    }
    // GTK 4 has read the press then, and handles it with its next frame.
    if ask::comes_true(HANDLED, || ask::has_focus(&device.app, &object.path)).await? {
        return Ok(());
    }
    Err(refusal.unwrap_or_else(|| {
        Error::unsupported("the element did not take the keyboard focus")
            .hint("press it first, and look what opens: stickpin snapshot -i")
    }))
}

/// Whether an element has the focus, or takes it by the word of assistive technologies.
///
/// # Errors
/// `ELEMENT_NOT_FOUND`, `BACKEND_LOST`.
pub(crate) async fn grab_focus(view: View<'_>, target: Handle) -> Result<bool> {
    let path = view.object(target)?.path;
    if ask::has_focus(view.app, &path).await? {
        return Ok(true);
    }
    let call = Call::new(&path, COMPONENT, "GrabFocus");
    let granted = ask::ordered(view.app, &call).await?;
    // GTK 3 says so once its window knows that it has the keyboard.
    let patience = if granted { HANDLED } else { Duration::ZERO };
    ask::comes_true(patience, || ask::has_focus(view.app, &path)).await
}

/// Gives a field the focus before it is filled, as it has it when a person has filled it; false
/// where it does not take it. What is no field of text is not pressed for that: a press would set
/// it.
///
/// # Errors
/// `ELEMENT_NOT_FOUND`, `BACKEND_LOST`.
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
    if matches!(e.code, ErrorCode::ElementNotFound | ErrorCode::BackendLost) {
        return Err(e);
    }
    // It is filled all the same, and keys without a target are refused.
    tracing::debug!("{} does not take the focus: {e}", object.words());
    Ok(false)
}

/// Puts the caret of a field behind the text that was put into it, as typing does. GTK leaves it
/// before the text.
///
/// # Errors
/// `BACKEND_LOST`.
pub(crate) async fn caret_to_end(app: &App, field: &Object, text: &str) -> Result<()> {
    if !app.link.toolkit.profile().caret_stays_before_text || !field.has(Interfaces::TEXT) {
        return Ok(());
    }
    let end = i32::try_from(text.chars().count()).unwrap_or(i32::MAX);
    let call = Call::new(&field.path, TEXT, "SetCaretOffset").with((end,));
    ask::ordered(app, &call).await.map(drop)
}
