//! The window that has the keyboard focus, and keys for exactly one window.
//!
//! A key goes to the window that has the focus when the key is sent, unless a client grabs the
//! whole keyboard, as open menus do. When a window closes, the focus passes to the next one. The
//! server is therefore grabbed between the check and the keys, so that no other client can change
//! the focus.

use crate::display::Display;
use crate::error::{RESTORE_TIMEOUT, X11Error, X11Result};
use crate::window::Window;
use crate::{keyboard, seat, window_manager, windows};
use std::time::Instant;
use stickpin_device::Modifiers;
use x11rb::protocol::xproto::{ConnectionExt, InputFocus, Window as WindowId};

/// The result of sending keys to one window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyDelivery {
    /// The window received the keys.
    Delivered,
    /// The name of the key is unknown, or no key produces its keysym and no key is spare; nothing
    /// was sent.
    NoSuchKey,
    /// The window is no longer on the screen; nothing was sent.
    Gone,
    /// The focus stays on another window or on no window in particular; nothing was sent.
    Elsewhere,
    /// A client grabs the keyboard, regardless of the focus; nothing was sent.
    KeyboardGrabbed,
}

/// Returns the window that receives our keys, which may be an inner window, and its ancestors;
/// `None` if the focus is on no window in particular.
fn focused(d: &Display) -> X11Result<Option<Vec<WindowId>>> {
    let focus = seat::focused(d)?;
    if [InputFocus::NONE.into(), InputFocus::POINTER_ROOT.into(), d.root].contains(&focus) {
        return Ok(None);
    }
    Ok(Some(windows::path(d, focus).collect()))
}

/// Returns the window on the screen that receives the keys instead of this one.
///
/// `None` if this window receives them. Also `None` if the focus is on no window in particular, or
/// on a window that is not on the screen: toolkits may put the focus on a separate window.
///
/// # Errors
/// Returns `Lost` when the connection is lost.
pub fn foreign_focus(d: &mut Display, window: WindowId) -> X11Result<Option<Window>> {
    let Some(path) = focused(d)?.filter(|path| !path.contains(&window)) else { return Ok(None) };
    Ok(windows::list_windows(d)?.into_iter().find(|other| path.contains(&other.id)))
}

/// Waits a limited time for the window manager to give the focus to a window, then returns the
/// result of [`foreign_focus`].
pub fn foreign_focus_after_grab(d: &mut Display, window: WindowId) -> X11Result<Option<Window>> {
    let until = Instant::now() + RESTORE_TIMEOUT;
    loop {
        match foreign_focus(d, window)? {
            Some(_) if Instant::now() < until => window_manager::sync(d)?,
            kept => return Ok(kept),
        }
    }
}

/// Returns whether the connection has its own keyboard and pointer, in addition to those of a
/// person. Creates them if that has not been tried yet.
///
/// # Errors
/// Returns an error when the connection breaks or the server refuses to name its devices.
pub fn has_own_keyboard(d: &Display) -> X11Result<bool> {
    Ok(seat::own(d)?.is_some())
}

/// Gives a window the focus of our own keyboard if we have one; otherwise, activates the window,
/// unless it is a popup.
pub fn give_keyboard(d: &mut Display, window: WindowId) -> X11Result<()> {
    if let Some(seat) = seat::own(d)? {
        return seat::focus(d, seat, window);
    }
    if d.root_property(d.atoms._NET_ACTIVE_WINDOW)? == Some(window) {
        return Ok(());
    }
    let window = windows::list_windows(d)?.into_iter().find(|w| w.id == window && !w.popup);
    window.map_or(Ok(()), |window| window_manager::raise(d, &window).map(drop))
}

/// Gives the focus to a window and sends it one chord, unless another window would receive the
/// chord. `popup` states whether a popup of the window's process is open. If so, the chord Escape,
/// which closes the popup, is sent even if the popup grabs the keyboard. Other chords are not sent
/// while a client grabs a keyboard, because the popup would consume them.
pub fn send_chord_to_window(
    d: &mut Display,
    window: WindowId,
    modifiers: Modifiers,
    name: &str,
    popup: bool,
) -> X11Result<KeyDelivery> {
    let send_if_alone = |d: &mut Display| -> X11Result<KeyDelivery> {
        if !focused(d)?.is_some_and(|path| path.contains(&window)) {
            return Ok(KeyDelivery::Elsewhere);
        }
        let closes = popup && (modifiers, name) == (Modifiers::default(), "Escape");
        if !closes && keyboard::is_grabbed(d, popup)? {
            return Ok(KeyDelivery::KeyboardGrabbed);
        }
        Ok(if keyboard::chord(d, modifiers, name)? { KeyDelivery::Delivered } else { KeyDelivery::NoSuchKey })
    };
    let until = Instant::now() + RESTORE_TIMEOUT;
    loop {
        if !windows::is_viewable(d, window)? {
            return Ok(KeyDelivery::Gone);
        }
        match give_keyboard(d, window) {
            // The window may have gone just now.
            Err(X11Error::WindowGone(_)) if !windows::is_viewable(d, window)? => {
                return Ok(KeyDelivery::Gone);
            }
            focused => focused?,
        }
        d.conn.grab_server()?;
        let sent = send_if_alone(d);
        d.conn.ungrab_server()?;
        d.sync()?;
        match sent? {
            // The window manager passes the focus on asynchronously, and briefly grabs the keyboard
            // itself.
            KeyDelivery::Elsewhere | KeyDelivery::KeyboardGrabbed if Instant::now() < until => {
                window_manager::sync(d)?
            }
            sent => return Ok(sent),
        }
    }
}
