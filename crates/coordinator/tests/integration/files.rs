//! File systems that log which files are read, and that can be full.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use stickpin_coordinator::{DiskFiles, Files, Handle};

#[derive(Debug, Clone, Default)]
pub(crate) struct WatchedFiles(Arc<Watch>);

#[derive(Debug, Default)]
struct Watch {
    read: Mutex<Vec<PathBuf>>,
    full: AtomicBool,
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
            false => self.inner.write(bytes),
        }
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        self.inner.truncate(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.inner.sync()
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
        DiskFiles.make_dir(dir)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        DiskFiles.rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        DiskFiles.link(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        DiskFiles.remove(path)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        DiskFiles.sync_dir(dir)
    }

    fn free(&self, dir: &Path) -> io::Result<u64> {
        match self.0.full.load(Ordering::SeqCst) {
            true => Ok(0),
            false => DiskFiles.free(dir),
        }
    }
}
