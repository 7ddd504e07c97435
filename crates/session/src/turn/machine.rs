//! The transitions of a turn: who may change a session next, and what a timer or a request does to
//! the turn.
//!
//! Every function is pure: the caller passes the time, fresh lease ids and what it knows about the
//! members' presence, commits the [`Transition`] to the session log and only then acts on it.

use super::routing::{Next, next_owner};
use super::state::{
    AgentId, Deadline, Grant, Lease, LeaseId, Member, MemberRole, Policy, TurnPhase, TurnState,
};
use crate::timestamp::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The extra time that owners and waiters have to reconnect after the daemon restarted.
const RESTART_GRACE_MS: u64 = 60_000;

/// How long an adapter may take to acknowledge a grant before the turn is reserved for its agent.
const DELIVERY_MS: u64 = 10_000;

/// How long the owner of an implicit turn may be gone.
const IMPLICIT_GONE_MS: u64 = 5_000;

/// A point in time, on the clock that decides and on the clock that people read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Now {
    /// Milliseconds of the monotonic clock, which does not advance during suspend.
    pub mono_ms: u64,
    /// The boot that the monotonic clock belongs to.
    pub boot_id: String,
    /// Wall time, for display only.
    pub wall: Timestamp,
}

impl Now {
    /// Returns the deadline `ms` milliseconds from now.
    #[must_use]
    pub fn after(&self, ms: u64) -> Deadline {
        Deadline { mono_ms: self.mono_ms.saturating_add(ms), boot_id: self.boot_id.clone() }
    }

    pub(super) fn has_passed(&self, deadline: &Deadline) -> bool {
        self.boot_id != deadline.boot_id || self.mono_ms >= deadline.mono_ms
    }

    fn lease(&self, ttl_ms: u64) -> Lease {
        Lease {
            ttl_ms,
            deadline_mono_ms: self.mono_ms.saturating_add(ttl_ms),
            boot_id: self.boot_id.clone(),
            display_expires_at: Timestamp::from_millis(self.wall.millis().saturating_add(ttl_ms)),
        }
    }
}

/// Whether the process of an agent's harness runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Liveness {
    /// The process runs.
    Alive,
    /// The process ended, or its id now belongs to another process.
    Gone,
    /// The agent has no process that this host can see.
    #[default]
    Unknown,
}

/// What the daemon knows about an agent right now. Never stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Presence {
    /// Whether the harness runs.
    pub liveness: Liveness,
    /// Milliseconds since the last request.
    pub silent_ms: u64,
    /// Whether a `turn wait` of the agent is connected.
    pub waiting: bool,
    /// Milliseconds since the last wait ended, if the agent waited and may wait again.
    pub last_poll_ms: Option<u64>,
    /// Whether the agent waits through MCP, which polls in slices.
    pub via_mcp: bool,
    /// Whether a command of the agent runs on the device.
    pub in_flight: bool,
}

/// What a request or a timer is judged against.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    /// The stored turn.
    pub turn: &'a TurnState,
    /// The members in order of joining.
    pub members: &'a [Member],
    /// The limits of the session.
    pub policy: &'a Policy,
    /// What is known about agents. Absent agents were never seen.
    pub presence: &'a BTreeMap<AgentId, Presence>,
    /// Milliseconds since the turn became idle; `None` if the daemon restarted since.
    pub idle_ms: Option<u64>,
    /// Now.
    pub now: &'a Now,
}

impl Situation<'_> {
    pub(super) fn member(&self, agent: &AgentId) -> Option<&Member> {
        self.members.iter().find(|m| m.agent_id == *agent)
    }

    pub(super) fn presence_of(&self, agent: &AgentId) -> Presence {
        let never_seen = Presence { silent_ms: u64::MAX, ..Presence::default() };
        self.presence.get(agent).copied().unwrap_or(never_seen)
    }

    fn is_driver(&self, agent: &AgentId) -> bool {
        self.member(agent).is_some_and(|m| m.role == MemberRole::Driver)
    }

    fn is_owner(&self, agent: &AgentId) -> bool {
        self.turn.state == TurnPhase::Owned && self.turn.owner.as_ref() == Some(agent)
    }

    fn lease_has_expired(&self) -> bool {
        self.turn.lease.as_ref().is_some_and(|lease| {
            lease.boot_id != self.now.boot_id || self.now.mono_ms >= lease.deadline_mono_ms
        })
    }

    fn owner_is_gone(&self) -> bool {
        let grace = if self.turn.implicit { IMPLICIT_GONE_MS } else { self.policy.gone_grace_ms };
        self.turn.owner.as_ref().is_some_and(|owner| {
            let presence = self.presence_of(owner);
            presence.liveness == Liveness::Gone && presence.silent_ms > grace
        })
    }

    /// Whether someone other than `agent` waits for the turn.
    fn has_waiter_besides(&self, agent: &AgentId) -> bool {
        self.members.iter().any(|m| m.agent_id != *agent && self.presence_of(&m.agent_id).waiting)
    }
}

/// The most useful description of a turn, computed on read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Label {
    /// The owner's harness ended, and the owner has been silent for the grace period.
    OwnerGone,
    /// The lease expired without renewal.
    OwnerStale,
    /// The owner is alive but silent while another member waits.
    OwnerIdle,
    /// The turn is reserved for an agent whose harness ended.
    RecipientGone,
    /// No member was active recently.
    Dormant,
    /// Nobody holds the turn.
    Idle,
    /// A member holds the turn.
    Owned,
    /// The turn waits for one member.
    Reserved,
    /// The session is closed.
    Closed,
}

/// Returns the label of a turn, the most actionable one first.
#[must_use]
pub fn label(s: Situation<'_>) -> Label {
    let turn = s.turn;
    if turn.state == TurnPhase::Owned {
        if s.owner_is_gone() {
            return Label::OwnerGone;
        }
        if s.lease_has_expired() {
            return Label::OwnerStale;
        }
        if owner_is_idle(s) {
            return Label::OwnerIdle;
        }
    }
    if let Some(recipient) = &turn.reserved_for
        && s.presence_of(recipient).liveness == Liveness::Gone
    {
        return Label::RecipientGone;
    }
    let recent = |m: &Member| s.presence_of(&m.agent_id).silent_ms <= s.policy.presence_ttl_ms;
    if turn.state != TurnPhase::Closed && !s.members.iter().any(recent) {
        return Label::Dormant;
    }
    match turn.state {
        TurnPhase::Idle => Label::Idle,
        TurnPhase::Owned => Label::Owned,
        TurnPhase::Reserved => Label::Reserved,
        TurnPhase::Closed => Label::Closed,
    }
}

fn owner_is_idle(s: Situation<'_>) -> bool {
    s.turn.owner.as_ref().is_some_and(|owner| {
        let presence = s.presence_of(owner);
        !presence.in_flight && presence.silent_ms >= s.policy.owner_idle_ms && s.has_waiter_besides(owner)
    })
}

/// Why a turn was granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimReason {
    /// The turn was assigned to the agent.
    Direct,
    /// The agent was next in line.
    Sequence,
    /// Nobody held the turn.
    OpenClaim,
    /// The previous owner disappeared.
    AfterSurrender,
    /// A command took the idle turn.
    Implicit,
}

/// Why a turn may be taken from its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TakeReason {
    /// The lease expired.
    OwnerTimeout,
    /// The owner's harness ended.
    OwnerGone,
    /// The owner is silent while the taker waits.
    OwnerIdle,
    /// The taker replaced the owner in the same harness.
    SessionReplaced,
    /// The taker's operator asked for it.
    OperatorOverride,
}

/// What happened to a turn; one kind of log record each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnEvent {
    /// An agent became the owner.
    Claimed {
        /// The new owner.
        by: AgentId,
        /// Why it was granted.
        reason: ClaimReason,
    },
    /// The owner gave the turn up.
    Released {
        /// The former owner.
        by: AgentId,
        /// The agent that the turn is now reserved for.
        to: Option<AgentId>,
        /// Whether the turn was implicit and ended without a request.
        implicit_end: bool,
    },
    /// The turn was reserved for a named agent.
    Assigned {
        /// The agent that decided.
        by: AgentId,
        /// The agent that the turn is now reserved for.
        to: AgentId,
    },
    /// An agent took the turn from its owner.
    Taken {
        /// The new owner.
        by: AgentId,
        /// The agent that lost the turn or its reservation.
        revoked: Option<AgentId>,
        /// Why it was allowed.
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
        /// The agent that the turn is now reserved for.
        to: Option<AgentId>,
    },
    /// The adapter never confirmed a grant, so the turn is reserved for its agent.
    Undelivered {
        /// The agent that did not learn about its grant.
        to: AgentId,
    },
    /// A member left or was removed.
    Left {
        /// The former member.
        who: AgentId,
    },
    /// The session was closed.
    Closed,
}

/// A change of the turn, to be committed before it takes effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transition {
    /// The turn after the change.
    pub after: TurnState,
    /// The record of the change.
    pub event: TurnEvent,
}

/// Proof that a request comes from the current owner of the current turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    /// Who asks.
    pub agent: AgentId,
    /// The turn that the caller believes it holds; `None` for "the current one".
    pub turn_id: Option<u64>,
    /// The lease that the caller believes it holds; `None` for "the current one".
    pub lease_id: Option<LeaseId>,
}

/// Why a request about the turn was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TurnError {
    /// Another turn is current.
    #[error("turn {expected} is over; the current turn is {current}")]
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
    /// Another agent holds the turn.
    #[error("turn {turn_id} is held by {owner}")]
    TurnHeld {
        /// The holder, or the agent that the turn is reserved for.
        owner: AgentId,
        /// The current turn.
        turn_id: u64,
    },
    /// A handoff waits to be read, so a command may not take the turn by itself.
    #[error("a handoff waits for the next owner of the turn")]
    TurnRequired,
    /// The turn cannot be taken now.
    #[error("turn {turn_id} cannot be taken now")]
    TakeoverNotAvailable {
        /// The current turn.
        turn_id: u64,
    },
    /// The agent is not a driver of the session.
    #[error("{agent} is not a driver of this session")]
    NotADriver {
        /// The agent.
        agent: AgentId,
    },
    /// The member owns the turn and has to release it before it leaves.
    #[error("{agent} holds turn {turn_id} and has to release it first")]
    MustReleaseFirst {
        /// The member.
        agent: AgentId,
        /// The current turn.
        turn_id: u64,
    },
    /// The member to remove is alive.
    #[error("{agent} is active")]
    TargetActive {
        /// The member.
        agent: AgentId,
    },
    /// A member cannot remove itself, nor assign the turn to itself.
    #[error("{agent} cannot do this to itself")]
    OnSelf {
        /// The member.
        agent: AgentId,
    },
    /// The session is closed.
    #[error("the session is closed")]
    Closed,
}

/// The answer to a request for the turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// The caller becomes the owner.
    Granted(Transition),
    /// The caller owns the turn already.
    AlreadyOwner {
        /// The turn with a renewed lease, if the lease had expired.
        renewed: Option<TurnState>,
    },
    /// Another agent has the turn, or a waiter precedes the caller.
    NotYet,
    /// Another agent has the turn, and the caller may take it.
    TakeoverAvailable(TakeReason),
}

fn granted(s: Situation<'_>, by: &AgentId, lease_id: LeaseId, implicit: bool) -> TurnState {
    let ttl_ms = if implicit { s.policy.implicit_lease_ms } else { s.policy.lease_ttl_ms };
    TurnState {
        state: TurnPhase::Owned,
        turn_id: s.turn.turn_id + 1,
        owner: Some(by.clone()),
        lease_id: Some(lease_id),
        lease: Some(s.now.lease(ttl_ms)),
        implicit,
        loan_id: s.turn.loan_id.clone(),
        pending_handoff_seq: s.turn.pending_handoff_seq,
        prev_owner: s.turn.owner.clone().or_else(|| s.turn.prev_owner.clone()),
        // A command learns about its turn from its own answer.
        grant: Grant { delivered: implicit, granted_seq: None },
        ..TurnState::default()
    }
}

fn without_owner(s: Situation<'_>, prev_owner: Option<AgentId>, handoff: Option<u64>) -> TurnState {
    TurnState {
        state: TurnPhase::Idle,
        turn_id: s.turn.turn_id,
        loan_id: s.turn.loan_id.clone(),
        pending_handoff_seq: handoff,
        prev_owner,
        ..TurnState::default()
    }
}

fn reserved(
    s: Situation<'_>,
    to: &AgentId,
    direct: bool,
    prev: Option<AgentId>,
    handoff: Option<u64>,
) -> TurnState {
    TurnState {
        state: TurnPhase::Reserved,
        reserved_for: Some(to.clone()),
        reserved_directly: direct,
        claim_deadline: Some(s.now.after(s.policy.claim_ttl_ms)),
        ..without_owner(s, prev, handoff)
    }
}

/// Answers `turn wait` and `turn try`.
///
/// # Errors
/// Returns [`TurnError::Closed`] for a closed session and [`TurnError::NotADriver`] for an observer
/// or an agent that is not a member.
pub fn claim(s: Situation<'_>, by: &AgentId, lease_id: LeaseId) -> Result<Claim, TurnError> {
    if s.turn.state == TurnPhase::Closed {
        return Err(TurnError::Closed);
    }
    if !s.is_driver(by) {
        return Err(TurnError::NotADriver { agent: by.clone() });
    }
    let grant = |reason| {
        let event = TurnEvent::Claimed { by: by.clone(), reason };
        Ok(Claim::Granted(Transition { after: granted(s, by, lease_id, false), event }))
    };
    match s.turn.state {
        TurnPhase::Closed => Err(TurnError::Closed),
        TurnPhase::Idle if gives_way_to_waiters(s, by) => Ok(Claim::NotYet),
        TurnPhase::Idle if s.turn.prev_owner.is_some() && s.turn.pending_handoff_seq.is_none() => {
            grant(ClaimReason::AfterSurrender)
        }
        TurnPhase::Idle => grant(ClaimReason::OpenClaim),
        TurnPhase::Reserved if s.turn.reserved_for.as_ref() != Some(by) => Ok(Claim::NotYet),
        TurnPhase::Reserved if s.turn.reserved_directly => grant(ClaimReason::Direct),
        TurnPhase::Reserved => grant(ClaimReason::Sequence),
        TurnPhase::Owned if s.is_owner(by) => {
            let renewed = s.lease_has_expired().then(|| renewed(s));
            Ok(Claim::AlreadyOwner { renewed })
        }
        TurnPhase::Owned => Ok(take_reason(s, by).map_or(Claim::NotYet, Claim::TakeoverAvailable)),
    }
}

/// Whether the agent that just handed over has to leave the others time to claim the turn.
fn gives_way_to_waiters(s: Situation<'_>, by: &AgentId) -> bool {
    let others = s.members.iter().any(|m| m.agent_id != *by && m.role == MemberRole::Driver);
    s.turn.pending_handoff_seq.is_some()
        && s.turn.prev_owner.as_ref() == Some(by)
        && others
        && s.idle_ms.is_some_and(|idle| idle < s.policy.waiter_grace_ms)
}

/// Lets a command through that changes the app: the owner's, or one that takes an idle turn.
/// Returns the transition to commit first, if the command takes the turn.
///
/// # Errors
/// Returns the errors of [`check`] for an owned turn, [`TurnError::TurnHeld`] for a turn that is
/// reserved for another agent, and [`TurnError::TurnRequired`] where only `turn wait` may claim.
pub fn enter(s: Situation<'_>, fence: &Fence, lease_id: LeaseId) -> Result<Option<Transition>, TurnError> {
    use super::state::ImplicitTurns;
    let by = &fence.agent;
    match s.turn.state {
        TurnPhase::Closed => Err(TurnError::Closed),
        TurnPhase::Owned if s.is_owner(by) => check(s, fence).map(|()| None),
        TurnPhase::Owned | TurnPhase::Reserved => {
            if let Some(expected) = fence.turn_id.filter(|&id| id != s.turn.turn_id) {
                return Err(TurnError::TurnMismatch { expected, current: s.turn.turn_id });
            }
            match s.turn.owner.as_ref().or(s.turn.reserved_for.as_ref()) {
                Some(owner) if owner != by => {
                    Err(TurnError::TurnHeld { owner: owner.clone(), turn_id: s.turn.turn_id })
                }
                // Reserved for the caller: the handoff has to be read first.
                _ => Err(TurnError::TurnRequired),
            }
        }
        TurnPhase::Idle => {
            if let Some(expected) = fence.turn_id {
                let current = s.turn.turn_id;
                return Err(if expected == current {
                    TurnError::StaleLease { agent: by.clone(), turn_id: current }
                } else {
                    TurnError::TurnMismatch { expected, current }
                });
            }
            if s.turn.pending_handoff_seq.is_some() || s.policy.implicit_turns == ImplicitTurns::Never {
                return Err(TurnError::TurnRequired);
            }
            if !s.is_driver(by) {
                return Err(TurnError::NotADriver { agent: by.clone() });
            }
            let event = TurnEvent::Claimed { by: by.clone(), reason: ClaimReason::Implicit };
            Ok(Some(Transition { after: granted(s, by, lease_id, true), event }))
        }
    }
}

/// Checks that a request comes from the owner of the current turn.
///
/// # Errors
/// Returns [`TurnError::TurnMismatch`] for another turn; for the current one,
/// [`TurnError::StaleLease`] for another agent or an old lease.
pub fn check(s: Situation<'_>, fence: &Fence) -> Result<(), TurnError> {
    let current = s.turn.turn_id;
    if let Some(expected) = fence.turn_id.filter(|&id| id != current) {
        return Err(TurnError::TurnMismatch { expected, current });
    }
    let lease_fits = fence.lease_id.as_ref().is_none_or(|lease| s.turn.lease_id.as_ref() == Some(lease));
    if s.is_owner(&fence.agent) && lease_fits {
        return Ok(());
    }
    Err(TurnError::StaleLease { agent: fence.agent.clone(), turn_id: current })
}

/// Gives the turn up. `handoff` is the number of the record that holds the handoff.
///
/// # Errors
/// Returns the errors of [`check`].
pub fn release(s: Situation<'_>, fence: &Fence, handoff: u64) -> Result<Transition, TurnError> {
    check(s, fence)?;
    let by = fence.agent.clone();
    let (after, to) = pass_on(s, &by, Some(by.clone()), Some(handoff));
    Ok(Transition { after, event: TurnEvent::Released { by, to, implicit_end: false } })
}

fn pass_on(
    s: Situation<'_>,
    from: &AgentId,
    prev: Option<AgentId>,
    handoff: Option<u64>,
) -> (TurnState, Option<AgentId>) {
    match next_owner(s, from) {
        Next::Waiter(to) => (reserved(s, &to, false, prev, handoff), Some(to)),
        Next::BetweenPolls | Next::Nobody => (without_owner(s, prev, handoff), None),
    }
}

/// Reserves the turn for `to`.
///
/// # Errors
/// Returns the errors of [`check`], except that an operator may redirect a reservation;
/// [`TurnError::OnSelf`] and [`TurnError::NotADriver`] for a recipient that cannot have the turn.
pub fn assign(
    s: Situation<'_>,
    fence: &Fence,
    to: &AgentId,
    handoff: u64,
    operator_requested: bool,
) -> Result<Transition, TurnError> {
    let redirects = operator_requested && s.turn.state == TurnPhase::Reserved;
    if !redirects {
        check(s, fence)?;
        if fence.agent == *to {
            return Err(TurnError::OnSelf { agent: to.clone() });
        }
    }
    if !s.is_driver(to) {
        return Err(TurnError::NotADriver { agent: to.clone() });
    }
    let (prev, handoff) = if redirects {
        (s.turn.prev_owner.clone(), s.turn.pending_handoff_seq.or(Some(handoff)))
    } else {
        (Some(fence.agent.clone()), Some(handoff))
    };
    let event = TurnEvent::Assigned { by: fence.agent.clone(), to: to.clone() };
    Ok(Transition { after: reserved(s, to, true, prev, handoff), event })
}

fn take_reason(s: Situation<'_>, by: &AgentId) -> Option<TakeReason> {
    // An owner that was just replaced does not come back before the waiters had the turn.
    if s.turn.prev_owner.as_ref() == Some(by) && s.has_waiter_besides(by) {
        return None;
    }
    if s.owner_is_gone() {
        return Some(TakeReason::OwnerGone);
    }
    if s.lease_has_expired() {
        return Some(TakeReason::OwnerTimeout);
    }
    (owner_is_idle(s) && s.presence_of(by).waiting).then_some(TakeReason::OwnerIdle)
}

/// How an agent asks for a turn that another holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Takeover {
    /// The turn that the caller was last told about; a decision on an older one is refused.
    pub expected_turn: Option<u64>,
    /// The caller's operator asked for it.
    pub operator_requested: bool,
    /// The caller replaced the owner in the same harness.
    pub replaces_owner: bool,
}

/// Answers `turn take`. On an idle session and on one's own turn it behaves as [`claim`].
///
/// # Errors
/// Returns [`TurnError::TurnMismatch`] if the turn moved on since the caller looked,
/// [`TurnError::TakeoverNotAvailable`] where no reason allows it, and the errors of [`claim`].
pub fn take(s: Situation<'_>, by: &AgentId, lease_id: LeaseId, how: Takeover) -> Result<Claim, TurnError> {
    let current = s.turn.turn_id;
    if let Some(expected) = how.expected_turn.filter(|&id| id != current) {
        return Err(TurnError::TurnMismatch { expected, current });
    }
    let mine = s.is_owner(by) || s.turn.reserved_for.as_ref() == Some(by);
    if mine || matches!(s.turn.state, TurnPhase::Idle | TurnPhase::Closed) {
        return claim(s, by, lease_id);
    }
    if !s.is_driver(by) {
        return Err(TurnError::NotADriver { agent: by.clone() });
    }
    let reason = match s.turn.state {
        _ if how.operator_requested => Some(TakeReason::OperatorOverride),
        TurnPhase::Owned if how.replaces_owner => Some(TakeReason::SessionReplaced),
        TurnPhase::Owned => take_reason(s, by),
        _ => None,
    };
    let reason = reason.ok_or(TurnError::TakeoverNotAvailable { turn_id: current })?;
    let revoked = s.turn.owner.clone().or_else(|| s.turn.reserved_for.clone());
    let event = TurnEvent::Taken { by: by.clone(), revoked, reason };
    Ok(Claim::Granted(Transition { after: granted(s, by, lease_id, false), event }))
}

/// Returns the change that a member's departure makes to the turn, if it makes one.
///
/// # Errors
/// Returns [`TurnError::MustReleaseFirst`] for the owner.
pub fn leave(s: Situation<'_>, who: &AgentId) -> Result<Option<Transition>, TurnError> {
    if s.is_owner(who) {
        return Err(TurnError::MustReleaseFirst { agent: who.clone(), turn_id: s.turn.turn_id });
    }
    Ok(drop_reservation(s, who))
}

fn drop_reservation(s: Situation<'_>, who: &AgentId) -> Option<Transition> {
    (s.turn.reserved_for.as_ref() == Some(who)).then(|| Transition {
        after: without_owner(s, prev_of_handoff(s), s.turn.pending_handoff_seq),
        event: TurnEvent::Left { who: who.clone() },
    })
}

/// Returns the author of the pending handoff. An idle turn without handoff names a previous owner
/// only if that owner disappeared.
fn prev_of_handoff(s: Situation<'_>) -> Option<AgentId> {
    s.turn.prev_owner.clone().filter(|_| s.turn.pending_handoff_seq.is_some())
}

/// Returns the change that the removal of `who` by `by` makes to the turn, if it makes one.
///
/// # Errors
/// Returns [`TurnError::OnSelf`], and [`TurnError::TargetActive`] for a live member without
/// `force`.
pub fn kick(
    s: Situation<'_>,
    by: &AgentId,
    who: &AgentId,
    force: bool,
) -> Result<Option<Transition>, TurnError> {
    if by == who {
        return Err(TurnError::OnSelf { agent: who.clone() });
    }
    let presence = s.presence_of(who);
    let active =
        presence.liveness == Liveness::Alive || presence.waiting || presence.in_flight || s.is_owner(who);
    if active && !force {
        return Err(TurnError::TargetActive { agent: who.clone() });
    }
    if s.is_owner(who) {
        let event = TurnEvent::Left { who: who.clone() };
        return Ok(Some(Transition { after: without_owner(s, None, None), event }));
    }
    Ok(drop_reservation(s, who))
}

/// Ends the turn with its session.
#[must_use]
pub fn close(s: Situation<'_>) -> Transition {
    let after = TurnState { state: TurnPhase::Closed, ..without_owner(s, None, None) };
    Transition { after, event: TurnEvent::Closed }
}

/// Returns the turn of a session that opens again: idle, with the turn number that it had.
#[must_use]
pub fn reopened(turn: &TurnState) -> TurnState {
    TurnState { turn_id: turn.turn_id, ..TurnState::default() }
}

/// Returns the turn with a renewed lease. The guardian calls it while the owner is there.
#[must_use]
pub fn renewed(s: Situation<'_>) -> TurnState {
    let ttl_ms = if s.turn.implicit { s.policy.implicit_lease_ms } else { s.policy.lease_ttl_ms };
    TurnState { lease: Some(s.now.lease(ttl_ms)), ..s.turn.clone() }
}

/// Whether the guardian renews the lease: the owner's harness is alive, or the owner made a request
/// within the grace period.
#[must_use]
pub fn is_renewable(s: Situation<'_>) -> bool {
    s.turn.state == TurnPhase::Owned
        && !s.turn.implicit
        && s.turn.owner.as_ref().is_some_and(|owner| {
            let presence = s.presence_of(owner);
            presence.liveness == Liveness::Alive || presence.silent_ms <= s.policy.gone_grace_ms
        })
}

/// Returns the turn after the owner's first command: its handoff was read.
#[must_use]
pub fn after_command(turn: &TurnState) -> TurnState {
    let grant = Grant { delivered: true, ..turn.grant };
    TurnState { pending_handoff_seq: None, grant, ..turn.clone() }
}

/// Returns the turn after its adapter acknowledged the grant.
#[must_use]
pub fn acknowledged(turn: &TurnState) -> TurnState {
    TurnState { grant: Grant { delivered: true, ..turn.grant }, ..turn.clone() }
}

/// Returns the change that is due by the passage of time, if there is one. Call it again after each
/// commit, until it returns `None`.
#[must_use]
pub fn due(s: Situation<'_>) -> Option<Transition> {
    match s.turn.state {
        TurnPhase::Owned => due_for_owner(s, s.turn.owner.as_ref()?),
        TurnPhase::Reserved => {
            let missed = s.turn.reserved_for.clone()?;
            if !s.now.has_passed(s.turn.claim_deadline.as_ref()?) {
                return None;
            }
            let (after, to) = pass_on(s, &missed, prev_of_handoff(s), s.turn.pending_handoff_seq);
            Some(Transition { after, event: TurnEvent::ReservationExpired { missed, to } })
        }
        TurnPhase::Idle | TurnPhase::Closed => None,
    }
}

fn due_for_owner(s: Situation<'_>, owner: &AgentId) -> Option<Transition> {
    let presence = s.presence_of(owner);
    if s.owner_is_gone() {
        let after = without_owner(s, Some(owner.clone()), None);
        return Some(Transition { after, event: TurnEvent::Surrendered { by: owner.clone() } });
    }
    if s.turn.implicit && !presence.in_flight {
        let idle = presence.silent_ms >= s.policy.implicit_idle_ms && s.has_waiter_besides(owner);
        if idle || presence.silent_ms >= s.policy.implicit_lease_ms {
            let (after, to) = pass_on(s, owner, None, None);
            let event = TurnEvent::Released { by: owner.clone(), to, implicit_end: true };
            return Some(Transition { after, event });
        }
    }
    if !s.turn.grant.delivered && !presence.waiting && presence.silent_ms >= DELIVERY_MS {
        let prev = s.turn.prev_owner.clone();
        let after = reserved(s, owner, true, prev, s.turn.pending_handoff_seq);
        return Some(Transition { after, event: TurnEvent::Undelivered { to: owner.clone() } });
    }
    None
}

/// Returns the turn as a restarted daemon takes it up. In the same boot, owners and reservations
/// keep their deadlines, but at least a grace period to reconnect. After a reboot no process of
/// an agent is left: the turn is idle, and a handoff waits for whoever claims it.
#[must_use]
pub fn after_restart(turn: &TurnState, now: &Now) -> TurnState {
    let grace = now.mono_ms.saturating_add(RESTART_GRACE_MS);
    let mut after = turn.clone();
    let boot = turn.lease.as_ref().map(|l| &l.boot_id);
    let boot = boot.or_else(|| turn.claim_deadline.as_ref().map(|d| &d.boot_id));
    match turn.state {
        TurnPhase::Idle | TurnPhase::Closed => {}
        TurnPhase::Owned | TurnPhase::Reserved if boot != Some(&now.boot_id) => {
            let reserved = turn.state == TurnPhase::Reserved;
            after = TurnState {
                turn_id: turn.turn_id,
                loan_id: turn.loan_id.clone(),
                pending_handoff_seq: turn.pending_handoff_seq.filter(|_| reserved),
                prev_owner: if reserved { turn.prev_owner.clone() } else { turn.owner.clone() },
                ..TurnState::default()
            };
        }
        TurnPhase::Owned => {
            if let Some(lease) = &mut after.lease {
                lease.deadline_mono_ms = lease.deadline_mono_ms.max(grace);
            }
        }
        TurnPhase::Reserved => {
            if let Some(deadline) = &mut after.claim_deadline {
                deadline.mono_ms = deadline.mono_ms.max(grace);
            }
        }
    }
    after
}
