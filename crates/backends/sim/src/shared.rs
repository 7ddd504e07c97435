//! One running app, shared between its device and the tests that look into it; the passing of its time.

use crate::app::sim::Sim;
use crate::options::ClockKind;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use stickpin_device::{CancellationToken, Error, ErrorCode, Result};
use stickpin_tree::quote;
use tokio::sync::Notify;
use tokio::time::Instant;

/// A running app.
#[derive(Debug)]
pub(crate) struct Shared {
    sim: Mutex<Sim>,
    started: Instant,
    /// Rung when somebody else than the device changed the app.
    pub(crate) poke: Notify,
}

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Woken {
    /// The moment came.
    Time,
    /// Somebody changed the app.
    Poked,
    /// The caller gave up.
    Cancelled,
}

impl Shared {
    pub(crate) fn new(sim: Sim) -> Self {
        Self { sim: Mutex::new(sim), started: Instant::now(), poke: Notify::new() }
    }

    /// The app as it is now: on a real clock everything that came due meanwhile has happened.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Sim> {
        // A panic in a test that holds the lock must not hide the test's own message.
        let mut sim = self.sim.lock().unwrap_or_else(PoisonError::into_inner);
        if sim.options.clock == ClockKind::Real {
            let now = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
            sim.advance_to(now);
        }
        sim
    }

    /// The app, if it lives.
    pub(crate) fn live(&self) -> Result<MutexGuard<'_, Sim>> {
        let sim = self.lock();
        match &sim.dead {
            None => Ok(sim),
            Some(why) => Err(Error::new(ErrorCode::BackendLost, why.clone()).hint("open it again")),
        }
    }

    /// The app, if it lives and no dialog stops it from answering.
    pub(crate) fn free(&self) -> Result<MutexGuard<'_, Sim>> {
        let sim = self.live()?;
        match &sim.dialog {
            None => Ok(sim),
            Some(asked) => {
                let (kind, message) = (&asked.dialog.kind, &asked.dialog.message);
                Err(Error::new(
                    ErrorCode::DialogOpen,
                    format!("a {kind} dialog waits for an answer: {}", quote(message)),
                )
                .hint("alert accept, or alert dismiss"))
            }
        }
    }

    /// Lets time pass until a moment of the app. A virtual clock jumps there.
    pub(crate) async fn wait_until(&self, ms: u64, cancel: &CancellationToken) -> Woken {
        let jumps = {
            let mut sim = self.lock();
            let jumps = sim.options.clock == ClockKind::Virtual;
            if jumps {
                sim.advance_to(ms);
            }
            jumps
        };
        if jumps {
            // Who waits again and again never sleeps: without this nobody else has a turn, not even to end the wait.
            tokio::task::yield_now().await;
            return Woken::Time;
        }
        tokio::select! {
            () = tokio::time::sleep_until(self.started + Duration::from_millis(ms)) => Woken::Time,
            () = self.poke.notified() => Woken::Poked,
            () = cancel.cancelled() => Woken::Cancelled,
        }
    }
}

/// Whole milliseconds, rounded up, so that what is due then is due.
pub(crate) fn millis(d: Duration) -> u64 {
    u64::try_from(d.as_micros().div_ceil(1000)).unwrap_or(u64::MAX)
}
