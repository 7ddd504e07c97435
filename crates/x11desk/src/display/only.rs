//! Keys for one window, and for no other. What has the focus when a key is made gets it, unless somebody holds the whole
//! keyboard, as open menus do: a window that closes itself hands it on to the next one. So the server does nothing for
//! anybody else between the look and the keys.

use crate::display::fault::{Fault, RESTORE};
use crate::display::server::Display;
use crate::display::state::Sent;
use std::time::Instant;
use stickpin_device::Modifiers;
use x11rb::protocol::xproto::{ConnectionExt, MapState, Window as WindowId};

impl Display {
    /// Gives a window the keyboard and sends it one chord, unless it would go elsewhere. `popup`: whether one of its
    /// process is open, which then is what Escape closes, and may take keys that it did not come by.
    pub fn chord_only(
        &mut self,
        window: WindowId,
        modifiers: Modifiers,
        name: &str,
        popup: bool,
    ) -> Result<Sent, Fault> {
        let until = Instant::now() + RESTORE;
        loop {
            if !self.is_viewable(window)? {
                return Ok(Sent::Gone);
            }
            match self.focus(window) {
                // It may have gone in this moment.
                Err(Fault::Refused(_)) if !self.is_viewable(window)? => return Ok(Sent::Gone),
                focused => focused?,
            }
            self.conn.grab_server()?;
            let sent = self.chord_if_alone(window, modifiers, name, popup);
            self.conn.ungrab_server()?;
            self.sync()?;
            match sent? {
                // The window manager hands the keyboard over in its own time, and holds it for a moment itself.
                Sent::Elsewhere | Sent::Held if Instant::now() < until => self.managed()?,
                sent => return Ok(sent),
            }
        }
    }

    fn chord_if_alone(
        &mut self,
        window: WindowId,
        modifiers: Modifiers,
        name: &str,
        popup: bool,
    ) -> Result<Sent, Fault> {
        if self.keys_go_to(window)? != Some(true) {
            return Ok(Sent::Elsewhere);
        }
        let closes = popup && (modifiers, name) == (Modifiers::default(), "Escape");
        if !closes && self.keyboard_held(popup)? {
            return Ok(Sent::Held);
        }
        Ok(if self.chord(modifiers, name)? { Sent::Yes } else { Sent::NoSuchKey })
    }

    fn is_viewable(&self, window: WindowId) -> Result<bool, Fault> {
        // One that is gone has no attributes.
        let attributes = self.conn.get_window_attributes(window)?.reply();
        Ok(attributes.is_ok_and(|attributes| attributes.map_state == MapState::VIEWABLE))
    }
}
