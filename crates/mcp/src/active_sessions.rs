//! Tracks which client sessions over HTTP are connected, or were until a moment ago. HTTP itself
//! does not report that a client disconnected.

use crate::connection::lock;
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

/// Client sessions by name.
#[derive(Debug, Default)]
pub(crate) struct ActiveSessions {
    sessions: Mutex<HashMap<String, SessionActivity>>,
}

/// The activity of one client session.
#[derive(Debug)]
struct SessionActivity {
    /// The number of requests whose answers are not fully read.
    open_requests: usize,
    /// When the last request ended.
    last_request_end: Instant,
}

/// A request of a client session, until its answer has ended.
#[derive(Debug)]
pub(crate) struct OpenRequest {
    present: Arc<ActiveSessions>,
    session: String,
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        if let Some(seen) = lock(&self.present.sessions).get_mut(&self.session) {
            seen.open_requests -= 1;
            seen.last_request_end = Instant::now();
        }
    }
}

impl ActiveSessions {
    /// Registers a request in a session. Returns `None` for an unknown session unless the request
    /// begins it.
    pub(crate) fn enter(self: &Arc<Self>, session: &str, is_new: bool) -> Option<OpenRequest> {
        let mut sessions = lock(&self.sessions);
        if is_new {
            sessions
                .entry(session.to_owned())
                .or_insert(SessionActivity { open_requests: 0, last_request_end: Instant::now() });
        }
        sessions.get_mut(session)?.open_requests += 1;
        Some(OpenRequest { present: Arc::clone(self), session: session.to_owned() })
    }

    /// Removes a session that has ended.
    pub(crate) fn remove(&self, session: &str) {
        lock(&self.sessions).remove(session);
    }

    /// Removes and returns the sessions that have had no connection for at least `limit`.
    fn take_disconnected(&self, limit: Duration) -> Vec<String> {
        let is_expired =
            |seen: &SessionActivity| seen.open_requests == 0 && seen.last_request_end.elapsed() >= limit;
        let mut sessions = lock(&self.sessions);
        let expired: Vec<_> =
            sessions.iter().filter(|(_, seen)| is_expired(seen)).map(|(name, _)| name.clone()).collect();
        sessions.retain(|name, _| !expired.contains(name));
        expired
    }

    /// Ends the sessions of disconnected clients for as long as the future is polled.
    pub(crate) async fn reap_disconnected(&self, manager: &LocalSessionManager, limit: Duration) {
        let mut interval = tokio::time::interval((limit / 8).max(Duration::from_millis(50)));
        loop {
            interval.tick().await;
            for session in self.take_disconnected(limit) {
                match manager.close_session(&session.as_str().into()).await {
                    Ok(()) => tracing::info!(session, "closed because its client disconnected"),
                    Err(e) => {
                        tracing::warn!(session, "cannot close the session of a client that disconnected: {e}")
                    }
                }
            }
        }
    }
}
