//! Where keys go, as the server says.

use crate::display::fault::{Fault, RESTORE};
use crate::display::server::Display;
use crate::display::window::Window;
use std::time::Instant;
use x11rb::protocol::xproto::{ConnectionExt, InputFocus, Window as WindowId};

/// Windows in one another that are looked at: toolkits nest some to have the focus in one of them.
const NESTED: usize = 32;

impl Display {
    /// Whether the keys that we send go to a window, or to one in it; none where they go to no window in particular.
    pub fn keys_go_to(&self, window: WindowId) -> Result<Option<bool>, Fault> {
        let mut at = match self.seat_focus()? {
            Some(at) => at,
            None => self.conn.get_input_focus()?.reply()?.focus,
        };
        let nowhere = [InputFocus::NONE, InputFocus::POINTER_ROOT].map(u32::from);
        if nowhere.contains(&at) || at == self.root {
            return Ok(None);
        }
        for _ in 0..NESTED {
            if at == window {
                return Ok(Some(true));
            }
            // One that has just gone has nothing in it.
            let Ok(tree) = self.conn.query_tree(at)?.reply() else { break };
            if tree.parent == self.root {
                break;
            }
            at = tree.parent;
        }
        Ok(Some(false))
    }

    /// The window on the screen that gets the keys in the place of this one. Where they go to no window in particular, or
    /// to one that is none of those on the screen, it counts as this one: a toolkit may have the focus in a window apart.
    pub fn keys_elsewhere(&mut self, window: WindowId) -> Result<Option<Window>, Fault> {
        if self.keys_go_to(window)? != Some(false) {
            return Ok(None);
        }
        for other in self.windows()? {
            if other.id != window && self.keys_go_to(other.id)? == Some(true) {
                return Ok(Some(other));
            }
        }
        Ok(None)
    }

    /// The same of a window that was given the keyboard just now: the window manager hands it over in its own time.
    pub fn keys_kept_elsewhere(&mut self, window: WindowId) -> Result<Option<Window>, Fault> {
        let until = Instant::now() + RESTORE;
        loop {
            match self.keys_elsewhere(window)? {
                Some(_) if Instant::now() < until => self.managed()?,
                kept => return Ok(kept),
            }
        }
    }

    /// Gives the keyboard to a window: ours where we have one, else by bringing the window to the front unless it is
    /// there.
    pub fn focus(&mut self, window: WindowId) -> Result<(), Fault> {
        if self.has_seat() {
            return self.focus_seat(window);
        }
        if self.root_numbers(self.atoms._NET_ACTIVE_WINDOW)?.first() == Some(&window) {
            return Ok(());
        }
        let windows = self.windows()?;
        match windows.iter().find(|w| w.id == window) {
            Some(window) if !window.popup => self.raise(&window.clone()).map(drop),
            _ => Ok(()),
        }
    }
}
