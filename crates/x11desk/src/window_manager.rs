//! Requests to the window manager: activating, resizing and moving windows, and waiting for the
//! results.

use crate::display::Display;
use crate::error::{RESTORE_TIMEOUT, X11Error, X11Result};
use crate::pings::PONG_TIMEOUT;
use crate::window::{Extents, Window};
use crate::windows;
use std::time::{Duration, Instant};
use x11rb::protocol::xproto::{
    ClientMessageEvent, ConfigureWindowAux, ConnectionExt, EventMask, Window as WindowId,
};

/// The time before a request to the window manager is repeated.
const RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// Waits until a window manager is running and answers (EWMH, `_NET_REQUEST_FRAME_EXTENTS`).
pub(crate) fn await_start(d: &mut Display, deadline: Instant) -> X11Result<()> {
    let start = Instant::now();
    let there =
        d.wait_until_true(deadline, |d| Ok(d.root_property(d.atoms._NET_SUPPORTING_WM_CHECK)?.is_some()))?;
    while there && Instant::now() < deadline {
        // Repeat the request, because a window manager that is starting may discard the first one.
        if answers(d, RETRY_INTERVAL)? {
            return Ok(());
        }
    }
    Err(X11Error::Lost(format!("no window manager answered within {} s", start.elapsed().as_secs())))
}

/// Waits until the window manager has processed earlier requests. A window manager grabs the
/// pointer while it inspects a press, and a press that follows too soon can get lost.
///
/// Window managers respond to a request in the order of their events (EWMH,
/// `_NET_REQUEST_FRAME_EXTENTS`). For a window manager that does not respond, this function waits
/// until the timeout. Without a window manager, it returns immediately.
pub fn sync(d: &mut Display) -> X11Result<()> {
    // Only one client at a time may redirect events of the root window (ICCCM 4.1).
    let root = d.conn.get_window_attributes(d.root)?.reply()?;
    let is_present = root.all_event_masks.contains(EventMask::SUBSTRUCTURE_REDIRECT);
    if is_present && !answers(d, PONG_TIMEOUT)? {
        tracing::debug!("no answer from the window manager");
    }
    Ok(())
}

/// Sends the window manager a request. Returns false if it does not respond in time.
fn answers(d: &mut Display, patience: Duration) -> X11Result<bool> {
    d.managed = false;
    tell(d, d.own, d.atoms._NET_REQUEST_FRAME_EXTENTS, [0; 5])?;
    d.wait_until_true(Instant::now() + patience, |d| Ok(d.managed))
}

/// Activates a window, even if it is minimized or on another workspace, and waits until it is shown
/// and active. Returns false if that does not happen in time.
pub fn raise(d: &mut Display, window: &Window) -> X11Result<bool> {
    let time = x11rb::CURRENT_TIME;
    // Source 2 is a pager, which window managers obey.
    tell(d, window.id, d.atoms._NET_ACTIVE_WINDOW, [2, time, 0, 0, 0])?;
    let id = window.id;
    d.wait_until_true(Instant::now() + RESTORE_TIMEOUT, |d| {
        Ok(windows::is_viewable(d, id)? && d.root_property(d.atoms._NET_ACTIVE_WINDOW)? == Some(id))
    })
}

/// Changes the size of a window's content and waits for the result. Returns false if the window
/// keeps another size.
pub fn resize(d: &mut Display, window: &Window, width: u32, height: u32) -> X11Result<bool> {
    let Extents { left, right, top, bottom } = window.shadow;
    let (id, width, height) = (window.id, width + left + right, height + top + bottom);
    d.conn.configure_window(id, &ConfigureWindowAux::new().width(width).height(height))?;
    d.wait_until_true(Instant::now() + RESTORE_TIMEOUT, |d| {
        let now = d.conn.get_geometry(id)?.reply()?;
        Ok((u32::from(now.width), u32::from(now.height)) == (width, height))
    })
}

/// Moves a window and waits until it has moved. Returns false if it stays.
pub fn move_by(d: &mut Display, window: &Window, (dx, dy): (f64, f64)) -> X11Result<bool> {
    let (whole, shadow) = (window.area_with_decoration(), window.shadow);
    #[expect(clippy::cast_possible_truncation, reason = "a position near the screen")]
    let to = |at: f64, by: f64, shadow: u32| (at + by) as i32 - i32::try_from(shadow).unwrap_or(0);
    let place = ConfigureWindowAux::new().x(to(whole.x, dx, shadow.left)).y(to(whole.y, dy, shadow.top));
    d.conn.configure_window(window.id, &place)?;
    let (id, before) = (window.id, window.area);
    d.wait_until_true(Instant::now() + RESTORE_TIMEOUT, |d| {
        let now = windows::list_windows(d)?.into_iter().find(|w| w.id == id);
        Ok(now.is_some_and(|w| (w.area.x, w.area.y) != (before.x, before.y)))
    })
}

fn tell(d: &Display, window: WindowId, what: u32, data: [u32; 5]) -> X11Result<()> {
    let event = ClientMessageEvent::new(32, window, what, data);
    let mask = EventMask::SUBSTRUCTURE_NOTIFY | EventMask::SUBSTRUCTURE_REDIRECT;
    d.conn.send_event(false, d.root, mask, event)?;
    Ok(())
}
