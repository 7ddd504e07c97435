//! The handle to a display, and the thread that speaks its protocol. A server that hangs stops only
//! its own session, and the clipboard is served between jobs.

use crate::address::Address;
use crate::display::Display;
use crate::error::{JOB_TIMEOUT, X11Error, X11Result};
use crate::{keyboard, screenshot, seat, window_manager};
use rustix::event::{EventfdFlags, eventfd};
use std::cell::OnceCell;
use std::fmt;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use stickpin_device::{Error, Result, ScreenshotImage};
use stickpin_tree::Rect;
use tokio::sync::oneshot;
use x11rb::protocol::composite::{self, ConnectionExt as _};

/// The additional time for connecting to the display after the wait for its window manager. This
/// margin ensures that a missing window manager is reported as such.
const DISPLAY_MARGIN: Duration = Duration::from_secs(1);

/// A job for the display's thread.
type Job = Box<dyn FnOnce(&mut Display) + Send>;

/// A handle to a display's thread. The thread ends when the last handle is dropped.
#[derive(Debug, Clone)]
pub struct X11(Arc<ThreadHandle>);

/// The channel to the thread.
#[derive(Debug)]
struct ThreadHandle {
    jobs: Option<mpsc::Sender<Job>>,
    wake: Arc<OwnedFd>,
}

impl Drop for ThreadHandle {
    fn drop(&mut self) {
        // The thread must find its channel closed when it wakes.
        self.jobs = None;
        wake(&self.wake);
    }
}

fn wake(fd: &OwnedFd) {
    if let Err(e) = rustix::io::write(fd, &1_u64.to_ne_bytes()) {
        tracing::debug!(error = %e, "cannot wake the display's thread");
    }
}

impl X11 {
    /// Connects to a display. On a private display, waits for the window manager until `until`, and
    /// a little longer for a server that does not respond.
    ///
    /// # Errors
    /// Returns `DEVICE_NOT_FOUND` when the display does not exist, cannot be used or does not
    /// respond, and `INTERNAL` when the display's thread cannot run.
    pub async fn connect(address: Address, until: tokio::time::Instant) -> Result<Self> {
        let internal =
            |e: &dyn fmt::Display| Error::internal(format!("cannot run the display's thread: {e}"));
        let wake = Arc::new(eventfd(0, EventfdFlags::NONBLOCK).map_err(|e| internal(&e))?);
        let (jobs, todo) = mpsc::channel::<Job>();
        let (ready, connected) = oneshot::channel();
        let (woken, to) = (Arc::clone(&wake), address.clone());
        let thread = move || {
            // If the receiver is gone, nobody is waiting any longer.
            let ended = match prepare(&to, until.into_std()) {
                Ok(display) => ready.send(Ok(())).map(|()| serve(display, &todo, &woken)),
                Err(e) => ready.send(Err(e)).map(Ok),
            };
            if let Ok(Err(e)) = ended {
                // The next job finds the channel closed.
                tracing::debug!("a display is lost: {e}");
            }
        };
        std::thread::Builder::new().name("x11".to_owned()).spawn(thread).map_err(|e| internal(&e))?;
        let connected = tokio::time::timeout_at(until + DISPLAY_MARGIN, connected).await;
        let connected = connected.map_err(|_| unusable(&address, &"it does not respond"))?;
        connected.map_err(|e| internal(&e))?.map_err(|e| unusable(&address, &e))?;
        Ok(Self(Arc::new(ThreadHandle { jobs: Some(jobs), wake })))
    }

    /// Runs a job on the display without waiting for it.
    pub fn post(&self, job: impl FnOnce(&mut Display) -> X11Result<()> + Send + 'static) {
        let job = move |display: &mut Display| {
            if let Err(e) = job(display) {
                tracing::debug!("a display: {e}");
            }
        };
        self.send(Box::new(job));
    }

    /// Sends a job to the thread. If the thread is gone, the job is dropped.
    fn send(&self, job: Job) {
        if let Some(jobs) = &self.0.jobs {
            let _ = jobs.send(job);
        }
        wake(&self.0.wake);
    }

    /// Takes a picture of a part of the screen.
    ///
    /// # Errors
    /// Returns `ELEMENT_OFFSCREEN` when the part is outside the screen; otherwise the errors of
    /// [`X11::run`] or of encoding the picture.
    pub async fn screenshot(&self, area: Rect) -> Result<ScreenshotImage> {
        let picture = self.run(move |d| screenshot::take_screenshot(d, area)).await?.ok_or_else(|| {
            Error::element_offscreen("the area of the screenshot is not on the screen")
                .hint("run `stickpin screenshot --full`")
        })?;
        let encoded = tokio::task::spawn_blocking(move || picture.encode()).await;
        encoded.map_err(|e| Error::internal(format!("cannot encode the picture: {e}")))?
    }

    /// Runs a job on the display. If this call is dropped before the job starts, the job is
    /// skipped.
    ///
    /// # Errors
    /// Returns the error of the job, or `BACKEND_LOST` when the display does not respond or is
    /// gone.
    pub async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Display) -> X11Result<T> + Send + 'static,
    ) -> Result<T> {
        let (answer, answered) = oneshot::channel();
        let job = move |display: &mut Display| {
            // Input whose caller has gone is not sent.
            if !answer.is_closed() {
                // The caller may have given up.
                let _ = answer.send(job(display));
            }
        };
        self.send(Box::new(job));
        let lost = |why: &str| Error::from(X11Error::Lost(why.to_owned()));
        match tokio::time::timeout(JOB_TIMEOUT, answered).await {
            Ok(Ok(done)) => Ok(done?),
            // The job was dropped.
            Ok(Err(_)) => Err(lost("connection closed")),
            Err(_) => Err(lost(&format!("no response within {} s", JOB_TIMEOUT.as_secs()))),
        }
    }
}

fn unusable(address: &Address, why: &dyn fmt::Display) -> Error {
    let or = if address.shared { ", or use `--private`, which needs no existing display" } else { "" };
    Error::device_not_found(format!("the display {} cannot be used: {why}", address.name))
        .hint(format!("run `stickpin doctor`{or}"))
}

/// Connects, and sets up everything that jobs rely on.
fn prepare(address: &Address, until: Instant) -> X11Result<Display> {
    let (conn, screen) = address.open().map_err(|e| X11Error::Lost(e.to_string()))?;
    let mut display = Display::new(conn, screen)?;
    if address.shared {
        seat::remove_leftovers(&display)?;
    } else {
        display.seat = OnceCell::from(None);
        window_manager::await_start(&mut display, until)?;
        draw_covered_windows(&display)?;
    }
    // As long as there is a leftover keyboard, requests about keys may concern that one. Its seat
    // must therefore be gone first.
    keyboard::remove_leftovers(&display)?;
    Ok(display)
}

/// Makes the server draw all windows completely, even where others cover them, until this
/// connection ends. Firefox reports a window's content as not shown when none of its pixels would
/// be drawn. Without complete drawing, the content could not be read behind another app.
fn draw_covered_windows(d: &Display) -> X11Result<()> {
    if !d.has_extension(composite::X11_EXTENSION_NAME)? {
        tracing::debug!("no Composite extension: a fully covered Firefox window shows nothing");
        return Ok(());
    }
    d.conn.composite_query_version(0, 4)?.reply()?;
    Ok(d.conn.composite_redirect_subwindows(d.root, composite::Redirect::AUTOMATIC)?.check()?)
}

/// Runs jobs and handles events until the last handle is dropped.
///
/// # Errors
/// Returns an error when the connection breaks.
fn serve(mut d: Display, todo: &mpsc::Receiver<Job>, woken: &OwnedFd) -> X11Result<()> {
    loop {
        match todo.try_recv() {
            Ok(job) => job(&mut d),
            Err(mpsc::TryRecvError::Disconnected) => return leave(&mut d),
            // Events come last: jobs may have queued some.
            Err(mpsc::TryRecvError::Empty) => {
                if d.lent_until.is_some_and(|due| due <= Instant::now()) {
                    keyboard::restore_spares(&mut d)?;
                }
                d.handle_events()?;
                d.wait(Some(woken), d.lent_until);
            }
        }
    }
}

/// Restores what we changed on the display.
fn leave(d: &mut Display) -> X11Result<()> {
    keyboard::restore_spares(d)?;
    if let Some(seat) = d.seat.take().flatten() {
        seat::remove_seat(d, seat)?;
    }
    d.sync()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{connect, desktop};
    use std::time::{Duration, Instant};
    use stickpin_device::ErrorCode;
    use x11rb::protocol::xproto::{AtomEnum, PropMode};
    use x11rb::wrapper::ConnectionExt as _;

    #[tokio::test]
    async fn a_server_that_says_nothing_is_given_up() {
        let hangs = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        // The number of a display is its port minus 6000.
        let name = format!("127.0.0.1:{}", hangs.local_addr().unwrap().port() - 6000);
        let address = Address { name, cookie: None, shared: true };
        let connected = X11::connect(address, tokio::time::Instant::now());
        let connected = tokio::time::timeout(Duration::from_secs(30), connected).await;
        let error = connected.expect("it comes back").unwrap_err();
        assert_eq!(error.code, ErrorCode::DeviceNotFound);
        assert!(error.message.contains("does not respond"), "{error}");
    }

    #[tokio::test]
    async fn the_thread_ends_with_the_last_handle_and_not_before() {
        let dir = tempfile::tempdir().unwrap();
        let Some(mut private) = desktop(dir.path()).await else { return };
        let x11 = connect(&private).await;
        drop(x11.clone());
        assert!(x11.run(|d| d.sync()).await.is_ok(), "it is still there");
        // The thread holds the other reference.
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
            // Events from the window manager would also end the wait.
            d.wait_until_true(Instant::now() + Duration::from_millis(500), |_| Ok(false))?;
            let mut looks = 0;
            d.wait_until_true(Instant::now() + Duration::from_secs(3600), |d| {
                looks += 1;
                if looks == 1 {
                    // This event is read together with the reply to the next request.
                    let (root, name) = (d.root, d.atoms.STICKPIN_CLIPBOARD);
                    d.conn.change_property32(PropMode::REPLACE, root, name, AtomEnum::CARDINAL, &[1])?;
                    d.sync()?;
                }
                Ok(looks > 1)
            })
        });
        let looked = tokio::time::timeout(Duration::from_secs(30), looked).await;
        assert!(looked.expect("it does not wait for what has come").unwrap());
        drop(x11);
        private.end().await.unwrap();
    }
}
