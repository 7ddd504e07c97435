//! Opens this host's coordinator, and supplies its clock and its check of which processes are
//! alive.

use crate::{agents, start};
use rustix::time::{ClockId, clock_gettime};
use std::sync::Arc;
use stickpin_coordinator::{Coordinator, Environment, Files};
use stickpin_kernel::Result;
use stickpin_process::Process;
use stickpin_session::turn::{Anchor, Liveness, Now};
use stickpin_wire::StateDir;

/// Opens the sessions of a state directory, and counts the start of a host there. Only one process
/// may have the sessions open.
///
/// # Errors
/// Returns `STATE_DIR_NOT_LOCAL` on a network file system, `LOG_VERSION_UNSUPPORTED` for an unknown
/// layout, `IO` or `STORAGE_FULL`.
pub fn coordinator(state_dir: &StateDir, files: Arc<dyn Files>) -> Result<Coordinator> {
    coordinator_of(state_dir, start::prepare(state_dir)?, files)
}

/// Opens the sessions of a state directory for start number `epoch`.
///
/// # Errors
/// Returns `IO` or `STORAGE_FULL`.
pub(crate) fn coordinator_of(state_dir: &StateDir, epoch: u64, files: Arc<dyn Files>) -> Result<Coordinator> {
    let (boot, booted) = (agents::boot_id(), agents::boot_id());
    let environment = Environment {
        now: Arc::new(move || Now { mono_ms: monotonic_ms(), boot_id: boot.clone(), wall: agents::now() }),
        random: Arc::new(rand::random),
        liveness: Arc::new(move |anchor| liveness(anchor, &booted)),
        pid: std::process::id(),
    };
    Coordinator::open_on(state_dir.path(), epoch, environment, files)
}

/// Returns the time, in milliseconds, of the clock that does not advance during suspend.
pub(crate) fn monotonic_ms() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    let ms = time.tv_sec.saturating_mul(1_000).saturating_add(time.tv_nsec / 1_000_000);
    u64::try_from(ms).unwrap_or_default()
}

/// Returns whether the root process of a harness is running. Another process that now has the same
/// id does not count.
pub(crate) fn liveness(anchor: &Anchor, boot_id: &str) -> Liveness {
    if anchor.boot_id != boot_id {
        return Liveness::Gone;
    }
    let process = Process { pid: anchor.pid, started: anchor.process_start.to_string() };
    if process.is_alive() { Liveness::Alive } else { Liveness::Gone }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_with_another_start_is_gone() {
        let me = std::process::id();
        let start = stickpin_process::ancestry(me, 1)[0].start;
        let anchor = |pid, process_start, boot: &str| Anchor {
            host_id: "h".into(),
            pid,
            process_start,
            boot_id: boot.into(),
            harness: "claude".into(),
        };
        assert_eq!(liveness(&anchor(me, start, "b"), "b"), Liveness::Alive);
        assert_eq!(liveness(&anchor(me, start + 1, "b"), "b"), Liveness::Gone);
        assert_eq!(liveness(&anchor(me, start, "a"), "b"), Liveness::Gone, "another boot");
    }
}
