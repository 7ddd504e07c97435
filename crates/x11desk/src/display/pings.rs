//! Whether windows have seen what was sent to them: an answer to a ping (EWMH, `_NET_WM_PING`) says so.

use crate::display::fault::Fault;
use crate::display::numbers::{PROPERTY, numbers};
use crate::display::server::Display;
use std::time::{Duration, Instant};
use x11rb::protocol::xproto::{AtomEnum, ClientMessageEvent, ConnectionExt, EventMask, Window as WindowId};

/// How long a window may take to answer a ping: after that it is taken as one that does not answer any.
pub(super) const PONG: Duration = Duration::from_millis(250);

impl Display {
    /// Waits until the app has read all input that was sent to its windows before: it answers a ping (EWMH,
    /// `_NET_WM_PING`) in the order of its events. One that answers none gets the time that an answer takes.
    pub fn delivered(&mut self, window: WindowId) -> Result<(), Fault> {
        let sent = self.ping(window)?;
        if !self.ponged(sent)? {
            tracing::debug!(window, "no answer to a ping");
        }
        Ok(())
    }

    /// Asks a window for an answer in the order of its events, which is known by the number that comes back.
    pub fn ping(&mut self, window: WindowId) -> Result<u32, Fault> {
        self.sync()?;
        self.pongs.clear();
        self.pinged = self.pinged.wrapping_add(1).max(1);
        // Apps send back what they get: a number of ours tells it from the pings of the window manager, which are times.
        let sent = self.own ^ self.pinged.rotate_right(8);
        let data = [self.atoms._NET_WM_PING, sent, window, 0, 0];
        let event = ClientMessageEvent::new(32, window, self.atoms.WM_PROTOCOLS, data);
        self.conn.send_event(false, window, EventMask::NO_EVENT, event)?;
        Ok(sent)
    }

    /// Waits for that answer; false where it has not come in the time that one takes.
    pub fn ponged(&mut self, sent: u32) -> Result<bool, Fault> {
        let answered = self.until(Instant::now() + PONG, |d| Ok(d.pongs.contains(&sent).then_some(())))?;
        Ok(answered.is_some())
    }

    /// Whether a window is there, and says that it answers pings.
    pub fn answers_pings(&self, window: WindowId) -> Result<bool, Fault> {
        let (name, kind) = (self.atoms.WM_PROTOCOLS, AtomEnum::ATOM);
        let asked = self.conn.get_property(false, window, name, kind, 0, PROPERTY)?;
        Ok(numbers(asked.reply()).contains(&self.atoms._NET_WM_PING))
    }
}
