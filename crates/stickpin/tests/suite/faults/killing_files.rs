//! A file system that kills its own process at one operation, or that is full.

use crate::support::eventually;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use stickpin_backend_sim::SimProvider;
use stickpin_daemon::{DiskFiles, Files, Handle, LevelFilter, Options};

/// The moment of an operation at which the process dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Moment {
    Before,
    /// With half of the bytes written.
    Within,
    /// Before the caller of the operation continues, and therefore before any reply that waits for
    /// it.
    After,
}

impl Moment {
    pub const ALL: [Self; 3] = [Self::Before, Self::Within, Self::After];
}

/// The operation in which a process dies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// The name of the operation, the kind of file, and the kinds of records that it writes:
    /// `write log turn_claimed`.
    pub operation: String,
    /// The index among these operations, from 0.
    pub nth: usize,
    pub moment: Moment,
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {} {}", self.moment, self.nth, self.operation)
    }
}

impl FromStr for Point {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut words = text.splitn(3, ' ');
        let (Some(moment), Some(nth), Some(operation)) = (words.next(), words.next(), words.next()) else {
            return Err(format!("not three words: {text}"));
        };
        let moment = Moment::ALL.into_iter().find(|known| format!("{known:?}") == moment);
        Ok(Self {
            operation: operation.to_owned(),
            nth: nth.parse().map_err(|e| format!("{nth}: {e}"))?,
            moment: moment.ok_or_else(|| format!("no moment: {text}"))?,
        })
    }
}

/// The files of the machine. Every operation that changes a name or content counts. Syncs do not: a
/// killed process loses nothing that was written.
#[derive(Debug, Clone)]
pub struct KillingFiles(Arc<Operations>);

#[derive(Debug)]
struct Operations {
    kill_at: Option<Point>,
    /// The number of matching operations that have begun.
    begun: AtomicUsize,
    /// The file that receives the name of each operation as a line.
    list: Option<File>,
    /// While this file exists, no byte can be written.
    full_if: Option<PathBuf>,
}

impl KillingFiles {
    pub fn new(orders: Orders) -> io::Result<Self> {
        let list = orders.list.map(File::create).transpose()?;
        let Orders { kill_at, full_if, .. } = orders;
        Ok(Self(Arc::new(Operations { kill_at, begun: AtomicUsize::new(0), list, full_if })))
    }
}

impl Operations {
    /// Records that an operation begins, and returns the moment at which the process dies in it.
    fn next(&self, name: &str) -> io::Result<Option<Moment>> {
        if let Some(mut list) = self.list.as_ref() {
            list.write_all(format!("{name}\n").as_bytes())?;
        }
        let Some(point) = self.kill_at.as_ref().filter(|point| point.operation == name) else {
            return Ok(None);
        };
        Ok((self.begun.fetch_add(1, Ordering::SeqCst) == point.nth).then_some(point.moment))
    }

    fn around<T>(&self, verb: &str, path: &Path, run: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let moment = self.next(&format!("{verb} {}", kind_of_file(path)))?;
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

/// Returns the kind of a file: its name, without the parts that differ between sessions or runs.
fn kind_of_file(path: &Path) -> &str {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let (stem, extension) = name.split_once('.').unwrap_or((name, ""));
    match extension {
        "jsonl" => "log",
        // A stored tree and its folder are named after its hash.
        _ if !stem.is_empty() && stem.bytes().all(|byte| byte.is_ascii_hexdigit()) => "blob",
        _ => name,
    }
}

/// Returns the kinds of the records that are written to a log, joined by `+`.
fn kinds_of_records(bytes: &[u8]) -> String {
    let kinds = bytes.split(|&byte| byte == b'\n').filter_map(|line| {
        let record: serde_json::Value = serde_json::from_slice(line).ok()?;
        Some(record.get("kind")?.as_str()?.to_owned())
    });
    kinds.collect::<Vec<_>>().join("+")
}

/// Ends this process as `kill -9` does.
fn kill() -> ! {
    let sent = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    panic!("the process is still alive: {sent:?}");
}

#[derive(Debug)]
struct KillingHandle {
    path: PathBuf,
    inner: Arc<dyn Handle>,
    operations: Arc<Operations>,
}

impl Handle for KillingHandle {
    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        if self.operations.full_if.as_ref().is_some_and(|file| file.exists()) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let (file, records) = (kind_of_file(&self.path), kinds_of_records(bytes));
        match self.operations.next(format!("write {file} {records}").trim_end())? {
            None => return self.inner.write(bytes),
            Some(Moment::Before) => {}
            Some(Moment::Within) => drop(self.inner.write(&bytes[..bytes.len() / 2])?),
            Some(Moment::After) => drop(self.inner.write(bytes)?),
        }
        kill()
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        self.operations.around("truncate", &self.path, || self.inner.truncate(len))
    }

    fn sync(&self) -> io::Result<()> {
        self.inner.sync()
    }
}

impl Files for KillingFiles {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn Handle>> {
        let inner = self.0.around("open", path, || DiskFiles.open(path))?;
        Ok(Arc::new(KillingHandle { path: path.to_owned(), inner, operations: Arc::clone(&self.0) }))
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
        self.0.around("make_dir", dir, || DiskFiles.make_dir(dir))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.around("rename", to, || DiskFiles.rename(from, to))
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.around("link", to, || DiskFiles.link(from, to))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.0.around("remove", path, || DiskFiles.remove(path))
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

/// Returns the points at which the daemon of a run is killed, whose operations are in `list`: for
/// each kind of record, before, during and after a write, using three different writes if the run
/// has that many; for each other operation that changes what a reader finds, one of these moments.
pub fn sample(list: &Path) -> Vec<Point> {
    let list = std::fs::read_to_string(list).expect("the operations of the run");
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let is_found =
        |name: &&str| ["write ", "rename ", "link ", "remove "].iter().any(|verb| name.starts_with(verb));
    list.lines().filter(is_found).for_each(|name| *counts.entry(name).or_default() += 1);
    let mut points = Vec::new();
    for (at, (name, count)) in counts.into_iter().enumerate() {
        let of = |moment: Moment| {
            let last = count - 1;
            let nth = match moment {
                Moment::Before => 0,
                Moment::Within => last / 2,
                Moment::After => last,
            };
            Point { operation: name.to_owned(), nth, moment }
        };
        match name.strip_prefix("write log ") {
            Some(_) => points.extend(Moment::ALL.map(of)),
            None => points.push(of(Moment::ALL[at % 3])),
        }
    }
    points
}

/// The orders for a daemon with [`KillingFiles`], passed in environment variables.
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

    /// Returns the orders of this process, if it was started as such a daemon.
    fn of_this_process() -> Option<Self> {
        let state_dir = std::env::var_os(Self::STATE_DIR)?.into();
        let kill_at = std::env::var(Self::KILL_AT).ok().map(|text| text.parse().expect("a point"));
        let path = |name| std::env::var_os(name).map(PathBuf::from);
        Some(Self { state_dir, kill_at, list: path(Self::LIST), full_if: path(Self::FULL_IF) })
    }

    fn set(&self, command: &mut Command) {
        command.env(Self::STATE_DIR, &self.state_dir);
        command.envs(self.kill_at.as_ref().map(|point| (Self::KILL_AT, point.to_string())));
        command.envs(self.list.as_ref().map(|list| (Self::LIST, list)));
        command.envs(self.full_if.as_ref().map(|file| (Self::FULL_IF, file)));
    }

    /// Starts a test of this program, whose first line turns the process into a daemon with these
    /// orders. Returns once the daemon listens or is dead.
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
