//! Whether windows have seen what was sent to them: an answer to a ping (EWMH, `_NET_WM_PING`) says
//! so.

use crate::display::Display;
use crate::fault::Fault;
use std::time::{Duration, Instant};
use x11rb::protocol::xproto::{ClientMessageEvent, ConnectionExt, EventMask, Window as WindowId};

/// How long a window may take to answer a ping: after that it is taken as one that does not answer
/// any.
pub(crate) const PONG: Duration = Duration::from_millis(250);

/// Waits until the app has read all input that was sent to its windows before: it answers a ping
/// (EWMH, `_NET_WM_PING`) in the order of its events. One that answers none gets the time that an
/// answer takes.
pub fn await_delivery(d: &mut Display, window: WindowId) -> Result<(), Fault> {
    let sent = send(d, window)?;
    if !is_answered(d, sent)? {
        tracing::debug!(window, "no answer to a ping");
    }
    Ok(())
}

/// Asks a window for an answer in the order of its events, which is known by the number that comes
/// back.
pub fn send(d: &mut Display, window: WindowId) -> Result<u32, Fault> {
    d.sync()?;
    d.pongs.clear();
    d.pinged = d.pinged.wrapping_add(1).max(1);
    // Apps send back what they get: a number of ours tells it from the pings of the window manager,
    // which are times.
    let sent = d.own ^ d.pinged.rotate_right(8);
    let data = [d.atoms._NET_WM_PING, sent, window, 0, 0];
    let event = ClientMessageEvent::new(32, window, d.atoms.WM_PROTOCOLS, data);
    d.conn.send_event(false, window, EventMask::NO_EVENT, event)?;
    Ok(sent)
}

/// Waits for that answer; false where it has not come in the time that one takes.
pub fn is_answered(d: &mut Display, sent: u32) -> Result<bool, Fault> {
    d.becomes(Instant::now() + PONG, |d| Ok(d.pongs.contains(&sent)))
}

/// Whether a window is there, and says that it answers pings.
pub fn are_answered(d: &Display, window: WindowId) -> Result<bool, Fault> {
    Ok(d.numbers(window, d.atoms.WM_PROTOCOLS)?.contains(&d.atoms._NET_WM_PING))
}
