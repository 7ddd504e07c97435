//! The host: its providers, and its sessions by name.

pub(crate) mod open_session;
#[cfg_attr(not(feature = "pictures"), allow(dead_code, reason = "only `screenshot` needs all of it"))]
pub(crate) mod pictures;
pub(crate) mod queue;
#[cfg_attr(not(feature = "recording"), allow(dead_code, reason = "only `record start` begins a recording"))]
pub(crate) mod recording;

use crate::api::journal::{Journal, NoJournal};
use crate::host::queue::{End, Mailbox, Turn};
use crate::host::recording::{NoScribe, Scribe};
use indexmap::IndexMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, SystemTime};
use stickpin_device::{Dialog, Error, Provider, Result};
use stickpin_session::{InMemoryNumbers, Ladder, NumberSource};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// The maximum number of remembered endings, which tell the next command why its session is gone.
const ENDINGS: usize = 64;

/// Creates the source of ref numbers for a session name.
pub type Numbers = Arc<dyn Fn(&str) -> Result<Box<dyn NumberSource>> + Send + Sync>;

/// The configuration of a host. The kernel reads the clock and randomness only through it.
#[derive(Clone)]
pub(crate) struct HostConfig {
    /// The platforms, in the order in which they may claim what is opened.
    pub(crate) providers: Vec<Arc<dyn Provider>>,
    /// The folder in which sessions keep their folders.
    pub(crate) state_dir: PathBuf,
    /// The source of randomness, for seeds of generations and names of lifetimes.
    pub(crate) random: Arc<dyn Fn() -> u64 + Send + Sync>,
    /// The wall clock.
    pub(crate) clock: Arc<dyn Fn() -> SystemTime + Send + Sync>,
    /// The source of ref numbers for a session name.
    pub(crate) numbers: Numbers,
    /// How sessions treat refs that are alive but not certain; `open --stale-refs` overrides it.
    pub(crate) ladder: Ladder,
    /// The journal, which receives every command.
    pub(crate) journal: Arc<dyn Journal>,
    /// Converts recordings to scripts.
    pub(crate) scribe: Arc<dyn Scribe>,
    /// The idle timeout of sessions without a window; `open --idle-timeout` overrides it.
    pub(crate) idle_timeout: Duration,
}

impl HostConfig {
    /// Creates a configuration with the real clock and randomness.
    pub(crate) fn new(state_dir: impl Into<PathBuf>) -> Self {
        Self {
            providers: Vec::new(),
            state_dir: state_dir.into(),
            random: Arc::new(rand::random),
            clock: Arc::new(SystemTime::now),
            numbers: Arc::new(|_| Ok(Box::new(InMemoryNumbers::new()))),
            ladder: Ladder::default(),
            journal: Arc::new(NoJournal),
            scribe: Arc::new(NoScribe),
            idle_timeout: Duration::from_secs(60 * 60),
        }
    }
}

impl fmt::Debug for HostConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostConfig")
            .field("providers", &self.providers)
            .field("state_dir", &self.state_dir)
            .field("idle_timeout", &self.idle_timeout)
            .finish_non_exhaustive()
    }
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) config: HostConfig,
    desks: Mutex<IndexMap<String, Arc<Desk>>>,
    endings: Mutex<IndexMap<String, Error>>,
    pub(crate) running: AtomicUsize,
}

/// A session as the host sees it, without its device.
#[derive(Debug)]
pub(crate) struct Desk {
    pub(crate) name: String,
    /// The key of the caller that opened the session.
    pub(crate) owner: String,
    pub(crate) mailbox: Mailbox,
    /// The state that readers see without waiting for the device.
    pub(crate) status: watch::Sender<Status>,
    /// Cancelled when the session is closed, which ends running commands.
    pub(crate) closing: CancellationToken,
}

/// What is known about a session without asking its device.
#[derive(Debug, Clone, Default)]
pub(crate) struct Status {
    pub(crate) kind: &'static str,
    pub(crate) label: String,
    pub(crate) url: String,
    pub(crate) title: String,
    pub(crate) generation: Option<u64>,
    pub(crate) pid: Option<u32>,
    pub(crate) dialog: Option<Dialog>,
    pub(crate) recorded: bool,
    pub(crate) running: Option<&'static str>,
    pub(crate) idle_timeout: Option<Duration>,
    pub(crate) opened: Option<SystemTime>,
    pub(crate) used: Option<SystemTime>,
}

impl Inner {
    pub(crate) fn new(config: HostConfig) -> Self {
        Self { config, desks: Mutex::default(), endings: Mutex::default(), running: AtomicUsize::new(0) }
    }

    fn desks(&self) -> MutexGuard<'_, IndexMap<String, Arc<Desk>>> {
        self.desks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a session by name.
    ///
    /// # Errors
    /// Returns the reason why the session ended, or `SESSION_NOT_FOUND`.
    pub(crate) fn desk(&self, name: &str) -> Result<Arc<Desk>> {
        if let Some(desk) = self.desks().get(name) {
            return Ok(desk.clone());
        }
        let endings = self.endings.lock().unwrap_or_else(PoisonError::into_inner);
        Err(endings.get(name).cloned().unwrap_or_else(|| queue::closed(name)))
    }

    /// Returns the number of sessions that are open or being opened.
    pub(crate) fn count(&self) -> usize {
        self.desks().len()
    }

    pub(crate) fn all_desks(&self) -> Vec<Arc<Desk>> {
        self.desks().values().cloned().collect()
    }

    /// Whether `desk` is still the session of its name.
    pub(crate) fn is_open(&self, desk: &Arc<Desk>) -> bool {
        self.desks().get(&desk.name).is_some_and(|d| Arc::ptr_eq(d, desk))
    }

    /// Returns the session of a name, and whether it was created by this call.
    pub(crate) fn desk_or_new(self: &Arc<Self>, name: &str, owner: &str) -> (Arc<Desk>, bool) {
        let mut desks = self.desks();
        if let Some(desk) = desks.get(name) {
            return (desk.clone(), false);
        }
        let desk = Arc::new_cyclic(|this: &Weak<Desk>| {
            let (host, this) = (Arc::downgrade(self), this.clone());
            Desk {
                name: name.to_owned(),
                owner: owner.to_owned(),
                mailbox: Mailbox::start(name, async move |end| ended(host, this, end).await),
                status: watch::Sender::new(Status::default()),
                closing: CancellationToken::new(),
            }
        });
        desks.insert(name.to_owned(), desk.clone());
        (desk, true)
    }

    /// Removes a session, which frees its name at once. Returns false if it was already gone.
    pub(crate) fn remove(&self, desk: &Arc<Desk>) -> bool {
        let mut desks = self.desks();
        let ours = desks.get(&desk.name).is_some_and(|d| Arc::ptr_eq(d, desk));
        if ours {
            desks.shift_remove(&desk.name);
        }
        ours
    }

    fn remember(&self, name: &str, why: Error) {
        let mut endings = self.endings.lock().unwrap_or_else(PoisonError::into_inner);
        endings.shift_remove(name);
        endings.insert(name.to_owned(), why);
        if endings.len() > ENDINGS {
            endings.shift_remove_index(0);
        }
    }

    pub(crate) fn forget_ending(&self, name: &str) {
        self.endings.lock().unwrap_or_else(PoisonError::into_inner).shift_remove(name);
    }

    /// Closes a session: stops running commands and fails queued ones.
    ///
    /// # Errors
    /// Returns errors of shutting down the device; the session is closed all the same.
    pub(crate) async fn close(&self, desk: &Arc<Desk>) -> Result<()> {
        self.remove(desk);
        desk.closing.cancel();
        let never = CancellationToken::new();
        match desk.mailbox.borrow(&desk.name, Turn::Ahead, &never).await {
            Ok(mut loan) => {
                let live = loan.live.take();
                let shut = match live {
                    Some(live) => live.shut().await,
                    None => Ok(()),
                };
                loan.give_back();
                shut
            }
            // The session died before it could be closed; its own task has cleaned up.
            Err(_) => Ok(()),
        }
    }

    /// Returns the provider that opens `what`.
    ///
    /// # Errors
    /// Returns `INVALID_ARGS` that lists what can be opened.
    pub(crate) fn provider(&self, what: &str) -> Result<&Arc<dyn Provider>> {
        self.config.providers.iter().find(|p| p.claims(what)).ok_or_else(|| {
            let kinds: Vec<_> = self.config.providers.iter().map(|p| p.kind()).collect();
            Error::invalid_args(format!("no platform here can open {}", stickpin_tree::quote(what))).hint(
                format!("platforms: {}; run `stickpin devices` to list what can be opened", kinds.join(", ")),
            )
        })
    }
}

/// Cleans up at the end of a session's task.
async fn ended(host: Weak<Inner>, desk: Weak<Desk>, end: End) {
    let (Some(host), Some(desk)) = (host.upgrade(), desk.upgrade()) else { return };
    let (live, why) = match end {
        End::Closed => return,
        End::Idle(live) => {
            let minutes = live.idle_timeout.unwrap_or_default().as_secs().div_ceil(60);
            let why = Error::session_not_found(format!(
                "session `{}` was closed after {minutes} min without commands",
                desk.name
            ));
            (Some(live), why.hint("open it again; `--idle-timeout MIN` keeps it open longer"))
        }
        End::Lost(live) => (live, queue::lost(&desk.name)),
    };
    let why = match desk.status.borrow().recorded {
        true => Error { hint: format!("`stickpin record stop` writes the recording; {}", why.hint), ..why },
        false => why,
    };
    if host.remove(&desk) {
        host.remember(&desk.name, why);
    }
    if let Some(Err(e)) = match live {
        Some(live) => Some(live.shut().await),
        None => None,
    } {
        tracing::warn!(session = desk.name, "close: {e}");
    }
}

/// Creates a folder that only the current user can access.
///
/// # Errors
/// Returns `IO` or `STORAGE_FULL`.
pub(crate) fn private_dir(path: &std::path::Path) -> Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|e| stickpin_device::io_error("make the folder", path, &e))
}
