//! File locks. The kernel releases them when the process ends for any reason, so they decide
//! ownership where file contents are only hints.

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::File;
use std::path::{Path, PathBuf};
use stickpin_kernel::{Result, io_error};

/// A lock that is not held.
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
    pub(crate) fn try_take(self) -> Result<Result<LockGuard, Self>> {
        match flock(&self.file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Ok(LockGuard { _file: self.file })),
            Err(Errno::WOULDBLOCK) => Ok(Err(self)),
            Err(e) => Err(io_error("lock", &self.path, &e.into())),
        }
    }

    /// Waits for the lock and takes it. The client that started this process limits the wait.
    pub(crate) fn wait(self) -> Result<LockGuard> {
        loop {
            match flock(&self.file, FlockOperation::LockExclusive) {
                Ok(()) => return Ok(LockGuard { _file: self.file }),
                Err(Errno::INTR) => {}
                Err(e) => return Err(io_error("lock", &self.path, &e.into())),
            }
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
        let first = Lock::open(&path).unwrap().try_take().unwrap().expect("free");
        let second = Lock::open(&path).unwrap().try_take().unwrap().expect_err("held");
        drop(first);
        second.wait().unwrap();
    }
}
