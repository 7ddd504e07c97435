//! The harness sessions that were seen under one root process.

use crate::timestamp::Timestamp;

/// How long a session of a process that serves several stays current without a request.
const MANY_CURRENT_MS: u64 = 3_600_000;

/// The sessions that were seen under one root process, newest last.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Bindings(Vec<Binding>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Binding {
    component: String,
    last_seen: Timestamp,
}

impl Bindings {
    /// Records a session and returns the session that it follows.
    pub(super) fn see(&mut self, component: &str, now: Timestamp) -> Option<String> {
        let older = self.0.last().map(|b| b.component.clone()).filter(|older| older != component);
        self.0.retain(|binding| binding.component != component);
        self.0.push(Binding { component: component.to_owned(), last_seen: now });
        older
    }

    /// Returns the current sessions: the newest, or all of the last hour if the process serves
    /// several.
    pub(super) fn current(&self, many: bool, now: Timestamp) -> Vec<&str> {
        let is_recent = |b: &&Binding| now.millis().saturating_sub(b.last_seen.millis()) <= MANY_CURRENT_MS;
        let sessions = self.0.iter().rev();
        if many {
            sessions.filter(is_recent).map(|b| b.component.as_str()).collect()
        } else {
            sessions.take(1).map(|b| b.component.as_str()).collect()
        }
    }
}
