//! The evidence about the agent behind a request, and the identity derived from it.

use super::harnesses::{AGENT_VARIABLE, HARNESSES, TERMINAL_VARIABLES};
use crate::timestamp::Timestamp;
use crate::turn::{AgentId, Anchor};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// When a front end read its environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EnvAge {
    /// For this request, as a shell command does.
    #[default]
    Request,
    /// When the front end started, as an MCP server does. The values may be outdated.
    Spawn,
}

/// What a front end knows about its caller. The variables are limited to those of
/// [`Evidence::variables`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Evidence {
    /// The variables that are set, by name.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// When the variables were read.
    #[serde(default)]
    pub env_age: EnvAge,
    /// The text metadata of the MCP request, by key.
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
    /// The connection, if the front end keeps one open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<String>,
    /// The number of the interactive console that a person uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub console: Option<u16>,
}

impl Evidence {
    /// Returns the names of all variables that evidence may contain. Front ends send no others.
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

    /// Returns whether there is no evidence.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self == &Self::default()
    }
}

/// The host that resolves requests, and the user that they come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The random id of the host.
    pub host_id: String,
    /// The id of the current boot.
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
    /// An interactive console of a person.
    Console,
}

/// One agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentRecord {
    /// The id. An agent keeps its id, whatever else becomes known about it.
    pub agent_id: AgentId,
    /// The family of the harness; `human` or `terminal` for a person.
    pub harness: String,
    /// Whether the agent is a person.
    pub kind: AgentKind,
    /// The identifiers that the agent is known by.
    pub aliases: Vec<String>,
    /// The root processes that the agent was seen under.
    pub anchors: Vec<Anchor>,
    /// Whether the session id of the harness is still unknown.
    pub provisional: bool,
    /// When the id was created.
    pub created_at: Timestamp,
    /// When the last request was received.
    pub last_seen_at: Timestamp,
    /// The agent that replaced this one in the same harness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<AgentId>,
}

/// One source that was considered for an identity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Attempt {
    /// The rank of the source: `1`, `2a` to `2d`, `3`, `4` or `5`.
    pub rank: Cow<'static, str>,
    /// The description of the source.
    pub source: Cow<'static, str>,
    /// The identity that the source provided, if any.
    pub found: Option<String>,
    /// Whether this identity was used.
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
    /// Whether the session id of the harness is still unknown.
    pub provisional: bool,
    /// The identifiers that the agent is known by.
    pub aliases: Vec<String>,
    /// The root process of the harness.
    pub anchor: Option<Anchor>,
    /// Other agents that the caller could be. If there are any, the request may only read.
    pub ambiguous: Vec<AgentId>,
    /// The agents that this agent replaced in the same harness. This agent may take their turns.
    pub replaces: Vec<AgentId>,
    /// The sources that were considered, in order of rank.
    pub attempts: Vec<Attempt>,
}

/// The error for a request that names its agent with an invalid id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    /// The caller's variable contains something other than an id.
    #[error(
        "{AGENT_VARIABLE} is {0:?}, which is not an agent id; the form is `harness:name`, where `harness` begins with a lower-case letter and contains lower-case letters, digits and `-`, and `name` has 1 to 64 letters, digits, `.`, `_` and `-`"
    )]
    InvalidAgentId(String),
}
