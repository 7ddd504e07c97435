//! The effects of time on a turn: its lease, its deadlines, and what is left of it after a restart.
//!
//! Every function is pure, as in [`super::machine`], which contains the transitions that agents
//! request.

use super::machine::{pass_on, prev_of_handoff, reserve_for, without_owner};
use super::{AgentId, Grant, Liveness, Now, Policy, Situation, Transition, TurnEvent, TurnPhase, TurnState};

/// The minimum time that owners, and agents with a reservation, have to reconnect after the daemon
/// has restarted.
const RESTART_GRACE_MS: u64 = 60_000;

/// How long a client may take to acknowledge a grant before the turn is reserved for its agent.
const DELIVERY_MS: u64 = 10_000;

/// Returns the turn of an owner that requests it again: with a full lease, and no longer implicit.
#[must_use]
pub fn confirm_ownership(s: Situation<'_>) -> TurnState {
    let lease = Some(s.now.lease(s.policy.lease_ttl_ms));
    TurnState { lease, implicit: false, ..s.turn.clone() }
}

/// Returns whether the guardian renews the lease: the owner's harness is alive, a command of the
/// owner is running, or the owner made a request within the grace period. An owner without a
/// visible process, such as a person, also keeps the lease through an open connection. Implicit
/// turns are not renewed.
#[must_use]
pub fn is_renewable(s: Situation<'_>) -> bool {
    s.turn.state == TurnPhase::Owned
        && !s.turn.implicit
        && s.turn.owner.as_ref().is_some_and(|owner| {
            let presence = s.presence_of(owner);
            presence.in_flight
                || presence.silent_ms <= s.policy.gone_grace_ms
                || match presence.liveness {
                    Liveness::Alive => true,
                    Liveness::Unknown => presence.connected,
                    Liveness::Gone => false,
                }
        })
}

/// Returns the turn after a command of its owner began: the handoff counts as read, and the lease
/// is full again, even if it had expired.
#[must_use]
pub fn after_command(turn: &TurnState, policy: &Policy, now: &Now) -> TurnState {
    let grant = Grant { delivered: true, ..turn.grant };
    let ttl_ms = if turn.implicit { policy.implicit_lease_ms } else { policy.lease_ttl_ms };
    TurnState { pending_handoff_seq: None, grant, lease: Some(now.lease(ttl_ms)), ..turn.clone() }
}

/// Returns the turn with the result of the delivery: whether the owner's client has received the
/// grant.
#[must_use]
pub fn with_delivery(turn: &TurnState, delivered: bool) -> TurnState {
    TurnState { grant: Grant { delivered, ..turn.grant }, ..turn.clone() }
}

/// Returns the change that is due at this time, if any. Call this function again after each commit,
/// until it returns `None`.
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
        let after = reserve_for(s, owner, true, prev, s.turn.pending_handoff_seq);
        return Some(Transition { after, event: TurnEvent::Undelivered { to: owner.clone() } });
    }
    None
}

/// Returns the turn as a restarted daemon continues it. Within the same boot, owners and
/// reservations keep their deadlines, but get at least a grace period to reconnect. After a reboot,
/// no agent's process is left, so an owned or reserved turn becomes idle. The unread handoff of a
/// reserved turn then waits for the next agent that claims the turn.
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
