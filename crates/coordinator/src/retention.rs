//! Sessions that are no longer used. Only a person can have them removed; nothing expires
//! automatically.

use crate::coordinator::{Coordinator, discard};
use crate::participant::Participant;
use crate::upkeep::require_person;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;
use stickpin_device::{Error, Result};
use stickpin_session::log::{SessionMeta, Status};
use stickpin_session::turn::ChildState;

/// An unused session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Dormant {
    /// The name of the session.
    pub name: String,
    /// The number of milliseconds since the last use.
    pub unused_ms: u64,
}

impl Coordinator {
    /// Returns the sessions that have not been used for `older`, by default the retention time of
    /// their policy. Omits those in `open`, sessions that borrow or lend scope, open children and
    /// their parents, and sessions that cannot be read. Reads no log.
    ///
    /// # Errors
    /// Returns `SCOPE_DENIED` unless the caller is a person, and `IO`.
    pub fn dormant(
        &self,
        who: &Participant,
        open: &BTreeSet<String>,
        older: Option<Duration>,
    ) -> Result<Vec<Dormant>> {
        require_person(who, "remove sessions")?;
        let lent = self.loans().borrowers()?;
        let mut dormant = Vec::new();
        for name in self.names()?.into_iter().filter(|name| !open.contains(name) && !lent.contains(name)) {
            // A session that cannot be read is not known to be unused.
            let Ok((meta, _)) = self.cached_meta(&name) else { continue };
            let kept = older.map_or(meta.policy.idle_session_retention_ms, millis);
            let unused_ms = unused_ms(self, &meta);
            if !is_delegating(&meta) && unused_ms >= kept {
                dormant.push(Dormant { name, unused_ms });
            }
        }
        Ok(dormant)
    }

    /// Removes the sessions that [`Self::dormant`] returns, with their logs. Returns those that
    /// were removed.
    ///
    /// # Errors
    /// Returns the errors of [`Self::dormant`], and `IO` if a folder cannot be removed. The other
    /// sessions are removed all the same, and the error names them.
    pub fn collect(
        &self,
        who: &Participant,
        open: &BTreeSet<String>,
        older: Option<Duration>,
    ) -> Result<Vec<Dormant>> {
        let (mut removed, mut failed) = (Vec::new(), None);
        for session in self.dormant(who, open, older)? {
            match discard(self, &session.name) {
                Ok(()) => removed.push(session),
                Err(e) => drop(failed.get_or_insert(e)),
            }
        }
        match failed {
            None => Ok(removed),
            Some(e) => Err(with_removed(e, &removed)),
        }
    }
}

/// Adds the sessions that were removed to the error for one that was not.
fn with_removed(mut e: Error, removed: &[Dormant]) -> Error {
    let names: Vec<&str> = removed.iter().map(|session| session.name.as_str()).collect();
    if !names.is_empty() {
        e.message = format!("{}; removed sessions: {}", e.message, names.join(", "));
    }
    e.details(json!({ "removed": names }))
}

/// Returns the number of milliseconds since a member last made a request or the metadata last
/// changed; 0 while a member is waiting or acting.
fn unused_ms(coordinator: &Coordinator, meta: &SessionMeta) -> u64 {
    let now = (coordinator.shared.environment.now)();
    let last = meta.members.iter().map(|member| member.last_seen_at).max();
    let last = last.unwrap_or(meta.updated_at).max(meta.updated_at);
    let unused = now.wall.millis().saturating_sub(last.millis());
    let session = coordinator.lock_sessions().get(&meta.name).cloned();
    let Some(session) = session else { return unused };
    // Requests that change nothing are recorded only in memory.
    let state = session.lock();
    let presence = state.presence(&now);
    let busy = state.has_waits() || presence.values().any(|p| p.in_flight || p.waiting);
    let silent = presence.values().map(|presence| presence.silent_ms).min();
    if busy { 0 } else { unused.min(silent.unwrap_or(u64::MAX)) }
}

/// Returns whether a session has lent scope, is an open child, or has an open child.
fn is_delegating(meta: &SessionMeta) -> bool {
    let open_child = |state: ChildState| matches!(state, ChildState::Pending | ChildState::Active);
    !meta.loans.is_empty()
        || (meta.status == Status::Open && meta.parent.is_some())
        || meta.children.iter().any(|child| open_child(child.state))
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
