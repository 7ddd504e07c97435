//! Responses about the turn, for every front end.

use serde::{Deserialize, Serialize};
use stickpin_session::Timestamp;
use stickpin_session::turn::{
    AgentId, ClaimReason, Handoff, Label, LeaseId, TakeReason, TurnPhase, TurnState,
};

/// The response to `turn wait`, `turn try` and `turn take`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum TurnReply {
    /// The caller holds the turn and may act.
    YourTurn(Box<Granted>),
    /// Another agent has the turn or precedes the caller, or the caller's wait does not claim the
    /// turn.
    NotYet(NotYet),
    /// The caller may take the turn from its owner.
    TakeoverAvailable(TakeoverAvailable),
    /// The session is closed.
    Closed(NotYet),
}

impl TurnReply {
    /// Returns the `status` of the reply.
    #[must_use]
    pub fn status(&self) -> &'static str {
        match self {
            Self::YourTurn(_) => "your_turn",
            Self::NotYet(_) => "not_yet",
            Self::TakeoverAvailable(_) => "takeover_available",
            Self::Closed(_) => "closed",
        }
    }

    /// Returns the `seq` of the record after which the caller continues to read.
    #[must_use]
    pub fn cursor_seq(&self) -> u64 {
        match self {
            Self::YourTurn(granted) => granted.cursor_seq,
            Self::NotYet(not_yet) | Self::Closed(not_yet) => not_yet.cursor_seq,
            Self::TakeoverAvailable(takeover) => takeover.cursor_seq,
        }
    }

    /// Sets the `seq` of the record after which the caller continues to read.
    pub(crate) fn set_cursor(&mut self, seq: u64) {
        match self {
            Self::YourTurn(granted) => granted.cursor_seq = seq,
            Self::NotYet(not_yet) | Self::Closed(not_yet) => not_yet.cursor_seq = seq,
            Self::TakeoverAvailable(takeover) => takeover.cursor_seq = seq,
        }
    }
}

/// A turn that the caller holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Granted {
    /// The name of the session.
    pub session: String,
    /// The number of the turn.
    pub turn_id: u64,
    /// The fencing token of this grant.
    pub lease_id: LeaseId,
    /// The process that renews the lease.
    pub guardian_pid: u32,
    /// The guardian that renews the lease.
    pub guardian: Guardian,
    /// The reason for the grant.
    pub reason: GrantReason,
    /// The handoff from the previous holder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handoff: Option<Handoff>,
    /// The previous holder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<AgentId>,
    /// The agent that lost the turn to a takeover.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked: Option<AgentId>,
    /// The previous holder's command that was still running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inflight: Option<String>,
    /// Whether the lease had expired and was renewed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lease_renewed: bool,
    /// Whether the host has restarted since the turn was granted, and now renews the lease again.
    /// Reported once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub guardian_repaired: bool,
    /// The number of unresolved notes.
    pub open_notes: usize,
    /// A warning about refs from before this turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refs_note: Option<String>,
    /// The `seq` of the record after which the caller continues to read.
    pub cursor_seq: u64,
}

/// The process that renews a lease.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Guardian {
    /// Always `daemon`.
    pub kind: String,
    /// The process id.
    pub pid: u32,
    /// The number of times that the host has been started.
    pub epoch: u64,
    /// Whether the guardian is running. If it is not, nothing may be changed.
    pub renewing: bool,
}

/// The reason why the caller holds the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantReason {
    /// The turn was assigned to the caller.
    Direct,
    /// The caller was next in line.
    Sequence,
    /// Nobody held the turn.
    OpenClaim,
    /// The previous holder disappeared.
    AfterSurrender,
    /// A command took the turn, which was idle or reserved for the caller.
    Implicit,
    /// The caller already held the turn.
    AlreadyOwner,
    /// The owner's lease had expired.
    OwnerTimeout,
    /// The owner's harness had ended.
    OwnerGone,
    /// The owner was silent while the caller waited.
    OwnerIdle,
    /// The caller replaced the owner in the same harness.
    SessionReplaced,
    /// The caller's operator requested the takeover.
    OperatorOverride,
}

impl From<ClaimReason> for GrantReason {
    fn from(reason: ClaimReason) -> Self {
        match reason {
            ClaimReason::Direct => Self::Direct,
            ClaimReason::Sequence => Self::Sequence,
            ClaimReason::OpenClaim => Self::OpenClaim,
            ClaimReason::AfterSurrender => Self::AfterSurrender,
            ClaimReason::Implicit => Self::Implicit,
        }
    }
}

impl From<TakeReason> for GrantReason {
    fn from(reason: TakeReason) -> Self {
        match reason {
            TakeReason::OwnerTimeout => Self::OwnerTimeout,
            TakeReason::OwnerGone => Self::OwnerGone,
            TakeReason::OwnerIdle => Self::OwnerIdle,
            TakeReason::SessionReplaced => Self::SessionReplaced,
            TakeReason::OperatorOverride => Self::OperatorOverride,
        }
    }
}

/// The state of the turn, for a caller that does not hold it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NotYet {
    /// The name of the session.
    pub session: String,
    /// The stored state of the turn.
    pub state: TurnPhase,
    /// The number of the turn.
    pub turn_id: u64,
    /// The holder of the turn; `None` if nobody holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<AgentId>,
    /// The agent that may claim the turn next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserved_for: Option<AgentId>,
    /// The wall time at which the holder's lease ends if it is not renewed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_expires_at: Option<Timestamp>,
    /// The wall time at which a reserved turn passes on if it is not claimed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim_expires_at: Option<Timestamp>,
    /// The caller's position among the waiting members; the member at position 1 gets the turn
    /// next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<usize>,
    /// The `seq` of the record after which the caller continues to read.
    pub cursor_seq: u64,
}

/// A turn that the caller may take.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TakeoverAvailable {
    /// The name of the session.
    pub session: String,
    /// The reason that permits the takeover.
    pub reason: TakeReason,
    /// The number of the turn.
    pub turn_id: u64,
    /// The holder of the turn; `None` if nobody holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<AgentId>,
    /// The `seq` of the record after which the caller continues to read.
    pub cursor_seq: u64,
}

/// A turn in a list of sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnSummary {
    /// The most actionable description of the turn.
    pub label: Label,
    /// The holder of the turn; `None` if nobody holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<AgentId>,
    /// The agent that may claim the turn next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserved_for: Option<AgentId>,
}

/// A session's turn, as reported to the agent that opened the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CurrentTurn {
    /// The number of the turn.
    pub turn_id: u64,
    /// The stored state.
    pub state: TurnPhase,
    /// The holder of the turn; `None` if nobody holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<AgentId>,
    /// Whether a command took the turn, so that the turn ends by itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub implicit: bool,
}

impl From<&TurnState> for CurrentTurn {
    fn from(turn: &TurnState) -> Self {
        let (owner, implicit) = (turn.owner.clone(), turn.implicit);
        Self { turn_id: turn.turn_id, state: turn.state, owner, implicit }
    }
}
