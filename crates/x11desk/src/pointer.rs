//! The pointer: moves, buttons and wheels through the XTEST extension.

use crate::display::{Display, pixel};
use crate::error::X11Result;
use crate::{seat, window_manager};
use stickpin_device::Button;
use x11rb::protocol::xproto::{
    BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, ConnectionExt, EventMask, GrabMode, MOTION_NOTIFY_EVENT,
};
use x11rb::protocol::xtest::ConnectionExt as _;

/// Returns the X11 number of a button.
fn number(button: Button) -> u8 {
    match button {
        Button::Left => 1,
        Button::Middle => 2,
        Button::Right => 3,
    }
}

pub(crate) fn send_fake_input(d: &Display, kind: u8, detail: u8, x: i16, y: i16) -> X11Result<()> {
    // The input comes from our own devices once they exist.
    seat::own(d)?;
    let root = if kind == MOTION_NOTIFY_EVENT { d.root } else { x11rb::NONE };
    d.conn.xtest_fake_input(kind, detail, x11rb::CURRENT_TIME, root, x, y, 0)?;
    Ok(())
}

/// Moves the pointer.
pub fn move_to(d: &Display, x: f64, y: f64) -> X11Result<()> {
    let (x, y) = pixel(x, y);
    // Zero means absolute.
    send_fake_input(d, MOTION_NOTIFY_EVENT, 0, x, y)
}

/// Presses a button and waits until the window manager has passed the press on. Many window
/// managers first inspect each press, even in the active window, and the app would respond to
/// queries before it receives the press.
pub fn press(d: &mut Display, button: Button) -> X11Result<()> {
    turn(d, number(button), true)?;
    window_manager::sync(d)
}

/// Releases a button. Has no effect if the button is up.
pub fn release(d: &Display, button: Button) -> X11Result<()> {
    turn(d, number(button), false)
}

fn turn(d: &Display, number: u8, down: bool) -> X11Result<()> {
    send_fake_input(d, if down { BUTTON_PRESS_EVENT } else { BUTTON_RELEASE_EVENT }, number, 0, 0)
}

/// Turns the wheel by this many notches to the right and down.
pub fn wheel(d: &Display, right: i32, down: i32) -> X11Result<()> {
    // The buttons of the wheel are 4 to 7: up, down, left, right.
    for (notches, minus, plus) in [(right, 6, 7), (down, 4, 5)] {
        let button = if notches < 0 { minus } else { plus };
        for _ in 0..notches.unsigned_abs() {
            turn(d, button, true)?;
            turn(d, button, false)?;
        }
    }
    Ok(())
}

/// Returns whether another client grabs the pointer, as open menus do. If so, that client receives
/// all input of the pointer.
///
/// The check requests a grab for a window that is never shown. The server always refuses the
/// request, and reports that the window is not viewable only if no other client has a grab
/// (`GrabDevice` in `dix/events.c` checks that first). Therefore, nothing is ever grabbed.
pub fn is_grabbed(d: &Display) -> X11Result<bool> {
    let (mode, none, now) = (GrabMode::ASYNC, x11rb::NONE, x11rb::CURRENT_TIME);
    let ours = d.conn.grab_pointer(false, d.own, EventMask::NO_EVENT, mode, mode, none, none, now)?;
    // A menu that was opened without our pointer grabs the core pointer of the server.
    let core = seat::is_core_device_grabbed(d, seat::CORE.pointer)?;
    Ok(seat::is_taken(ours.reply()?.status) || core)
}
