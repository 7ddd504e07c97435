//! The turn transitions that agents request. They determine who may change a session next.
//!
//! Every function is pure: the caller passes the time, fresh lease ids and the members' presence,
//! commits the [`Transition`] to the session log and only then acts on it.

use super::routing::{Next, next_owner};
use super::situation::owner_is_idle;
use super::{
    AgentId, ClaimReason, Fence, Grant, ImplicitTurns, LeaseId, Liveness, MemberRole, Situation, TakeReason,
    Transition, TurnError, TurnEvent, TurnPhase, TurnState,
};

/// The response to a request for the turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// The caller becomes the owner.
    Granted(Transition),
    /// The caller already owns the turn.
    AlreadyOwner {
        /// The turn with a renewed lease, if the lease had expired.
        renewed: Option<TurnState>,
    },
    /// Another agent has the turn or may claim it first.
    NotYet,
    /// Another agent has the turn, and the caller may take it.
    TakeoverAvailable(TakeReason),
}

fn grant_to(s: Situation<'_>, by: &AgentId, lease_id: LeaseId, implicit: bool) -> TurnState {
    let ttl_ms = if implicit { s.policy.implicit_lease_ms } else { s.policy.lease_ttl_ms };
    TurnState {
        state: TurnPhase::Owned,
        turn_id: s.turn.turn_id + 1,
        owner: Some(by.clone()),
        lease_id: Some(lease_id),
        lease: Some(s.now.lease(ttl_ms)),
        implicit,
        pending_handoff_seq: s.turn.pending_handoff_seq,
        prev_owner: s.turn.owner.clone().or_else(|| s.turn.prev_owner.clone()),
        // The client of a command learns of the turn from the command's response.
        grant: Grant { delivered: implicit, granted_seq: None },
        ..TurnState::default()
    }
}

pub(super) fn without_owner(
    s: Situation<'_>,
    prev_owner: Option<AgentId>,
    handoff: Option<u64>,
) -> TurnState {
    TurnState {
        state: TurnPhase::Idle,
        turn_id: s.turn.turn_id,
        pending_handoff_seq: handoff,
        prev_owner,
        ..TurnState::default()
    }
}

pub(super) fn reserve_for(
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

/// Decides whether `by` gets the turn, for `turn wait` and `turn try`.
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
        Ok(Claim::Granted(Transition { after: grant_to(s, by, lease_id, false), event }))
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
            let renewed = s.lease_has_expired().then(|| renew_lease(s));
            Ok(Claim::AlreadyOwner { renewed })
        }
        TurnPhase::Owned => Ok(take_reason(s, by).map_or(Claim::NotYet, Claim::TakeoverAvailable)),
    }
}

/// Returns whether `by` just handed over the turn and must give the other drivers time to claim it.
fn gives_way_to_waiters(s: Situation<'_>, by: &AgentId) -> bool {
    let others = s.members.iter().any(|m| m.agent_id != *by && m.role == MemberRole::Driver);
    s.turn.pending_handoff_seq.is_some()
        && s.turn.prev_owner.as_ref() == Some(by)
        && others
        && s.idle_ms.is_some_and(|idle| idle < s.policy.waiter_grace_ms)
}

/// Admits a command that changes the app: the owner's command, or one that takes a turn that is
/// idle or reserved for its caller. Returns the transition to commit first, if the command takes
/// the turn.
///
/// # Errors
/// Returns [`TurnError::Closed`] for a closed session, and the errors of [`check`] for the owner
/// and for a request that names a turn. Returns [`TurnError::TurnHeld`] for a turn that another
/// agent owns or that is reserved for another agent. Returns [`TurnError::TurnRequired`] if no
/// command may take the turn implicitly, and [`TurnError::NotADriver`] for a caller that is not a
/// driver.
pub fn enter(s: Situation<'_>, fence: &Fence, lease_id: LeaseId) -> Result<Option<Transition>, TurnError> {
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
                // The turn is reserved for the caller, and there is no handoff to read.
                _ if s.turn.pending_handoff_seq.is_none() => implicitly(s, by, lease_id),
                // The handoff must be read first.
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
            if s.turn.pending_handoff_seq.is_some() {
                return Err(TurnError::TurnRequired);
            }
            implicitly(s, by, lease_id)
        }
    }
}

/// Grants an implicit turn for a command of `by`.
fn implicitly(s: Situation<'_>, by: &AgentId, lease_id: LeaseId) -> Result<Option<Transition>, TurnError> {
    if s.policy.implicit_turns == ImplicitTurns::Never {
        return Err(TurnError::TurnRequired);
    }
    if !s.is_driver(by) {
        return Err(TurnError::NotADriver { agent: by.clone() });
    }
    let event = TurnEvent::Claimed { by: by.clone(), reason: ClaimReason::Implicit };
    Ok(Some(Transition { after: grant_to(s, by, lease_id, true), event }))
}

/// Checks that a request comes from the owner of the current turn.
///
/// # Errors
/// Returns [`TurnError::TurnMismatch`] for another turn. For the current turn, returns
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

/// Releases the turn. `handoff` is the number of the record that contains the handoff.
///
/// # Errors
/// Returns the errors of [`check`].
pub fn release(s: Situation<'_>, fence: &Fence, handoff: u64) -> Result<Transition, TurnError> {
    check(s, fence)?;
    let by = fence.agent.clone();
    let (after, to) = pass_on(s, &by, Some(by.clone()), Some(handoff));
    Ok(Transition { after, event: TurnEvent::Released { by, to, implicit_end: false } })
}

pub(super) fn pass_on(
    s: Situation<'_>,
    from: &AgentId,
    prev: Option<AgentId>,
    handoff: Option<u64>,
) -> (TurnState, Option<AgentId>) {
    match next_owner(s, from) {
        Next::Waiter(to) => (reserve_for(s, &to, false, prev, handoff), Some(to)),
        Next::BetweenPolls | Next::Nobody => (without_owner(s, prev, handoff), None),
    }
}

/// Reserves the turn for `to`.
///
/// # Errors
/// Returns the errors of [`check`], except when an operator redirects a reservation. Returns
/// [`TurnError::OnSelf`] for an owner that names itself, and [`TurnError::NotADriver`] for a
/// recipient that is not a driver.
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
    Ok(Transition { after: reserve_for(s, to, true, prev, handoff), event })
}

/// Returns the reason, if any, for which `by` may take the turn from its owner without an
/// operator's request.
#[must_use]
pub fn take_reason(s: Situation<'_>, by: &AgentId) -> Option<TakeReason> {
    if s.turn.state != TurnPhase::Owned || s.is_owner(by) {
        return None;
    }
    // An owner that was just replaced does not get the turn back before the waiters have had it.
    if s.turn.prev_owner.as_ref() == Some(by) && s.has_waiter_besides(by) {
        return None;
    }
    if s.owner_is_gone() {
        return Some(TakeReason::OwnerGone);
    }
    if s.lease_has_expired() {
        return Some(TakeReason::OwnerTimeout);
    }
    (owner_is_idle(s) && s.awaits_turn(by)).then_some(TakeReason::OwnerIdle)
}

/// The circumstances of a request to take a turn that another agent holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Takeover {
    /// The last turn number that the caller was informed of. A decision about an older turn is
    /// refused.
    pub expected_turn: Option<u64>,
    /// Whether the caller's operator requested the takeover.
    pub operator_requested: bool,
    /// Whether the caller replaced, in the same harness, the owner of the turn or the agent for
    /// which the turn is reserved.
    pub replaces_owner: bool,
}

/// Decides whether `by` may take the turn, for `turn take`. For an idle turn, and for a turn that
/// the caller owns or that is reserved for the caller, behaves like [`claim`].
///
/// # Errors
/// Returns [`TurnError::TurnMismatch`] if the turn has changed hands since the caller last saw it,
/// [`TurnError::TakeoverNotAvailable`] if no reason permits the takeover, and the errors of
/// [`claim`].
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
        _ if how.replaces_owner => Some(TakeReason::SessionReplaced),
        TurnPhase::Owned => take_reason(s, by),
        _ => None,
    };
    let reason = reason.ok_or(TurnError::TakeoverNotAvailable { turn_id: current })?;
    let revoked = s.turn.owner.clone().or_else(|| s.turn.reserved_for.clone());
    let event = TurnEvent::Taken { by: by.clone(), revoked, reason };
    Ok(Claim::Granted(Transition { after: grant_to(s, by, lease_id, false), event }))
}

/// Returns the change to the turn when a member leaves, if any. An implicit turn ends with its
/// owner's membership, because there is nothing to hand over.
///
/// # Errors
/// Returns [`TurnError::MustReleaseFirst`] for an owner that claimed its turn.
pub fn leave(s: Situation<'_>, who: &AgentId) -> Result<Option<Transition>, TurnError> {
    if s.is_owner(who) && s.turn.implicit {
        let event = TurnEvent::Left { who: who.clone() };
        return Ok(Some(Transition { after: without_owner(s, None, None), event }));
    }
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

/// Returns the author of the pending handoff. An idle turn without a handoff names a previous owner
/// only if that owner disappeared.
pub(super) fn prev_of_handoff(s: Situation<'_>) -> Option<AgentId> {
    s.turn.prev_owner.clone().filter(|_| s.turn.pending_handoff_seq.is_some())
}

/// Returns the change to the turn when `by` removes `who`, if any.
///
/// # Errors
/// Returns [`TurnError::OnSelf`] if `by` and `who` are the same agent, and
/// [`TurnError::TargetActive`] for an active member unless `force` is set.
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

/// The agent to which a turn that was held through a loan reverts, and the last handoff.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reversion {
    /// The agent that last held the turn for the lender.
    pub to: Option<AgentId>,
    /// The `seq` of the last handoff's record, and the handoff's author.
    pub handoff: Option<(u64, AgentId)>,
}

/// Returns the change that the end of a loan makes to a turn that `who` had through the loan. The
/// turn is reserved for the agent that last held it for the lender. If that agent is gone or cannot
/// hold the turn, the turn becomes idle. `None` if the turn is neither owned by `who` nor reserved
/// for `who`.
#[must_use]
pub fn revert(s: Situation<'_>, who: &AgentId, back: Reversion) -> Option<Transition> {
    let owns = s.is_owner(who);
    if !owns && s.turn.reserved_for.as_ref() != Some(who) {
        return None;
    }
    let is_there =
        |to: &AgentId| to != who && s.is_driver(to) && s.presence_of(to).liveness != Liveness::Gone;
    let Some(to) = back.to.filter(is_there) else {
        if !owns {
            return drop_reservation(s, who);
        }
        let event = TurnEvent::Left { who: who.clone() };
        return Some(Transition { after: without_owner(s, None, None), event });
    };
    let author = match s.turn.pending_handoff_seq {
        Some(seq) => Some((seq, s.turn.prev_owner.clone())),
        None => back.handoff.map(|(seq, author)| (seq, Some(author))),
    };
    let (handoff, prev) = author.map_or((None, Some(who.clone())), |(seq, author)| (Some(seq), author));
    let event = TurnEvent::Left { who: who.clone() };
    Some(Transition { after: reserve_for(s, &to, true, prev, handoff), event })
}

/// Returns the change to the turn when its session is closed.
#[must_use]
pub fn close(s: Situation<'_>) -> Transition {
    let after = TurnState { state: TurnPhase::Closed, ..without_owner(s, None, None) };
    Transition { after, event: TurnEvent::Closed }
}

/// Returns the turn of a reopened session: idle, with its previous turn number.
#[must_use]
pub fn reopen(turn: &TurnState) -> TurnState {
    TurnState { turn_id: turn.turn_id, ..TurnState::default() }
}

/// Returns the turn with a renewed lease.
#[must_use]
pub fn renew_lease(s: Situation<'_>) -> TurnState {
    let ttl_ms = if s.turn.implicit { s.policy.implicit_lease_ms } else { s.policy.lease_ttl_ms };
    TurnState { lease: Some(s.now.lease(ttl_ms)), ..s.turn.clone() }
}
