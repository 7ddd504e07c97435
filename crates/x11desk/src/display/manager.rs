//! What windows are told through the window manager: to come to the front, to have another size or place. And whether it
//! is there and has done so.

use super::pings::PONG;
use super::window::Extents;
use crate::display::fault::{Fault, RESTORE};
use crate::display::numbers::numbers;
use crate::display::server::Display;
use crate::display::window::Window;
use std::time::{Duration, Instant};
use x11rb::protocol::xproto::{
    AtomEnum, ClientMessageEvent, ConfigureWindowAux, ConnectionExt, EventMask, MapState, StackMode,
    Window as WindowId,
};

/// How long a window manager gets before it is asked again.
const NUDGE: Duration = Duration::from_millis(50);

impl Display {
    /// Waits until a window manager is there and answers (EWMH, `_NET_REQUEST_FRAME_EXTENTS`).
    pub(super) fn await_window_manager(&mut self, deadline: Instant) -> Result<(), Fault> {
        let start = Instant::now();
        let there = self.until(deadline, |d| {
            let check = d.atoms._NET_SUPPORTING_WM_CHECK;
            Ok((!d.root_numbers(check)?.is_empty()).then_some(()))
        })?;
        while there.is_some() && Instant::now() < deadline {
            // Again and again: one that has just started may have read the first and not looked at it yet.
            self.tell_root(self.own, self.atoms._NET_REQUEST_FRAME_EXTENTS, [0; 5])?;
            let answered = self.until(Instant::now() + NUDGE, |d| {
                let asked =
                    d.conn.get_property(false, d.own, d.atoms._NET_FRAME_EXTENTS, AtomEnum::ANY, 0, 4)?;
                Ok((!numbers(asked.reply()).is_empty()).then_some(()))
            })?;
            if answered.is_some() {
                return Ok(());
            }
        }
        Err(Fault::Lost(format!("no window manager answered within {} s", start.elapsed().as_secs())))
    }

    /// Waits until the window manager has done with what it was told before: it holds the pointer while it looks at a
    /// press, and one that follows too soon can get lost. It answers a question in the order of its events (EWMH,
    /// `_NET_REQUEST_FRAME_EXTENTS`); one that answers none gets the time that an answer takes. Where there is none, nobody
    /// holds anything.
    pub fn managed(&mut self) -> Result<(), Fault> {
        if !self.has_window_manager()? {
            return Ok(());
        }
        self.managed = false;
        self.tell_root(self.own, self.atoms._NET_REQUEST_FRAME_EXTENTS, [0; 5])?;
        if self.until(Instant::now() + PONG, |d| Ok(d.managed.then_some(())))?.is_none() {
            tracing::debug!("no answer of a window manager");
        }
        Ok(())
    }

    /// Whether anybody manages windows: only one at a time may redirect what the root is told (ICCCM, 4.1).
    fn has_window_manager(&self) -> Result<bool, Fault> {
        let root = self.conn.get_window_attributes(self.root)?.reply()?;
        Ok(root.all_event_masks.contains(EventMask::SUBSTRUCTURE_REDIRECT))
    }

    /// Presses a button, and waits until the window manager lets the press through: many look first at each, that in the
    /// active window included, and what is asked of the app meanwhile is answered before it has got the press.
    pub fn press(&mut self, number: u8) -> Result<(), Fault> {
        self.button(number, true)?;
        self.managed()
    }

    /// Brings a window to the front, back from where it was minimised or from another workspace, and waits until it is
    /// there; false when it does not come.
    pub fn raise(&mut self, window: &Window) -> Result<bool, Fault> {
        let time = x11rb::CURRENT_TIME;
        // Source 2: like a pager, whom window managers obey.
        self.tell_root(window.id, self.atoms._NET_ACTIVE_WINDOW, [2, time, 0, 0, 0])?;
        if self.root_numbers(self.atoms._NET_SUPPORTING_WM_CHECK)?.is_empty() {
            let top = ConfigureWindowAux::new().stack_mode(StackMode::ABOVE);
            self.conn.configure_window(window.frame, &top)?;
            self.conn.map_window(window.id)?;
        }
        let id = window.id;
        let deadline = Instant::now() + RESTORE;
        let there = self.until(deadline, |d| {
            let viewable = d.conn.get_window_attributes(id)?.reply();
            let viewable = viewable.is_ok_and(|a| a.map_state == MapState::VIEWABLE);
            let active = d.root_numbers(d.atoms._NET_ACTIVE_WINDOW)?.first() == Some(&id);
            Ok((viewable && active).then_some(()))
        })?;
        Ok(there.is_some())
    }

    /// Changes the size of a window's content, and waits until it has it; false when it keeps another.
    pub fn resize(&mut self, window: &Window, width: u32, height: u32) -> Result<bool, Fault> {
        let Extents { left, right, top, bottom } = window.shadow;
        let size = ConfigureWindowAux::new().width(width + left + right).height(height + top + bottom);
        self.conn.configure_window(window.id, &size)?;
        let id = window.id;
        let want = (width + left + right, height + top + bottom);
        let deadline = Instant::now() + RESTORE;
        let there = self.until(deadline, |d| {
            let now = d.conn.get_geometry(id)?.reply()?;
            Ok(((u32::from(now.width), u32::from(now.height)) == want).then_some(()))
        })?;
        Ok(there.is_some())
    }

    /// Moves a window, and waits until it is elsewhere; false when it stays.
    pub fn move_by(&mut self, window: &Window, (dx, dy): (f64, f64)) -> Result<bool, Fault> {
        let (whole, shadow) = (window.whole(), window.shadow);
        #[expect(clippy::cast_possible_truncation, reason = "a place near a screen")]
        let to = |at: f64, by: f64, shadow: u32| (at + by) as i32 - i32::try_from(shadow).unwrap_or(0);
        let place = ConfigureWindowAux::new().x(to(whole.x, dx, shadow.left)).y(to(whole.y, dy, shadow.top));
        self.conn.configure_window(window.id, &place)?;
        let (id, before) = (window.id, window.area);
        let there = self.until(Instant::now() + RESTORE, |d| {
            let now = d.windows()?.into_iter().find(|w| w.id == id);
            Ok(now.filter(|w| (w.area.x, w.area.y) != (before.x, before.y)).map(drop))
        })?;
        Ok(there.is_some())
    }

    fn tell_root(&self, window: WindowId, what: u32, data: [u32; 5]) -> Result<(), Fault> {
        let event = ClientMessageEvent::new(32, window, what, data);
        let mask = EventMask::SUBSTRUCTURE_NOTIFY | EventMask::SUBSTRUCTURE_REDIRECT;
        self.conn.send_event(false, self.root, mask, event)?;
        Ok(())
    }
}
