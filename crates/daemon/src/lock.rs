//! File locks. The operating system releases them when the process ends for any reason, so they
//! decide ownership; file contents are only hints.

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use stickpin_kernel::{Result, io_error};

/// The interval between attempts to take a lock that another process holds.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// A lock that this process does not hold.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
    path: PathBuf,
}

/// A lock that is held until it is dropped.
#[derive(Debug)]
pub(crate) struct LockGuard {
    _file: File,
}

impl Lock {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let file = File::options().create(true).truncate(false).write(true).open(path);
        let file = file.map_err(|e| io_error("lock", path, &e))?;
        Ok(Self { file, path: path.to_path_buf() })
    }

    /// Takes the lock, or returns `self` if another process holds it.
    fn try_take(self) -> Result<Result<LockGuard, Self>> {
        match flock(&self.file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Ok(LockGuard { _file: self.file })),
            Err(Errno::WOULDBLOCK) => Ok(Err(self)),
            Err(e) => Err(io_error("lock", &self.path, &e.into())),
        }
    }

    /// Waits for the lock and takes it. Returns `None` when `until` has passed, or as soon as
    /// `gives_up` returns true while another process holds the lock.
    pub(crate) fn take_until(self, until: Instant, gives_up: impl Fn() -> bool) -> Result<Option<LockGuard>> {
        let mut lock = self;
        loop {
            lock = match lock.try_take()? {
                Ok(held) => return Ok(Some(held)),
                Err(lock) => lock,
            };
            if gives_up() || Instant::now() >= until {
                return Ok(None);
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_passes_to_the_next_waiter() {
        let tmp = tempfile::tempdir().unwrap();
        let path = tmp.path().join("lock");
        let lock = || Lock::open(&path).unwrap();
        let long = Instant::now() + Duration::from_secs(60);
        let first = lock().take_until(long, || false).unwrap().expect("free");
        assert!(lock().take_until(Instant::now(), || false).unwrap().is_none(), "held");
        assert!(lock().take_until(long, || true).unwrap().is_none(), "given up");
        drop(first);
        assert!(lock().take_until(long, || true).unwrap().is_some());
    }
}
