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

    /// Adds a file.
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

    /// Adds a folder.
    pub(crate) fn folder(&self, dir: PathBuf) {
        self.items.lock().list.push(Item::Folder(dir));
    }

    /// Returns whether nothing waits to be synced. A sync may still be running or may have failed.
    pub(crate) fn is_empty(&self) -> bool {
        self.items.lock().list.is_empty()
    }

    /// Returns why an earlier sync failed, if one did. It is then unknown what is on disk.
    pub(crate) fn failed(&self) -> Option<String> {
        self.failed.lock().clone()
    }

    /// Returns once everything is on disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        let _syncing = self.syncing.lock();
        let items = std::mem::take(&mut *self.items.lock());
        let synced = items.list.iter().try_for_each(|item| match item {
            Item::File(handle) => handle.sync(),
            Item::Folder(dir) => self.files.sync_dir(dir),
        });
        if let Err(e) = &synced {
            self.failed.lock().get_or_insert_with(|| format!("it could not be synced to disk: {e}"));
        }
        synced
    }
}

/// A thread that syncs each session's writes a fixed time after the first one. The thread ends when
/// its last owner is dropped.
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
