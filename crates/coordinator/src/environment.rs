//! The environment of a coordinator: the time, randomness, and running processes.

use std::fmt;
use std::sync::Arc;
use stickpin_session::turn::{Anchor, Liveness, Now};

/// The clock, randomness and processes of the host. Tests provide their own.
#[derive(Clone)]
pub struct Environment {
    /// Returns the time on the monotonic clock and on the wall clock.
    pub now: Arc<dyn Fn() -> Now + Send + Sync>,
    /// Returns 128 random bits, for the ids of sessions, leases and loans.
    pub random: Arc<dyn Fn() -> u128 + Send + Sync>,
    /// Returns whether the root process of a harness is running.
    pub liveness: Arc<dyn Fn(&Anchor) -> Liveness + Send + Sync>,
    /// The id of the process that renews leases.
    pub pid: u32,
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment").field("pid", &self.pid).finish_non_exhaustive()
    }
}

impl Environment {
    /// Returns a new fencing token for a grant.
    pub(crate) fn lease_id(&self) -> stickpin_session::turn::LeaseId {
        stickpin_session::turn::LeaseId::new(format!("{:032x}", (self.random)()))
    }
}
