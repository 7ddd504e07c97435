//! The feed: what happened in a session, as its members read it.

use stickpin_session::log::Record;
use stickpin_session::turn::AgentId;

/// Whether a record is meant for an agent: addressed to it, or to all by somebody else.
pub(crate) fn is_for(record: &Record, agent: &AgentId) -> bool {
    record.to.as_ref() == Some(agent) || (record.bcast && record.agent.as_ref() != Some(agent))
}
