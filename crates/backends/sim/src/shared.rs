//! One running app, shared between its device and the tests that look into it; the passing of its time.

use crate::app::sim::Sim;
use crate::options::ClockKind;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use stickpin_device::CancellationToken;
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
