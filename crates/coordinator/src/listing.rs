//! Lists of sessions, based on their metadata. No log is read, and a damaged session does not make
//! the list fail.

mod children;

use crate::coordinator::Coordinator;
use crate::participant::Participant;
use crate::replies::TurnSummary;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use stickpin_device::{ErrorCode, Result};
use stickpin_session::log::{SessionMeta, Status};
use stickpin_session::turn::{self, Presence, Situation};
use stickpin_store::{Diagnostic, Stamp, StoreError};

pub use self::children::{ListedChild, ListedChildren};

/// Whether a session can be used, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ListedState {
    /// No record is committed yet.
    Pending,
    /// The app is open, or the session is an open child.
    Live,
    /// The app is not open, but `session restore` can reopen it.
    Restorable,
    /// The session was closed or cannot be reopened.
    Stopped,
    /// The metadata cannot be read, or the log is damaged.
    Corrupt,
    /// There is no metadata; only the name is known.
    #[default]
    Missing,
}

/// The reason why a caller sees a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    /// The caller is a member.
    #[serde(rename = "self")]
    Own,
    /// The session was spawned by one of the caller's sessions.
    Child,
    /// The session is a peer of one of the caller's sessions.
    Peer,
    /// The session is any other session in the same state directory.
    #[default]
    Host,
}

/// Whether a session can be reopened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Restorability {
    /// Whether the session can be reopened.
    pub possible: bool,
    /// The reason why the session cannot be reopened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A session as described by its metadata.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedSession {
    /// The name of the session.
    pub name: String,
    /// The reason why the caller sees the session.
    pub visibility: Visibility,
    /// Whether the session can be used, and how.
    pub state: ListedState,
    /// The platform of the session's device.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub platform: String,
    /// The number of the lifetime, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifetime: Option<u32>,
    /// The last address of the app, or the argument of `open`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// A summary of the turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnSummary>,
    /// The parent session whose app the session shares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The child sessions that the session spawned.
    #[serde(default, skip_serializing_if = "ListedChildren::is_empty")]
    pub children: ListedChildren,
    /// The rules of the scope that the session has lent to its children.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scope_delegated: Vec<String>,
    /// The peer sessions.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub peers: BTreeSet<String>,
    /// Whether the session can be reopened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restore: Option<Restorability>,
    /// Problems with the session's files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<String>,
}

/// The sessions of a state directory, as one caller sees them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Listing {
    /// The sessions, in the order of their names.
    pub sessions: Vec<ListedSession>,
    /// The names of omitted sessions.
    pub hidden: BTreeSet<String>,
}

/// Returns the sessions that an agent is a member of, their children and their peers.
fn visible(read: &BTreeMap<String, Read>, who: Option<&Participant>) -> BTreeMap<String, Visibility> {
    let mut seen: BTreeMap<String, Visibility> = BTreeMap::new();
    let mut see = |name: &str, how: Visibility| {
        let known = seen.entry(name.to_owned()).or_insert(how);
        *known = how.min(*known);
    };
    for (name, meta) in read {
        let Ok((meta, _)) = meta else { continue };
        if who.is_some_and(|who| meta.members.iter().any(|member| member.agent_id == who.agent)) {
            see(name, Visibility::Own);
            meta.children.iter().for_each(|child| see(&child.session, Visibility::Child));
            // A crash may have left a peer relation that only one of the two sessions has recorded.
            let is_mutual = |peer: &String| match read.get(peer) {
                Some(Ok((there, _))) => there.peers.contains(name),
                _ => true,
            };
            meta.peers.iter().filter(|peer| is_mutual(peer)).for_each(|peer| see(peer, Visibility::Peer));
        }
    }
    seen
}

/// The minimum number of sessions for which another thread saves time.
const LEAST_OF_A_THREAD: usize = 100;

type Read = Result<(Arc<SessionMeta>, Vec<Diagnostic>)>;

/// What earlier reads found in sessions that are not loaded.
#[derive(Debug, Default)]
pub(crate) struct ReadBefore {
    /// The metadata, with the stamp that the file had when it was read.
    metadata: Mutex<BTreeMap<String, (Stamp, Arc<SessionMeta>)>>,
    /// Descriptions of the damage in logs.
    damage: Mutex<BTreeMap<String, String>>,
}

impl ReadBefore {
    /// Records that a session's log is damaged, if `found` reports damage.
    pub(crate) fn note_damage(&self, name: &str, found: &StoreError) {
        if let StoreError::Corrupt { .. } = found {
            self.damage.lock().insert(name.to_owned(), found.to_string());
        }
    }

    /// Returns the description of the damage in a session's log.
    pub(crate) fn damage(&self, name: &str) -> Option<String> {
        self.damage.lock().get(name).cloned()
    }

    /// Forgets the damage of a session that was repaired or removed.
    pub(crate) fn forget_damage(&self, name: &str) {
        self.damage.lock().remove(name);
    }
}

impl Coordinator {
    /// Returns the sessions that `who` is a member of, and their children and peers, except closed
    /// ones. Also returns the sessions in `open` unless `who` is an agent. If `all` is set, returns
    /// every session. Reads no log.
    ///
    /// # Errors
    /// Returns `IO` when the sessions folder cannot be read. A problem with a single session is
    /// reported in its entry.
    pub fn list(&self, who: Option<&Participant>, open: &BTreeSet<String>, all: bool) -> Result<Listing> {
        let read = self.read_all(&self.names()?);
        let seen = visible(&read, who);
        let is_agent = who.is_some_and(|who| !who.is_person());
        let names: BTreeSet<&String> = read.keys().chain(seen.keys()).collect();
        let mut listing = Listing::default();
        for name in names {
            let visibility = seen.get(name).copied();
            let live = open.contains(name);
            let read = read.get(name);
            let closed = matches!(read, Some(Ok((meta, _))) if meta.status == Status::Closed);
            let beyond = visibility.is_none() && is_agent;
            if !all && (beyond || (!live && (visibility.is_none() || closed))) {
                listing.hidden.insert(name.clone());
                continue;
            }
            let mut listed = describe(self, name, read, visibility.unwrap_or(Visibility::Host), open);
            // Only members, parents and peers of a session see the details.
            if beyond {
                (listed.address, listed.parent) = (None, None);
                listed.children = ListedChildren::default();
                listed.scope_delegated = Vec::new();
                listed.peers = BTreeSet::new();
            }
            listing.sessions.push(listed);
        }
        Ok(listing)
    }

    /// Returns the metadata of sessions by name. If there are many sessions, several threads read
    /// them.
    fn read_all(&self, names: &[String]) -> BTreeMap<String, Read> {
        let read = |names: &[String]| -> Vec<(String, Read)> {
            names.iter().map(|name| (name.clone(), self.cached_meta(name))).collect()
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let part = names.len().div_ceil(threads).max(LEAST_OF_A_THREAD);
        if names.len() <= part {
            return read(names).into_iter().collect();
        }
        std::thread::scope(|scope| {
            let parts: Vec<_> = names.chunks(part).map(|part| scope.spawn(move || read(part))).collect();
            let joined = parts.into_iter().map(|part| part.join());
            joined.flat_map(|part| part.unwrap_or_else(|e| std::panic::resume_unwind(e))).collect()
        })
    }

    /// Returns why `who` sees a session: `Host` for any session other than the agent's own sessions
    /// and their children and peers.
    ///
    /// # Errors
    /// Returns `IO` when the sessions folder cannot be read.
    pub fn visibility(&self, name: &str, who: &Participant) -> Result<Visibility> {
        let read = self.read_all(&self.names()?);
        Ok(visible(&read, Some(who)).get(name).copied().unwrap_or(Visibility::Host))
    }

    /// Returns one session as described by its metadata, even if the session is damaged. `open`
    /// names the sessions whose app is open.
    #[must_use]
    pub fn listed(&self, name: &str, who: Option<&Participant>, open: &BTreeSet<String>) -> ListedSession {
        let read = self.cached_meta(name);
        let seen = who.and_then(|who| self.visibility(name, who).ok());
        let visibility = seen.unwrap_or(Visibility::Host);
        describe(self, name, Some(&read), visibility, open)
    }

    /// Returns the metadata of a session, from memory as long as the metadata file is unchanged.
    pub(crate) fn cached_meta(&self, name: &str) -> Read {
        if let Some(session) = self.lock_sessions().get(name) {
            return Ok((Arc::new(session.meta()), Vec::new()));
        }
        let stamp = self.store().meta_stamp(name);
        let cache = &self.read_before.metadata;
        if let Some(stamp) = &stamp
            && let Some((then, meta)) = cache.lock().get(name)
            && then == stamp
        {
            return Ok((Arc::clone(meta), Vec::new()));
        }
        let (meta, diagnostics) = self.meta(name)?;
        let meta = Arc::new(meta);
        if let Some(stamp) = stamp.filter(|_| diagnostics.is_empty()) {
            let entry = (stamp, Arc::clone(&meta));
            cache.lock().insert(name.to_owned(), entry);
        }
        Ok((meta, diagnostics))
    }
}

fn describe(
    coordinator: &Coordinator,
    name: &str,
    read: Option<&Read>,
    visibility: Visibility,
    open: &BTreeSet<String>,
) -> ListedSession {
    let live = open.contains(name);
    let mut listed = ListedSession {
        name: name.to_owned(),
        visibility,
        state: if live { ListedState::Live } else { ListedState::Missing },
        ..ListedSession::default()
    };
    let (meta, diagnostics) = match read {
        Some(Ok((meta, diagnostics))) => (meta, diagnostics),
        Some(Err(e)) if e.code != ErrorCode::SessionNotFound => {
            listed.restore = Some(Restorability { possible: false, reason: Some(e.message.clone()) });
            listed.diagnostics.push(e.code.name().to_owned());
            if !live {
                listed.state = ListedState::Corrupt;
            }
            return listed;
        }
        Some(Err(_)) | None => {
            let reason = Some("it has no metadata".to_owned());
            listed.restore = Some(Restorability { possible: false, reason });
            return listed;
        }
    };
    let not_restorable = meta.restorable().err();
    listed.state = match meta.status {
        _ if live => ListedState::Live,
        _ if meta.active.is_none() => ListedState::Pending,
        // A child session has no app of its own: the app of its parent can be restored.
        Status::Open if meta.parent.is_some() => ListedState::Live,
        Status::Closed => ListedState::Stopped,
        _ if not_restorable.is_some() => ListedState::Stopped,
        Status::Pending | Status::Open | Status::Interrupted => ListedState::Restorable,
    };
    listed.platform.clone_from(&meta.platform);
    listed.lifetime = Some(meta.lifetime);
    listed.address = meta.address().map(str::to_owned);
    listed.turn = meta.active.map(|_| turn_summary(coordinator, name, meta));
    listed.parent = meta.parent.as_ref().map(|parent| parent.session.clone());
    listed.children = ListedChildren::of(coordinator, meta, open);
    listed.scope_delegated =
        meta.loans.iter().flat_map(|loan| &loan.rules).map(ToString::to_string).collect();
    listed.peers.clone_from(&meta.peers);
    let reason = not_restorable.map(|why| why.to_string());
    listed.restore = Some(Restorability { possible: reason.is_none(), reason });
    listed.diagnostics.extend(diagnostics.iter().map(|found| found.name().to_owned()));
    if let Some(active) = meta.active
        && !coordinator.store().has_segment(name, active.segment)
    {
        listed.diagnostics.push(Diagnostic::LogMissing.name().to_owned());
    }
    let session = coordinator.lock_sessions().get(name).cloned();
    let damage = match session {
        Some(session) => stickpin_store::found_damage(&session.lock().log).map(|e| e.to_string()),
        None => coordinator.read_before.damage(name),
    };
    if let Some(damage) = damage {
        listed.diagnostics.push(ErrorCode::LogCorrupt.name().to_owned());
        listed.restore = Some(Restorability { possible: false, reason: Some(damage) });
        if !live {
            listed.state = ListedState::Corrupt;
        }
    }
    listed
}

/// Summarizes the turn. Uses the presence of the members for a session that is in use, and
/// otherwise whether their harnesses are running.
fn turn_summary(coordinator: &Coordinator, name: &str, meta: &SessionMeta) -> TurnSummary {
    let environment = &coordinator.shared.environment;
    let now = (environment.now)();
    let session = coordinator.lock_sessions().get(name).cloned();
    let label = match session {
        Some(session) => session.lock().judge(&now, turn::label),
        None => {
            let alive = |member: &turn::Member| {
                let liveness = member.anchor.as_ref().map(|anchor| (environment.liveness)(anchor));
                let liveness = liveness.unwrap_or_default();
                (member.agent_id.clone(), Presence { liveness, silent_ms: u64::MAX, ..Presence::default() })
            };
            let presence = meta.members.iter().map(alive).collect();
            turn::label(Situation {
                turn: &meta.turn,
                members: &meta.members,
                policy: &meta.policy,
                presence: &presence,
                idle_ms: None,
                now: &now,
            })
        }
    };
    let turn = &meta.turn;
    TurnSummary { label, owner: turn.owner.clone(), reserved_for: turn.reserved_for.clone() }
}
