//! Data that was written but may not be on disk yet, and the thread that syncs it.

use crate::files::{Files, Handle};
use parking_lot::Mutex;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::time::{Duration, Instant};

/// The time after which a record that need not be on disk at once is synced.
pub(crate) const DELAY: Duration = Duration::from_millis(200);

#[derive(Debug, Clone)]
enum Item {
    File(Arc<dyn Handle>),
    Folder(PathBuf),
}

#[derive(Debug, Default)]
struct Items {
    list: Vec<Item>,
    /// Whether a sync is scheduled.
    scheduled: bool,
    /// Whether items that were taken from the list are being synced.
    running: bool,
}

/// The files and folders of one session that have to be synced, in order: the blobs that a record
/// refers to precede the record.
#[derive(Debug)]
pub(crate) struct Unsynced {
    files: Arc<dyn Files>,
    items: Mutex<Items>,
    /// Locked while items are being synced, so that no caller considers them synced too early.
    syncing: Mutex<()>,
    failed: Mutex<Option<String>>,
}

impl Unsynced {
    pub(crate) fn new(files: Arc<dyn Files>) -> Self {
        Self { files, items: Mutex::default(), syncing: Mutex::default(), failed: Mutex::default() }
    }

    /// Adds a file at the end of the list, even if the list already contains the file.
    pub(crate) fn file(&self, handle: &Arc<dyn Handle>) {
        let list = &mut self.items.lock().list;
        // The log is written repeatedly, and must come after the blobs that it refers to.
        list.retain(|item| !matches!(item, Item::File(known) if Arc::ptr_eq(known, handle)));
        list.push(Item::File(Arc::clone(handle)));
    }

    /// Claims the scheduling of a sync. Returns whether no sync had been scheduled yet; if so, the
    /// caller must schedule one.
    pub(crate) fn claim_schedule(&self) -> bool {
        !std::mem::replace(&mut self.items.lock().scheduled, true)
    }

    /// Adds a folder at the end of the list.
    pub(crate) fn folder(&self, dir: PathBuf) {
        self.items.lock().list.push(Item::Folder(dir));
    }

    /// Returns whether everything is on disk: nothing waits to be synced, no sync is running, and
    /// none has failed.
    pub(crate) fn is_synced(&self) -> bool {
        let items = self.items.lock();
        items.list.is_empty() && !items.running && self.failed().is_none()
    }

    /// Returns why an earlier sync failed, if one did. It is then unknown what is on disk.
    pub(crate) fn failed(&self) -> Option<String> {
        self.failed.lock().clone()
    }

    /// Syncs everything in the list, in order. Returns once everything is on disk, or at the first
    /// error.
    pub(crate) fn sync(&self) -> io::Result<()> {
        let _syncing = self.syncing.lock();
        let list = {
            let mut items = self.items.lock();
            (items.scheduled, items.running) = (false, true);
            std::mem::take(&mut items.list)
        };
        let synced = list.iter().try_for_each(|item| match item {
            Item::File(handle) => handle.sync(),
            Item::Folder(dir) => self.files.sync_dir(dir),
        });
        if let Err(e) = &synced {
            self.failed.lock().get_or_insert_with(|| format!("it could not be synced to disk: {e}"));
        }
        self.items.lock().running = false;
        synced
    }
}

/// A thread that syncs the data of each session a fixed time after the first write since the last
/// sync. The thread ends when its last owner is dropped.
#[derive(Debug, Clone)]
pub(crate) struct Syncer(Sender<(Instant, Arc<Unsynced>)>);

impl Syncer {
    /// Starts the thread.
    pub(crate) fn start(delay: Duration) -> io::Result<Self> {
        let (sender, jobs) = mpsc::channel::<(Instant, Arc<Unsynced>)>();
        std::thread::Builder::new().name("log-sync".into()).spawn(move || {
            for (written, unsynced) in jobs {
                std::thread::sleep((written + delay).saturating_duration_since(Instant::now()));
                // The error stays with the session, whose next record is refused.
                let _ = unsynced.sync();
            }
        })?;
        Ok(Self(sender))
    }

    /// Schedules a sync for a session that was just written.
    pub(crate) fn schedule(&self, unsynced: &Arc<Unsynced>) {
        // If the thread is gone, sync at once: only the delay is lost.
        if self.0.send((Instant::now(), Arc::clone(unsynced))).is_err() {
            let _ = unsynced.sync();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::DiskFiles;
    use std::sync::Weak;

    /// A file whose sync notes whether everything counts as synced meanwhile.
    #[derive(Debug)]
    struct Observer {
        unsynced: Weak<Unsynced>,
        during: Mutex<Vec<bool>>,
        fails: bool,
    }

    impl Handle for Observer {
        fn write(&self, bytes: &[u8]) -> io::Result<usize> {
            Ok(bytes.len())
        }

        fn truncate(&self, _: u64) -> io::Result<()> {
            Ok(())
        }

        fn sync(&self) -> io::Result<()> {
            let unsynced = self.unsynced.upgrade().expect("it is being synced");
            self.during.lock().push(unsynced.is_synced());
            if self.fails { Err(io::Error::other("no disk")) } else { Ok(()) }
        }
    }

    #[test]
    fn nothing_counts_as_synced_during_a_sync_or_after_a_failed_one() {
        let unsynced = Arc::new(Unsynced::new(Arc::new(DiskFiles)));
        assert!(unsynced.is_synced());
        for fails in [false, true] {
            let during = Mutex::default();
            let observer = Arc::new(Observer { unsynced: Arc::downgrade(&unsynced), during, fails });
            let handle: Arc<dyn Handle> = observer.clone();
            unsynced.file(&handle);
            assert!(!unsynced.is_synced());
            assert_eq!(unsynced.sync().is_err(), fails);
            assert_eq!(*observer.during.lock(), [false]);
            assert_eq!(unsynced.is_synced(), !fails);
        }
        // A later sync does not tell what the failed one left.
        unsynced.sync().unwrap();
        assert!(!unsynced.is_synced());
    }
}
