//! The harness sessions that were seen under one root process.

use crate::timestamp::Timestamp;
use serde::{Deserialize, Serialize};

/// How long a session stays current without a request if its process serves several sessions.
const MANY_CURRENT_MS: u64 = 3_600_000;

/// The sessions that were seen under one root process, newest last.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Bindings(Vec<Binding>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Binding {
    component: String,
    last_seen_at: Timestamp,
}

impl Bindings {
    /// Records a session. Returns the session that was the newest until now, unless that is the
    /// recorded session.
    pub(super) fn see(&mut self, component: &str, now: Timestamp) -> Option<String> {
        let older = self.0.last().map(|b| b.component.clone()).filter(|older| older != component);
        self.0.retain(|binding| binding.component != component);
        self.0.push(Binding { component: component.to_owned(), last_seen_at: now });
        older
    }

    /// Returns whether recording a session would change which sessions are current, rather than
    /// only a time.
    pub(super) fn is_changed_by(&self, component: &str, many: bool) -> bool {
        let counted = if many { self.0.len() } else { 1 };
        !self.0.iter().rev().take(counted).any(|binding| binding.component == component)
    }

    /// Returns the current sessions: the newest one, or all sessions of the last hour if the
    /// process serves several sessions.
    pub(super) fn current(&self, many: bool, now: Timestamp) -> Vec<&str> {
        let is_recent =
            |b: &&Binding| now.millis().saturating_sub(b.last_seen_at.millis()) <= MANY_CURRENT_MS;
        let sessions = self.0.iter().rev();
        if many {
            sessions.filter(is_recent).map(|b| b.component.as_str()).collect()
        } else {
            sessions.take(1).map(|b| b.component.as_str()).collect()
        }
    }
}
