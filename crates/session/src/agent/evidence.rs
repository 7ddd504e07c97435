//! What is known about the agent behind a request, and what follows from it.

use super::harnesses::{AGENT_VARIABLE, HARNESSES, TERMINAL_VARIABLES};
use crate::timestamp::Timestamp;
use crate::turn::{AgentId, Anchor};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// When the environment of a front end was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EnvAge {
    /// For this request, as by a shell command.
    #[default]
    Request,
    /// When the front end started, as by an MCP server. The values may be outdated.
    Spawn,
}

/// What a front end knows about its caller. The variables are limited to those of
/// [`Evidence::variables`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Evidence {
    /// Variables that are set, by name.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// When they were read.
    #[serde(default)]
    pub env_age: EnvAge,
    /// Metadata of the MCP request that are texts, by key.
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
    /// The connection, where the front end keeps one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<String>,
}

impl Evidence {
    /// Returns the names of all variables that evidence may hold. Front ends send no others.
    #[must_use]
    pub fn variables() -> Vec<&'static str> {
        let mut names = vec![AGENT_VARIABLE];
        for harness in HARNESSES {
            names.extend(harness.markers.iter().map(|(name, _)| *name));
            names.extend(harness.session_variables);
            names.extend(harness.process_variables);
        }
        names.extend(TERMINAL_VARIABLES);
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.env.is_empty() && self.metadata.is_empty() && self.connection.is_none()
    }
}

/// Where requests are resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The random id of the host.
    pub host_id: String,
    /// The running boot.
    pub boot_id: String,
    /// The user id of the daemon and of its callers.
    pub uid: u32,
    /// The name of that user.
    pub user: String,
}

/// Whether an agent is a program or a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AgentKind {
    /// An agent in a harness.
    Harness,
    /// A person at a terminal.
    Human,
}

/// One agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentRecord {
    /// The id. An agent keeps it, whatever else becomes known about it.
    pub agent_id: AgentId,
    /// The family of the harness; `human` or `terminal` for a person.
    pub harness: String,
    /// Whether the agent is a person.
    pub kind: AgentKind,
    /// What the agent is known by.
    pub aliases: Vec<String>,
    /// The root processes that it was seen under.
    pub anchors: Vec<Anchor>,
    /// Whether no session id of the harness is known yet.
    pub provisional: bool,
    /// When the id was made.
    pub created_at: Timestamp,
    /// When the last request came.
    pub last_seen_at: Timestamp,
    /// The agent that replaced it in the same harness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<AgentId>,
}

/// One source of an identity that was considered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Attempt {
    /// The rank of the source, `1` to `5`.
    pub rank: Cow<'static, str>,
    /// The source in words.
    pub source: Cow<'static, str>,
    /// What it said, if anything.
    pub found: Option<String>,
    /// Whether the identity comes from it.
    pub used: bool,
}

impl Attempt {
    pub(super) fn new(rank: &'static str, source: &'static str, found: Option<String>) -> Self {
        Self { rank: rank.into(), source: source.into(), found, used: false }
    }
}

/// The agent that a request comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Resolution {
    /// The agent.
    pub agent_id: AgentId,
    /// The family of the harness; `human` or `terminal` for a person.
    pub harness: String,
    /// Whether the agent is a person.
    pub kind: AgentKind,
    /// Whether no session id of the harness is known yet.
    pub provisional: bool,
    /// What the agent is known by.
    pub aliases: Vec<String>,
    /// The root process of the harness.
    pub anchor: Option<Anchor>,
    /// Agents that it could also be. With any, the request may read but not change anything.
    pub ambiguous: Vec<AgentId>,
    /// All sources in order.
    pub attempts: Vec<Attempt>,
}

/// A request names an agent in a way that cannot be an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    /// The variable of the caller holds something else than an id.
    #[error("{AGENT_VARIABLE} is {0:?}; an agent id is written `harness:name`")]
    InvalidAgentId(String),
}
