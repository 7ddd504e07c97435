//! A connection to a display, on the thread that speaks its protocol.

use crate::display::atoms::Atoms;
use crate::display::fault::Fault;
use crate::display::state::{Clipboard, Seat, Shared, Spares};
use crate::display::window::Window;
use crate::display::{keymap, state, watched};
use crate::private::{Cookie, METHOD};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fmt;
use std::os::fd::AsFd;
use std::os::fd::OwnedFd;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use stickpin_device::{Error, ErrorCode, Result};
use x11rb::connection::{Connection as _, RequestConnection as _};
use x11rb::errors::ConnectError;
use x11rb::protocol::Event;
use x11rb::protocol::composite::{self, ConnectionExt as _};
use x11rb::protocol::xproto::ConnectionExt as _;
use x11rb::protocol::xproto::Window as WindowId;
use x11rb::reexports::x11rb_protocol::parse_display::parse_display;
use x11rb::rust_connection::{DefaultStream, RustConnection};

/// A connection to a display, on its thread.
#[derive(Debug)]
pub struct Display {
    pub(crate) conn: RustConnection,
    pub(crate) root: WindowId,
    /// Pixels of the whole.
    pub(crate) size: (u16, u16),
    pub(crate) atoms: Atoms,
    /// A window of ours that is never shown: it owns the clipboard, and is what we are known by.
    pub(crate) own: WindowId,
    pub(crate) seat: Option<Seat>,
    pub(crate) keymap: Option<keymap::Keymap>,
    pub(crate) spares: Spares,
    pub(crate) clipboard: Clipboard,
    pub(crate) shared: Option<Shared>,
    /// The windows, while nothing was told that may make others of them.
    pub(crate) known: Option<Vec<Window>>,
    /// Whether windows of others are watched for that: not on a display that somebody else uses, where there is much to tell.
    pub(crate) watches: bool,
    /// Answers to pings of windows: what was sent along.
    pub(crate) pongs: Vec<u32>,
    pub(crate) pinged: u32,
    /// Whether the window manager has answered what it was asked last.
    pub(crate) managed: bool,
}

impl Display {
    pub(crate) fn connect(address: &Address, until: Instant) -> Result<Self> {
        let failed = |e: &dyn fmt::Display| unusable(&address.name, e);
        let (conn, screen) = open(address).map_err(|e| failed(&e))?;
        let screen = &conn.setup().roots[screen];
        let (root, size) = (screen.root, (screen.width_in_pixels, screen.height_in_pixels));
        let prepare = || -> Result<_, Fault> {
            let atoms = Atoms::new(&conn)?.reply()?;
            let own = state::own_window(&conn, root, &atoms)?;
            watched::watch(&conn, root, own)?;
            Ok((atoms, own))
        };
        let (atoms, own) = prepare().map_err(|e| failed(&e))?;
        let mut display = Self {
            conn,
            root,
            size,
            atoms,
            own,
            seat: None,
            keymap: None,
            spares: Spares::default(),
            clipboard: Clipboard::default(),
            shared: None,
            known: None,
            watches: !address.shared,
            pongs: Vec::new(),
            pinged: 0,
            managed: false,
        };
        display.remove_leftovers().map_err(|e| failed(&e))?;
        if address.shared {
            display.take_seat().map_err(|e| failed(&e))?;
        } else {
            display.await_window_manager(until).map_err(|e| failed(&e))?;
            display.draw_covered_windows().map_err(|e| failed(&e))?;
        }
        Ok(display)
    }

    /// Width and height of the whole display in pixels.
    pub fn size(&self) -> (u16, u16) {
        self.size
    }

    /// Has the server draw all windows whole, also where others cover them, until this connection ends. Firefox says of
    /// nothing in a window that it is shown once no pixel of it would be drawn, so that it could not be read while
    /// another app lies over it.
    fn draw_covered_windows(&self) -> Result<(), Fault> {
        if self.conn.extension_information(composite::X11_EXTENSION_NAME)?.is_none() {
            tracing::debug!("no Composite: a window of Firefox that is covered entirely shows nothing");
            return Ok(());
        }
        self.conn.composite_query_version(0, 4)?.reply()?;
        self.conn.composite_redirect_subwindows(self.root, composite::Redirect::AUTOMATIC)?.check()?;
        Ok(())
    }

    /// Runs jobs and handles events until nobody holds a handle any more, or the connection breaks.
    pub(crate) fn serve(mut self, todo: &mpsc::Receiver<Job>, woken: &OwnedFd) {
        loop {
            loop {
                match todo.try_recv() {
                    Ok(job) => job(&mut self),
                    Err(mpsc::TryRecvError::Empty) => break,
                    Err(mpsc::TryRecvError::Disconnected) => {
                        if let Err(e) = self.leave() {
                            tracing::debug!("leaving a display: {e}");
                        }
                        return;
                    }
                }
            }
            // Events last: what is asked for may bring some along.
            let handled = self.restore_spares(Instant::now()).and_then(|()| self.handle_events());
            if let Err(e) = handled {
                // The next job finds the channel closed.
                tracing::debug!("a display is lost: {e}");
                return;
            }
            self.wait(Some(woken), self.spares.due());
        }
    }

    /// Waits until the server says something, `woken` is, or `until` has come. Events that came along with an answer are not
    /// waited for: they are handled first.
    fn wait(&self, woken: Option<&OwnedFd>, until: Option<Instant>) {
        let left = until.map(|until| {
            let left = until.saturating_duration_since(Instant::now());
            Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) }
        });
        let mut fds = vec![PollFd::from_borrowed_fd(self.conn.stream().as_fd(), PollFlags::IN)];
        fds.extend(woken.map(|fd| PollFd::new(fd, PollFlags::IN)));
        match poll(&mut fds, left.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(e) => tracing::debug!(error = %e, "polling a display"),
        }
        if let Some(fd) = woken {
            // Empty when it was the server that said something.
            let _ = rustix::io::read(fd, &mut [0_u8; 8][..]);
        }
    }

    /// Handles what has come; whether anything has.
    pub(crate) fn handle_events(&mut self) -> Result<bool, Fault> {
        self.conn.flush()?;
        let mut any = false;
        while let Some(event) = self.conn.poll_for_event()? {
            self.handle(event)?;
            any = true;
        }
        Ok(any)
    }

    fn handle(&mut self, event: Event) -> Result<(), Fault> {
        if watched::may_change(&event, &self.atoms) {
            self.known = None;
        }
        match event {
            // Of a keyboard of our own we change it ourselves.
            Event::MappingNotify(_) if !self.has_seat() => self.keymap = None,
            Event::ClientMessage(message) => self.pongs.extend(watched::pong(&message, &self.atoms)),
            Event::SelectionRequest(asked) => self.give_clipboard(&asked)?,
            Event::SelectionClear(_) => self.clipboard.lost(),
            Event::SelectionNotify(_) => self.clipboard.heard(&event),
            Event::PropertyNotify(e) if e.atom == self.atoms._NET_FRAME_EXTENTS => self.managed = true,
            Event::PropertyNotify(e) if e.window == self.own => self.clipboard.heard(&event),
            Event::ConfigureNotify(e) if e.window == self.root => self.size = (e.width, e.height),
            // An error of a request that nobody waits for: mostly a window that went away.
            Event::Error(e) => tracing::debug!(kind = ?e.error_kind, request = ?e.request_name, "refused"),
            _ => {}
        }
        Ok(())
    }

    /// Handles events until `done` says something, at most until `deadline`.
    pub(crate) fn until<T>(
        &mut self,
        deadline: Instant,
        mut done: impl FnMut(&mut Self) -> Result<Option<T>, Fault>,
    ) -> Result<Option<T>, Fault> {
        loop {
            self.handle_events()?;
            if let Some(value) = done(self)? {
                return Ok(Some(value));
            }
            if Instant::now() >= deadline {
                return Ok(None);
            }
            // What came along with an answer to that is not in the socket any more.
            if !self.handle_events()? {
                self.wait(None, Some(deadline));
            }
        }
    }

    /// Until the server has done all that was asked of it.
    pub(crate) fn sync(&self) -> Result<(), Fault> {
        self.conn.get_input_focus()?.reply()?;
        Ok(())
    }

    /// Puts back what was changed for us.
    fn leave(&mut self) -> Result<(), Fault> {
        self.release_all()?;
        self.restore_spares_now()?;
        self.leave_seat()?;
        self.sync()
    }
}

/// Which display, and how to get in.
#[derive(Debug, Clone)]
pub struct Address {
    /// `:7`.
    pub(crate) name: String,
    /// Of a private display; what `XAUTHORITY` names otherwise.
    pub(crate) cookie: Option<Cookie>,
    /// Whether a person may be using it: we take a pointer and a keyboard of our own then.
    pub(crate) shared: bool,
}

impl Address {
    /// A display that a person may be using, by its name.
    #[must_use]
    pub fn shared(name: &str) -> Self {
        Self { name: name.to_owned(), cookie: None, shared: true }
    }
}

/// Connects to the server.
pub(crate) fn open(address: &Address) -> Result<(RustConnection, usize), ConnectError> {
    let Some(Cookie(secret)) = &address.cookie else { return RustConnection::connect(Some(&address.name)) };
    let parsed = parse_display(Some(&address.name))?;
    let mut failed = ConnectError::from(std::io::Error::from(std::io::ErrorKind::NotFound));
    for at in parsed.connect_instruction() {
        match DefaultStream::connect(&at) {
            Ok((stream, _)) => {
                let screen = usize::from(parsed.screen);
                let (method, secret) = (METHOD.to_vec(), secret.to_vec());
                let conn = RustConnection::connect_to_stream_with_auth_info(stream, screen, method, secret)?;
                return Ok((conn, screen));
            }
            Err(e) => failed = e.into(),
        }
    }
    Err(failed)
}

pub(crate) fn unusable(name: &str, why: &dyn fmt::Display) -> Error {
    Error::new(ErrorCode::DeviceNotFound, format!("the display {name} cannot be used: {why}"))
        .hint("stickpin doctor; a private display needs none")
}

/// How much later than its window manager a display is given up that says nothing: that one it names itself.
pub(crate) const LATE: Duration = Duration::from_secs(1);

/// What is run on the display's thread.
pub(crate) type Job = Box<dyn FnOnce(&mut Display) + Send>;
