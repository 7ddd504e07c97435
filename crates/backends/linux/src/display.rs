//! The X display: its windows, its pointer and keys, its pictures, its clipboard.
//!
//! The protocol is spoken on a thread of its own, so that a server that hangs stops nobody but its own session, and so
//! that the clipboard is served while nothing else happens. [`X11`] is the handle to that thread; jobs run there one at
//! a time and see the [`Display`].

mod atoms;
mod clipboard;
mod focus;
mod keymap;
mod keys;
mod leftovers;
mod manager;
mod only;
mod picture;
mod pings;
mod pointer;
mod seat;
mod window;
mod windows;

pub(crate) use only::Sent;
pub(crate) use pointer::button_number;
#[cfg(test)]
pub(crate) use window::Extents;
pub(crate) use window::{Presence, Window};

use crate::private::{Cookie, METHOD};
use atoms::Atoms;
use clipboard::Clipboard;
use keys::Spares;
use picture::Shared;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use seat::Seat;
use std::fmt;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use stickpin_device::{Error, ErrorCode, Result};
use tokio::sync::oneshot;
use x11rb::connection::{Connection, RequestConnection};
use x11rb::errors::{ConnectError, ConnectionError, ReplyError, ReplyOrIdError};
use x11rb::protocol::Event;
use x11rb::protocol::composite::{self, ConnectionExt as _};
use x11rb::protocol::xproto::{ConnectionExt, Window as WindowId};
use x11rb::reexports::x11rb_protocol::parse_display::parse_display;
use x11rb::rust_connection::{DefaultStream, RustConnection};

/// How long a display may take for one job.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// How much later than its window manager a display is given up that says nothing: that one it names itself.
const LATE: Duration = Duration::from_secs(1);

/// Which display, and how to get in.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    /// `:7`.
    pub(crate) name: String,
    /// Of a private display; what `XAUTHORITY` names otherwise.
    pub(crate) cookie: Option<Cookie>,
    /// Whether a person may be using it: we take a pointer and a keyboard of our own then.
    pub(crate) shared: bool,
}

/// Why the display did not do something.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// The connection broke.
    #[error("{0}")]
    Lost(String),
    /// The server refused a request: mostly because a window is gone.
    #[error("the display refused {0}")]
    Refused(String),
}

impl From<ConnectionError> for Fault {
    fn from(e: ConnectionError) -> Self {
        Self::Lost(e.to_string())
    }
}

impl From<ReplyError> for Fault {
    fn from(e: ReplyError) -> Self {
        match e {
            ReplyError::ConnectionError(e) => e.into(),
            ReplyError::X11Error(e) => {
                Self::Refused(format!("{} ({:?})", e.request_name.unwrap_or("a request"), e.error_kind))
            }
        }
    }
}

impl From<ReplyOrIdError> for Fault {
    fn from(e: ReplyOrIdError) -> Self {
        match e {
            ReplyOrIdError::ConnectionError(e) => e.into(),
            ReplyOrIdError::X11Error(e) => ReplyError::X11Error(e).into(),
            ReplyOrIdError::IdsExhausted => Self::Lost("no more ids".to_owned()),
        }
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        let code = match fault {
            Fault::Lost(_) => ErrorCode::BackendLost,
            Fault::Refused(_) => ErrorCode::ElementNotFound,
        };
        Self::new(code, format!("the X display: {fault}")).hint("stickpin doctor")
    }
}

/// What is run on the display's thread.
type Job = Box<dyn FnOnce(&mut Display) + Send>;

/// The handle to a display's thread. The thread ends when the last one is dropped.
#[derive(Debug, Clone)]
pub(crate) struct X11(Arc<Line>);

/// What reaches the thread.
#[derive(Debug)]
struct Line {
    jobs: Option<mpsc::Sender<Job>>,
    wake: Arc<OwnedFd>,
}

impl Drop for Line {
    fn drop(&mut self) {
        // The thread has to find its channel closed when it wakes.
        self.jobs = None;
        wake(&self.wake);
    }
}

fn wake(fd: &OwnedFd) {
    if let Err(e) = rustix::io::write(fd, &1_u64.to_ne_bytes()) {
        tracing::debug!(error = %e, "the display's thread is not woken");
    }
}

impl X11 {
    /// Connects, and returns when a window manager is there; for that of a display of our own it waits until `until`, and
    /// for a server that says nothing at all a little longer.
    ///
    /// # Errors
    /// `DEVICE_NOT_FOUND` when there is no such display, or it does not answer.
    pub(crate) async fn connect(address: Address, until: tokio::time::Instant) -> Result<Self> {
        let internal =
            |e: &dyn fmt::Display| Error::new(ErrorCode::Internal, format!("the display's thread: {e}"));
        let fd =
            rustix::event::eventfd(0, rustix::event::EventfdFlags::NONBLOCK).map_err(|e| internal(&e))?;
        let wake = Arc::new(fd);
        let (jobs, todo) = mpsc::channel::<Job>();
        let (ready, connected) = oneshot::channel();
        let (woken, name) = (Arc::clone(&wake), address.name.clone());
        let thread = move || {
            // Nobody waits for it any more if the other end is gone.
            let _ = match Display::connect(&address, until.into_std()) {
                Ok(display) => ready.send(Ok(())).map(|()| display.serve(&todo, &woken)),
                Err(e) => ready.send(Err(e)).map(drop),
            };
        };
        std::thread::Builder::new().name("x11".to_owned()).spawn(thread).map_err(|e| internal(&e))?;
        match tokio::time::timeout_at(until + LATE, connected).await {
            Ok(connected) => connected.map_err(|e| internal(&e))??,
            Err(_) => return Err(unusable(&name, &"it does not answer")),
        }
        Ok(Self(Arc::new(Line { jobs: Some(jobs), wake })))
    }

    /// Has a job run on the display, which nobody waits for.
    pub(crate) fn post(&self, job: impl FnOnce(&mut Display) -> Result<(), Fault> + Send + 'static) {
        let job = move |display: &mut Display| {
            if let Err(e) = job(display) {
                tracing::debug!("a display: {e}");
            }
        };
        // One that is gone has nothing left to do.
        self.send(Box::new(job));
    }

    /// Hands a job to the thread; false where that is gone.
    fn send(&self, job: Job) -> bool {
        let sent = self.0.jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_ok());
        wake(&self.0.wake);
        sent
    }

    /// Runs a job on the display. Dropped before its turn comes, the job is skipped.
    ///
    /// # Errors
    /// What the job says; `BACKEND_LOST` when the display does not answer or is gone.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Display) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T> {
        let (answer, answered) = oneshot::channel();
        let job = move |display: &mut Display| {
            // Input that nobody waits for any more is not sent.
            if !answer.is_closed() {
                // The caller may give up meanwhile.
                let _ = answer.send(job(display));
            }
        };
        let sent = self.send(Box::new(job));
        let lost = |why: &str| Error::from(Fault::Lost(why.to_owned()));
        match tokio::time::timeout(PATIENCE, answered).await {
            Ok(Ok(done)) if sent => Ok(done?),
            Ok(_) => Err(lost("its connection is closed")),
            Err(_) => Err(lost(&format!("it did not answer within {} s", PATIENCE.as_secs()))),
        }
    }
}

/// A connection to a display, on its thread.
#[derive(Debug)]
pub(crate) struct Display {
    conn: RustConnection,
    root: WindowId,
    /// Pixels of the whole.
    pub(crate) size: (u16, u16),
    atoms: Atoms,
    /// A window of ours that is never shown: it owns the clipboard, and is what we are known by.
    own: WindowId,
    seat: Option<Seat>,
    keymap: Option<keymap::Keymap>,
    spares: Spares,
    clipboard: Clipboard,
    shared: Option<Shared>,
    /// The windows, while nothing was told that may make others of them.
    known: Option<Vec<Window>>,
    /// Whether windows of others are watched for that: not on a display that somebody else uses, where there is much to tell.
    watches: bool,
    /// Answers to pings of windows: what was sent along.
    pongs: Vec<u32>,
    pinged: u32,
    /// Whether the window manager has answered what it was asked last.
    managed: bool,
}

impl Display {
    fn connect(address: &Address, until: Instant) -> Result<Self> {
        let failed = |e: &dyn fmt::Display| unusable(&address.name, e);
        let (conn, screen) = open(address).map_err(|e| failed(&e))?;
        let screen = &conn.setup().roots[screen];
        let (root, size) = (screen.root, (screen.width_in_pixels, screen.height_in_pixels));
        let prepare = || -> Result<_, Fault> {
            let atoms = Atoms::new(&conn)?.reply()?;
            let own = clipboard::own_window(&conn, root, &atoms)?;
            windows::watch(&conn, root, own)?;
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
    fn serve(mut self, todo: &mpsc::Receiver<Job>, woken: &OwnedFd) {
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
    fn handle_events(&mut self) -> Result<bool, Fault> {
        self.conn.flush()?;
        let mut any = false;
        while let Some(event) = self.conn.poll_for_event()? {
            self.handle(event)?;
            any = true;
        }
        Ok(any)
    }

    fn handle(&mut self, event: Event) -> Result<(), Fault> {
        if windows::may_change(&event, &self.atoms) {
            self.known = None;
        }
        match event {
            // Of a keyboard of our own we change it ourselves.
            Event::MappingNotify(_) if !self.has_seat() => self.keymap = None,
            Event::ClientMessage(message) => self.pongs.extend(pings::pong(&message, &self.atoms)),
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
    fn until<T>(
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
    fn sync(&self) -> Result<(), Fault> {
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

fn unusable(name: &str, why: &dyn fmt::Display) -> Error {
    Error::new(ErrorCode::DeviceNotFound, format!("the display {name} cannot be used: {why}"))
        .hint("stickpin doctor; a private display needs none")
}

/// Connects to the server.
fn open(address: &Address) -> Result<(RustConnection, usize), ConnectError> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{connect, desktop};
    use x11rb::protocol::xproto::{AtomEnum, PropMode};
    use x11rb::wrapper::ConnectionExt as _;

    #[tokio::test]
    async fn a_server_that_says_nothing_is_given_up() {
        let hangs = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        // The number of a display is that of its port, counted from 6000.
        let name = format!("127.0.0.1:{}", hangs.local_addr().unwrap().port() - 6000);
        let address = Address { name, cookie: None, shared: true };
        let connected = X11::connect(address, tokio::time::Instant::now());
        let connected = tokio::time::timeout(Duration::from_secs(30), connected).await;
        let error = connected.expect("it comes back").unwrap_err();
        assert_eq!(error.code, ErrorCode::DeviceNotFound);
        assert!(error.message.contains("does not answer"), "{error}");
    }

    #[tokio::test]
    async fn the_thread_ends_with_the_last_handle_and_not_before() {
        let dir = tempfile::tempdir().unwrap();
        let Some(mut private) = desktop(dir.path()).await else { return };
        let x11 = connect(&private).await;
        drop(x11.clone());
        assert!(x11.run(|d| d.sync()).await.is_ok(), "it is still there");
        // The thread has the other end of it.
        let line = Arc::downgrade(&x11.0.wake);
        drop(x11);
        let ended = async {
            while line.strong_count() > 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), ended).await.expect("nobody has a handle");
        private.end().await.unwrap();
    }

    #[tokio::test]
    async fn what_comes_along_with_an_answer_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let Some(mut private) = desktop(dir.path()).await else { return };
        let x11 = connect(&private).await;
        let looked = x11.run(|d| {
            // What the window manager still does would end the wait, too.
            d.until(Instant::now() + Duration::from_millis(500), |_| Ok(None::<()>))?;
            let mut looks = 0;
            d.until(Instant::now() + Duration::from_secs(3600), |d| {
                looks += 1;
                if looks == 1 {
                    // The event that says so is read with the answer to the next question.
                    let (root, name) = (d.root, d.atoms.STICKPIN_CLIPBOARD);
                    d.conn.change_property32(PropMode::REPLACE, root, name, AtomEnum::CARDINAL, &[1])?;
                    d.sync()?;
                }
                Ok((looks > 1).then_some(()))
            })
        });
        let looked = tokio::time::timeout(Duration::from_secs(30), looked).await;
        assert_eq!(looked.expect("it does not wait for what has come").unwrap(), Some(()));
        drop(x11);
        private.end().await.unwrap();
    }
}
