//! Tracks whether clients have received their responses. If a response that granted a turn was not
//! received, the turn is reserved for the same agent again.

use parking_lot::Mutex;
use std::collections::HashMap;
use stickpin_coordinator::{Coordinator, take_back_grants};
use stickpin_session::turn::AgentId;

/// The responses on one connection that the connection's client may not have received yet.
#[derive(Debug, Default)]
pub(crate) struct Deliveries(Mutex<Pending>);

#[derive(Debug, Default)]
struct Pending {
    /// Whether the client acknowledges responses.
    acknowledges: bool,
    /// The agents of calls whose responses are not acknowledged yet, by the id of the call.
    unacknowledged: HashMap<String, AgentId>,
    /// For a client that acknowledges nothing: the agent that the last response granted turns to,
    /// and the sessions of these turns. When the client sends another message, it has read the
    /// response.
    granted: Option<(AgentId, Vec<String>)>,
}

impl Deliveries {
    /// Sets whether the client acknowledges responses.
    pub(crate) fn set_acknowledges(&self, acknowledges: bool) {
        self.0.lock().acknowledges = acknowledges;
    }

    /// Notes that an agent's call has begun. If the client acknowledges responses, the response to
    /// this call must be acknowledged.
    pub(crate) fn begin(&self, call: &str, agent: &AgentId) {
        let mut pending = self.0.lock();
        if pending.acknowledges {
            pending.unacknowledged.insert(call.to_owned(), agent.clone());
        }
    }

    /// Notes that the response to a call was written or, if `written` is false, that the client was
    /// gone.
    pub(crate) fn end(&self, coordinator: &Coordinator, call: &str, agent: AgentId, written: bool) {
        let mut pending = self.0.lock();
        if !written {
            pending.unacknowledged.remove(call);
        } else if !pending.acknowledges {
            let sessions = coordinator.confirm_delivery(&agent);
            if !sessions.is_empty() {
                pending.granted = Some((agent, sessions));
            }
        }
    }

    /// Notes that the client sent another message, and has therefore read the previous response.
    pub(crate) fn message_received(&self) {
        self.0.lock().granted = None;
    }

    /// Notes that the client acknowledged the response to a call.
    pub(crate) fn note_acknowledged(&self, coordinator: &Coordinator, call: &str) {
        let agent = self.0.lock().unacknowledged.remove(call);
        if let Some(agent) = agent {
            coordinator.confirm_delivery(&agent);
        }
    }

    /// Takes back the turns that the last response granted, because the client disconnected before
    /// it read the response. Does nothing for a client that acknowledges responses. The turns are
    /// reserved for the client's agent again, unless the agent continues.
    pub(crate) fn take_back(&self, coordinator: &Coordinator) {
        let granted = self.0.lock().granted.take();
        if let Some((agent, sessions)) = granted {
            take_back_grants(coordinator, &agent, &sessions);
        }
    }
}
