//! The members of a session.

use super::AgentId;
use crate::timestamp::Timestamp;
use serde::{Deserialize, Serialize};

/// The root process of a harness.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Anchor {
    /// The host of the process.
    pub host_id: String,
    /// Process id.
    pub pid: u32,
    /// Start time in the kernel's unit.
    pub process_start: u64,
    /// The boot in which the process runs.
    pub boot_id: String,
    /// The family of the harness, such as `codex`.
    pub harness: String,
}

/// What a member is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MemberKind {
    /// An agent in a harness.
    Harness,
    /// A person.
    Human,
    /// A console that shows a session.
    Console,
}

/// What a member may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MemberRole {
    /// Hold the turn.
    Driver,
    /// Only read.
    Observer,
}

/// Whether a member waits for the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WaitMode {
    /// Waits, and is given the turn.
    Active,
    /// Waits, but is not given the turn.
    Parked,
    /// Does not wait.
    #[default]
    None,
}

/// An agent that joined a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Member {
    /// Who.
    pub agent_id: AgentId,
    /// The name that people see.
    pub display: String,
    /// The family of the harness; `human` for a person.
    pub harness: String,
    /// What the member is.
    pub kind: MemberKind,
    /// The order of joining, from 1; breaks ties between waiters.
    pub ordinal: u32,
    /// When it joined.
    pub joined_at: Timestamp,
    /// When it last made a request.
    pub last_seen_at: Timestamp,
    /// When it last waited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_wait_at: Option<Timestamp>,
    /// Whether it waits now.
    pub wait_mode: WaitMode,
    /// The last turn that it held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_held_turn: Option<u64>,
    /// The root process of its harness.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchor: Option<Anchor>,
    /// What it may do.
    pub role: MemberRole,
}
