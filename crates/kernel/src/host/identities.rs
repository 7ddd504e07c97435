//! What a host knows about its callers in addition to the agent of each request.

use std::fmt::Debug;
use stickpin_device::Result;
use stickpin_session::agent::Resolution;
use stickpin_session::turn::{AgentId, Anchor};

/// The directory of agents that the owner of a host keeps.
pub trait Identities: Debug + Send + Sync {
    /// Issues a one-time code that links a connection to an agent.
    fn issue_code(&self, agent: &AgentId) -> IssuedCode;

    /// Attributes all requests over a connection to the agent to which the code was issued.
    ///
    /// # Errors
    /// Returns `INVALID_ARGS` for a code that is invalid, used or expired.
    fn link(&self, code: &str, connection: &str) -> Result<AgentId>;

    /// Returns the open connections of MCP servers whose processes descend from the root process of
    /// a harness, each with the agent to which requests over that connection are now attributed.
    fn connections(&self, anchor: &Anchor) -> Vec<Connected>;
}

/// A one-time code that links a connection to an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuedCode {
    /// The text of the code.
    pub code: String,
    /// The time in milliseconds after which the code expires.
    pub ttl_ms: u64,
}

/// An open connection of an MCP server.
#[derive(Debug, Clone)]
pub struct Connected {
    /// The process of the server, if this host can see it.
    pub pid: Option<u32>,
    /// The agent to which requests over the connection are now attributed.
    pub agent: Resolution,
}
