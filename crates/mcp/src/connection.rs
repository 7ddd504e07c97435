//! The state that the server keeps per client: its identity, its pins, its file roots.

#![allow(deprecated, reason = "older revisions of the protocol have logging")]

use crate::pins::Pins;
use indexmap::IndexMap;
use rmcp::model::LoggingLevel;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use stickpin_kernel::{Caller, Error, ErrorCode, Response};

/// The maximum number of scopes that a server without client sessions keeps. The oldest is dropped
/// first.
const MAX_SCOPES: usize = 256;

/// One client: a connection over stdio, a session over HTTP, or an explicit scope if there is
/// neither.
#[derive(Debug)]
pub(crate) struct Connection {
    /// The caller, whose `client` distinguishes it from other callers.
    pub(crate) caller: Caller,
    /// The client's pins. `None` if the client cannot be identified; then its refs are not pinned.
    pub(crate) pins: Option<Mutex<Pins>>,
    /// The minimum level of log messages; `None` until the client requests them.
    pub(crate) log_level: Mutex<Option<LoggingLevel>>,
    /// The client's roots; `None` until they are requested and after they change, and empty if the
    /// client names none.
    pub(crate) roots: Mutex<Option<Vec<PathBuf>>>,
    /// State directories in which the client used its own session. The session is closed when the
    /// client disconnects.
    pub(crate) own_session_dirs: Mutex<BTreeSet<PathBuf>>,
    /// The turns that the client was granted and has not given up, by state directory and session.
    turns: Mutex<BTreeMap<(PathBuf, String), u64>>,
}

impl Connection {
    /// Creates a client with this name. `pins` states whether its refs are pinned.
    pub(crate) fn new(caller: Caller, name: &str, pins: bool) -> Self {
        Self {
            caller: Caller { client: Some(name.to_owned()), ..caller },
            pins: pins.then(Mutex::default),
            log_level: Mutex::default(),
            roots: Mutex::default(),
            own_session_dirs: Mutex::default(),
            turns: Mutex::default(),
        }
    }

    /// Returns the turn that the client was granted in a session. The client's actions expect that
    /// turn.
    pub(crate) fn expected_turn(&self, state_dir: &Path, session: &str) -> Option<u64> {
        lock(&self.turns).get(&(state_dir.to_owned(), session.to_owned())).copied()
    }

    /// Remembers the turns that a response grants. Forgets the turns that are over, and the turn of
    /// `session` if the response tells the client that it no longer holds that turn.
    pub(crate) fn remember_turns(&self, state_dir: &Path, session: &str, response: &Response) {
        if self.pins.is_none() {
            // Several clients share this connection.
            return;
        }
        let key = |session: &str| (state_dir.to_owned(), session.to_owned());
        let mut turns = lock(&self.turns);
        for held in &response.turns {
            match held.turn_id {
                Some(turn) => turns.insert(key(&held.session), turn),
                None => turns.remove(&key(&held.session)),
            };
        }
        let is_over = |e: &Error| {
            matches!(
                e.code,
                ErrorCode::TurnMismatch
                    | ErrorCode::StaleLease
                    | ErrorCode::NotYourTurn
                    | ErrorCode::TurnRequired
            )
        };
        if response.error.as_ref().is_some_and(is_over) {
            turns.remove(&key(session));
        }
    }

    /// Returns the target with its pin, if it is a plain ref that this client was given.
    pub(crate) fn pin(&self, state_dir: &Path, session: &str, target: &str) -> Option<String> {
        lock(self.pins.as_ref()?).pin(state_dir, session, target)
    }
}

/// Clients that identify themselves with a scope in each request.
#[derive(Debug, Default)]
pub(crate) struct Scopes(IndexMap<String, Arc<Connection>>);

impl Scopes {
    pub(crate) fn get(&self, name: &str) -> Option<Arc<Connection>> {
        self.0.get(name).cloned()
    }

    /// Adds a scope. Returns the scope that is dropped to make room, if any.
    pub(crate) fn add(&mut self, name: String, connection: Arc<Connection>) -> Option<Arc<Connection>> {
        let first = if self.0.len() >= MAX_SCOPES { self.0.shift_remove_index(0) } else { None };
        self.0.insert(name, connection);
        first.map(|(_, connection)| connection)
    }

    /// Removes and returns all clients, because the server ends.
    pub(crate) fn take(&mut self) -> Vec<Arc<Connection>> {
        std::mem::take(&mut self.0).into_values().collect()
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns a random name that cannot be guessed.
pub(crate) fn random_name() -> String {
    format!("{:016x}{:016x}", rand::random::<u64>(), rand::random::<u64>())
}
