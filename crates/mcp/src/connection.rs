//! The state that the server keeps per client: its identity, its pins, its file roots.

#![allow(deprecated, reason = "older revisions of the protocol have logging")]

use crate::pins::Pins;
use indexmap::IndexMap;
use rmcp::model::LoggingLevel;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use stickpin_kernel::Caller;

/// The maximum number of scopes that a server without client sessions keeps. The oldest is dropped
/// first.
const MAX_SCOPES: usize = 256;

/// One client: a connection over stdio, a session over HTTP, or an explicit scope if there is
/// neither.
#[derive(Debug)]
pub(crate) struct Connection {
    /// The caller; its `client` distinguishes it from others.
    pub(crate) caller: Caller,
    /// The client's pins. `None` if the client cannot be identified: its refs are not pinned.
    pub(crate) pins: Option<Mutex<Pins>>,
    /// The minimum level of log messages; `None` until the client requests them.
    pub(crate) log_level: Mutex<Option<LoggingLevel>>,
    /// The client's roots; `None` until they were requested, and empty if it has none.
    pub(crate) roots: Mutex<Option<Vec<PathBuf>>>,
    /// State directories in which the client used its own session, which is closed when it
    /// disconnects.
    pub(crate) own_session_dirs: Mutex<BTreeSet<PathBuf>>,
}

impl Connection {
    /// Creates a client of this name.
    pub(crate) fn new(caller: Caller, name: &str, pins: bool) -> Self {
        Self {
            caller: Caller { client: Some(name.to_owned()), ..caller },
            pins: pins.then(Mutex::default),
            log_level: Mutex::default(),
            roots: Mutex::default(),
            own_session_dirs: Mutex::default(),
        }
    }

    /// Returns the target with its pin, if it is a plain ref that this client was given.
    pub(crate) fn pin(&self, state_dir: &std::path::Path, session: &str, target: &str) -> Option<String> {
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

    /// Adds a scope; returns the one that is dropped for it.
    pub(crate) fn add(&mut self, name: String, connection: Arc<Connection>) -> Option<Arc<Connection>> {
        let first = if self.0.len() >= MAX_SCOPES { self.0.shift_remove_index(0) } else { None };
        self.0.insert(name, connection);
        first.map(|(_, connection)| connection)
    }

    /// Removes and returns all clients when the server ends.
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
