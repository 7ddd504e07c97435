//! The content of records about members, turns, messages and delegation.

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
    /// The agent.
    pub agent_id: AgentId,
    /// The turn after this record, if it changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_after: Option<TurnState>,
}

/// An agent was removed by another agent, or because the loan through which it had the turn ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MemberKicked {
    /// The agent.
    pub agent_id: AgentId,
    /// The reason, if one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Redacted>,
    /// The turn after this record, if it changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_after: Option<TurnState>,
}

/// An agent replaced an older one in the same harness. Both stay members, and the newer agent may
/// take the older agent's turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentSuperseded {
    /// The agent that was replaced.
    pub old: AgentId,
    /// The agent that replaced it.
    pub new: AgentId,
}

/// An agent got the turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TurnClaimed {
    /// The reason for the grant.
    pub reason: ClaimReason,
    /// The turn after this record.
    pub turn_after: TurnState,
}

/// Why a turn was released.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReleaseReason {
    /// The owner released the turn.
    Release,
    /// The turn was implicit and ended by itself.
    ImplicitEnd,
    /// The owner never learned of the grant.
    Undelivered,
}

/// A turn was released.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TurnReleased {
    /// The reason for the release.
    pub reason: ReleaseReason,
    /// The handoff to the next owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handoff: Option<RedactedHandoff>,
    /// The turn after this record.
    pub turn_after: TurnState,
}

/// A turn was reserved for a named agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TurnAssigned {
    /// The handoff to the next owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handoff: Option<RedactedHandoff>,
    /// Whether the assigning agent claims that its operator requested the assignment.
    pub operator_requested: bool,
    /// The turn after this record.
    pub turn_after: TurnState,
}

/// A turn was taken from its owner, or from the agent that it was reserved for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TurnTaken {
    /// The agent that lost the turn or the reservation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revoked: Option<AgentId>,
    /// The reason that permitted the takeover.
    pub reason: TakeReason,
    /// A note from the new owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<Redacted>,
    /// Whether the new owner claims that its operator requested the takeover.
    pub operator_requested: bool,
    /// A command of the previous owner that was still running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inflight: Option<CommandId>,
    /// The turn after this record.
    pub turn_after: TurnState,
}

/// Why a turn ended without its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SurrenderReason {
    /// The owner's process is gone and the owner is silent.
    OwnerGone,
    /// The machine was restarted.
    Reboot,
}

/// A turn ended without its owner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TurnSurrendered {
    /// The reason.
    pub reason: SurrenderReason,
    /// The turn after this record.
    pub turn_after: TurnState,
}

/// A reservation was not used in time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReservationExpired {
    /// The agent that the turn was reserved for.
    pub missed: AgentId,
    /// The turn after this record.
    pub turn_after: TurnState,
}

/// The owner's lease expired without renewal.
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

/// The urgency of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageHint {
    /// To be read at the next opportunity.
    Normal,
    /// To be read soon.
    Interrupt,
}

/// A message to one member or to all members.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Message {
    /// The text.
    pub body: Redacted,
    /// The urgency.
    pub hint: MessageHint,
    /// The peer session that the message came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_session: Option<String>,
}

/// A note was added.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NoteAdded {
    /// The number of the note, from 1.
    pub note_id: u64,
    /// The text.
    pub body: Redacted,
    /// The turn that the note is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope_turn: Option<u64>,
}

/// A note was resolved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NoteResolved {
    /// The number of the note.
    pub note_id: u64,
}

/// A child session was created.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChildSpawned {
    /// The child after this record.
    pub child: Child,
}

/// The position in a child's log where the child's activity can be inspected.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Evidence {
    /// The segment of the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment: Option<u32>,
    /// The last record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_seq: Option<u64>,
    /// The last command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_command: Option<CommandId>,
    /// The generation of the last tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_snapshot_generation: Option<u64>,
}

/// A child session changed its state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChildStateChanged {
    /// The child after this record.
    pub child: Child,
    /// Where the child's activity can be inspected.
    pub evidence: Evidence,
}

/// Scope was lent, or a loan changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LoanOpened {
    /// The loan after this record.
    pub loan: Loan,
}

/// A loan was reclaimed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LoanReclaimed {
    /// The reclaimed loan.
    pub loan: ReclaimedLoan,
    /// A command that was still running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_command: Option<CommandId>,
}

/// Another session became a peer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PeerAdded {
    /// The name of the peer.
    pub peer: String,
}

/// Another session is no longer a peer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PeerRemoved {
    /// The name of the former peer.
    pub peer: String,
}
