//! The X display: its windows, its pointer and keys, its pictures, its clipboard.
//!
//! The protocol is spoken on a thread of its own, so that a server that hangs stops nobody but its own session, and so
//! that the clipboard is served while nothing else happens. [`X11`] is the handle to that thread; jobs run there one at
//! a time and see the [`Display`].

mod atoms;
mod clipboard;
pub(crate) mod fault;
mod focus;
mod keymap;
mod keys;
mod leftovers;
mod manager;
pub(crate) mod numbers;
mod only;
pub(crate) mod picture;
mod pings;
mod pointer;
mod seat;
pub(crate) mod server;
pub(crate) mod state;
mod watched;
mod window;
mod windows;

pub use window::{Extents, Presence, Window};

use crate::display::fault::{Fault, PATIENCE};
use crate::display::server::{Address, Display, Job, LATE, unusable};
use std::fmt;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc;
use stickpin_device::{Error, ErrorCode, Result};
use tokio::sync::oneshot;

/// The handle to a display's thread. The thread ends when the last one is dropped.
#[derive(Debug, Clone)]
pub struct X11(Arc<Line>);

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
    pub async fn connect(address: Address, until: tokio::time::Instant) -> Result<Self> {
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
    pub fn post(&self, job: impl FnOnce(&mut Display) -> Result<(), Fault> + Send + 'static) {
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
    pub async fn run<T: Send + 'static>(
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{connect, desktop};
    use std::time::{Duration, Instant};
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
