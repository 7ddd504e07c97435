//! Setup of this host's coordinator: the clocks, the processes, and the number of the daemon's
//! starts.

use crate::agents;
use rustix::time::{ClockId, clock_gettime};
use std::path::Path;
use std::sync::Arc;
use stickpin_coordinator::{Coordinator, Environment, Files};
use stickpin_kernel::{Error, ErrorCode, Result, io_error};
use stickpin_process::Process;
use stickpin_session::turn::{Anchor, Liveness, Now};
use stickpin_wire::StateDir;

/// The magic numbers of network file systems, on which neither locks nor `fsync` are reliable.
const NETWORK: &[(u64, &str)] = &[
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB2"),
    (0x0102_1997, "9p"),
    (0x7375_7245, "Coda"),
    (0x5346_414f, "AFS"),
];

/// Opens the sessions of a state directory. Only one process may have them open.
///
/// # Errors
/// Returns `STATE_DIR_NOT_LOCAL` on a network file system, `IO` or `STORAGE_FULL`.
pub fn coordinator(state_dir: &StateDir, files: Arc<dyn Files>) -> Result<Coordinator> {
    check_local(state_dir.path())?;
    let epoch = next_epoch(&state_dir.daemon_dir().join("epoch"))?;
    let (boot, booted) = (agents::boot_id(), agents::boot_id());
    let environment = Environment {
        now: Arc::new(move || Now { mono_ms: monotonic_ms(), boot_id: boot.clone(), wall: agents::now() }),
        random: Arc::new(rand::random),
        liveness: Arc::new(move |anchor| liveness(anchor, &booted)),
        pid: std::process::id(),
    };
    Coordinator::open_on(state_dir.path(), epoch, environment, files)
}

/// Refuses a state directory on a network file system.
fn check_local(path: &Path) -> Result<()> {
    let found = rustix::fs::statfs(path).map_err(|e| io_error("examine", path, &e.into()))?;
    match network(found.f_type.cast_unsigned()) {
        None => Ok(()),
        Some(name) => {
            let message = format!(
                "the state directory {} is on {name}, where file locks are unreliable",
                path.display()
            );
            Err(Error::new(ErrorCode::StateDirNotLocal, message)
                .hint("choose a folder on this machine with `--state-dir DIR` or STICKPIN_STATE_DIR"))
        }
    }
}

fn network(magic: u64) -> Option<&'static str> {
    NETWORK.iter().find(|(known, _)| *known == magic & 0xffff_ffff).map(|(_, name)| *name)
}

/// Returns the milliseconds of the clock that does not advance during suspend.
pub(crate) fn monotonic_ms() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    let ms = time.tv_sec.saturating_mul(1_000).saturating_add(time.tv_nsec / 1_000_000);
    u64::try_from(ms).unwrap_or_default()
}

/// Returns whether the root process of a harness is running. Its id may now belong to another
/// process.
pub(crate) fn liveness(anchor: &Anchor, boot_id: &str) -> Liveness {
    if anchor.boot_id != boot_id {
        return Liveness::Gone;
    }
    let process = Process { pid: anchor.pid, started: anchor.process_start.to_string() };
    if process.is_alive() { Liveness::Alive } else { Liveness::Gone }
}

/// Counts this start. The count is on disk before any client can connect.
fn next_epoch(file: &Path) -> Result<u64> {
    let before = match std::fs::read_to_string(file) {
        Ok(text) => text.trim().parse().unwrap_or(0),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => 0,
        Err(e) => return Err(io_error("read", file, &e)),
    };
    let epoch: u64 = before + 1;
    crate::files::write(file, &epoch)?;
    Ok(epoch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_start_has_its_own_epoch() {
        let tmp = tempfile::tempdir().unwrap();
        let file = tmp.path().join("epoch");
        assert_eq!((next_epoch(&file).unwrap(), next_epoch(&file).unwrap()), (1, 2));
    }

    #[test]
    fn network_file_systems_are_refused() {
        assert_eq!(network(0x6969), Some("NFS"));
        assert_eq!(network(0xffff_ffff_ff53_4d42), Some("CIFS"));
        assert_eq!(network(0xef53), None);
        check_local(&std::env::temp_dir()).unwrap();
    }

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
