//! A socket in front of a host: state dir, idle exit, repair after a crash.
//!
//! One process per state dir, decided by a lock; everything else on disk is a hint. It announces itself by one line on
//! its stdout, serves until it is stopped or has had no sessions for a while, and closes its sessions before it goes.
//! After a kill -9 the next one clears up what was left behind.

mod files;
mod lanes;
mod leftovers;
mod lock;
mod log;
mod numbers;
mod peer;
mod serve;

pub use numbers::DiskNumbers;
pub use tracing::level_filters::LevelFilter;

use crate::lock::{Held, Lock};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use stickpin_device::Provider;
use stickpin_kernel::{Error, ErrorCode, Result, Scribe, io_error};
use stickpin_wire::{Announcement, Place, announce, rpc};

/// How long a daemon stays without sessions.
pub const IDLE_EXIT: Duration = Duration::from_secs(15 * 60);

/// What a daemon is started with.
pub struct Options {
    /// The state dir.
    pub state_dir: PathBuf,
    /// How long it stays without sessions.
    pub idle_exit: Duration,
    /// How much its log says.
    pub log: LevelFilter,
    /// The platforms. Made only when this process is the one that serves.
    pub providers: fn() -> Vec<Arc<dyn Provider>>,
    /// Writes recordings as scripts.
    pub scribe: Arc<dyn Scribe>,
}

/// Serves until the end, and says what the process should exit with. How the start went is announced on stdout.
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

/// A process that holds the state dir and listens.
struct Ready {
    place: Place,
    listener: UnixListener,
    /// Held until the process ends.
    _lock: Held,
}

/// Takes the state dir and listens in it; `None` if another daemon does already.
fn become_daemon(state_dir: &Path) -> Result<Option<Ready>> {
    let place = Place::open(state_dir)?;
    // Whatever is made from here on is ours alone.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    // A terminal that closes, or a Ctrl-C in it, must not end the sessions. Fails only for the leader of a group,
    // which somebody started by hand in front of them.
    let _ = rustix::process::setsid();

    // Starters come one after another: whoever waits here finds the winner listening.
    let starting = Lock::open(&place.daemon_dir().join("starting"))?.wait()?;
    let lock = Lock::open(&place.daemon_dir().join("lock"))?;
    let lock = match lock.try_take()? {
        Ok(held) => held,
        Err(_) if std::os::unix::net::UnixStream::connect(place.socket()).is_ok() => return Ok(None),
        // It has stopped listening: it is closing its sessions and will be gone soon.
        Err(lock) => lock.wait()?,
    };
    log::redirect(&place.log())?;
    let listener = listen(place.socket())?;
    // For people and tools. The lock decides, never this.
    let hint = json!({
        "pid": std::process::id(),
        "version": rpc::VERSION,
        "protocol": rpc::PROTOCOL,
        "socket": place.socket(),
        "startedAt": SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
    });
    files::write(&place.daemon_dir().join("daemon.json"), &hint)?;
    drop(starting);
    announce(&Announcement::Ready { pid: Some(std::process::id()) });
    Ok(Some(Ready { place, listener, _lock: lock }))
}

/// Binds the socket. What lies in its place is of a daemon that died: we hold the lock.
fn listen(socket: &Path) -> Result<UnixListener> {
    let failed = |e: std::io::Error| io_error("listen at", socket, &e);
    match std::fs::remove_file(socket) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(failed(e)),
        _ => {}
    }
    let listener = UnixListener::bind(socket).map_err(failed)?;
    std::fs::set_permissions(socket, PermissionsExt::from_mode(0o600)).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    Ok(listener)
}

fn serve(options: &Options, ready: Ready) -> Result<()> {
    log::start(options.log);
    tracing::info!(
        version = rpc::VERSION,
        pid = std::process::id(),
        state_dir = %ready.place.state_dir().display(),
        "serving"
    );
    // One thread while clients come one after the other: measured, it halves the round trip. See `lanes` for more.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Error::new(ErrorCode::Io, format!("the daemon's runtime could not be made: {e}")))?;
    let daemon_dir = ready.place.daemon_dir();
    let outcome = runtime.block_on(serve::serve(options, ready.place, ready.listener));
    // A thread that hangs in a device must not keep the process.
    runtime.shutdown_timeout(Duration::from_secs(1));
    if let Err(e) = std::fs::remove_file(daemon_dir.join("daemon.json")) {
        tracing::warn!("daemon.json could not be removed: {e}");
    }
    tracing::info!("gone");
    outcome
}
