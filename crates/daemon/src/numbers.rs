//! Ref numbers for a session name, reserved on disk before they are used.
//!
//! No number of a name is issued twice, unless the name was closed and then unused for a day, in
//! which case its numbering starts at 1 again. A clean close returns the unused numbers; a crash
//! skips the rest of the block.

use crate::files;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use stickpin_kernel::{ErrorCode, Result, io_error};
use stickpin_session::{NumberError, NumberSource, block};

/// The time after which the numbers of an unused name start at 1 again.
const FORGET_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// A function that returns the wall time.
pub(crate) type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// The ref numbers of all session names in a state directory.
///
/// Numbers that a clean close returns are first kept in memory: a name is often opened again soon,
/// and the rest of its block is already reserved on disk. [`DiskNumbers::flush`] writes them to
/// disk.
pub struct DiskNumbers {
    dir: PathBuf,
    clock: Clock,
    /// The returned numbers that are not yet on disk, by file. The lock is held while a file is
    /// read and written, so that a sweep cannot remove the file of a name that is being opened.
    returned: Mutex<HashMap<PathBuf, Returned>>,
}

/// The unused rest of a block that a closed name had reserved.
struct Returned {
    /// The first unused number, and the end of the block that is reserved on disk.
    unused: Range<u32>,
    /// When the name was closed, in seconds since 1970.
    at: u64,
}

/// The numbers of one session name during one lifetime.
#[derive(Debug)]
struct NameNumbers {
    all: Arc<DiskNumbers>,
    path: PathBuf,
    /// The end of the last reserved block; `None` before the first reservation.
    end: Option<u32>,
}

/// The content of a session name's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Reserved {
    /// The first unused number.
    next: u32,
    /// Whether a lifetime holds numbers. If a starting daemon finds this set, that lifetime
    /// crashed. The last use of the name is unknown, so its next lifetime does not start at 1.
    held: bool,
    /// When the file was written or the name was closed, in seconds since 1970.
    at: u64,
}

impl fmt::Debug for DiskNumbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DiskNumbers").field("dir", &self.dir).finish_non_exhaustive()
    }
}

impl DiskNumbers {
    /// Creates the number source for a state directory. Reads and writes nothing until the first
    /// number is needed.
    #[must_use]
    pub fn new(state_dir: &Path, clock: Clock) -> Arc<Self> {
        Arc::new(Self { dir: state_dir.join("numbers"), clock, returned: Mutex::default() })
    }

    /// Returns the numbers of a session name for one lifetime.
    #[must_use]
    pub fn for_session(self: &Arc<Self>, session: &str) -> Box<dyn NumberSource> {
        // Session names are valid file names. This check protects the folder from a name that is
        // not.
        let safe = |c: char| if c.is_alphanumeric() || "._-".contains(c) { c } else { '_' };
        let file: String = session.chars().map(safe).collect();
        let path = self.dir.join(format!("{file}.json"));
        Box::new(NameNumbers { all: Arc::clone(self), path, end: None })
    }

    /// Writes to disk the numbers that closed names returned, and the times at which the names were
    /// closed. A crash before this call skips those numbers, and the next lifetimes of the names do
    /// not start at 1.
    pub fn flush(&self) {
        for (path, Returned { unused: rest, at }) in self.returned.lock().drain() {
            if let Err(e) = self.write(&path, &Reserved { next: rest.start, held: false, at }) {
                tracing::warn!("ref numbers were not returned: {e}");
            }
        }
    }

    /// Removes the files of names whose numbers would start at 1 again, and returns the count. Such
    /// files would accumulate, because each run of a suite uses new session names.
    pub(crate) fn remove_forgotten(&self) -> usize {
        // Without a folder, no number was ever issued.
        let Ok(entries) = std::fs::read_dir(&self.dir) else { return 0 };
        let now = self.now();
        let mut removed = 0;
        for path in entries.flatten().map(|entry| entry.path()) {
            let _disk = self.returned.lock();
            // An unreadable file is reported when its name is opened.
            if !matches!(read(&path), Ok(Some(found)) if found.is_forgotten(now)) {
                continue;
            }
            match std::fs::remove_file(&path) {
                Ok(()) => removed += 1,
                Err(e) => tracing::warn!("{} could not be removed: {e}", path.display()),
            }
        }
        removed
    }

    fn now(&self) -> u64 {
        (self.clock)().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
    }

    fn write(&self, path: &Path, what: &Reserved) -> Result<()> {
        std::fs::create_dir_all(&self.dir).map_err(|e| io_error("create the folder", &self.dir, &e))?;
        files::write(path, what)
    }
}

impl Reserved {
    /// Returns whether the numbers of this file's name start at 1 again.
    fn is_forgotten(&self, now: u64) -> bool {
        !self.held && is_forgotten(self.at, now)
    }
}

/// Returns whether the numbers of a name that was closed at `closed` start at 1 again.
fn is_forgotten(closed: u64, now: u64) -> bool {
    Duration::from_secs(now.saturating_sub(closed)) >= FORGET_AFTER
}

fn read(path: &Path) -> Result<Option<Reserved>> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes).map_err(|e| {
            // Starting at 1 could issue a number twice.
            io_error("read the ref numbers in", path, &e.into())
                .hint(format!("remove `{}` if old refs are no longer in use", path.display()))
        })?)),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(io_error("read", path, &e)),
    }
}

impl NumberSource for NameNumbers {
    fn reserve(&mut self, least: u32) -> Result<Range<u32>, NumberError> {
        let storage = |e: stickpin_kernel::Error| NumberError::Storage {
            full: e.code == ErrorCode::StorageFull,
            message: e.message,
        };
        let now = self.all.now();
        let mut returned = self.all.returned.lock();
        let first = match (self.end, returned.get(&self.path)) {
            (Some(end), _) => end,
            (None, Some(before)) if is_forgotten(before.at, now) => 1,
            (None, Some(before)) if before.unused.len() >= least as usize => {
                let rest = before.unused.clone();
                returned.remove(&self.path);
                self.end = Some(rest.end);
                return Ok(rest);
            }
            (None, Some(before)) => before.unused.start,
            (None, None) => match read(&self.path).map_err(storage)? {
                Some(found) if !found.is_forgotten(now) => found.next,
                _ => 1,
            },
        };
        let end = block(least).and_then(|count| first.checked_add(count)).ok_or(NumberError::Exhausted)?;
        self.all.write(&self.path, &Reserved { next: end, held: true, at: now }).map_err(storage)?;
        returned.remove(&self.path);
        self.end = Some(end);
        Ok(first..end)
    }

    fn give_back(&mut self, next_unused: u32) {
        if let Some(end) = self.end.take() {
            let returned = Returned { unused: next_unused..end, at: self.all.now() };
            self.all.returned.lock().insert(self.path.clone(), returned);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// A state directory with a series of daemons.
    struct World {
        dir: tempfile::TempDir,
        seconds: Arc<AtomicU64>,
        daemon: Arc<DiskNumbers>,
    }

    impl World {
        fn new() -> Self {
            let seconds = Arc::new(AtomicU64::new(1_000_000));
            let dir = tempfile::tempdir().unwrap();
            let daemon = daemon(dir.path(), &seconds);
            Self { dir, seconds, daemon }
        }

        fn numbers(&self) -> Box<dyn NumberSource> {
            self.daemon.for_session("shop")
        }

        /// Starts the next daemon, after the previous one ended cleanly or was killed.
        fn restart(&mut self, cleanly: bool) {
            if cleanly {
                self.daemon.flush();
            }
            self.daemon = daemon(self.dir.path(), &self.seconds);
        }

        fn wait(&self, time: Duration) {
            self.seconds.fetch_add(time.as_secs(), Ordering::Relaxed);
        }

        /// Makes the next write fail: a device that is always full stands in for the disk.
        fn fill(&self) {
            std::fs::create_dir_all(self.file("")).unwrap();
            std::os::unix::fs::symlink("/dev/full", self.file("shop.new")).unwrap();
        }

        fn file(&self, name: &str) -> PathBuf {
            self.dir.path().join("numbers").join(name)
        }
    }

    fn daemon(dir: &Path, seconds: &Arc<AtomicU64>) -> Arc<DiskNumbers> {
        let seconds = Arc::clone(seconds);
        let clock = move || UNIX_EPOCH + Duration::from_secs(seconds.load(Ordering::Relaxed));
        DiskNumbers::new(dir, Arc::new(clock))
    }

    #[test]
    fn blocks_are_consecutive_and_close_returns_unused() {
        for cleanly in [None, Some(true)] {
            let mut world = World::new();
            let mut first = world.numbers();
            assert_eq!(first.reserve(3), Ok(1..257));
            assert_eq!(first.reserve(257), Ok(257..769));
            first.give_back(300);
            if let Some(cleanly) = cleanly {
                world.restart(cleanly);
                assert_eq!(world.numbers().reserve(10), Ok(300..556));
            } else {
                assert_eq!(world.numbers().reserve(10), Ok(300..769), "what is left of a block is used up");
            }
        }
    }

    #[test]
    fn quick_reopen_costs_no_write() {
        let world = World::new();
        let mut first = world.numbers();
        first.reserve(10).unwrap();
        first.give_back(11);
        world.fill();
        let mut second = world.numbers();
        assert_eq!(second.reserve(10), Ok(11..257));
        assert!(matches!(second.reserve(10), Err(NumberError::Storage { full: true, .. })));
        second.give_back(20);
        world.fill();
        let mut third = world.numbers();
        assert!(
            matches!(third.reserve(300), Err(NumberError::Storage { full: true, .. })),
            "more than is left is reserved first"
        );
        assert_eq!(third.reserve(200), Ok(20..257), "what failed used nothing up");
    }

    #[test]
    fn crash_skips_the_reserved_block() {
        let mut world = World::new();
        assert_eq!(world.numbers().reserve(1), Ok(1..257));
        assert_eq!(world.numbers().reserve(1), Ok(257..513), "a lifetime that gave nothing back");
        let mut closed = world.numbers();
        assert_eq!(closed.reserve(1), Ok(513..769));
        closed.give_back(520);
        world.restart(false);
        assert_eq!(world.numbers().reserve(1), Ok(769..1025), "what was returned was not written yet");
    }

    #[test]
    fn name_restarts_after_a_day_but_not_after_a_crash() {
        for restarts in [false, true] {
            let mut world = World::new();
            let mut first = world.numbers();
            first.reserve(256).unwrap();
            first.give_back(10);
            world.wait(FORGET_AFTER - Duration::from_secs(1));
            if restarts {
                world.restart(true);
            }
            assert_eq!(world.numbers().reserve(1).unwrap().start, 10);
            // That lifetime crashed, so the time of its last use is unknown.
            world.wait(2 * FORGET_AFTER);
            world.restart(restarts);
            let mut later = world.numbers();
            let first = later.reserve(1).unwrap().start;
            assert!(first >= 257, "{first}");
            later.give_back(first + 4);
            world.wait(FORGET_AFTER);
            if restarts {
                world.restart(true);
            }
            assert_eq!(world.numbers().reserve(1), Ok(1..257));
            world.restart(false);
            assert_eq!(world.numbers().reserve(1), Ok(257..513), "that it began anew is on disk");
        }
    }

    #[test]
    fn sweep_removes_only_forgotten_names() {
        let world = World::new();
        let named = |name| world.daemon.for_session(name);
        assert_eq!(world.daemon.remove_forgotten(), 0, "there is no folder yet");
        for (name, closes) in [("attempt-1", true), ("attempt-2", true), ("crashed", false)] {
            let mut numbers = named(name);
            numbers.reserve(256).unwrap();
            if closes {
                numbers.give_back(10);
            }
        }
        world.daemon.flush();
        std::fs::write(world.file("torn.json"), "{").unwrap();
        world.wait(FORGET_AFTER - Duration::from_secs(1));
        assert_eq!(world.daemon.remove_forgotten(), 0, "a day has not gone by");
        let mut used = named("attempt-2");
        assert_eq!(used.reserve(256), Ok(10..266));
        world.wait(FORGET_AFTER);
        assert_eq!(world.daemon.remove_forgotten(), 1);
        // The files of open names, of crashed names, and unreadable files stay.
        assert_eq!(used.reserve(256), Ok(266..522));
        assert_eq!(named("crashed").reserve(256), Ok(257..513));
        assert_eq!(named("attempt-1").reserve(256), Ok(1..257));
        assert!(world.file("torn.json").exists());
    }

    #[test]
    fn late_write_records_the_close_time() {
        let mut world = World::new();
        let mut first = world.numbers();
        first.reserve(1).unwrap();
        first.give_back(10);
        world.wait(FORGET_AFTER);
        world.restart(true);
        assert_eq!(world.daemon.remove_forgotten(), 1);
    }

    #[test]
    fn long_lifetime_never_restarts_its_numbers() {
        let world = World::new();
        let mut numbers = world.numbers();
        numbers.reserve(256).unwrap();
        world.wait(2 * FORGET_AFTER);
        assert_eq!(numbers.reserve(256), Ok(257..513));
    }

    #[test]
    fn unreadable_file_does_not_restart_numbers() {
        let world = World::new();
        let mut numbers = world.numbers();
        numbers.reserve(u32::MAX - 511).unwrap();
        assert_eq!(numbers.reserve(512), Err(NumberError::Exhausted));
        std::fs::write(world.file("shop.json"), "{").unwrap();
        assert!(matches!(world.numbers().reserve(256), Err(NumberError::Storage { full: false, .. })));
    }

    #[test]
    fn full_disk_reserves_no_number() {
        let world = World::new();
        world.fill();
        assert!(matches!(world.numbers().reserve(256), Err(NumberError::Storage { full: true, .. })));
    }

    #[test]
    fn unusual_name_stays_in_the_folder() {
        let world = World::new();
        world.daemon.for_session("../../etc/x").reserve(1).unwrap();
        assert!(world.file(".._.._etc_x.json").exists());
    }
}
