//! The connection to a display, as seen by its thread: the known state of the server, and the
//! events that change it.

use crate::atoms::Atoms;
use crate::clipboard::{self, Clipboard};
use crate::error::X11Result;
use crate::keymap::Keymap;
use crate::window;
use hashbrown::HashMap;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::cell::OnceCell;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;
use stickpin_tree::Rect;
use x11rb::connection::Connection as _;
use x11rb::cookie::Cookie;
use x11rb::errors::ConnectionError;
use x11rb::protocol::Event;
use x11rb::protocol::xinput::DeviceId;
use x11rb::protocol::xproto::{
    AtomEnum, ChangeWindowAttributesAux, ConnectionExt as _, CreateWindowAux, EventMask, GetPropertyReply,
    PropMode, Property, Window as WindowId, WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

/// The maximum length of a property that is read, in units of four bytes.
pub(crate) const MAX_PROPERTY_WORDS: u32 = 4096;

/// A request for a property.
pub(crate) type PropertyRequest<'c> = Result<Cookie<'c, RustConnection, GetPropertyReply>, ConnectionError>;

/// The title of our window.
const WINDOW_NAME: &str = "stickpin";

/// A connection to a display, as seen by jobs on its thread ([`X11::run`](crate::X11::run)).
#[derive(Debug)]
pub struct Display {
    pub(crate) conn: RustConnection,
    pub(crate) root: WindowId,
    /// The width and height of the display, in pixels.
    pub(crate) size: (u16, u16),
    pub(crate) atoms: Atoms,
    /// Our window, which is never shown. It owns the clipboard and identifies this process to
    /// others.
    pub(crate) own: WindowId,
    /// Our own pointer and keyboard, if we have them; empty before the first input.
    pub(crate) seat: OnceCell<Option<Seat>>,
    /// The mapping that our own keyboard was given.
    pub(crate) keymap: Option<Keymap>,
    /// The spare keys that we have assigned keysyms to: the keycodes by keysym.
    pub(crate) lent_keys: HashMap<u32, u8>,
    /// When the spare keys are to be restored, if any are lent.
    pub(crate) lent_until: Option<Instant>,
    pub(crate) clipboard: Clipboard,
    /// The data of received ping replies.
    pub(crate) pongs: Vec<u32>,
    /// Whether the window manager responded to the last request for frame extents.
    pub(crate) managed: bool,
}

/// A pointer and the keyboard that belongs to it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seat {
    pub(crate) pointer: DeviceId,
    pub(crate) keyboard: DeviceId,
}

impl Display {
    /// Creates our window and selects the events that concern the root window and the clipboard.
    pub(crate) fn new(conn: RustConnection, screen: usize) -> X11Result<Self> {
        let screen = &conn.setup().roots[screen];
        let (root, size) = (screen.root, (screen.width_in_pixels, screen.height_in_pixels));
        let atoms = Atoms::new(&conn)?.reply()?;
        let own = conn.generate_id()?;
        let aux = CreateWindowAux::new().override_redirect(1).event_mask(EventMask::PROPERTY_CHANGE);
        conn.create_window(0, own, root, -10, -10, 1, 1, 0, WindowClass::INPUT_ONLY, 0, &aux)?;
        let (name, text) = (atoms._NET_WM_NAME, atoms.UTF8_STRING);
        conn.change_property8(PropMode::REPLACE, own, name, text, WINDOW_NAME.as_bytes())?;
        let told = EventMask::SUBSTRUCTURE_NOTIFY | EventMask::STRUCTURE_NOTIFY | EventMask::PROPERTY_CHANGE;
        conn.change_window_attributes(root, &ChangeWindowAttributesAux::new().event_mask(told))?;
        Ok(Self {
            conn,
            root,
            size,
            atoms,
            own,
            seat: OnceCell::new(),
            keymap: None,
            lent_keys: HashMap::new(),
            lent_until: None,
            clipboard: Clipboard::default(),
            pongs: Vec::new(),
            managed: false,
        })
    }

    /// Returns the area of the whole display.
    #[must_use]
    pub fn area(&self) -> Rect {
        window::pixels((0, 0), self.size)
    }

    /// Waits until the server sends something, `woken` is signaled, or `until` is reached. Events
    /// that arrived along with a reply are already in the queue: handle those first.
    pub(crate) fn wait(&self, woken: Option<&OwnedFd>, until: Option<Instant>) {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        let mut fds = vec![PollFd::from_borrowed_fd(self.conn.stream().as_fd(), PollFlags::IN)];
        fds.extend(woken.map(|fd| PollFd::new(fd, PollFlags::IN)));
        match poll(&mut fds, left.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(e) => tracing::debug!(error = %e, "polling a display"),
        }
        if let Some(fd) = woken {
            // There is nothing to read unless this descriptor ended the wait.
            let _ = rustix::io::read(fd, &mut [0_u8; 8][..]);
        }
    }

    /// Handles all queued events. Returns whether there were any.
    pub(crate) fn handle_events(&mut self) -> X11Result<bool> {
        self.conn.flush()?;
        let mut any = false;
        while let Some(event) = self.conn.poll_for_event()? {
            self.handle(event)?;
            any = true;
        }
        Ok(any)
    }

    fn handle(&mut self, event: Event) -> X11Result<()> {
        match event {
            Event::ClientMessage(message) if message.type_ == self.atoms.WM_PROTOCOLS => {
                let [protocol, sent, ..] = message.data.as_data32();
                self.pongs.extend((protocol == self.atoms._NET_WM_PING).then_some(sent));
            }
            Event::SelectionRequest(asked) => clipboard::serve_request(self, &asked)?,
            Event::SelectionClear(_) => self.clipboard.own_text = None,
            Event::SelectionNotify(e) => {
                self.clipboard.answer = Some((e.property != x11rb::NONE).then_some(e.property));
            }
            Event::PropertyNotify(e) if e.window != self.own => {}
            Event::PropertyNotify(e) if e.atom == self.atoms._NET_FRAME_EXTENTS => self.managed = true,
            Event::PropertyNotify(e) => self.clipboard.part |= e.state == Property::NEW_VALUE,
            Event::ConfigureNotify(e) if e.window == self.root => self.size = (e.width, e.height),
            // An error from a request without a reply, usually for a window that has gone.
            Event::Error(e) => tracing::debug!(kind = ?e.error_kind, request = ?e.request_name, "refused"),
            _ => {}
        }
        Ok(())
    }

    /// Handles events until a condition holds. Returns false if it does not hold by `deadline`.
    pub(crate) fn wait_until_true(
        &mut self,
        deadline: Instant,
        mut holds: impl FnMut(&mut Self) -> X11Result<bool>,
    ) -> X11Result<bool> {
        loop {
            self.handle_events()?;
            if holds(self)? {
                return Ok(true);
            }
            if Instant::now() >= deadline {
                return Ok(false);
            }
            // Events that arrived along with a reply to a request of `holds` are no longer in the
            // socket.
            if !self.handle_events()? {
                self.wait(None, Some(deadline));
            }
        }
    }

    /// Returns whether the process that created this window is another stickpin process that is
    /// still connected.
    ///
    /// Changes on a display that outlives us are recorded with the id of our window, which is
    /// destroyed with the connection. The next process can thus tell what a killed process left
    /// behind. The server reuses ids: a process that connects after a killed one usually gets the
    /// same ids. Another window therefore counts only if it has our title, and a record with our
    /// own id from before we changed anything is a leftover as well.
    pub(crate) fn is_owner_alive(&self, owner: WindowId) -> X11Result<bool> {
        let (name, text) = (self.atoms._NET_WM_NAME, self.atoms.UTF8_STRING);
        let called = self.conn.get_property(false, owner, name, text, 0, 16)?.reply();
        // The server refuses if there is no such window.
        Ok(owner != self.own && called.is_ok_and(|called| called.value == WINDOW_NAME.as_bytes()))
    }

    /// Waits until the server has processed all requests.
    pub(crate) fn sync(&self) -> X11Result<()> {
        Ok(self.conn.sync()?)
    }

    /// Requests a property of any type from a window.
    pub(crate) fn property(&self, window: WindowId, property: u32) -> PropertyRequest<'_> {
        self.conn.get_property(false, window, property, AtomEnum::ANY, 0, MAX_PROPERTY_WORDS)
    }

    /// Returns the numbers in a property; no numbers if the property is absent or does not consist
    /// of 32-bit numbers, or if the window has gone.
    pub(crate) fn numbers(&self, window: WindowId, property: u32) -> X11Result<Vec<u32>> {
        Ok(numbers(Ok(self.property(window, property)?)))
    }

    /// Returns the first number of a property of the root window.
    pub(crate) fn root_property(&self, property: u32) -> X11Result<Option<u32>> {
        Ok(self.numbers(self.root, property)?.first().copied())
    }

    /// Returns whether the server has an extension.
    pub(crate) fn has_extension(&self, name: &'static str) -> X11Result<bool> {
        use x11rb::connection::RequestConnection as _;
        Ok(self.conn.extension_information(name)?.is_some())
    }
}

/// Returns a requested property; `None` if the window has gone.
pub(crate) fn answer(asked: PropertyRequest<'_>) -> Option<GetPropertyReply> {
    asked.ok()?.reply().ok()
}

/// Returns the numbers in a requested property; no numbers if the property is absent or does not
/// consist of 32-bit numbers, or if the window has gone.
pub(crate) fn numbers(asked: PropertyRequest<'_>) -> Vec<u32> {
    answer(asked).and_then(|answer| Some(answer.value32()?.collect())).unwrap_or_default()
}

/// Returns the pixel that contains a point.
pub(crate) fn pixel(x: f64, y: f64) -> (i16, i16) {
    // `as` saturates.
    (x.floor() as i16, y.floor() as i16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_outside_are_the_farthest_pixel() {
        assert_eq!(pixel(1.9, -0.5), (1, -1));
        assert_eq!(pixel(1e9, f64::NAN), (i16::MAX, 0));
    }
}
