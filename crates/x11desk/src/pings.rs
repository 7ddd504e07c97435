//! Pings windows (EWMH, `_NET_WM_PING`): the reply shows that the app has read its earlier
//! input.

use crate::display::Display;
use crate::error::X11Result;
use std::time::{Duration, Instant};
use x11rb::protocol::xproto::{ClientMessageEvent, ConnectionExt, EventMask, Window as WindowId};

/// Timeout for the reply to a ping.
pub(crate) const PONG_TIMEOUT: Duration = Duration::from_millis(250);

/// Waits until the app has read all input that was sent to this window so far. Apps reply to a ping
/// in the order of their events. For an app that does not reply, this waits for `PONG_TIMEOUT`.
pub fn await_delivery(d: &mut Display, window: WindowId) -> X11Result<()> {
    let sent = send(d, window)?;
    if !is_answered(d, sent)? {
        tracing::debug!(window, "no answer to a ping");
    }
    Ok(())
}

/// Sends a ping to a window. Returns the number that identifies the reply.
pub fn send(d: &mut Display, window: WindowId) -> X11Result<u32> {
    d.sync()?;
    d.pongs.clear();
    // Apps send the data back. The window manager's own pings carry timestamps, which a random
    // number practically never equals.
    let sent = rand::random();
    let data = [d.atoms._NET_WM_PING, sent, window, 0, 0];
    let event = ClientMessageEvent::new(32, window, d.atoms.WM_PROTOCOLS, data);
    d.conn.send_event(false, window, EventMask::NO_EVENT, event)?;
    Ok(sent)
}

/// Waits for the reply to a ping. Returns false if it does not arrive within `PONG_TIMEOUT`.
pub fn is_answered(d: &mut Display, sent: u32) -> X11Result<bool> {
    d.wait_until_true(Instant::now() + PONG_TIMEOUT, |d| Ok(d.pongs.contains(&sent)))
}

/// Returns whether a window exists and declares that it replies to pings.
pub fn are_answered(d: &Display, window: WindowId) -> X11Result<bool> {
    Ok(d.numbers(window, d.atoms.WM_PROTOCOLS)?.contains(&d.atoms._NET_WM_PING))
}
