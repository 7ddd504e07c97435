//! The pointer: moves, buttons, wheels, by the XTEST extension.

use crate::display::fault::Fault;
use crate::display::numbers::pixel;
use crate::display::server::Display;
use x11rb::protocol::xproto::{
    BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, ConnectionExt, EventMask, GrabMode, GrabStatus,
    KEY_PRESS_EVENT, KEY_RELEASE_EVENT, KeyButMask, MOTION_NOTIFY_EVENT,
};
use x11rb::protocol::xtest::ConnectionExt as _;

/// Buttons that are a wheel: up, down, left, right.
const WHEEL: [u8; 4] = [4, 5, 6, 7];

/// What the server says of a device that somebody else has.
fn held(status: GrabStatus) -> bool {
    matches!(status, GrabStatus::ALREADY_GRABBED | GrabStatus::FROZEN)
}

impl Display {
    pub(super) fn fake(&self, kind: u8, detail: u8, x: i16, y: i16) -> Result<(), Fault> {
        let root = if kind == MOTION_NOTIFY_EVENT { self.root } else { x11rb::NONE };
        self.conn.xtest_fake_input(kind, detail, x11rb::CURRENT_TIME, root, x, y, 0)?;
        Ok(())
    }

    /// Moves the pointer.
    pub fn move_to(&self, x: f64, y: f64) -> Result<(), Fault> {
        let (x, y) = pixel(x, y);
        // Absolute.
        self.fake(MOTION_NOTIFY_EVENT, 0, x, y)
    }

    /// Presses a button, or lets it go.
    pub fn button(&self, number: u8, down: bool) -> Result<(), Fault> {
        self.fake(if down { BUTTON_PRESS_EVENT } else { BUTTON_RELEASE_EVENT }, number, 0, 0)
    }

    /// Turns the wheel by so many notches, right and down.
    pub fn wheel(&self, right: i32, down: i32) -> Result<(), Fault> {
        let [up, below, left, to_right] = WHEEL;
        for (notches, minus, plus) in [(right, left, to_right), (down, up, below)] {
            let button = if notches < 0 { minus } else { plus };
            for _ in 0..notches.unsigned_abs() {
                self.button(button, true)?;
                self.button(button, false)?;
            }
        }
        Ok(())
    }

    /// Presses a key, or lets it go.
    pub(super) fn key(&self, code: u8, down: bool) -> Result<(), Fault> {
        self.fake(if down { KEY_PRESS_EVENT } else { KEY_RELEASE_EVENT }, code, 0, 0)
    }

    /// Whether somebody holds the pointer, as open menus do: all input goes to them then. Asked by asking for it with a
    /// window that is never shown: the server refuses that, too, and says so only when nobody else has it (`GrabDevice` of
    /// its `dix/events.c` looks at that first), so nothing is taken and nobody notices.
    pub fn pointer_held(&self) -> Result<bool, Fault> {
        let (mode, none, now) = (GrabMode::ASYNC, x11rb::NONE, x11rb::CURRENT_TIME);
        let ours =
            self.conn.grab_pointer(false, self.own, EventMask::NO_EVENT, mode, mode, none, none, now)?;
        // A menu that was opened without our pointer holds the one that every server has.
        let core = match self.has_seat() {
            true => Some(self.ask_core_pointer()?),
            false => None,
        };
        let ours = held(ours.reply()?.status);
        Ok(core.map(|core| core.reply()).transpose()?.is_some_and(|core| held(core.status)) || ours)
    }

    /// The same of the keyboard: whoever holds it gets our keys, whatever window has the focus. The one that every server
    /// has counts beside our own where that is asked for.
    pub(super) fn keyboard_held(&self, with_core: bool) -> Result<bool, Fault> {
        let mode = GrabMode::ASYNC;
        let ours = self.conn.grab_keyboard(false, self.own, x11rb::CURRENT_TIME, mode, mode)?;
        let core = match with_core && self.has_seat() {
            true => Some(self.ask_core_keyboard()?),
            false => None,
        };
        let ours = held(ours.reply()?.status);
        Ok(core.map(|core| core.reply()).transpose()?.is_some_and(|core| held(core.status)) || ours)
    }

    /// Where the pointer is.
    #[cfg(test)]
    pub(crate) fn pointer(&self) -> Result<(f64, f64), Fault> {
        let at = self.conn.query_pointer(self.root)?.reply()?;
        Ok((f64::from(at.root_x), f64::from(at.root_y)))
    }

    /// What our keyboard and pointer hold down, modifiers and buttons as one mask; without our own, those of the person.
    #[cfg(test)]
    pub(crate) fn held_down(&self) -> Result<u16, Fault> {
        Ok(self.conn.query_pointer(self.root)?.reply()?.mask.into())
    }

    /// Lets go of whatever button of ours is still down.
    pub(super) fn release_all(&self) -> Result<(), Fault> {
        let mask = u16::from(self.conn.query_pointer(self.root)?.reply()?.mask);
        let held = [(KeyButMask::BUTTON1, 1), (KeyButMask::BUTTON2, 2), (KeyButMask::BUTTON3, 3)];
        for (bit, number) in held {
            if mask & u16::from(bit) != 0 {
                self.button(number, false)?;
            }
        }
        Ok(())
    }
}
