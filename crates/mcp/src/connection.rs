//! What the server remembers of one client: who it is, what it was given, where its files may be.

#![allow(deprecated, reason = "older revisions of the protocol have logging")]

use crate::pins::Pins;
use indexmap::IndexMap;
use rmcp::model::LoggingLevel;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use stickpin_kernel::Caller;

/// How many scopes a server without client sessions keeps; the one made first goes first.
const MAX_SCOPES: usize = 256;

/// One client: a connection over stdio, a session over HTTP, or an explicit scope where there are neither.
#[derive(Debug)]
pub(crate) struct Connection {
    /// Who calls. Its `client` is what tells it from others.
    pub(crate) caller: Caller,
    /// Whether refs are pinned. Not where nobody can say whose they are.
    pub(crate) pins: Option<Mutex<Pins>>,
    /// The least that is logged; nothing before the client asks.
    pub(crate) level: Mutex<Option<LoggingLevel>>,
    /// The client's roots, once they were asked for; none if it has none.
    pub(crate) roots: Mutex<Option<Vec<PathBuf>>>,
    /// State dirs in which it used the session of its own: closed when it goes.
    pub(crate) own: Mutex<BTreeSet<PathBuf>>,
}

impl Connection {
    /// A client of this name.
    pub(crate) fn new(caller: Caller, name: &str, pins: bool) -> Self {
        Self {
            caller: Caller { client: Some(name.to_owned()), ..caller },
            pins: pins.then(Mutex::default),
            level: Mutex::default(),
            roots: Mutex::default(),
            own: Mutex::default(),
        }
    }

    /// What a target is sent as.
    pub(crate) fn pin(&self, state_dir: &std::path::Path, session: &str, target: &str) -> Option<String> {
        lock(self.pins.as_ref()?).pin(state_dir, session, target)
    }
}

/// Clients that say with each request which of them they are.
#[derive(Debug, Default)]
pub(crate) struct Scopes(IndexMap<String, Arc<Connection>>);

impl Scopes {
    pub(crate) fn get(&self, name: &str) -> Option<Arc<Connection>> {
        self.0.get(name).cloned()
    }

    /// Takes a new one in; returns the one that has to go for it.
    pub(crate) fn add(&mut self, name: String, connection: Arc<Connection>) -> Option<Arc<Connection>> {
        let first = if self.0.len() >= MAX_SCOPES { self.0.shift_remove_index(0) } else { None };
        self.0.insert(name, connection);
        first.map(|(_, connection)| connection)
    }

    /// All of them, at the end of the server.
    pub(crate) fn take(&mut self) -> Vec<Arc<Connection>> {
        std::mem::take(&mut self.0).into_values().collect()
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A name that nobody guesses.
pub(crate) fn fresh_name() -> String {
    format!("{:016x}{:016x}", rand::random::<u64>(), rand::random::<u64>())
}
