//! Ref numbers of a session name, reserved on disk before they are used (`refs.md` 5).
//!
//! A number is never given twice: a clean close returns what was not used, a crash skips the rest of the block, and
//! only a name that was closed and left alone for a day starts at 1 again.

use crate::files;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use stickpin_kernel::{ErrorCode, Result, io_error};
use stickpin_session::{NumberError, NumberSource};

/// A name that has been unused for so long starts at 1 again.
const FORGET: Duration = Duration::from_secs(24 * 60 * 60);

/// Held while a file is read and written: what is swept away meanwhile could be a name that begins anew.
static DISK: Mutex<()> = Mutex::new(());

/// The time of day.
pub(crate) type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// The numbers of one session name, for one lifetime.
pub struct DiskNumbers {
    path: PathBuf,
    clock: Clock,
    /// Whether this lifetime has reserved before.
    begun: bool,
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
    /// Seconds since 1970, when this was written.
    at: u64,
}

impl fmt::Debug for DiskNumbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DiskNumbers")
            .field("path", &self.path)
            .field("begun", &self.begun)
            .finish_non_exhaustive()
    }
}

impl DiskNumbers {
    /// The numbers of `session` in a state dir. Nothing is read or written before the first number is needed.
    #[must_use]
    pub fn new(state_dir: &Path, session: &str, clock: Clock) -> Self {
        // Session names are file names already; this keeps the folder safe from one that is not.
        let safe = |c: char| if c.is_alphanumeric() || "._-".contains(c) { c } else { '_' };
        let file: String = session.chars().map(safe).collect();
        Self { path: state_dir.join("numbers").join(format!("{file}.json")), clock, begun: false }
    }

    fn now(&self) -> u64 {
        seconds(&self.clock)
    }

    /// The first number that is free for this lifetime.
    fn first(&self) -> Result<u32> {
        let Some(found) = read(&self.path)? else { return Ok(1) };
        let forgotten = !self.begun && found.is_forgotten(self.now());
        Ok(if forgotten { 1 } else { found.next })
    }

    fn write(&self, next: u32, held: bool) -> Result<()> {
        if let Some(dir) = self.path.parent() {
            std::fs::create_dir_all(dir).map_err(|e| io_error("make the folder", dir, &e))?;
        }
        files::write(&self.path, &Reserved { next, held, at: self.now() })
    }
}

impl Reserved {
    /// Whether a name that this is of starts at 1 again.
    fn is_forgotten(&self, now: u64) -> bool {
        !self.held && Duration::from_secs(now.saturating_sub(self.at)) >= FORGET
    }
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

fn seconds(clock: &Clock) -> u64 {
    clock().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

fn disk() -> MutexGuard<'static, ()> {
    DISK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the files of names that start at 1 again anyway; each attempt of a suite has a name of its own, and nobody uses
/// it a second time. Returns how many.
pub(crate) fn sweep(state_dir: &Path, clock: &Clock) -> usize {
    // No folder: no number was ever given.
    let Ok(entries) = std::fs::read_dir(state_dir.join("numbers")) else { return 0 };
    let now = seconds(clock);
    let mut removed = 0;
    for path in entries.flatten().map(|entry| entry.path()) {
        let _disk = disk();
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

impl NumberSource for DiskNumbers {
    fn reserve(&mut self, count: u32) -> Result<u32, NumberError> {
        let storage = |e: stickpin_kernel::Error| NumberError::Storage {
            full: e.code == ErrorCode::StorageFull,
            message: e.message,
        };
        let _disk = disk();
        let first = self.first().map_err(storage)?;
        let next = first.checked_add(count).ok_or(NumberError::Exhausted)?;
        self.write(next, true).map_err(storage)?;
        self.begun = true;
        Ok(first)
    }

    fn give_back(&mut self, next_unused: u32) {
        if !self.begun {
            return;
        }
        let _disk = disk();
        // Not given back is only skipped; the next lifetime begins a block later.
        if let Err(e) = self.write(next_unused, false) {
            tracing::warn!("ref numbers were not returned: {e}");
        }
        self.begun = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    struct World {
        dir: tempfile::TempDir,
        seconds: Arc<AtomicU64>,
    }

    impl World {
        fn new() -> Self {
            Self { dir: tempfile::tempdir().unwrap(), seconds: Arc::new(AtomicU64::new(1_000_000)) }
        }

        fn numbers(&self) -> DiskNumbers {
            let seconds = Arc::clone(&self.seconds);
            let clock = move || UNIX_EPOCH + Duration::from_secs(seconds.load(Ordering::Relaxed));
            DiskNumbers::new(self.dir.path(), "shop", Arc::new(clock))
        }

        fn wait(&self, time: Duration) {
            self.seconds.fetch_add(time.as_secs(), Ordering::Relaxed);
        }
    }

    #[test]
    fn blocks_follow_one_another_and_a_clean_close_returns_the_rest() {
        let world = World::new();
        let mut first = world.numbers();
        assert_eq!(first.reserve(256), Ok(1));
        assert_eq!(first.reserve(256), Ok(257));
        first.give_back(300);
        assert_eq!(world.numbers().reserve(256), Ok(300));
    }

    #[test]
    fn a_crash_skips_the_block() {
        let world = World::new();
        assert_eq!(world.numbers().reserve(256), Ok(1));
        assert_eq!(world.numbers().reserve(256), Ok(257));
    }

    #[test]
    fn a_name_starts_anew_after_a_day_but_not_after_a_crash() {
        let world = World::new();
        let mut first = world.numbers();
        first.reserve(256).unwrap();
        first.give_back(10);
        world.wait(FORGET - Duration::from_secs(1));
        assert_eq!(world.numbers().reserve(256), Ok(10));
        // That one crashed: when its refs were last used is not known.
        world.wait(2 * FORGET);
        let mut later = world.numbers();
        assert_eq!(later.reserve(256), Ok(266));
        later.give_back(270);
        world.wait(FORGET);
        assert_eq!(world.numbers().reserve(256), Ok(1));
    }

    #[test]
    fn only_files_of_forgotten_names_are_swept_away() {
        let world = World::new();
        let clock: Clock = {
            let seconds = Arc::clone(&world.seconds);
            Arc::new(move || UNIX_EPOCH + Duration::from_secs(seconds.load(Ordering::Relaxed)))
        };
        let named = |name| DiskNumbers::new(world.dir.path(), name, Arc::clone(&clock));
        assert_eq!(sweep(world.dir.path(), &clock), 0, "there is no folder yet");
        for (name, closes) in [("attempt-1", true), ("attempt-2", true), ("crashed", false)] {
            let mut numbers = named(name);
            numbers.reserve(256).unwrap();
            if closes {
                numbers.give_back(10);
            }
        }
        std::fs::write(world.dir.path().join("numbers/torn.json"), "{").unwrap();
        world.wait(FORGET - Duration::from_secs(1));
        assert_eq!(sweep(world.dir.path(), &clock), 0, "a day has not gone by");
        let mut used = named("attempt-2");
        assert_eq!(used.reserve(256), Ok(10));
        world.wait(FORGET);
        assert_eq!(sweep(world.dir.path(), &clock), 1);
        // What a lifetime holds, what one held that crashed, and what cannot be read stay.
        assert_eq!(used.reserve(256), Ok(266));
        assert_eq!(named("crashed").reserve(256), Ok(257));
        assert_eq!(named("attempt-1").reserve(256), Ok(1));
        assert!(world.dir.path().join("numbers/torn.json").exists());
    }

    #[test]
    fn a_long_lifetime_never_starts_anew_under_itself() {
        let world = World::new();
        let mut numbers = world.numbers();
        numbers.reserve(256).unwrap();
        world.wait(2 * FORGET);
        assert_eq!(numbers.reserve(256), Ok(257));
    }

    #[test]
    fn numbers_end_and_a_file_that_cannot_be_read_is_no_start_at_1() {
        let world = World::new();
        let mut numbers = world.numbers();
        numbers.reserve(u32::MAX - 10).unwrap();
        assert_eq!(numbers.reserve(256), Err(NumberError::Exhausted));
        std::fs::write(&numbers.path, "{").unwrap();
        assert!(matches!(world.numbers().reserve(256), Err(NumberError::Storage { full: false, .. })));
    }

    #[test]
    fn a_full_disk_gives_no_number() {
        let world = World::new();
        let mut numbers = world.numbers();
        std::fs::create_dir_all(numbers.path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink("/dev/full", numbers.path.with_extension("new")).unwrap();
        assert!(matches!(numbers.reserve(256), Err(NumberError::Storage { full: true, .. })));
    }

    #[test]
    fn a_name_that_is_no_file_name_stays_in_the_folder() {
        let world = World::new();
        let numbers = DiskNumbers::new(world.dir.path(), "../../etc/x", Arc::new(SystemTime::now));
        assert_eq!(numbers.path.parent().unwrap(), world.dir.path().join("numbers"));
    }
}
