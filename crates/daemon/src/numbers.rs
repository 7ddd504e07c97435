//! Ref numbers of a session name, reserved on disk before they are used (`refs.md` 5).
//!
//! A number is never given twice: a clean close returns what was not used, a crash skips the rest of the block, and
//! only a name that was closed and left alone for a day starts at 1 again.

use crate::files;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use stickpin_kernel::{ErrorCode, Result, io_error};
use stickpin_session::{NumberError, NumberSource, block};

/// A name that has been unused for so long starts at 1 again.
const FORGET: Duration = Duration::from_secs(24 * 60 * 60);

/// The time of day.
pub(crate) type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// The numbers of all session names of a state dir.
///
/// What a clean close returns is only remembered at first: the same name often opens again soon, and the rest of its
/// block is reserved on disk already. [`DiskNumbers::settle`] writes it down.
pub struct DiskNumbers {
    dir: PathBuf,
    clock: Clock,
    /// What closed names returned and the disk does not know yet, by their files. Held while a file is read and
    /// written: what is swept away meanwhile could be a name that begins anew.
    returned: Mutex<HashMap<PathBuf, Returned>>,
}

/// The rest of a block that a closed name had reserved.
struct Returned {
    /// The first number that nobody got, and the end of what is reserved on disk.
    rest: Range<u32>,
    /// Seconds since 1970, when it was closed.
    at: u64,
}

/// The numbers of one session name, for one lifetime.
#[derive(Debug)]
struct NameNumbers {
    all: Arc<DiskNumbers>,
    path: PathBuf,
    /// The end of what this lifetime has reserved; none before it reserves.
    end: Option<u32>,
}

/// What is on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Reserved {
    /// The first number that nobody got.
    next: u32,
    /// Whether a lifetime holds numbers. Found at a start, it is of one that crashed: when it was last used is not
    /// known, so the name is not forgotten.
    held: bool,
    /// Seconds since 1970, when this was written, or when the name was closed.
    at: u64,
}

impl fmt::Debug for DiskNumbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DiskNumbers").field("dir", &self.dir).finish_non_exhaustive()
    }
}

impl DiskNumbers {
    /// The numbers of a state dir. Nothing is read or written before the first one is needed.
    #[must_use]
    pub fn new(state_dir: &Path, clock: Clock) -> Arc<Self> {
        Arc::new(Self { dir: state_dir.join("numbers"), clock, returned: Mutex::default() })
    }

    /// Those of a session name, for one lifetime of it.
    #[must_use]
    pub fn of(self: &Arc<Self>, session: &str) -> Box<dyn NumberSource> {
        // Session names are file names already; this keeps the folder safe from one that is not.
        let safe = |c: char| if c.is_alphanumeric() || "._-".contains(c) { c } else { '_' };
        let file: String = session.chars().map(safe).collect();
        let path = self.dir.join(format!("{file}.json"));
        Box::new(NameNumbers { all: Arc::clone(self), path, end: None })
    }

    /// Writes down what closed names returned, and when. A crash before that skips it, and the name is not forgotten.
    pub fn settle(&self) {
        for (path, Returned { rest, at }) in self.returned().drain() {
            if let Err(e) = self.write(&path, &Reserved { next: rest.start, held: false, at }) {
                tracing::warn!("ref numbers were not returned: {e}");
            }
        }
    }

    /// Removes the files of names that start at 1 again anyway: each run of a suite has names of its own, and nobody
    /// uses them a second time. Returns how many.
    pub(crate) fn sweep(&self) -> usize {
        // No folder: no number was ever given.
        let Ok(entries) = std::fs::read_dir(&self.dir) else { return 0 };
        let now = self.now();
        let mut removed = 0;
        for path in entries.flatten().map(|entry| entry.path()) {
            let _disk = self.returned();
            // What cannot be read is for whoever needs it to say.
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
        std::fs::create_dir_all(&self.dir).map_err(|e| io_error("make the folder", &self.dir, &e))?;
        files::write(path, what)
    }

    fn returned(&self) -> MutexGuard<'_, HashMap<PathBuf, Returned>> {
        self.returned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reserved {
    /// Whether a name that this is of starts at 1 again.
    fn is_forgotten(&self, now: u64) -> bool {
        !self.held && is_forgotten(self.at, now)
    }
}

/// Whether a name that was closed then starts at 1 again.
fn is_forgotten(closed: u64, now: u64) -> bool {
    Duration::from_secs(now.saturating_sub(closed)) >= FORGET
}

fn read(path: &Path) -> Result<Option<Reserved>> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes).map_err(|e| {
            // Starting at 1 could give a number twice.
            io_error("read the ref numbers in", path, &e.into())
                .hint(format!("remove {} if no old ref is in use any more", path.display()))
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
        let mut returned = self.all.returned();
        let first = match (self.end, returned.get(&self.path)) {
            (Some(end), _) => end,
            (None, Some(before)) if is_forgotten(before.at, now) => 1,
            (None, Some(before)) if before.rest.len() >= least as usize => {
                let rest = before.rest.clone();
                returned.remove(&self.path);
                self.end = Some(rest.end);
                return Ok(rest);
            }
            (None, Some(before)) => before.rest.start,
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
            let returned = Returned { rest: next_unused..end, at: self.all.now() };
            self.all.returned().insert(self.path.clone(), returned);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// A state dir, and daemons that have it one after the other.
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
            self.daemon.of("shop")
        }

        /// The next daemon; the one before ended cleanly, or was killed.
        fn restart(&mut self, cleanly: bool) {
            if cleanly {
                self.daemon.settle();
            }
            self.daemon = daemon(self.dir.path(), &self.seconds);
        }

        fn wait(&self, time: Duration) {
            self.seconds.fetch_add(time.as_secs(), Ordering::Relaxed);
        }

        /// The next write fails: a device that is always full stands in for the disk.
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
    fn blocks_follow_one_another_and_a_clean_close_returns_the_rest() {
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
    fn a_name_that_opens_again_soon_costs_no_write() {
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
    fn a_crash_skips_the_block() {
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
    fn a_name_starts_anew_after_a_day_but_not_after_a_crash() {
        for restarts in [false, true] {
            let mut world = World::new();
            let mut first = world.numbers();
            first.reserve(256).unwrap();
            first.give_back(10);
            world.wait(FORGET - Duration::from_secs(1));
            if restarts {
                world.restart(true);
            }
            assert_eq!(world.numbers().reserve(1).unwrap().start, 10);
            // That one crashed: when its refs were last used is not known.
            world.wait(2 * FORGET);
            world.restart(restarts);
            let mut later = world.numbers();
            let first = later.reserve(1).unwrap().start;
            assert!(first >= 257, "{first}");
            later.give_back(first + 4);
            world.wait(FORGET);
            if restarts {
                world.restart(true);
            }
            assert_eq!(world.numbers().reserve(1), Ok(1..257));
            world.restart(false);
            assert_eq!(world.numbers().reserve(1), Ok(257..513), "that it began anew is on disk");
        }
    }

    #[test]
    fn only_files_of_forgotten_names_are_swept_away() {
        let world = World::new();
        let named = |name| world.daemon.of(name);
        assert_eq!(world.daemon.sweep(), 0, "there is no folder yet");
        for (name, closes) in [("attempt-1", true), ("attempt-2", true), ("crashed", false)] {
            let mut numbers = named(name);
            numbers.reserve(256).unwrap();
            if closes {
                numbers.give_back(10);
            }
        }
        world.daemon.settle();
        std::fs::write(world.file("torn.json"), "{").unwrap();
        world.wait(FORGET - Duration::from_secs(1));
        assert_eq!(world.daemon.sweep(), 0, "a day has not gone by");
        let mut used = named("attempt-2");
        assert_eq!(used.reserve(256), Ok(10..266));
        world.wait(FORGET);
        assert_eq!(world.daemon.sweep(), 1);
        // What a lifetime holds, what one held that crashed, and what cannot be read stay.
        assert_eq!(used.reserve(256), Ok(266..522));
        assert_eq!(named("crashed").reserve(256), Ok(257..513));
        assert_eq!(named("attempt-1").reserve(256), Ok(1..257));
        assert!(world.file("torn.json").exists());
    }

    #[test]
    fn what_is_written_down_late_says_when_the_name_was_closed() {
        let mut world = World::new();
        let mut first = world.numbers();
        first.reserve(1).unwrap();
        first.give_back(10);
        world.wait(FORGET);
        world.restart(true);
        assert_eq!(world.daemon.sweep(), 1);
    }

    #[test]
    fn a_long_lifetime_never_starts_anew_under_itself() {
        let world = World::new();
        let mut numbers = world.numbers();
        numbers.reserve(256).unwrap();
        world.wait(2 * FORGET);
        assert_eq!(numbers.reserve(256), Ok(257..513));
    }

    #[test]
    fn numbers_end_and_a_file_that_cannot_be_read_is_no_start_at_1() {
        let world = World::new();
        let mut numbers = world.numbers();
        numbers.reserve(u32::MAX - 511).unwrap();
        assert_eq!(numbers.reserve(512), Err(NumberError::Exhausted));
        std::fs::write(world.file("shop.json"), "{").unwrap();
        assert!(matches!(world.numbers().reserve(256), Err(NumberError::Storage { full: false, .. })));
    }

    #[test]
    fn a_full_disk_gives_no_number() {
        let world = World::new();
        world.fill();
        assert!(matches!(world.numbers().reserve(256), Err(NumberError::Storage { full: true, .. })));
    }

    #[test]
    fn a_name_that_is_no_file_name_stays_in_the_folder() {
        let world = World::new();
        world.daemon.of("../../etc/x").reserve(1).unwrap();
        assert!(world.file(".._.._etc_x.json").exists());
    }
}
