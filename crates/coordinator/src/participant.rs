//! The agent behind a request.

use parking_lot::Mutex;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use stickpin_device::{Error, ErrorCode, Result};
use stickpin_session::agent::{AgentKind, Resolution};
use stickpin_session::log::Via;
use stickpin_session::turn::{AgentId, Anchor, MemberKind};

/// The agent or person behind a request, and the front end of the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Participant {
    /// The id, as the host resolved it.
    pub agent: AgentId,
    /// The family of the harness; `human` or `terminal` for a person.
    pub harness: String,
    /// Whether the agent is a harness, a person or a console.
    pub kind: MemberKind,
    /// The root process of the harness, if known.
    pub anchor: Option<Anchor>,
    /// Agents that the request could also have come from. If there are any, the request may only
    /// read.
    pub ambiguous: Vec<AgentId>,
    /// Agents that this agent replaced in the same harness and whose turns it may take.
    pub replaces: Vec<AgentId>,
    /// The front end of the request.
    pub via: Via,
}

impl Participant {
    /// Creates the participant that a host resolved from the evidence of a request.
    #[must_use]
    pub fn new(resolution: &Resolution, via: Via) -> Self {
        let kind = match resolution.kind {
            AgentKind::Harness => MemberKind::Harness,
            AgentKind::Human => MemberKind::Human,
            AgentKind::Console => MemberKind::Console,
        };
        Self {
            agent: resolution.agent_id.clone(),
            harness: resolution.harness.clone(),
            kind,
            anchor: resolution.anchor.clone(),
            ambiguous: resolution.ambiguous.clone(),
            replaces: resolution.replaces.clone(),
            via,
        }
    }

    /// Returns whether the caller is a person. Some checks apply only to agents.
    #[must_use]
    pub fn is_person(&self) -> bool {
        self.kind != MemberKind::Harness
    }

    /// Refuses a change by a caller that could be any of several agents.
    pub(crate) fn require_unambiguous(&self) -> Result<()> {
        if self.ambiguous.is_empty() {
            return Ok(());
        }
        let candidates: Vec<_> = self.ambiguous.iter().map(ToString::to_string).collect();
        let message =
            format!("this request could have come from {}; nothing was done", candidates.join(" or "));
        // A code links only an MCP connection.
        let hint = if self.via == Via::Mcp {
            "run `stickpin identity link` in the agent's shell, then `stickpin identity link CODE` here with the code that the shell prints; or set STICKPIN_AGENT_ID to the agent's id"
        } else {
            "set STICKPIN_AGENT_ID to the id of the agent that runs the command"
        };
        Err(Error::new(ErrorCode::IdentityAmbiguous, message)
            .hint(hint)
            .details(json!({ "candidates": candidates })))
    }
}

/// The number of connections of each agent to the host.
#[derive(Debug, Default)]
pub(crate) struct Connections(Mutex<BTreeMap<AgentId, usize>>);

/// A connection of an agent to the host, until it is dropped.
#[derive(Debug)]
#[must_use = "the agent is connected until this is dropped"]
pub struct Connection {
    of: Arc<Connections>,
    agent: AgentId,
}

impl Connections {
    /// Counts a connection.
    pub(crate) fn open(self: &Arc<Self>, agent: AgentId) -> Connection {
        *self.0.lock().entry(agent.clone()).or_default() += 1;
        Connection { of: Arc::clone(self), agent }
    }

    /// Returns whether the agent is connected.
    pub(crate) fn has(&self, agent: &AgentId) -> bool {
        self.0.lock().contains_key(agent)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut open = self.of.0.lock();
        if let Some(count) = open.get_mut(&self.agent) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.agent);
            }
        }
    }
}
