//! The members of a session.

use super::AgentId;
use crate::timestamp::Timestamp;
use serde::{Deserialize, Serialize};

/// The root process of a harness.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Anchor {
    /// The id of the machine that runs the process.
    pub host_id: String,
    /// The process id.
    pub pid: u32,
    /// The start time of the process, in the unit of the operating system.
    pub process_start: u64,
    /// The id of the boot in which the process runs.
    pub boot_id: String,
    /// The family of the harness, such as `codex`.
    pub harness: String,
}

/// The kind of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MemberKind {
    /// An agent in a harness.
    Harness,
    /// A person.
    Human,
    /// An interactive console of a person. Each console is a separate member.
    Console,
}

/// What a member may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MemberRole {
    /// May hold the turn.
    Driver,
    /// May only read.
    Observer,
}

/// How a member waits for the turn. A client may wait in slices, so the member still counts as
/// waiting for as long as the client may take to wait again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WaitMode {
    /// Waits and may be given the turn.
    Active,
    /// Waits but is not given the turn.
    Parked,
    /// Does not wait.
    #[default]
    None,
}

/// An agent or person that joined a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Member {
    /// The id of the agent or person.
    pub agent_id: AgentId,
    /// The display name.
    pub display: String,
    /// The family of the harness; `human` or `terminal` for a person.
    pub harness: String,
    /// The kind of the member.
    pub kind: MemberKind,
    /// The position in the order of joining, from 1. Breaks ties between waiters.
    pub ordinal: u32,
    /// When the member joined.
    pub joined_at: Timestamp,
    /// When the member last made a request; may lag behind by a minute.
    pub last_seen_at: Timestamp,
    /// When the member last began to wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_wait_at: Option<Timestamp>,
    /// How the member waits.
    pub wait_mode: WaitMode,
    /// The last turn that the member held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_held_turn: Option<u64>,
    /// The root process of the member's harness.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchor: Option<Anchor>,
    /// The role of the member.
    pub role: MemberRole,
}
