//! Bodies of the kinds about members, turns, messages and delegation.

use super::super::redacted::{Redacted, RedactedHandoff};
use super::run::CommandId;
use crate::turn::{AgentId, Child, ClaimReason, Loan, Member, ReclaimedLoan, TakeReason, TurnState};
use serde::{Deserialize, Serialize};

/// An agent joined, or its membership changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MemberJoined {
    /// The member after this record.
    pub member: Member,
}

/// An agent left.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MemberLeft {
    /// Who left.
    pub agent_id: AgentId,
    /// The turn after this record, if it changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_after: Option<TurnState>,
}

/// An agent was removed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MemberKicked {
    /// Who was removed.
    pub agent_id: AgentId,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Redacted>,
    /// The turn after this record, if it changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_after: Option<TurnState>,
}

/// An agent goes on under another id.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentSuperseded {
    /// The id before.
    pub old: AgentId,
    /// The id from now on.
    pub new: AgentId,
}

/// An agent has the turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TurnClaimed {
    /// Why.
    pub reason: ClaimReason,
    /// The turn after this record.
    pub turn_after: TurnState,
}

/// Why a turn was released.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReleaseReason {
    /// Its owner released it.
    Release,
    /// A command had taken the turn, and nobody renewed it.
    ImplicitEnd,
    /// Its owner never learned of it.
    Undelivered,
}

/// A turn was given back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TurnReleased {
    /// Why.
    pub reason: ReleaseReason,
    /// What the owner tells the next one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handoff: Option<RedactedHandoff>,
    /// The turn after this record.
    pub turn_after: TurnState,
}

/// A turn was given to an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TurnAssigned {
    /// What the owner tells the next one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handoff: Option<RedactedHandoff>,
    /// The agent claims that its operator asked for it.
    pub operator_requested: bool,
    /// The turn after this record.
    pub turn_after: TurnState,
}

/// A turn was taken from its owner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TurnTaken {
    /// Whose it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revoked: Option<AgentId>,
    /// Why it could be taken.
    pub reason: TakeReason,
    /// What the taker says about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<Redacted>,
    /// The taker claims that its operator asked for it.
    pub operator_requested: bool,
    /// A command of the old owner that could not be stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inflight: Option<CommandId>,
    /// The turn after this record.
    pub turn_after: TurnState,
}

/// Why a turn ended without its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SurrenderReason {
    /// Its process is gone and it was silent.
    OwnerGone,
    /// The machine was started again.
    Reboot,
}

/// A turn ended without its owner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TurnSurrendered {
    /// Why.
    pub reason: SurrenderReason,
    /// The turn after this record.
    pub turn_after: TurnState,
}

/// A reservation was not used in time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReservationExpired {
    /// For whom it was.
    pub missed: AgentId,
    /// The turn after this record.
    pub turn_after: TurnState,
}

/// The lease of an owner could not be renewed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TurnLeaseStale {
    /// The turn after this record.
    pub turn_after: TurnState,
}

/// The session was closed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TurnClosed {
    /// The turn after this record.
    pub turn_after: TurnState,
}

/// How urgent a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageHint {
    /// Read it when you next look.
    Normal,
    /// Read it soon.
    Interrupt,
}

/// A message to a member or to all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Message {
    /// Its text.
    pub body: Redacted,
    /// How urgent it is.
    pub hint: MessageHint,
    /// The peer that it came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_session: Option<String>,
}

/// A note was added.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NoteAdded {
    /// Its number, from 1.
    pub note_id: u64,
    /// Its text.
    pub body: Redacted,
    /// The turn that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope_turn: Option<u64>,
}

/// A note was resolved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NoteResolved {
    /// Its number.
    pub note_id: u64,
}

/// A child was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChildSpawned {
    /// The child after this record.
    pub child: Child,
}

/// Where to see what a child did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Evidence {
    /// The segment of its log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment: Option<u32>,
    /// Its last record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_seq: Option<u64>,
    /// Its last command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_command: Option<CommandId>,
    /// Its last tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_snapshot_generation: Option<u64>,
    /// The exit code of its process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
}

/// A child is at another point of its life.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChildStateChanged {
    /// The child after this record.
    pub child: Child,
    /// Where to see what it did.
    pub evidence: Evidence,
}

/// Scope was lent, or a loan changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LoanOpened {
    /// The loan after this record.
    pub loan: Loan,
}

/// A loan came back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LoanReclaimed {
    /// What came back.
    pub loan: ReclaimedLoan,
    /// A command that still ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_command: Option<CommandId>,
}

/// Two sessions see each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PeerAdded {
    /// The other session.
    pub peer: String,
}

/// Two sessions no longer see each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PeerRemoved {
    /// The other session.
    pub peer: String,
}
