//! The host: its providers, and its sessions by name.

pub(crate) mod identities;
#[cfg_attr(not(feature = "pictures"), allow(dead_code, reason = "only `WatchFrame` reads all of it"))]
pub(crate) mod noticed;
pub(crate) mod open_session;
pub(crate) mod queue;
#[cfg_attr(not(feature = "recording"), allow(dead_code, reason = "only `record start` begins a recording"))]
pub(crate) mod recording;
#[cfg_attr(not(feature = "pictures"), allow(dead_code, reason = "only `screenshot` needs all of it"))]
pub(crate) mod screenshots;
#[cfg_attr(not(feature = "pictures"), allow(dead_code, reason = "only `WatchFrame` reads it"))]
pub(crate) mod watch_state;

use crate::host::identities::Identities;
use crate::host::queue::{Mailbox, Position, TaskEnd};
use crate::host::recording::{NoScriptWriter, ScriptWriter};
use indexmap::IndexMap;
use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, SystemTime};
use stickpin_coordinator::{Coordinator, ListedState};
use stickpin_device::{Dialog, Error, Provider, Result};
use stickpin_refs::RefToken;
use stickpin_session::{InMemoryNumbers, Ladder, NumberSource};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// The name of the folder in a state directory that contains a folder for each lifetime, with its
/// profile, sockets and home.
pub const LIVE: &str = "live";

/// The maximum number of remembered endings. An ending gives the next command the reason why its
/// session is gone.
const MAX_ENDINGS: usize = 64;

/// A function that creates the source of ref numbers for a session name.
pub(crate) type NumberSources = Arc<dyn Fn(&str) -> Result<Box<dyn NumberSource>> + Send + Sync>;

/// The configuration of a host. The kernel reads the wall clock, and the randomness for sessions,
/// only through this configuration.
#[derive(Clone)]
pub(crate) struct HostConfig {
    /// The platforms, in the order in which they may claim what is opened.
    pub(crate) providers: Vec<Arc<dyn Provider>>,
    /// The state directory, in which sessions keep their folders.
    pub(crate) state_dir: PathBuf,
    /// The source of randomness, for seeds of generations and names of lifetimes.
    pub(crate) random: Arc<dyn Fn() -> u64 + Send + Sync>,
    /// The wall clock.
    pub(crate) clock: Arc<dyn Fn() -> SystemTime + Send + Sync>,
    /// The source of ref numbers for a session name.
    pub(crate) numbers: NumberSources,
    /// How sessions treat unproven refs; `open --stale-refs` overrides it.
    pub(crate) ladder: Ladder,
    /// The coordinator, which decides who may act on a session and keeps its log. Without one,
    /// every caller may act.
    pub(crate) coordinator: Option<Coordinator>,
    /// The calling agents and their connections. If `None`, agents are not linked.
    pub(crate) identities: Option<Arc<dyn Identities>>,
    /// Converts recordings to scripts.
    pub(crate) script_writer: Arc<dyn ScriptWriter>,
    /// The idle timeout of sessions opened without `--headed`; `open --idle-timeout` overrides it.
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
            coordinator: None,
            identities: None,
            script_writer: Arc::new(NoScriptWriter),
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
pub(crate) struct HostInner {
    pub(crate) config: HostConfig,
    slots: Mutex<IndexMap<String, Arc<SessionSlot>>>,
    endings: Mutex<IndexMap<String, Error>>,
    pub(crate) running: AtomicUsize,
    /// Held while `open` checks that no other session has the app, and until the log states that
    /// the session being opened has it.
    pub(crate) opening: Mutex<()>,
    /// Keeps the logs of recorded sessions if the configuration has no coordinator. Opened when the
    /// first recording begins or is read.
    own_coordinator: OnceLock<Coordinator>,
}

/// A session as the host sees it, without its device.
#[derive(Debug)]
pub(crate) struct SessionSlot {
    pub(crate) name: String,
    /// The key of the caller that opened the session.
    pub(crate) owner: String,
    pub(crate) mailbox: Mailbox,
    /// The state that readers see without waiting for the device.
    pub(crate) status: watch::Sender<SessionStatus>,
    /// Cancelled when the session is closed, which ends running commands.
    pub(crate) closing: CancellationToken,
}

/// The cached state of a session, for readers that do not wait for its device.
#[derive(Debug, Clone, Default)]
pub(crate) struct SessionStatus {
    pub(crate) kind: &'static str,
    pub(crate) label: String,
    pub(crate) url: String,
    pub(crate) title: String,
    pub(crate) generation: Option<u64>,
    /// The element with the focus in the stored tree, if it has a ref.
    pub(crate) focused: Option<RefToken>,
    pub(crate) pid: Option<u32>,
    pub(crate) dialog: Option<Dialog>,
    pub(crate) recorded: bool,
    pub(crate) running: Option<&'static str>,
    pub(crate) idle_timeout: Option<Duration>,
    pub(crate) opened: Option<SystemTime>,
    pub(crate) used: Option<SystemTime>,
}

impl HostInner {
    pub(crate) fn new(config: HostConfig) -> Self {
        Self {
            config,
            slots: Mutex::default(),
            endings: Mutex::default(),
            running: AtomicUsize::new(0),
            opening: Mutex::default(),
            own_coordinator: OnceLock::new(),
        }
    }

    fn lock_slots(&self) -> MutexGuard<'_, IndexMap<String, Arc<SessionSlot>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a session by name.
    ///
    /// # Errors
    /// Returns the reason why the session ended, or `SESSION_NOT_FOUND`.
    pub(crate) fn slot(&self, name: &str) -> Result<Arc<SessionSlot>> {
        if let Some(slot) = self.lock_slots().get(name) {
            return Ok(slot.clone());
        }
        let ending = self.endings.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        let mut e = ending.unwrap_or_else(|| queue::not_open_error(name));
        let coordinator = self.config.coordinator.as_ref();
        let listed = coordinator.map(|coordinator| coordinator.listed(name, None, &BTreeSet::new()));
        let Some(listed) = listed else { return Err(e) };
        if let Some(parent) = listed.parent {
            e.hint = format!(
                "this session shares the app of another session: run the command with `--session {parent}`"
            );
        } else if listed.state == ListedState::Restorable {
            e.hint = format!("run `stickpin session restore {name}`, or {}", e.hint);
        }
        Err(e)
    }

    /// Returns the number of sessions that are open or being opened.
    pub(crate) fn count(&self) -> usize {
        self.lock_slots().len()
    }

    /// Returns the names of the sessions that are open or being opened.
    pub(crate) fn open_names(&self) -> BTreeSet<String> {
        self.lock_slots().keys().cloned().collect()
    }

    pub(crate) fn all_slots(&self) -> Vec<Arc<SessionSlot>> {
        self.lock_slots().values().cloned().collect()
    }

    /// Returns whether `slot` is still the session under its name.
    pub(crate) fn is_open(&self, slot: &Arc<SessionSlot>) -> bool {
        self.lock_slots().get(&slot.name).is_some_and(|d| Arc::ptr_eq(d, slot))
    }

    /// Returns the session with this name, and whether this call created it.
    pub(crate) fn slot_or_new(self: &Arc<Self>, name: &str, owner: &str) -> (Arc<SessionSlot>, bool) {
        let mut slots = self.lock_slots();
        if let Some(slot) = slots.get(name) {
            return (slot.clone(), false);
        }
        let slot = Arc::new_cyclic(|this: &Weak<SessionSlot>| {
            let (host, this) = (Arc::downgrade(self), this.clone());
            SessionSlot {
                name: name.to_owned(),
                owner: owner.to_owned(),
                mailbox: Mailbox::start(name, async move |end| clean_up(host, this, end).await),
                status: watch::Sender::new(SessionStatus::default()),
                closing: CancellationToken::new(),
            }
        });
        slots.insert(name.to_owned(), slot.clone());
        (slot, true)
    }

    /// Removes a session, which frees its name at once. Returns false if it was already gone.
    pub(crate) fn remove(&self, slot: &Arc<SessionSlot>) -> bool {
        let mut slots = self.lock_slots();
        let ours = slots.get(&slot.name).is_some_and(|d| Arc::ptr_eq(d, slot));
        if ours {
            slots.shift_remove(&slot.name);
        }
        ours
    }

    fn remember(&self, name: &str, why: Error) {
        let mut endings = self.endings.lock().unwrap_or_else(PoisonError::into_inner);
        endings.shift_remove(name);
        endings.insert(name.to_owned(), why);
        if endings.len() > MAX_ENDINGS {
            endings.shift_remove_index(0);
        }
    }

    pub(crate) fn forget_ending(&self, name: &str) {
        self.endings.lock().unwrap_or_else(PoisonError::into_inner).shift_remove(name);
    }

    /// Closes a session and its app. Stops running commands and fails queued ones.
    ///
    /// # Errors
    /// Returns errors from shutting down the device; the session is closed nevertheless.
    pub(crate) async fn close(&self, slot: &Arc<SessionSlot>) -> Result<()> {
        self.remove(slot);
        slot.closing.cancel();
        let never = CancellationToken::new();
        let Ok(mut checkout) = slot.mailbox.acquire(&slot.name, Position::First, &never).await else {
            return Ok(()); // The session has already ended; its own task has cleaned up.
        };
        let shut = match checkout.session.take() {
            Some(live) => live.close().await,
            None => Ok(()),
        };
        checkout.give_back();
        shut
    }

    /// Returns the provider that opens `what`.
    ///
    /// # Errors
    /// Returns `INVALID_ARGS` with a list of the platforms if none of them can open it.
    pub(crate) fn provider(&self, what: &str) -> Result<&Arc<dyn Provider>> {
        self.config.providers.iter().find(|p| p.claims(what)).ok_or_else(|| {
            let kinds: Vec<_> = self.config.providers.iter().map(|p| p.kind()).collect();
            Error::invalid_args(format!("no available platform can open {}", stickpin_tree::quote(what)))
                .hint(format!(
                    "the platforms are {}; run `stickpin devices` to list what can be opened",
                    kinds.join(", ")
                ))
        })
    }
}

/// Removes a session whose task ended by itself, keeps the reason for the next command, and closes
/// the app if it is still open.
async fn clean_up(host: Weak<HostInner>, slot: Weak<SessionSlot>, end: TaskEnd) {
    let (Some(host), Some(slot)) = (host.upgrade(), slot.upgrade()) else { return };
    let closed = matches!(end, TaskEnd::Idle(_));
    let (live, why) = match end {
        TaskEnd::Closed => return,
        TaskEnd::Idle(live) => {
            let minutes = live.idle_timeout.unwrap_or_default().as_secs().div_ceil(60);
            let why = Error::session_not_found(format!(
                "session `{}` was closed after {minutes} min without commands",
                slot.name
            ));
            (Some(live), why.hint("open the app again; use `--idle-timeout MINUTES` to keep it open longer"))
        }
        TaskEnd::Lost(live) => (live, queue::lost_app_error(&slot.name)),
    };
    let why = match slot.status.borrow().recorded {
        true => {
            Error { hint: format!("run `stickpin record stop` to write the recording; {}", why.hint), ..why }
        }
        false => why,
    };
    if host.remove(&slot) {
        host.remember(&slot.name, why);
    }
    if let (Some(coordinator), true) = (&host.config.coordinator, closed)
        && let Err(e) = coordinator.close(&slot.name).await
    {
        tracing::warn!(session = slot.name, "cannot log that the session was closed: {e}");
    }
    if let Some(live) = live
        && let Err(e) = live.close().await
    {
        tracing::warn!(session = slot.name, "close: {e}");
    }
}

/// Creates a folder, and its missing parents, that only the current user can access. Keeps the
/// permissions of a folder that exists.
///
/// # Errors
/// Returns `IO` or `STORAGE_FULL`.
pub(crate) fn private_dir(path: &std::path::Path) -> Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|e| stickpin_device::io_error("create the folder", path, &e))
}
