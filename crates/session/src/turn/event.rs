//! The events of a turn, and the reasons why a request about it is refused.

use super::{AgentId, LeaseId, TurnState};
use serde::{Deserialize, Serialize};

/// Why a turn was granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimReason {
    /// The turn was reserved for this agent by name, for example by `turn assign`.
    Direct,
    /// The agent was next in line.
    Sequence,
    /// Nobody held the turn.
    OpenClaim,
    /// Nobody held the turn, because the previous owner disappeared.
    AfterSurrender,
    /// A command took the turn, which was idle or reserved for its agent.
    Implicit,
}

/// Why a turn may be taken from its owner, or from the agent that it is reserved for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TakeReason {
    /// The lease expired.
    OwnerTimeout,
    /// The owner's harness ended.
    OwnerGone,
    /// The owner is silent while the taker waits.
    OwnerIdle,
    /// In the same harness, the taker replaced the owner or the agent that the turn is reserved
    /// for.
    SessionReplaced,
    /// The taker's operator requested the takeover.
    OperatorOverride,
}

/// An event of a turn, recorded in the session log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnEvent {
    /// An agent became the owner.
    Claimed {
        /// The new owner.
        by: AgentId,
        /// The reason for the grant.
        reason: ClaimReason,
    },
    /// The owner released the turn, or an implicit turn ended by itself.
    Released {
        /// The former owner.
        by: AgentId,
        /// The agent that the turn is now reserved for; `None` if the turn is idle.
        to: Option<AgentId>,
        /// Whether the turn was implicit and ended without a request.
        implicit_end: bool,
    },
    /// The turn was reserved for a named agent.
    Assigned {
        /// The agent that assigned the turn.
        by: AgentId,
        /// The agent that the turn is now reserved for.
        to: AgentId,
    },
    /// An agent took the turn from its owner, or from the agent that it was reserved for.
    Taken {
        /// The new owner.
        by: AgentId,
        /// The agent that lost the turn or its reservation.
        revoked: Option<AgentId>,
        /// The reason that permitted the takeover.
        reason: TakeReason,
    },
    /// The owner disappeared.
    Surrendered {
        /// The former owner.
        by: AgentId,
    },
    /// A reserved turn was not claimed in time.
    ReservationExpired {
        /// The agent that missed its turn.
        missed: AgentId,
        /// The agent that the turn is now reserved for; `None` if the turn is idle.
        to: Option<AgentId>,
    },
    /// The client never acknowledged a grant, so the turn is now reserved for the agent that it was
    /// granted to.
    Undelivered {
        /// The agent that did not learn of its grant.
        to: AgentId,
    },
    /// A member left or was removed, or the loan through which it had the turn ended.
    Left {
        /// The former owner, or the agent that the turn was reserved for.
        who: AgentId,
    },
    /// The session was closed.
    Closed,
}

/// A change to the turn, to be committed before it takes effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transition {
    /// The turn after the change.
    pub after: TurnState,
    /// The event that describes the change.
    pub event: TurnEvent,
}

/// The agent that makes a request, with the turn and the lease that it believes it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    /// The requesting agent.
    pub agent: AgentId,
    /// The turn that the caller believes it holds; `None` for the current turn.
    pub turn_id: Option<u64>,
    /// The lease that the caller believes it holds; `None` for the current lease.
    pub lease_id: Option<LeaseId>,
}

/// Why a request about the turn was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TurnError {
    /// The request names a turn other than the current one.
    #[error("the current turn is {current}, not {expected}")]
    TurnMismatch {
        /// The turn that the caller named.
        expected: u64,
        /// The current turn.
        current: u64,
    },
    /// The caller is not the owner of the current turn, or holds an old lease.
    #[error("{agent} does not hold turn {turn_id}")]
    StaleLease {
        /// The caller.
        agent: AgentId,
        /// The current turn.
        turn_id: u64,
    },
    /// Another agent holds the turn, or the turn is reserved for another agent.
    #[error("turn {turn_id} belongs to {owner}")]
    TurnHeld {
        /// The holder, or the agent that the turn is reserved for.
        owner: AgentId,
        /// The current turn.
        turn_id: u64,
    },
    /// A command may not take the turn implicitly: a handoff has not been read yet, or the policy
    /// forbids implicit turns.
    #[error("the turn must be claimed before a command may act")]
    TurnRequired,
    /// No reason permits the caller to take the turn now.
    #[error("the turn cannot be taken now")]
    TakeoverNotAvailable {
        /// The current turn.
        turn_id: u64,
    },
    /// The agent is not a driver of the session.
    #[error("{agent} is not a driver of this session")]
    NotADriver {
        /// The agent that is not a driver.
        agent: AgentId,
    },
    /// The member owns the turn and has to release it before leaving or becoming an observer.
    #[error("{agent} holds turn {turn_id} and must release it first")]
    MustReleaseFirst {
        /// The member that owns the turn.
        agent: AgentId,
        /// The current turn.
        turn_id: u64,
    },
    /// The member to remove is active: its harness is running, it is waiting or acting, or it owns
    /// the turn.
    #[error("{agent} is active and was not removed")]
    TargetActive {
        /// The member that was to be removed.
        agent: AgentId,
    },
    /// A member cannot remove itself or assign the turn to itself.
    #[error("{agent} cannot remove itself or assign the turn to itself")]
    OnSelf {
        /// The member.
        agent: AgentId,
    },
    /// The session is closed.
    #[error("the session is closed")]
    Closed,
}
