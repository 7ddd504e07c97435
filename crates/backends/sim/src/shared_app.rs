//! A running app, which its device and the tests share, and its clock.

use crate::app::sim::Sim;
use crate::options::ClockKind;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use stickpin_device::{CancellationToken, Error, Result};
use tokio::sync::Notify;
use tokio::time::Instant;

/// A running app.
#[derive(Debug)]
pub(crate) struct SharedApp {
    sim: Mutex<Sim>,
    started: Instant,
    /// Notified when code other than the device changes the app.
    pub(crate) changed: Notify,
}

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitEnd {
    /// The moment was reached.
    Time,
    /// The app was changed.
    Poked,
    /// The caller cancelled.
    Cancelled,
}

impl SharedApp {
    pub(crate) fn new(sim: Sim) -> Self {
        Self { sim: Mutex::new(sim), started: Instant::now(), changed: Notify::new() }
    }

    /// Returns the app as it is now. On a real clock, all due timers have run.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Sim> {
        // A panic in a test that holds the lock must not hide the test's own message.
        let mut sim = self.sim.lock().unwrap_or_else(PoisonError::into_inner);
        if sim.options.clock == ClockKind::Real {
            let now = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
            sim.advance_to(now);
        }
        sim
    }

    /// Returns the app if it has not ended.
    pub(crate) fn running_app(&self) -> Result<MutexGuard<'_, Sim>> {
        let sim = self.lock();
        match &sim.end_reason {
            None => Ok(sim),
            Some(why) => {
                Err(Error::backend_lost(why.clone()).hint("run `stickpin open sim:APP` to open it again"))
            }
        }
    }

    /// Returns the app if it has not ended and no dialog blocks it.
    pub(crate) fn unblocked_app(&self) -> Result<MutexGuard<'_, Sim>> {
        let sim = self.running_app()?;
        match &sim.dialog {
            None => Ok(sim),
            Some(asked) => {
                let message = format!("a dialog is waiting for an answer: {}", asked.dialog.describe());
                Err(Error::dialog_open(message)
                    .hint("run `stickpin alert accept` or `stickpin alert dismiss`"))
            }
        }
    }

    /// Waits until `ms` milliseconds after the app was opened; a virtual clock jumps to that
    /// moment. On a real clock, the wait also ends when the app is changed or the caller cancels.
    pub(crate) async fn wait_until(&self, ms: u64, cancel: &CancellationToken) -> WaitEnd {
        let is_virtual = {
            let mut sim = self.lock();
            let is_virtual = sim.options.clock == ClockKind::Virtual;
            if is_virtual {
                sim.advance_to(ms);
            }
            is_virtual
        };
        if is_virtual {
            // A loop of such waits never sleeps. Without yielding, no other task could run, not
            // even to end the wait.
            tokio::task::yield_now().await;
            return WaitEnd::Time;
        }
        tokio::select! {
            () = tokio::time::sleep_until(self.started + Duration::from_millis(ms)) => WaitEnd::Time,
            () = self.changed.notified() => WaitEnd::Poked,
            () = cancel.cancelled() => WaitEnd::Cancelled,
        }
    }
}

/// Converts a duration to whole milliseconds, rounded up, so that timers due at its end run.
pub(crate) fn millis(d: Duration) -> u64 {
    u64::try_from(d.as_micros().div_ceil(1000)).unwrap_or(u64::MAX)
}
