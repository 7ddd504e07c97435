//! What is synced by whom, and when (section 4.4 of the design document for sessions): counted, not
//! timed.

use crate::support::memory::MemoryFiles;
use crate::support::{self, NAME, at, claim, command, done, join, message, origin, start};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use stickpin_session::log::{RecordedStep, Redacted};
use stickpin_store::{CommandOutcome, DiskFiles, Files, Handle, SessionLog, Store};

/// Counts the calls that it passes on to another file system.
#[derive(Debug)]
struct Counting<F> {
    inner: F,
    counts: Arc<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    syncs: AtomicU64,
    read: AtomicU64,
}

#[derive(Debug)]
struct CountingHandle(Arc<dyn Handle>, Arc<Counts>);

impl Handle for CountingHandle {
    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        self.0.truncate(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync()?;
        self.1.syncs.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

impl<F: Files> Files for Counting<F> {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn Handle>> {
        Ok(Arc::new(CountingHandle(self.inner.open(path)?, Arc::clone(&self.counts))))
    }

    fn read(&self, path: &Path, from: u64) -> io::Result<Vec<u8>> {
        let bytes = self.inner.read(path, from)?;
        self.counts.read.fetch_add(bytes.len() as u64, Ordering::SeqCst);
        Ok(bytes)
    }

    fn head(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        let bytes = self.inner.head(path, most)?;
        self.counts.read.fetch_add(bytes.len() as u64, Ordering::SeqCst);
        Ok(bytes)
    }

    fn len(&self, path: &Path) -> io::Result<u64> {
        self.inner.len(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        self.inner.list(dir)
    }

    fn make_dir(&self, dir: &Path) -> io::Result<()> {
        self.inner.make_dir(dir)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.inner.rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.inner.link(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.inner.remove(path)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.inner.sync_dir(dir)
    }

    fn free(&self, dir: &Path) -> io::Result<u64> {
        self.inner.free(dir)
    }
}

fn counted(files: MemoryFiles) -> (Store, Arc<Counts>) {
    let counts = Arc::new(Counts::default());
    let counting = Counting { inner: files, counts: Arc::clone(&counts) };
    (Store::with_files(Path::new(support::STATE), Arc::new(counting)).unwrap(), counts)
}

#[test]
fn commands_and_messages_sync_nothing_and_turns_sync_all_before_them() {
    let (store, counts) = counted(MemoryFiles::default());
    let mut log = SessionLog::create(&store, NAME, "6f1c", start(), &origin(0)).unwrap();
    let syncs = || counts.syncs.load(Ordering::SeqCst);
    let before = syncs();
    let id = log.begin(&origin(1), command()).unwrap();
    log.end(&origin(1), id, done()).unwrap();
    log.append(&origin(1), message("hello")).unwrap();
    support::snapshot(&mut log, &origin(1), "a tree", 1).unwrap();
    assert_eq!((syncs() - before, log.is_synced()), (0, false));
    log.append(&origin(1), claim(1, 1)).unwrap();
    // The blob, the log, and then the metadata.
    assert_eq!((syncs() - before, log.is_synced()), (3, true));
}

/// `record stop` promises that each recorded command is on disk before its response.
#[test]
fn recorded_commands_are_on_disk_before_their_answer() {
    let (store, counts) = counted(MemoryFiles::default());
    let mut log = SessionLog::create(&store, NAME, "6f1c", start(), &origin(0)).unwrap();
    let id = log.begin(&origin(1), command()).unwrap();
    let before = counts.syncs.load(Ordering::SeqCst);
    let recorded = Some(RecordedStep::Lines(Redacted::literal("press text=Cart\n")));
    log.end(&origin(1), id, CommandOutcome { recorded, ..done() }).unwrap();
    assert_eq!((counts.syncs.load(Ordering::SeqCst) - before, log.is_synced()), (1, true));
}

#[test]
fn metadata_lags_behind_by_fewer_than_256_records() {
    let files = MemoryFiles::default();
    let (store, _) = counted(files.clone());
    let mut log = SessionLog::create(&store, NAME, "6f1c", start(), &origin(0)).unwrap();
    let stored = || store.meta(NAME).unwrap().0.applied_seq;
    for n in 0..300 {
        log.append(&origin(1), message(&format!("message {n}"))).unwrap();
        assert!(log.meta().applied_seq - stored() < 256);
    }
    assert!(stored() > 1);
    // The host calls this within 5 s.
    assert!(stickpin_store::lags(&log));
    log.maintain().unwrap();
    assert_eq!((stored(), stickpin_store::lags(&log)), (log.meta().applied_seq, false));
}

/// The cost of opening depends on the redo tail, not on the length of the log.
#[test]
fn opening_reads_the_end_of_the_log_only() {
    let files = MemoryFiles::default();
    let (store, counts) = counted(files.clone());
    let mut log = SessionLog::create(&store, NAME, "6f1c", start(), &origin(0)).unwrap();
    let body = "x".repeat(2_000);
    for _ in 0..1_500 {
        log.append(&origin(1), message(&body)).unwrap();
    }
    let (seq, len) = (log.meta().applied_seq, files.content(&support::segment(1)).len() as u64);
    drop(log);
    let before = counts.read.load(Ordering::SeqCst);
    let log = SessionLog::open(&store, NAME, at(9)).unwrap().log;
    let read = counts.read.load(Ordering::SeqCst) - before;
    assert_eq!(log.meta().applied_seq, seq);
    // At most 255 records, and the chunks that contain them.
    assert!(len > 3_000_000 && read < 1_500_000, "{read} of {len} bytes were read");
    // A cursor at the end reads nothing of the earlier segments.
    assert!(store.records_after(NAME, seq, 10, stickpin_store::Phase::Feed).unwrap().is_empty());
}

#[test]
fn listing_reads_no_log() {
    let (store, counts) = counted(MemoryFiles::default());
    for name in ["a", "b"] {
        let mut log = SessionLog::create(&store, name, "6f1c", start(), &origin(0)).unwrap();
        for n in 0..200 {
            log.append(&origin(n), message("hello")).unwrap();
        }
        log.append(&origin(1), join(1)).unwrap();
    }
    let before = counts.read.load(Ordering::SeqCst);
    for name in store.names().unwrap() {
        assert_eq!(store.meta(&name).unwrap().0.members.len(), 1);
    }
    assert!(counts.read.load(Ordering::SeqCst) - before < 10_000);
}

/// On a real disk, a thread syncs what nothing else has synced.
#[test]
fn thread_syncs_what_was_written() {
    let state = tempfile::tempdir().unwrap();
    let store = Store::open(state.path()).unwrap();
    let mut log = SessionLog::create(&store, NAME, "6f1c", start(), &origin(0)).unwrap();
    for round in 0..2 {
        log.append(&origin(1), message(&format!("round {round}"))).unwrap();
        let began = Instant::now();
        while !log.is_synced() {
            assert!(began.elapsed() < Duration::from_secs(60), "nobody syncs");
            std::thread::yield_now();
        }
    }
    assert!(DiskFiles.free(state.path()).unwrap() > 0);
}

#[test]
fn only_the_owner_reads_a_session() {
    use std::os::unix::fs::PermissionsExt as _;
    let state = tempfile::tempdir().unwrap();
    let store = Store::open(state.path()).unwrap();
    let mut log = SessionLog::create(&store, NAME, "6f1c", start(), &origin(0)).unwrap();
    log.append(&origin(1), message(&"x".repeat(70_000))).unwrap();
    let mut folders = vec![state.path().join("sessions")];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder), 0o700, "{}", folder.display());
        for entry in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else {
                assert_eq!(mode(&entry), 0o600, "{}", entry.display());
                files += 1;
            }
        }
    }
    assert!(files >= 4, "{files} files");
}
