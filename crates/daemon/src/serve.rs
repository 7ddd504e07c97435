//! The daemon's main loop: the host behind all connections, and the reasons to shut down.

use crate::agents::Agents;
use crate::response_cache::ResponseCache;
use crate::start::HintFile;
use crate::thread_pool::ThreadPool;
use crate::{DiskNumbers, Options, authority, leftovers, peer};
use parking_lot::Mutex;
use std::os::unix::net::UnixListener as StdListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};
use stickpin_coordinator::{Coordinator, HostSummary};
use stickpin_kernel::commands::frame::WatchFrame;
use stickpin_kernel::commands::stored_tree::WatchTree;
use stickpin_kernel::{CancellationToken, Host, Identities, Result, io_error};
use stickpin_wire::StateDir;
use stickpin_wire::rpc::{self, Status};
use tokio::net::UnixListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Semaphore;

/// The timeout for pending answers when the daemon shuts down.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// The limit for the long messages of all connections together, in units of
/// [`peer::BYTES_PER_PERMIT`] bytes.
const MESSAGE_PERMITS: usize = 2 * stickpin_wire::MAX_FRAME / peer::BYTES_PER_PERMIT;

/// The state that all connections share.
pub(crate) struct Daemon {
    pub(crate) host: Host,
    pub(crate) agents: Arc<Agents>,
    pub(crate) coordinator: Coordinator,
    numbers: Arc<DiskNumbers>,
    /// The responses to recent requests, for clients that repeat one.
    pub(crate) responses: Arc<ResponseCache>,
    pub(crate) state_dir: StateDir,
    started: Instant,
    /// The number of calls that have been read but not yet answered.
    pub(crate) calls: AtomicUsize,
    last_used: Mutex<Instant>,
    /// Limits the memory for long messages.
    pub(crate) message_permits: Arc<Semaphore>,
    /// Cancelled when the daemon shuts down: it accepts no more connections or calls.
    pub(crate) shutdown: CancellationToken,
    /// Whether the daemon shuts down without waiting for running commands.
    pub(crate) is_forced: AtomicBool,
}

/// Serves until the daemon is asked to shut down or has been idle for long enough, then closes all
/// sessions. `epoch` is the number of this start in the state directory. `hint` is removed before
/// the last connection is closed.
pub(crate) async fn serve(
    options: &Options,
    (state_dir, epoch, hint): (StateDir, u64, HintFile),
    listener: StdListener,
) -> Result<()> {
    let socket = state_dir.socket().to_path_buf();
    let failed = |e: std::io::Error| io_error("listen at", &socket, &e);
    let listener = UnixListener::from_std(listener).map_err(failed)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;

    let daemon = Arc::new(Daemon::new(options, state_dir, epoch)?);
    daemon.repair().await;
    tokio::spawn(daemon.coordinator.clone().supervise(daemon.shutdown.clone()));
    let lanes = ThreadPool::new(std::thread::available_parallelism().map_or(1, usize::from));
    let idle = daemon.wait_until_idle(options.idle_exit);
    tokio::pin!(idle);
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    // Yields so that a client that just disconnected is no longer counted, and the
                    // next one needs no new thread.
                    tokio::task::yield_now().await;
                    let daemon = Arc::clone(&daemon);
                    lanes.serve_connection(stream, move |stream| peer::serve(Arc::clone(&daemon), stream));
                }
                // No file descriptor is free, or the client disconnected. The next `accept` may
                // succeed.
                Err(e) => {
                    tracing::warn!("accept: {e}");
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            },
            () = daemon.shutdown.cancelled() => break,
            () = &mut idle => {
                tracing::info!("no sessions for {} s", options.idle_exit.as_secs());
                break;
            }
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
        }
    }
    daemon.shutdown.cancel();
    // From here on, a client finds no socket and starts the next daemon, which waits for the lock.
    drop(listener);
    if let Err(e) = std::fs::remove_file(&socket) {
        tracing::warn!("{} could not be removed: {e}", socket.display());
    }
    if !daemon.is_forced.load(Ordering::Relaxed) {
        tokio::select! {
            () = stickpin_coordinator::drain_all(&daemon.coordinator) => {}
            // A second signal means that the sender does not want to wait.
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    }
    daemon.host.shutdown().await;
    // Turns stay with their owners.
    stickpin_coordinator::store_deadlines(&daemon.coordinator);
    // A client that waits for its connection to end is waiting for this process.
    let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, daemon.wait_until_answered()).await;
    daemon.numbers.flush();
    // The last file: a client whose connection has ended finds no file that is about to change.
    drop(hint);
    lanes.end().await;
    Ok(())
}

impl Daemon {
    fn new(options: &Options, state_dir: StateDir, epoch: u64) -> Result<Self> {
        let numbers = DiskNumbers::new(state_dir.path(), Arc::new(SystemTime::now));
        let source = Arc::clone(&numbers);
        let coordinator = authority::coordinator_of(&state_dir, epoch, Arc::clone(&options.files))?;
        let agents = Arc::new(Agents::read(state_dir.path())?);
        let host = Host::builder(state_dir.path())
            .coordinator(coordinator.clone())
            .identities(Arc::clone(&agents) as Arc<dyn Identities>)
            .providers((options.providers)())
            .command::<WatchFrame>()
            .command::<WatchTree>()
            .script_writer(Arc::clone(&options.scribe))
            .numbers(move |session| Ok(source.for_session(session)))
            .build()?;
        Ok(Self {
            agents,
            coordinator,
            numbers,
            host,
            responses: Arc::default(),
            state_dir,
            started: Instant::now(),
            calls: AtomicUsize::new(0),
            last_used: Mutex::new(Instant::now()),
            message_permits: Arc::new(Semaphore::new(MESSAGE_PERMITS)),
            shutdown: CancellationToken::new(),
            is_forced: AtomicBool::new(false),
        })
    }

    /// Ends the processes that a killed daemon left running; clients can connect meanwhile, but
    /// their calls wait. Then starts to load the sessions of the previous daemon and to remove its
    /// folders. Also removes the ref number files of session names that have been unused for a day.
    async fn repair(&self) {
        let state_dir = self.state_dir.path();
        for done in self.host.sweep().await {
            tracing::info!("cleaned up after a killed daemon: {done}");
        }
        let coordinator = self.coordinator.clone();
        // Runs detached: a session that a client names meanwhile is loaded on demand.
        drop(tokio::task::spawn_blocking(move || match stickpin_coordinator::resume(&coordinator) {
            Ok(loaded) => tracing::debug!("loaded {loaded} sessions of the previous daemon"),
            Err(e) => tracing::warn!("the sessions of the previous daemon could not be loaded: {e}"),
        }));
        let (left, going) = (leftovers::find(state_dir), self.shutdown.clone());
        if !left.is_empty() {
            // Runs detached and reports in the log.
            drop(tokio::task::spawn_blocking(move || leftovers::remove(&left, &going)));
        }
        let forgotten = self.numbers.remove_forgotten();
        tracing::debug!("forgot the names of {forgotten} sessions");
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.host.sessions() > 0 || self.host.running() > 0 || self.calls.load(Ordering::Relaxed) > 0
    }

    pub(crate) fn touch(&self) {
        *self.last_used.lock() = Instant::now();
    }

    /// Waits until the daemon has been idle for `limit`. Meanwhile writes returned ref numbers to
    /// disk.
    async fn wait_until_idle(&self, limit: Duration) {
        loop {
            if self.is_busy() {
                self.touch();
            } else {
                self.numbers.flush();
            }
            let unused = self.last_used.lock().elapsed();
            let Some(left) = limit.checked_sub(unused).filter(|left| !left.is_zero()) else { return };
            // A session can end without a call, so the idle check is repeated.
            tokio::time::sleep(left.min(limit / 16).max(Duration::from_millis(5))).await;
        }
    }

    /// Waits until no call is running.
    async fn wait_until_answered(&self) {
        while self.calls.load(Ordering::Relaxed) > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Returns the daemon's status.
    pub(crate) fn status(&self) -> Status {
        let HostSummary { epoch, owned_turns } = HostSummary::of(&self.coordinator);
        Status {
            pid: std::process::id(),
            version: rpc::VERSION.to_owned(),
            protocol: rpc::PROTOCOL,
            epoch,
            uptime_ms: u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            sessions: self.host.session_names(),
            running: self.host.running(),
            owned_turns,
            socket: self.state_dir.socket().to_path_buf(),
            state_dir: self.state_dir.path().to_path_buf(),
        }
    }
}
