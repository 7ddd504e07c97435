//! What a connection to a display keeps.

use crate::display::atoms::Atoms;
use crate::display::fault::Fault;
use hashbrown::HashMap;
use std::os::fd::OwnedFd;
use std::time::Duration;
use std::time::Instant;
use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::shm;
use x11rb::protocol::xinput::DeviceId;
use x11rb::protocol::xproto::ConnectionExt as _;
use x11rb::protocol::xproto::{Atom, Property};
use x11rb::protocol::xproto::{CreateWindowAux, PropMode, Window as WindowId, WindowClass};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

/// What we have, and what we hear from who has it.
#[derive(Debug, Default)]
pub(crate) struct Clipboard {
    /// The text that we give out.
    pub(crate) ours: Option<String>,
    /// The property that holds what was asked for; none when the owner has no such thing.
    pub(crate) answer: Option<Option<Atom>>,
    /// A further part of a long text has come.
    pub(crate) part: bool,
}

impl Clipboard {
    /// Another window has it now.
    pub(crate) fn lost(&mut self) {
        self.ours = None;
    }

    pub(crate) fn heard(&mut self, event: &Event) {
        match event {
            Event::SelectionNotify(e) => {
                self.answer = Some((e.property != x11rb::NONE).then_some(e.property))
            }
            Event::PropertyNotify(e) => self.part |= e.state == Property::NEW_VALUE,
            _ => {}
        }
    }
}

/// What our window is called.
pub(crate) const OWN: &str = "stickpin";

/// Keys that got a meaning from us.
#[derive(Debug, Default)]
pub(crate) struct Spares {
    /// Keysym and key.
    pub(crate) lent: HashMap<u32, u8>,
    pub(crate) used: Option<Instant>,
}

impl Spares {
    /// When they are to be given back.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.used.map(|used| used + LENT)
    }
}

/// Memory that the server writes pictures to.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) segment: shm::Seg,
    pub(crate) fd: OwnedFd,
    pub(crate) size: usize,
}

/// A pointer and a keyboard.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seat {
    pub(crate) pointer: DeviceId,
    pub(crate) keyboard: DeviceId,
}

/// How long keys keep the meaning that they got: apps look it up when they read the event, not when it was sent.
pub(crate) const LENT: Duration = Duration::from_secs(1);

/// A window that is never shown.
pub(crate) fn own_window(conn: &RustConnection, root: WindowId, atoms: &Atoms) -> Result<WindowId, Fault> {
    let own = conn.generate_id()?;
    let aux = CreateWindowAux::new().override_redirect(1);
    conn.create_window(0, own, root, -10, -10, 1, 1, 0, WindowClass::INPUT_ONLY, 0, &aux)?;
    conn.change_property8(PropMode::REPLACE, own, atoms._NET_WM_NAME, atoms.UTF8_STRING, OWN.as_bytes())?;
    Ok(own)
}

/// What became of keys for one window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// The window got them.
    Yes,
    /// There is no key of that name; nothing was sent.
    NoSuchKey,
    /// The window is not on the screen any more; nothing was sent.
    Gone,
    /// Another window keeps the keyboard; nothing was sent.
    Elsewhere,
    /// Something that is open holds the keyboard, whatever has the focus; nothing was sent.
    Held,
}
