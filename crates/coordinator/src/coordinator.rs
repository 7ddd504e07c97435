//! The sessions of a state directory.

use crate::environment::Environment;
use crate::error;
use crate::listing::ReadBefore;
use crate::participant::Participant;
use crate::resume::take_over;
use crate::session::{
    Closing, SessionAuthority, Shared, State, require_right_to_close, revoke_lifetime, take_back_grant,
};
use crate::tree_queue::SnapshotQueue;
use parking_lot::{Mutex, MutexGuard};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use stickpin_device::{Error, ErrorCode, Result};
use stickpin_session::log::{SessionMeta, StartReason};
use stickpin_session::turn::{AgentId, LoanId, Policy};
use stickpin_store::{Diagnostic, DiskFiles, Files, SessionLog, Start, Store, Verified};
use tokio::sync::{Notify, watch};

/// The sessions of a state directory, each with its log, members and turn. Only one process may
/// have a coordinator for a directory. Clones of a coordinator share their state.
#[derive(Debug, Clone)]
pub struct Coordinator {
    store: Store,
    pub(crate) shared: Arc<Shared>,
    sessions: Arc<Mutex<BTreeMap<String, Arc<SessionAuthority>>>>,
    pub(crate) read_before: Arc<ReadBefore>,
    /// Held while loans change.
    pub(crate) delegating: Arc<Mutex<()>>,
}

impl Coordinator {
    /// Opens the sessions of a state directory without reading any of them. `epoch` is the number
    /// of times that a host has been started in the directory.
    ///
    /// # Errors
    /// Returns `IO` or `STORAGE_FULL` when the folders cannot be created.
    pub fn open(state_dir: &Path, epoch: u64, environment: Environment) -> Result<Self> {
        Self::open_on(state_dir, epoch, environment, Arc::new(DiskFiles))
    }

    /// Opens the sessions of a state directory. Their logs and metadata are on a file system that
    /// the caller provides.
    ///
    /// # Errors
    /// Returns the errors of [`Self::open`].
    pub fn open_on(
        state_dir: &Path,
        epoch: u64,
        environment: Environment,
        files: Arc<dyn Files>,
    ) -> Result<Self> {
        let store = Store::open_on(state_dir, files).map_err(error::of_store)?;
        let shared = Shared {
            store: store.clone(),
            environment,
            epoch,
            renewing: AtomicBool::new(true),
            guardian: watch::Sender::new(0),
            lagging: Notify::new(),
            snapshots: SnapshotQueue::default(),
            connections: Arc::default(),
        };
        Ok(Self {
            store,
            shared: Arc::new(shared),
            sessions: Arc::default(),
            read_before: Arc::default(),
            delegating: Arc::default(),
        })
    }

    pub(crate) fn lock_sessions(&self) -> MutexGuard<'_, BTreeMap<String, Arc<SessionAuthority>>> {
        self.sessions.lock()
    }

    /// Returns the sessions that are loaded.
    pub(crate) fn in_use(&self) -> Vec<Arc<SessionAuthority>> {
        self.lock_sessions().values().cloned().collect()
    }

    /// Returns the names of all sessions, in order. Reads no session.
    ///
    /// # Errors
    /// Returns `IO` when the folder cannot be read.
    pub fn names(&self) -> Result<Vec<String>> {
        self.store.names().map_err(error::of_store)
    }

    /// Returns a session's metadata, for a list of sessions. Never reads the log.
    ///
    /// # Errors
    /// Returns `SESSION_NOT_FOUND`, `META_CORRUPT` for damaged metadata, `LOG_VERSION_UNSUPPORTED`
    /// for metadata of another version, `IO`, and `INVALID_ARGS` for an invalid name.
    pub fn meta(&self, name: &str) -> Result<(SessionMeta, Vec<Diagnostic>)> {
        if let Some(session) = self.lock_sessions().get(name) {
            return Ok((session.meta(), Vec::new()));
        }
        self.store.meta(name).map_err(error::of_store)
    }

    /// Returns a session. On first use, loads it from its metadata and the end of its log, and
    /// takes over its turn from the last host.
    ///
    /// # Errors
    /// Returns `SESSION_NOT_FOUND`, `LOG_CORRUPT`, `META_CORRUPT` and other errors from the log.
    pub fn session(&self, name: &str) -> Result<Arc<SessionAuthority>> {
        if self.read_before.damage(name).is_some() {
            // Loading writes to the log, so check whether a person has repaired it by hand.
            self.verify(name)?;
        }
        let mut loaded = self.lock_sessions();
        if let Some(session) = loaded.get(name) {
            return Ok(Arc::clone(session));
        }
        let now = (self.shared.environment.now)();
        let opened = SessionLog::open(&self.store, name, now.wall);
        let opened =
            opened.inspect_err(|e| self.read_before.note_damage(name, e)).map_err(error::of_store)?;
        for diagnostic in &opened.diagnostics {
            tracing::info!(session = name, "repaired: {}", diagnostic.name());
        }
        let mut log = opened.log;
        // Without the segment, nothing can be written until the session is restored.
        let lost = opened.diagnostics.contains(&Diagnostic::LogMissing);
        let repaired = !lost && take_over(self, &mut log)?;
        if stickpin_store::lags(&log) {
            self.shared.lagging.notify_one();
        }
        let session = Arc::new(SessionAuthority::new(log, Arc::clone(&self.shared), repaired));
        loaded.insert(name.to_owned(), Arc::clone(&session));
        drop(loaded);
        if !lost {
            self.loans().repair_spawns(&session)?;
        }
        self.shared.guardian.send_modify(|count| *count += 1);
        Ok(session)
    }

    /// Begins a lifetime of a session: the first one, or a new one after the session was closed or
    /// lost. The caller becomes a member. A driver that opens a session gets an implicit turn,
    /// unless another agent has the turn or the turn must be requested; a caller that restores a
    /// session gets none.
    ///
    /// # Errors
    /// Returns `IDENTITY_AMBIGUOUS`, `SESSION_EXISTS` for a child, which acts on its lender's
    /// device, and errors from the log. The app must not be opened after an error.
    pub fn begin_lifetime(
        &self,
        name: &str,
        start: Start,
        reason: StartReason,
        who: Option<&Participant>,
    ) -> Result<Arc<SessionAuthority>> {
        who.map_or(Ok(()), Participant::require_unambiguous)?;
        let known = match self.session(name) {
            Ok(session) => Some(session),
            Err(e) if e.code == ErrorCode::SessionNotFound => None,
            Err(e) => return Err(e),
        };
        if let Some(parent) = known.as_ref().and_then(|session| session.meta().parent) {
            let parent = parent.session;
            let message =
                format!("session `{name}` is a child of session `{parent}` and has no app of its own");
            return Err(Error::session_exists(message).hint(format!(
                "run commands with `--session {parent}`, or open the app in a session with another name"
            )));
        }
        let now = (self.shared.environment.now)();
        let origin = State::origin_of(who, &now);
        let session = match known {
            Some(session) => {
                session
                    .change(|state, _| state.log.restart(reason, start, &origin).map_err(error::of_store))?;
                session
            }
            None => {
                let uid = format!("{:032x}", (self.shared.environment.random)());
                let log =
                    SessionLog::create(&self.store, name, &uid, start, &origin).map_err(error::of_store)?;
                let session = Arc::new(SessionAuthority::new(log, Arc::clone(&self.shared), false));
                self.lock_sessions().insert(name.to_owned(), Arc::clone(&session));
                session
            }
        };
        match who {
            Some(who) if reason == StartReason::Restore => session.change(|state, now| {
                state.touch(who, now);
                state.join_as_driver(who, now)
            })?,
            Some(who) => session.join_opener(who)?,
            None => {}
        }
        if reason == StartReason::Restore {
            self.loans().review_children(&session)?;
        }
        Ok(session)
    }

    /// Returns whether a state directory has a session of this name, without opening the directory.
    #[must_use]
    pub fn has_session(state_dir: &Path, name: &str) -> bool {
        Store::has_session(state_dir, name)
    }

    /// Returns whether a session of this name exists, open or not. A session that is not loaded and
    /// whose metadata cannot be read does not count.
    #[must_use]
    pub fn exists(&self, name: &str) -> bool {
        self.lock_sessions().contains_key(name) || self.store.meta(name).is_ok()
    }

    /// Returns a session's limits, which outlive its lifetimes; the default limits if its metadata
    /// cannot be read.
    #[must_use]
    pub fn policy(&self, name: &str) -> Policy {
        self.meta(name).map(|(meta, _)| meta.policy).unwrap_or_default()
    }

    /// Closes a session on behalf of the host, as [`Self::close_for`] does. Does nothing if the
    /// session does not exist.
    ///
    /// # Errors
    /// Returns errors from the log.
    pub async fn close(&self, name: &str) -> Result<()> {
        match self.session(name) {
            Ok(session) => self.close_for(&session, None, Closing::new(true), None).await.map(drop),
            Err(e) if e.code == ErrorCode::SessionNotFound => Ok(()),
            Err(e) => Err(e),
        }
    }

    /// Closes a session and ends its turn. Ends the loan from which the session borrows its scope;
    /// loans made from it pass to its lender. Ends the loans that the session itself still lends,
    /// and closes their borrowers. Returns the ended loans. `address` is the address of the app, if
    /// it is open. Removes a session that has no record yet.
    ///
    /// # Errors
    /// Returns the errors of [`SessionAuthority::close`], and `SCOPE_DENIED` for an agent that may
    /// not administer the device.
    pub async fn close_for(
        &self,
        session: &SessionAuthority,
        who: Option<&Participant>,
        how: Closing,
        address: Option<&str>,
    ) -> Result<Vec<LoanId>> {
        if session.meta().active.is_none() {
            return discard(self, session.name()).map(|()| Vec::new());
        }
        let mut how = how;
        if let Some(who) = who {
            how.for_family = how.for_family || self.loans().is_in_family(session, who);
            require_right_to_close(session, who, how)?;
            self.loans().administer(session, who, address)?;
        }
        session.close(who, how)?;
        self.loans().end_loans_of(session).await
    }

    /// Revokes a lifetime whose app could not be started. Restores the session's previous state,
    /// except for the number of the lifetime and the number of a turn that was granted to the
    /// opener; `before` is the session's metadata in that state. A session that did not exist
    /// before is removed.
    ///
    /// # Errors
    /// Returns errors from the log.
    pub fn revoke_lifetime(
        &self,
        session: &SessionAuthority,
        before: Option<&SessionMeta>,
        who: &Participant,
    ) -> Result<()> {
        match before {
            Some(before) => revoke_lifetime(session, before, who),
            None => discard(self, session.name()),
        }
    }

    /// Records that the responses to an agent were delivered. Returns the sessions whose turn was
    /// granted by one of these responses.
    pub fn confirm_delivery(&self, agent: &AgentId) -> Vec<String> {
        let granted = self.in_use().into_iter().filter(|session| session.confirm_delivery(agent));
        granted.map(|session| session.name().to_owned()).collect()
    }

    /// Checks every record of a session's log. If the session is in use, damage makes its log
    /// read-only.
    ///
    /// # Errors
    /// Returns `LOG_CORRUPT` for a record that cannot be read, and other errors from the log.
    pub fn verify(&self, name: &str) -> Result<Verified> {
        let verified = self.store.verify(name);
        let session = self.lock_sessions().get(name).cloned();
        match (&verified, session) {
            (Err(e), Some(session)) => stickpin_store::note_damage(&session.lock().log, e),
            (Err(e), None) => self.read_before.note_damage(name, e),
            (Ok(_), _) => self.read_before.forget_damage(name),
        }
        verified.map_err(error::of_store)
    }

    /// Returns a session's folder.
    ///
    /// # Errors
    /// Returns `INVALID_ARGS` for an invalid name.
    pub fn folder(&self, name: &str) -> Result<PathBuf> {
        self.store.folder(name).map_err(error::of_store)
    }

    /// Returns the store, for operations that do not concern a running session.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }
}

/// Removes all traces of a session.
pub(crate) fn discard(coordinator: &Coordinator, name: &str) -> Result<()> {
    // The lock keeps other threads from loading the session meanwhile.
    let mut loaded = coordinator.lock_sessions();
    loaded.remove(name);
    coordinator.read_before.forget_damage(name);
    coordinator.store.remove(name).map_err(error::of_store)
}

/// Marks the grants to an agent in these sessions as undelivered, because the agent's client ended
/// without having read them. Each turn is reserved for the agent again, unless the agent continues.
pub fn take_back_grants(coordinator: &Coordinator, agent: &AgentId, sessions: &[String]) {
    let granted = |session: &Arc<SessionAuthority>| sessions.iter().any(|name| name == session.name());
    for session in coordinator.in_use().into_iter().filter(granted) {
        take_back_grant(&session, agent);
    }
    coordinator.shared.guardian.send_modify(|count| *count += 1);
}
