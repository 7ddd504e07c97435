//! The guardian: renews leases and commits changes that become due.

use crate::coordinator::Coordinator;
use crate::participant::Connection;
use crate::session::{STORE_EVERY_MS, SessionAuthority, age, end_waits};
use std::sync::atomic::Ordering;
use std::time::Duration;
use stickpin_device::Result;
use stickpin_session::turn::{AgentId, deadlines, machine};
use tokio_util::sync::CancellationToken;

/// How long a session's metadata may lag behind its log.
const STORE_META_EVERY: Duration = Duration::from_secs(5);

impl Coordinator {
    /// Renews leases, commits due changes and keeps metadata current until `shutdown` is cancelled.
    /// Sleeps while nothing is due, however many agents are waiting.
    pub async fn guard(&self, shutdown: CancellationToken) {
        tokio::join!(self.guard_turns(&shutdown), keep_metadata(self, &shutdown));
    }

    async fn guard_turns(&self, shutdown: &CancellationToken) {
        let mut woken = self.shared.guardian.subscribe();
        loop {
            woken.mark_unchanged();
            let next = self.in_use().iter().filter_map(|session| guard_one(self, session)).min();
            let sleep = async {
                match next {
                    Some(next) => tokio::time::sleep(next).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = shutdown.cancelled() => return,
                _ = woken.changed() => {}
                () = sleep => {}
            }
        }
    }

    /// Runs the guardian until `shutdown` is cancelled, and restarts it if it panics. After a
    /// second panic within a minute, the guardian is not restarted, and no more turns are granted.
    pub async fn supervise(self, shutdown: CancellationToken) {
        let mut last: Option<tokio::time::Instant> = None;
        loop {
            let (this, ends) = (self.clone(), shutdown.clone());
            let Err(e) = tokio::spawn(async move { this.guard(ends).await }).await else { return };
            tracing::error!("the guardian failed: {e}");
            let now = tokio::time::Instant::now();
            if last.is_some_and(|last| now - last < Duration::from_secs(60)) {
                self.shared.renewing.store(false, Ordering::Relaxed);
                return;
            }
            last = Some(now);
        }
    }
}

/// Performs the due work of a session and its loans. Returns the time until the next check.
fn guard_one(coordinator: &Coordinator, session: &SessionAuthority) -> Option<Duration> {
    let loans = |due: Result<Option<Duration>>| {
        due.unwrap_or_else(|e| {
            tracing::warn!(session = session.name(), "the loans of the session could not be maintained: {e}");
            Some(Duration::from_secs(5))
        })
    };
    let (expiry, gone) =
        (loans(coordinator.loans().end_expired(session)), loans(coordinator.loans().end_gone(session)));
    session.guard().into_iter().chain(expiry).chain(gone).min()
}

/// Writes metadata that lags behind its session's log, within [`STORE_META_EVERY`] of the first
/// record that the metadata lacks. Opening a session then reads only the records of that period.
async fn keep_metadata(coordinator: &Coordinator, shutdown: &CancellationToken) {
    let lagging = &coordinator.shared.lagging;
    let next = async || {
        lagging.notified().await;
        tokio::time::sleep(STORE_META_EVERY).await;
    };
    loop {
        tokio::select! {
            () = shutdown.cancelled() => return,
            () = next() => {}
        }
        for session in coordinator.in_use() {
            let mut state = session.lock();
            if !stickpin_store::lags(&state.log) {
                continue;
            }
            if let Err(e) = state.log.maintain() {
                tracing::warn!(session = session.name(), "the session's metadata could not be written: {e}");
                // Try again, unless only a repair can help.
                if stickpin_store::found_damage(&state.log).is_none() {
                    lagging.notify_one();
                }
            }
        }
    }
}

/// Counts a connection of an agent. The connection keeps the agent's leases even while the agent's
/// process is not visible.
pub fn connect(coordinator: &Coordinator, agent: AgentId) -> Connection {
    coordinator.shared.connections.open(agent)
}

impl SessionAuthority {
    /// Performs the due work of this session. Returns the time until the next check.
    fn guard(&self) -> Option<Duration> {
        let guarded = self.change(|state, now| {
            let someone_waits = state.has_waits();
            // An implicit turn does not matter until another agent wants to act.
            if !state.log.meta().turn.implicit || someone_waits {
                state.commit_due(now, None)?;
            }
            if state.judge(now, deadlines::is_renewable) {
                let policy = &state.log.meta().policy;
                let due = state.lease_left(now) + policy.renew_ms <= policy.lease_ttl_ms;
                if due {
                    let renewed = state.judge(now, machine::renew_lease);
                    state.renew(renewed, now, STORE_EVERY_MS)?;
                }
            }
            state.report_stale_lease(now)?;
            age(state, now)?;
            let wait_end = end_waits(state, now);
            Ok(state.next_due(now).into_iter().chain(wait_end).min())
        });
        guarded.unwrap_or_else(|e| {
            // The change stays due. The log refuses further records until it can be written again.
            tracing::warn!(session = self.name(), "the turn could not be maintained: {e}");
            Some(Duration::from_secs(5))
        })
    }
}
