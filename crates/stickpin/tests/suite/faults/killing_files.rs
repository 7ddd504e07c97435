//! A file system that kills its own process at one operation, or that is full.

use crate::support::eventually;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use stickpin_backend_sim::SimProvider;
use stickpin_daemon::{DiskFiles, Files, Handle, LevelFilter, Options};

/// When in an operation the process dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Moment {
    Before,
    /// With half of the bytes written.
    Within,
    /// Before the caller of the operation goes on, so before any reply that waits for it.
    After,
}

/// The operation at which a process dies, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    pub operation: u64,
    pub moment: Moment,
}

impl Point {
    fn as_argument(self) -> String {
        format!("{} {:?}", self.operation, self.moment)
    }
}

impl FromStr for Point {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (operation, moment) = text.split_once(' ').ok_or("two words")?;
        let moment = match moment {
            "Before" => Moment::Before,
            "Within" => Moment::Within,
            "After" => Moment::After,
            other => return Err(format!("no moment: {other}")),
        };
        Ok(Self { operation: operation.parse().map_err(|e| format!("{operation}: {e}"))?, moment })
    }
}

/// The files of the machine. Every operation that changes a name or a content counts. Syncs do not:
/// a killed process loses nothing that was written.
#[derive(Debug, Clone)]
pub struct KillingFiles(Arc<Operations>);

#[derive(Debug)]
struct Operations {
    kill_at: Option<Point>,
    passed: AtomicU64,
    /// Gets the name of each operation as a line.
    list: Option<File>,
    /// While this file exists, no byte can be written.
    full_if: Option<PathBuf>,
}

impl KillingFiles {
    pub fn new(orders: Orders) -> io::Result<Self> {
        let list = orders.list.map(File::create).transpose()?;
        let Orders { kill_at, full_if, .. } = orders;
        Ok(Self(Arc::new(Operations { kill_at, passed: AtomicU64::new(0), list, full_if })))
    }
}

impl Operations {
    /// Counts an operation, and returns when in it the process dies.
    fn next(&self, name: &str) -> io::Result<Option<Moment>> {
        let operation = self.passed.fetch_add(1, Ordering::SeqCst);
        if let Some(mut list) = self.list.as_ref() {
            list.write_all(format!("{name}\n").as_bytes())?;
        }
        Ok(self.kill_at.filter(|point| point.operation == operation).map(|point| point.moment))
    }

    fn around<T>(&self, name: &str, run: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let moment = self.next(name)?;
        if moment == Some(Moment::Before) {
            kill();
        }
        let done = run();
        if moment.is_some() {
            kill();
        }
        done
    }
}

/// Ends this process as `kill -9` does.
fn kill() -> ! {
    let sent = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    panic!("the process lives on: {sent:?}");
}

#[derive(Debug)]
struct KillingHandle {
    inner: Arc<dyn Handle>,
    operations: Arc<Operations>,
}

impl Handle for KillingHandle {
    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        if self.operations.full_if.as_ref().is_some_and(|file| file.exists()) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        match self.operations.next("write")? {
            None => return self.inner.write(bytes),
            Some(Moment::Before) => {}
            Some(Moment::Within) => drop(self.inner.write(&bytes[..bytes.len() / 2])?),
            Some(Moment::After) => drop(self.inner.write(bytes)?),
        }
        kill()
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        self.operations.around("truncate", || self.inner.truncate(len))
    }

    fn sync(&self) -> io::Result<()> {
        self.inner.sync()
    }
}

impl Files for KillingFiles {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn Handle>> {
        let inner = self.0.around("open", || DiskFiles.open(path))?;
        Ok(Arc::new(KillingHandle { inner, operations: Arc::clone(&self.0) }))
    }

    fn read(&self, path: &Path, from: u64) -> io::Result<Vec<u8>> {
        DiskFiles.read(path, from)
    }

    fn head(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        DiskFiles.head(path, most)
    }

    fn len(&self, path: &Path) -> io::Result<u64> {
        DiskFiles.len(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        DiskFiles.list(dir)
    }

    fn make_dir(&self, dir: &Path) -> io::Result<()> {
        self.0.around("make_dir", || DiskFiles.make_dir(dir))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.around("rename", || DiskFiles.rename(from, to))
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.around("link", || DiskFiles.link(from, to))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.0.around("remove", || DiskFiles.remove(path))
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        DiskFiles.sync_dir(dir)
    }

    fn free(&self, dir: &Path) -> io::Result<u64> {
        if self.0.full_if.as_ref().is_some_and(|file| file.exists()) {
            return Ok(0);
        }
        DiskFiles.free(dir)
    }
}

/// Returns the points of a run whose operations are in `list`: every moment of every operation, or,
/// of more than `limit`, every k-th with at least one for each operation and moment.
pub fn sample(list: &Path, limit: usize) -> Vec<(String, Point)> {
    let names = std::fs::read_to_string(list).expect("the operations of the run");
    let mut all = Vec::new();
    for (operation, name) in (0..).zip(names.lines()) {
        let moments: &[Moment] = match name {
            "write" => &[Moment::Before, Moment::Within, Moment::After],
            _ => &[Moment::Before, Moment::After],
        };
        all.extend(moments.iter().map(|&moment| (name.to_owned(), Point { operation, moment })));
    }
    // Not a multiple of 2 or 3, or it would always meet the same moment.
    let mut every = all.len().div_ceil(limit).max(1);
    while every > 1 && (every.is_multiple_of(2) || every.is_multiple_of(3)) {
        every += 1;
    }
    let mut chosen: Vec<(String, Point)> = all.iter().step_by(every).cloned().collect();
    for candidate in &all {
        let is_like =
            |(name, point): &(String, Point)| *name == candidate.0 && point.moment == candidate.1.moment;
        if !chosen.iter().any(is_like) {
            chosen.push(candidate.clone());
        }
    }
    chosen
}

/// Where a daemon with [`KillingFiles`] gets its orders from: variables of its environment.
#[derive(Debug, Default)]
pub struct Orders {
    pub state_dir: PathBuf,
    pub kill_at: Option<Point>,
    pub list: Option<PathBuf>,
    pub full_if: Option<PathBuf>,
}

impl Orders {
    const STATE_DIR: &str = "CRASH_STATE_DIR";
    const KILL_AT: &str = "CRASH_KILL_AT";
    const LIST: &str = "CRASH_LIST";
    const FULL_IF: &str = "CRASH_FULL_IF";

    /// Returns the orders of this process, if it was started to be a daemon.
    fn of_this_process() -> Option<Self> {
        let state_dir = std::env::var_os(Self::STATE_DIR)?.into();
        let kill_at = std::env::var(Self::KILL_AT).ok().map(|text| text.parse().expect("a point"));
        let path = |name| std::env::var_os(name).map(PathBuf::from);
        Some(Self { state_dir, kill_at, list: path(Self::LIST), full_if: path(Self::FULL_IF) })
    }

    fn set(&self, command: &mut Command) {
        command.env(Self::STATE_DIR, &self.state_dir);
        command.envs(self.kill_at.map(|point| (Self::KILL_AT, point.as_argument())));
        command.envs(self.list.as_ref().map(|list| (Self::LIST, list)));
        command.envs(self.full_if.as_ref().map(|file| (Self::FULL_IF, file)));
    }

    /// Starts a test of this program, whose first line becomes a daemon with these orders. Returns
    /// once it listens or is dead.
    pub fn start(&self, test: &str, home: &Path) -> Child {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args(["--exact", test, "--nocapture", "--test-threads=1"]).env_clear().env("HOME", home);
        self.set(&mut command);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut daemon = command.spawn().expect("this program runs");
        let socket = self.state_dir.join("daemon/sock");
        eventually("the daemon listens or is dead", || {
            socket.exists() || daemon.try_wait().expect("a state").is_some()
        });
        daemon
    }

    /// Becomes a daemon with [`KillingFiles`] if this process was started for that.
    pub fn obey() {
        let Some(orders) = Self::of_this_process() else { return };
        let state_dir = orders.state_dir.clone();
        let code = stickpin_daemon::run(&Options {
            state_dir,
            idle_exit: Duration::from_secs(60),
            log: LevelFilter::INFO,
            providers: || vec![Arc::new(SimProvider::new())],
            scribe: Arc::new(stickpin_replay::AdScriptWriter),
            files: Arc::new(KillingFiles::new(orders).expect("a list")),
        });
        std::process::exit(code.into());
    }
}
