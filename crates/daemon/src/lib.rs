//! Serves a host over a socket, and handles the state directory, idle exit and recovery after a
//! crash.
//!
//! There is one daemon per state directory. A lock decides which process is the daemon; other files
//! only give hints. The daemon announces itself in one line on stdout. It serves until it is
//! stopped or has had no sessions for a while, and closes its sessions before it exits. After a
//! `kill -9`, the next daemon cleans up.
//!
//! ```
//! use std::sync::Arc;
//! use std::time::SystemTime;
//! use stickpin_daemon::DiskNumbers;
//! use stickpin_kernel::Host;
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let state_dir = folder.path();
//! // A host whose ref numbers continue from one process to the next, as in a daemon.
//! let numbers = DiskNumbers::new(state_dir, Arc::new(SystemTime::now));
//! let numbers = move |session: &str| Ok(numbers.for_session(session));
//! let host = Host::builder(state_dir).numbers(numbers).build()?;
//! assert_eq!(host.sessions(), 0);
//! # Ok::<(), stickpin_kernel::Error>(())
//! ```

mod agents;
mod authority;
mod delivery;
mod files;
mod leftovers;
mod lock;
mod log;
mod numbers;
mod peer;
mod response_cache;
mod serve;
mod start;
mod thread_pool;
mod unfinished;

pub use agents::Agents;
pub use authority::coordinator;
pub use numbers::DiskNumbers;
pub use stickpin_coordinator::{DiskFiles, Files, Handle};
pub use tracing::level_filters::LevelFilter;

use crate::lock::{Lock, LockGuard};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use stickpin_device::Provider;
use stickpin_kernel::{Error, ErrorCode, Result, ScriptWriter, io_error};
use stickpin_wire::{Announcement, StateDir, announce, rpc};

/// The default time after which a daemon without sessions exits.
pub const IDLE_EXIT: Duration = Duration::from_secs(15 * 60);

/// How long a starting daemon waits for another daemon that holds the state directory but is not
/// listening.
const START_TIMEOUT: Duration = Duration::from_secs(5);

/// The options with which a daemon is started.
pub struct Options {
    /// The state directory.
    pub state_dir: PathBuf,
    /// How long the daemon keeps running without sessions.
    pub idle_exit: Duration,
    /// The level of detail of the daemon's own log.
    pub log: LevelFilter,
    /// Creates the providers. Called only if this process becomes the daemon.
    pub providers: fn() -> Vec<Arc<dyn Provider>>,
    /// Writes recordings as scripts.
    pub scribe: Arc<dyn ScriptWriter>,
    /// The file system for the sessions' logs and metadata. A test passes one that fails.
    pub files: Arc<dyn Files>,
}

/// Serves until the daemon ends, and returns the exit code. Announces on stdout whether the start
/// succeeded. Returns 0 at once if another daemon is already listening.
#[must_use]
pub fn run(options: &Options) -> u8 {
    let ready = match become_daemon(&options.state_dir) {
        Ok(ready) => ready,
        Err(error) => {
            announce(&Announcement::Failed(error.clone()));
            return error.code.exit();
        }
    };
    let Some(ready) = ready else {
        announce(&Announcement::Ready { pid: None });
        return 0;
    };
    match serve(options, ready) {
        Ok(()) => 0,
        Err(error) => {
            tracing::error!("{}: {error}", error.code.name());
            error.code.exit()
        }
    }
}

/// A process that holds the lock of the state directory and listens on its socket.
struct BoundDaemon {
    state_dir: StateDir,
    listener: UnixListener,
    /// The number of this start in the state directory.
    epoch: u64,
    hint: start::HintFile,
    /// Held until the process ends.
    _lock: LockGuard,
}

/// Locks the state directory and listens on its socket. Returns `None` if another daemon is already
/// listening on that socket.
fn become_daemon(state_dir: &Path) -> Result<Option<BoundDaemon>> {
    let state_dir = StateDir::open(state_dir)?;
    // Only this user can access the files made from here on.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    // Detaches from the terminal, so that closing it or Ctrl-C does not end the sessions. Fails
    // only for a group leader: a daemon that a person started in the foreground.
    let _ = rustix::process::setsid();

    let until = Instant::now() + START_TIMEOUT;
    // Serializes starts: a process that waits here then finds the winner listening.
    let starting = Lock::open(&state_dir.daemon_dir().join("starting"))?;
    let Some(starting) = starting.take_until(until, || false)? else { return Err(busy(&state_dir)) };
    let lock = Lock::open(&state_dir.daemon_dir().join("lock"))?;
    // A daemon that holds the lock but is not listening is starting, or is closing its sessions.
    let is_served = || UnixStream::connect(state_dir.socket()).is_ok();
    let Some(lock) = lock.take_until(until, is_served)? else {
        return if is_served() { Ok(None) } else { Err(busy(&state_dir)) };
    };
    log::redirect(&state_dir.log())?;
    // Everything that a client relies on is checked and on disk before a client can connect.
    let epoch = start::prepare(&state_dir)?;
    let listener = listen(state_dir.socket())?;
    let hint = start::write_hint(&state_dir, epoch)?;
    drop(starting);
    announce(&Announcement::Ready { pid: Some(std::process::id()) });
    Ok(Some(BoundDaemon { state_dir, listener, epoch, hint, _lock: lock }))
}

/// Returns the error for a state directory whose lock stays taken while no process is listening on
/// its socket.
fn busy(state_dir: &StateDir) -> Error {
    let message = format!(
        "another daemon holds `{}` and has not accepted connections for {} s",
        state_dir.path().display(),
        START_TIMEOUT.as_secs()
    );
    Error::new(ErrorCode::DaemonStarting, message).hint(format!(
        "repeat the command in a moment, when the other daemon has started or has closed its sessions; the daemon's log is `{}`",
        state_dir.log().display()
    ))
}

/// Binds the socket. A file in the socket's place belongs to a dead daemon, because this process
/// holds the lock.
fn listen(socket: &Path) -> Result<UnixListener> {
    let failed = |e: std::io::Error| io_error("listen at", socket, &e);
    stickpin_process::remove_file(socket).map_err(failed)?;
    let listener = UnixListener::bind(socket).map_err(failed)?;
    std::fs::set_permissions(socket, PermissionsExt::from_mode(0o600)).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    Ok(listener)
}

fn serve(options: &Options, ready: BoundDaemon) -> Result<()> {
    log::start(options.log);
    tracing::info!(
        version = rpc::VERSION,
        pid = std::process::id(),
        state_dir = %ready.state_dir.path().display(),
        "serving"
    );
    // One thread is enough for clients that take turns: in measurements it halves the round trip.
    // `thread_pool` adds threads for concurrent clients.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Error::new(ErrorCode::Io, format!("cannot start the daemon's runtime: {e}")))?;
    let state = (ready.state_dir, ready.epoch, ready.hint);
    let outcome = runtime.block_on(serve::serve(options, state, ready.listener));
    // A thread that hangs in a device must not keep the process alive.
    runtime.shutdown_timeout(Duration::from_secs(1));
    tracing::info!("gone");
    outcome
}
