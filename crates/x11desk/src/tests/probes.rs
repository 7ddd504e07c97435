//! Requests to a display that only tests need.

use crate::display::Display;
use crate::error::X11Error;
use crate::{keyboard, keymap, seat};
use stickpin_process::Process;
use x11rb::protocol::xinput::ConnectionExt as _;
use x11rb::protocol::xproto::ConnectionExt as _;

/// Swaps two keys of the keyboard, as another layout would.
pub(super) fn swap_keys(d: &mut Display, one: char, other: char) -> Result<(), X11Error> {
    let keymap = keyboard::read_keymap(d)?;
    let code = |c| keymap.find(keymap::keysym_of_char(c), 0, false).expect("a key").code;
    let (one, other) = (code(one), code(other));
    let width = keymap.width;
    let syms = |code: u8| &keymap.syms[usize::from(code - keymap.first) * width..][..width];
    for (code, as_if) in [(one, other), (other, one)] {
        d.conn.change_keyboard_mapping(1, code, width as u8, syms(as_if))?;
    }
    d.keymap = None;
    d.sync()
}

/// Returns the keys that currently have no keysym.
pub(super) fn spare_keys(d: &mut Display) -> Result<Vec<u8>, X11Error> {
    d.keymap = None;
    d.sync()?;
    Ok(keyboard::read_keymap(d)?.unmapped_keys())
}

/// Takes away the keysyms of the lent keys, as a program does that loads a layout.
pub(super) fn reset_lent_keys(d: &mut Display) -> Result<(), X11Error> {
    for &code in d.lent_keys.values() {
        d.conn.change_keyboard_mapping(1, code, 2, &[keymap::NO_SYMBOL; 2])?;
    }
    d.sync()
}

/// Returns the position of the pointer.
pub(super) fn pointer_place(d: &Display) -> Result<(f64, f64), X11Error> {
    let at = d.conn.query_pointer(d.root)?.reply()?;
    Ok((f64::from(at.root_x), f64::from(at.root_y)))
}

/// Returns the keys and buttons that our keyboard and pointer hold down, as one mask; without our
/// own devices, those of the user.
pub(super) fn held_down(d: &Display) -> Result<u16, X11Error> {
    Ok(d.conn.query_pointer(d.root)?.reply()?.mask.into())
}

/// Returns the number of pointers that stickpin processes have added.
pub(super) fn count_seats(d: &Display) -> Result<usize, X11Error> {
    d.conn.xinput_xi_query_version(2, 2)?.reply()?;
    Ok(seat::seats(d)?.len())
}

/// Ends the connection as the end of the process would, without restoring anything.
pub(super) fn vanish(d: &Display) -> Result<(), X11Error> {
    d.sync()?;
    rustix::net::shutdown(d.conn.stream(), rustix::net::Shutdown::Both)
        .map_err(|e| X11Error::Lost(e.to_string()))
}

/// Adds a pointer of a process that is gone.
pub(super) fn leave_seat_behind(d: &Display) -> Result<(), X11Error> {
    d.conn.xinput_xi_query_version(2, 2)?.reply()?;
    seat::add_master(d, format!("{}7fffff0", seat::NAME))
}

/// Returns the processes that run on a private display and have its mark: apps, services and their
/// children.
pub(super) fn processes(private: &crate::PrivateDisplay) -> Vec<Process> {
    Process::find_marked(&format!("XDG_RUNTIME_DIR={}", private.runtime().display()))
}
