//! Which window gets the keys, as the server says; and keys for one window, and for no other.
//!
//! What has the focus when a key is made gets it, unless somebody holds the whole keyboard, as open
//! menus do: a window that closes itself hands it on to the next one. So the server does nothing
//! for anybody else between the look and the keys.

use crate::display::Display;
use crate::fault::{Fault, RESTORE};
use crate::window::Window;
use crate::{keyboard, seat, window_manager, windows};
use std::time::Instant;
use stickpin_device::Modifiers;
use x11rb::protocol::xproto::{ConnectionExt, InputFocus, Window as WindowId};

/// Windows in one another that are looked at: toolkits nest some to have the focus in one of them.
const NESTED: usize = 32;

/// What became of keys for one window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// The window got them.
    Yes,
    /// There is no key of that name; nothing was sent.
    NoSuchKey,
    /// The window is not on the screen any more; nothing was sent.
    Gone,
    /// Another window keeps the keyboard; nothing was sent.
    Elsewhere,
    /// Something that is open holds the keyboard, whatever has the focus; nothing was sent.
    Held,
}

/// The window that gets our keys and those around it, from the inside out; none where they go to no
/// window in particular.
fn focused(d: &Display) -> Result<Option<Vec<WindowId>>, Fault> {
    let focus = seat::focused(d)?;
    if [InputFocus::NONE.into(), InputFocus::POINTER_ROOT.into(), d.root].contains(&focus) {
        return Ok(None);
    }
    let (mut at, mut path) = (focus, vec![focus]);
    while path.len() < NESTED {
        // One that has just gone is in nothing.
        let Ok(tree) = d.conn.query_tree(at)?.reply() else { break };
        if tree.parent == d.root {
            break;
        }
        at = tree.parent;
        path.push(at);
    }
    Ok(Some(path))
}

/// The window on the screen that gets the keys in the place of this one. Where they go to no window
/// in particular, or to one that is none of those on the screen, it counts as this one: a toolkit
/// may have the focus in a window apart.
///
/// # Errors
/// When the connection is lost.
pub fn keys_elsewhere(d: &mut Display, window: WindowId) -> Result<Option<Window>, Fault> {
    let Some(path) = focused(d)?.filter(|path| !path.contains(&window)) else { return Ok(None) };
    Ok(windows::all(d)?.into_iter().find(|other| path.contains(&other.id)))
}

/// As [`keys_elsewhere`], of a window that was given the keyboard just now: the window manager
/// hands it over in its own time.
pub fn keys_kept_elsewhere(d: &mut Display, window: WindowId) -> Result<Option<Window>, Fault> {
    let until = Instant::now() + RESTORE;
    loop {
        match keys_elsewhere(d, window)? {
            Some(_) if Instant::now() < until => window_manager::sync(d)?,
            kept => return Ok(kept),
        }
    }
}

/// Gives the keyboard to a window: ours where we have one, else by bringing the window to the front
/// unless it is there.
pub fn give(d: &mut Display, window: WindowId) -> Result<(), Fault> {
    if d.has_seat() {
        return seat::focus(d, window);
    }
    if d.of_root(d.atoms._NET_ACTIVE_WINDOW)? == Some(window) {
        return Ok(());
    }
    let window = windows::all(d)?.into_iter().find(|w| w.id == window && !w.popup);
    window.map_or(Ok(()), |window| window_manager::raise(d, &window).map(drop))
}

/// Gives a window the keyboard and sends it one chord, unless it would go elsewhere. `popup`:
/// whether one of its process is open, which then is what Escape closes, and may take keys that it
/// did not come by.
pub fn chord_only(
    d: &mut Display,
    window: WindowId,
    modifiers: Modifiers,
    name: &str,
    popup: bool,
) -> Result<Sent, Fault> {
    let until = Instant::now() + RESTORE;
    loop {
        if !windows::is_viewable(d, window)? {
            return Ok(Sent::Gone);
        }
        match give(d, window) {
            // It may have gone in this moment.
            Err(Fault::Refused(_)) if !windows::is_viewable(d, window)? => return Ok(Sent::Gone),
            focused => focused?,
        }
        d.conn.grab_server()?;
        let sent = chord_if_alone(d, window, modifiers, name, popup);
        d.conn.ungrab_server()?;
        d.sync()?;
        match sent? {
            // The window manager hands the keyboard over in its own time, and holds it for a moment
            // itself.
            Sent::Elsewhere | Sent::Held if Instant::now() < until => window_manager::sync(d)?,
            sent => return Ok(sent),
        }
    }
}

fn chord_if_alone(
    d: &mut Display,
    window: WindowId,
    modifiers: Modifiers,
    name: &str,
    popup: bool,
) -> Result<Sent, Fault> {
    if !focused(d)?.is_some_and(|path| path.contains(&window)) {
        return Ok(Sent::Elsewhere);
    }
    let closes = popup && (modifiers, name) == (Modifiers::default(), "Escape");
    if !closes && keyboard::is_held(d, popup)? {
        return Ok(Sent::Held);
    }
    Ok(if keyboard::chord(d, modifiers, name)? { Sent::Yes } else { Sent::NoSuchKey })
}
