//! File systems that log which files are read, and that can be full or stop working.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use stickpin_coordinator::{DiskFiles, Files, Handle};

#[derive(Debug, Clone, Default)]
pub(crate) struct WatchedFiles(Arc<Watch>);

#[derive(Debug)]
struct Watch {
    read: Mutex<Vec<PathBuf>>,
    full: AtomicBool,
    /// The number of operations that changed something.
    changes: AtomicU64,
    /// The number of changes after which all further changes fail.
    stop_after: AtomicU64,
}

impl Default for Watch {
    fn default() -> Self {
        let (read, full, changes) = Default::default();
        Self { read, full, changes, stop_after: AtomicU64::new(u64::MAX) }
    }
}

impl Watch {
    /// Counts a change. Fails, as all later changes do, if the host counts as killed.
    fn change(&self) -> io::Result<()> {
        let before = self.changes.fetch_add(1, Ordering::SeqCst);
        if before < self.stop_after.load(Ordering::SeqCst) {
            return Ok(());
        }
        Err(io::Error::other("the host was killed"))
    }
}

impl WatchedFiles {
    /// Returns the files whose content was read since the last call.
    pub(crate) fn take_read(&self) -> Vec<PathBuf> {
        std::mem::take(&mut self.0.read.lock().unwrap())
    }

    /// Makes all writes fail, or lets them succeed again.
    pub(crate) fn set_full(&self, full: bool) {
        self.0.full.store(full, Ordering::SeqCst);
    }

    /// Makes all changes after this number fail, counted from now. Returns the number of changes so
    /// far.
    pub(crate) fn stop_after(&self, operations: u64) -> u64 {
        self.0.stop_after.store(operations, Ordering::SeqCst);
        self.0.changes.swap(0, Ordering::SeqCst)
    }

    fn note(&self, path: &Path) {
        self.0.read.lock().unwrap().push(path.to_owned());
    }
}

#[derive(Debug)]
struct WatchedHandle {
    inner: Arc<dyn Handle>,
    watch: Arc<Watch>,
}

impl Handle for WatchedHandle {
    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self.watch.full.load(Ordering::SeqCst) {
            true => Err(io::ErrorKind::StorageFull.into()),
            false => self.watch.change().and_then(|()| self.inner.write(bytes)),
        }
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        self.watch.change()?;
        self.inner.truncate(len)
    }

    /// Does nothing, which saves time: these tests simulate no power failure.
    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

impl Files for WatchedFiles {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn Handle>> {
        let inner = DiskFiles.open(path)?;
        Ok(Arc::new(WatchedHandle { inner, watch: Arc::clone(&self.0) }))
    }

    fn read(&self, path: &Path, from: u64) -> io::Result<Vec<u8>> {
        self.note(path);
        DiskFiles.read(path, from)
    }

    fn head(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        self.note(path);
        DiskFiles.head(path, most)
    }

    fn len(&self, path: &Path) -> io::Result<u64> {
        DiskFiles.len(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        DiskFiles.list(dir)
    }

    fn make_dir(&self, dir: &Path) -> io::Result<()> {
        self.0.change()?;
        DiskFiles.make_dir(dir)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.change()?;
        DiskFiles.rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.change()?;
        DiskFiles.link(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.0.change()?;
        DiskFiles.remove(path)
    }

    fn sync_dir(&self, _dir: &Path) -> io::Result<()> {
        Ok(())
    }

    fn free(&self, dir: &Path) -> io::Result<u64> {
        match self.0.full.load(Ordering::SeqCst) {
            true => Ok(0),
            false => DiskFiles.free(dir),
        }
    }
}
