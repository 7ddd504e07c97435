//! What windows are told through the window manager: to come to the front, to have another size or
//! place. And whether it is there and has done so.

use crate::display::Display;
use crate::fault::{Fault, RESTORE};
use crate::pings::PONG;
use crate::window::{Extents, Window};
use crate::windows;
use std::time::{Duration, Instant};
use x11rb::protocol::xproto::{
    ClientMessageEvent, ConfigureWindowAux, ConnectionExt, EventMask, StackMode, Window as WindowId,
};

/// How long a window manager gets before it is asked again.
const NUDGE: Duration = Duration::from_millis(50);

/// Waits until a window manager is there and answers (EWMH, `_NET_REQUEST_FRAME_EXTENTS`).
pub(crate) fn await_start(d: &mut Display, deadline: Instant) -> Result<(), Fault> {
    let start = Instant::now();
    let there = d.becomes(deadline, |d| Ok(d.of_root(d.atoms._NET_SUPPORTING_WM_CHECK)?.is_some()))?;
    while there && Instant::now() < deadline {
        // Again and again: one that has just started may have read the first and not looked at it
        // yet.
        if answers(d, NUDGE)? {
            return Ok(());
        }
    }
    Err(Fault::Lost(format!("no window manager answered within {} s", start.elapsed().as_secs())))
}

/// Waits until the window manager has done with what it was told before: it holds the pointer while
/// it looks at a press, and one that follows too soon can get lost. It answers a question in the
/// order of its events (EWMH, `_NET_REQUEST_FRAME_EXTENTS`); one that answers none gets the time
/// that an answer takes. Where there is none, nobody holds anything.
pub fn sync(d: &mut Display) -> Result<(), Fault> {
    if is_present(d)? && !answers(d, PONG)? {
        tracing::debug!("no answer of a window manager");
    }
    Ok(())
}

/// Asks the window manager something, and waits for the answer; false where it has not come in
/// time.
fn answers(d: &mut Display, patience: Duration) -> Result<bool, Fault> {
    d.managed = false;
    tell(d, d.own, d.atoms._NET_REQUEST_FRAME_EXTENTS, [0; 5])?;
    d.becomes(Instant::now() + patience, |d| Ok(d.managed))
}

/// Whether anybody manages windows: only one at a time may redirect what the root is told (ICCCM,
/// 4.1).
fn is_present(d: &Display) -> Result<bool, Fault> {
    let root = d.conn.get_window_attributes(d.root)?.reply()?;
    Ok(root.all_event_masks.contains(EventMask::SUBSTRUCTURE_REDIRECT))
}

/// Brings a window to the front, back from where it was minimised or from another workspace, and
/// waits until it is there; false when it does not come.
pub fn raise(d: &mut Display, window: &Window) -> Result<bool, Fault> {
    let time = x11rb::CURRENT_TIME;
    // Source 2: like a pager, whom window managers obey.
    tell(d, window.id, d.atoms._NET_ACTIVE_WINDOW, [2, time, 0, 0, 0])?;
    if d.of_root(d.atoms._NET_SUPPORTING_WM_CHECK)?.is_none() {
        let top = ConfigureWindowAux::new().stack_mode(StackMode::ABOVE);
        d.conn.configure_window(window.frame, &top)?;
        d.conn.map_window(window.id)?;
    }
    let id = window.id;
    d.becomes(Instant::now() + RESTORE, |d| {
        Ok(windows::is_viewable(d, id)? && d.of_root(d.atoms._NET_ACTIVE_WINDOW)? == Some(id))
    })
}

/// Changes the size of a window's content, and waits until it has it; false when it keeps another.
pub fn resize(d: &mut Display, window: &Window, width: u32, height: u32) -> Result<bool, Fault> {
    let Extents { left, right, top, bottom } = window.shadow;
    let (id, width, height) = (window.id, width + left + right, height + top + bottom);
    d.conn.configure_window(id, &ConfigureWindowAux::new().width(width).height(height))?;
    d.becomes(Instant::now() + RESTORE, |d| {
        let now = d.conn.get_geometry(id)?.reply()?;
        Ok((u32::from(now.width), u32::from(now.height)) == (width, height))
    })
}

/// Moves a window, and waits until it is elsewhere; false when it stays.
pub fn move_by(d: &mut Display, window: &Window, (dx, dy): (f64, f64)) -> Result<bool, Fault> {
    let (whole, shadow) = (window.whole(), window.shadow);
    #[expect(clippy::cast_possible_truncation, reason = "a place near a screen")]
    let to = |at: f64, by: f64, shadow: u32| (at + by) as i32 - i32::try_from(shadow).unwrap_or(0);
    let place = ConfigureWindowAux::new().x(to(whole.x, dx, shadow.left)).y(to(whole.y, dy, shadow.top));
    d.conn.configure_window(window.id, &place)?;
    let (id, before) = (window.id, window.area);
    d.becomes(Instant::now() + RESTORE, |d| {
        let now = windows::all(d)?.into_iter().find(|w| w.id == id);
        Ok(now.is_some_and(|w| (w.area.x, w.area.y) != (before.x, before.y)))
    })
}

fn tell(d: &Display, window: WindowId, what: u32, data: [u32; 5]) -> Result<(), Fault> {
    let event = ClientMessageEvent::new(32, window, what, data);
    let mask = EventMask::SUBSTRUCTURE_NOTIFY | EventMask::SUBSTRUCTURE_REDIRECT;
    d.conn.send_event(false, d.root, mask, event)?;
    Ok(())
}
