//! Requests to claim, release, assign and take the turn.

use super::authority::{SessionAuthority, State};
use super::commands::drain;
use super::commit::Remarks;
use super::handoff::{check_handoff, with_handoff};
use crate::error;
use crate::participant::Participant;
use crate::replies::{GrantReason, Granted, Guardian, NotYet, TakeoverAvailable, TurnReply};
use serde_json::json;
use std::sync::atomic::Ordering;
use stickpin_device::{Error, ErrorCode, Result};
use stickpin_session::log::{Kind, Redacted, RedactedHandoff, Redactor};
use stickpin_session::turn::deadlines;
use stickpin_session::turn::machine::{self, Claim, Takeover};
use stickpin_session::turn::{self, AgentId, Fence, Handoff, Now, Transition, TurnEvent, TurnPhase};
use stickpin_store::{Amendment, Origin, Phase};

/// The options for taking a turn.
#[derive(Debug, Clone, Default)]
pub struct TakeOptions {
    /// The reason that the caller gives.
    pub reason: Option<String>,
    /// Whether the caller's operator requested the takeover.
    pub operator_requested: bool,
    /// The number of the turn that the caller expects to be current. The default is the turn that
    /// was last reported to the caller.
    pub expected_turn: Option<u64>,
}

/// A turn that was released.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Released {
    /// The agent that the turn is now reserved for; `None` if any driver may claim it.
    pub reserved_for: Option<AgentId>,
    /// The `seq` of the log record of the release.
    pub seq: u64,
    /// The number of members that are waiting, including parked ones.
    pub waiters: usize,
}

/// A turn that was reserved for a named agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assigned {
    /// The agent that the turn is reserved for.
    pub reserved_for: AgentId,
    /// The `seq` of the log record of the assignment.
    pub seq: u64,
    /// Whether the agent is parked and has to be notified.
    pub routed_to_parked: bool,
}

impl SessionAuthority {
    /// Releases the turn, with a handoff for the next owner.
    ///
    /// # Errors
    /// Returns `TURN_MISMATCH`, `STALE_LEASE`, `INVALID_HANDOFF`, `IDENTITY_AMBIGUOUS`, and errors
    /// from the log. The details of an error about the turn or the identity contain the handoff, so
    /// that its text is not lost.
    pub fn release(
        &self,
        who: &Participant,
        expected_turn: Option<u64>,
        handoff: Handoff,
        redactor: &dyn Redactor,
    ) -> Result<Released> {
        who.require_unambiguous().map_err(|e| with_handoff(e, &handoff))?;
        check_handoff(&handoff)?;
        let given = handoff.clone();
        self.change(|state, now| {
            state.touch(who, now);
            let fence = Fence { agent: who.agent.clone(), turn_id: expected_turn, lease_id: None };
            let origin = State::origin(who, now);
            let seq = state.next_seq(&origin)?;
            let released = state.judge(now, |s| machine::release(s, &fence, seq));
            let released = released.map_err(|e| with_handoff(self.turn_error(state, e), &given))?;
            let remarks =
                Remarks { handoff: Some(RedactedHandoff::new(handoff, redactor)), ..Remarks::default() };
            let seq = state.commit(Some(&origin), released, remarks, now)?;
            Ok(Released {
                reserved_for: state.log.meta().turn.reserved_for.clone(),
                seq,
                waiters: state.waits.len(),
            })
        })
    }

    /// Reserves the turn for a member, or for the next one in line if the recipient is `next`.
    ///
    /// # Errors
    /// Returns the errors of [`Self::release`], `UNKNOWN_TARGET`, `AMBIGUOUS_RECIPIENT`,
    /// `INVALID_ARGS` if the recipient is the caller, and `ROLE_OBSERVER` if the recipient is an
    /// observer.
    pub fn assign(
        &self,
        who: &Participant,
        to: &str,
        expected_turn: Option<u64>,
        handoff: Handoff,
        operator_requested: bool,
        redactor: &dyn Redactor,
    ) -> Result<Assigned> {
        who.require_unambiguous().map_err(|e| with_handoff(e, &handoff))?;
        check_handoff(&handoff)?;
        let given = handoff.clone();
        self.change(|state, now| {
            state.touch(who, now);
            let to = match to {
                "next" => state.next_in_line(self, who, now)?,
                name => state.find_member(&self.name, name, ErrorCode::UnknownTarget)?,
            };
            let fence = Fence { agent: who.agent.clone(), turn_id: expected_turn, lease_id: None };
            let origin = State::origin(who, now);
            let seq = state.next_seq(&origin)?;
            let assigned = state.judge(now, |s| machine::assign(s, &fence, &to, seq, operator_requested));
            let assigned = assigned.map_err(|e| with_handoff(self.turn_error(state, e), &given))?;
            let handoff = Some(RedactedHandoff::new(handoff, redactor));
            let remarks = Remarks { handoff, operator_requested, ..Remarks::default() };
            let seq = state.commit(Some(&origin), assigned, remarks, now)?;
            let routed_to_parked = state.parked_wait(&to) == Some(true);
            Ok(Assigned { reserved_for: to, seq, routed_to_parked })
        })
    }

    /// Takes the turn from its owner or from the agent that it is reserved for, or claims a free
    /// turn. Returns after the previous owner's command has ended or been cancelled.
    ///
    /// # Errors
    /// Returns `TAKEOVER_NOT_AVAILABLE`, `TURN_MISMATCH`, `REASON_REQUIRED` for an agent that gives
    /// no reason, `ROLE_OBSERVER`, `GUARDIAN_UNAVAILABLE`, `SESSION_CLOSED`, `IDENTITY_AMBIGUOUS`,
    /// and errors from the log.
    pub async fn take(
        &self,
        who: &Participant,
        options: TakeOptions,
        redactor: &dyn Redactor,
    ) -> Result<TurnReply> {
        who.require_unambiguous()?;
        self.require_guardian()?;
        let TakeOptions { reason, operator_requested, expected_turn } = options;
        if reason.as_deref().is_none_or(|reason| reason.trim().is_empty())
            && !operator_requested
            && !who.is_person()
        {
            return Err(Error::new(ErrorCode::ReasonRequired, "an agent must give a reason to take a turn")
                .hint("add `--reason TEXT`, or `--operator-requested` if your operator told you to take the turn"));
        }
        let mut reply = self.change(|state, now| {
            state.touch(who, now);
            state.join_as_driver(who, now)?;
            state.commit_due(now, Some(&who.agent))?;
            let expected_turn = expected_turn.or_else(|| state.reported.get(&who.agent).copied());
            let how =
                Takeover { expected_turn, operator_requested, replaces_owner: state.replaces_owner(who) };
            let lease_id = self.shared.environment.lease_id();
            let claim = state.judge(now, |s| machine::take(s, &who.agent, lease_id, how));
            let claim = claim.map_err(|e| self.turn_error(state, e))?;
            let reason = reason.map(|reason| Redacted::new(reason, redactor));
            self.answer(state, who, claim, Remarks { reason, operator_requested, ..Remarks::default() }, now)
        })?;
        if let TurnReply::YourTurn(granted) = &mut reply
            && let Some(revoked) = granted.revoked.clone()
        {
            // Other members may go on reading.
            granted.inflight = drain(self, &|agent| *agent == revoked).await.map(|c| c.to_string());
        }
        Ok(reply)
    }

    /// Makes one attempt to claim the turn for a member.
    pub(super) fn claim(&self, who: &Participant) -> Result<TurnReply> {
        self.change(|state, now| {
            state.touch(who, now);
            if state.log.meta().turn.state == TurnPhase::Closed {
                return Ok(TurnReply::Closed(state.not_yet(now)));
            }
            // A waiter that was removed while it waited does not become a member again.
            state.require_member(&self.name, &who.agent)?;
            state.commit_due(now, Some(&who.agent))?;
            let lease_id = self.shared.environment.lease_id();
            let claim = state.judge(now, |s| machine::claim(s, &who.agent, lease_id));
            let claim = claim.map_err(|e| self.turn_error(state, e))?;
            self.answer(state, who, claim, Remarks::default(), now)
        })
    }

    /// Commits the result of a claim if it changes the turn or its lease, and returns the reply.
    fn answer(
        &self,
        state: &mut State,
        who: &Participant,
        claim: Claim,
        remarks: Remarks,
        now: &Now,
    ) -> Result<TurnReply> {
        let reply = match claim {
            Claim::Granted(transition) => {
                let from = state.log.meta().turn.prev_owner.clone();
                let (reason, revoked) = reason_of(&transition);
                state.commit(Some(&State::origin(who, now)), transition, remarks, now)?;
                state.lease_stored = now.mono_ms;
                let granted = self.grant_reply(state, reason, from.or_else(|| revoked.clone()))?;
                TurnReply::YourTurn(Box::new(Granted { revoked, ..granted }))
            }
            Claim::AlreadyOwner { renewed } => {
                let (lease_renewed, guardian_repaired) = (renewed.is_some(), state.repaired);
                let turn = state.judge(now, deadlines::confirm_ownership);
                let was_implicit = state.log.meta().turn.implicit;
                state.log.amend(Amendment::Turn(Box::new(turn.clone())));
                // The request for the turn must survive this process.
                let store_every = if was_implicit { 0 } else { STORE_EVERY_MS };
                state.renew(turn, now, store_every)?;
                state.repaired = false;
                let from = state.log.meta().turn.prev_owner.clone();
                let granted = self.grant_reply(state, GrantReason::AlreadyOwner, from)?;
                TurnReply::YourTurn(Box::new(Granted { lease_renewed, guardian_repaired, ..granted }))
            }
            Claim::NotYet => {
                let position = state.judge(now, |s| turn::position(s, &who.agent));
                TurnReply::NotYet(NotYet { position, ..state.not_yet(now) })
            }
            Claim::TakeoverAvailable(reason) => {
                let meta = state.log.meta();
                TurnReply::TakeoverAvailable(TakeoverAvailable {
                    session: self.name.clone(),
                    reason,
                    turn_id: meta.turn.turn_id,
                    owner: meta.turn.owner.clone(),
                    cursor_seq: meta.applied_seq,
                })
            }
        };
        let turn = state.log.meta().turn.turn_id;
        state.reported.insert(who.agent.clone(), turn);
        Ok(reply)
    }

    fn grant_reply(&self, state: &State, reason: GrantReason, from: Option<AgentId>) -> Result<Granted> {
        let meta = state.log.meta();
        let turn = &meta.turn;
        let lease_id = turn.lease_id.clone();
        let lease_id = lease_id.ok_or_else(|| Error::internal("an owned turn has no lease"))?;
        let handoff = state.pending_handoff()?;
        let by_another = from.is_some() && reason != GrantReason::AlreadyOwner;
        let note = || format!("refs issued before turn {} may be stale; take a snapshot first", turn.turn_id);
        Ok(Granted {
            session: self.name.clone(),
            turn_id: turn.turn_id,
            lease_id,
            guardian_pid: self.shared.environment.pid,
            guardian: self.guardian(),
            reason,
            handoff,
            from,
            revoked: None,
            inflight: None,
            lease_renewed: false,
            guardian_repaired: false,
            open_notes: meta.open_note_count(),
            refs_note: by_another.then(note),
            cursor_seq: meta.applied_seq,
        })
    }

    /// Returns the guardian of this session's leases.
    #[must_use]
    pub fn guardian(&self) -> Guardian {
        Guardian {
            kind: "daemon".to_owned(),
            pid: self.shared.environment.pid,
            epoch: self.shared.epoch,
            renewing: self.shared.renewing.load(Ordering::Relaxed),
        }
    }

    /// Fails with `GUARDIAN_UNAVAILABLE` while the task that renews leases is not running.
    pub(super) fn require_guardian(&self) -> Result<()> {
        if self.shared.renewing.load(Ordering::Relaxed) {
            return Ok(());
        }
        let message = format!(
            "nobody can act in session `{}`: the task that renews the turn's lease is not running",
            self.name
        );
        Err(Error::new(ErrorCode::GuardianUnavailable, message)
            .hint("run `stickpin daemon stop --force`, then repeat the command"))
    }

    /// Returns the holder of the turn, if another agent holds it, and the number of the turn. An
    /// implicit turn counts until its owner has been silent long enough for others to take it.
    #[must_use]
    pub fn held_by_other(&self, who: &Participant) -> Option<(AgentId, u64)> {
        let now = self.now();
        let state = self.lock();
        let meta = state.log.meta();
        let owner = meta.turn.owner.as_ref().filter(|owner| **owner != who.agent)?;
        state.member(owner)?;
        let rests = state.implicit_owner_rests(&now);
        (!rests).then(|| (owner.clone(), meta.turn.turn_id))
    }
}

impl State {
    pub(crate) fn next_seq(&mut self, origin: &Origin) -> Result<u64> {
        self.log.next_seq(origin).map_err(error::of_store)
    }

    /// Returns the handoff that the current or next owner has not acted on yet.
    pub(super) fn pending_handoff(&self) -> Result<Option<Handoff>> {
        let Some(seq) = self.log.meta().turn.pending_handoff_seq else { return Ok(None) };
        let records = self.log.records_after(seq - 1, 1, Phase::Feed).map_err(error::of_store)?;
        Ok(records.first().and_then(|record| match &record.kind {
            Kind::TurnReleased(released) => released.handoff.as_ref().map(|handoff| handoff.get().clone()),
            Kind::TurnAssigned(assigned) => assigned.handoff.as_ref().map(|handoff| handoff.get().clone()),
            _ => None,
        }))
    }

    pub(super) fn not_yet(&self, now: &Now) -> NotYet {
        let meta = self.log.meta();
        NotYet {
            session: meta.name.clone(),
            state: meta.turn.state,
            turn_id: meta.turn.turn_id,
            owner: meta.turn.owner.clone(),
            reserved_for: meta.turn.reserved_for.clone(),
            lease_expires_at: meta.turn.lease.as_ref().map(|lease| now.display_lease(lease)),
            claim_expires_at: meta.turn.claim_deadline.as_ref().map(|deadline| now.display(deadline)),
            position: None,
            cursor_seq: meta.applied_seq,
        }
    }

    /// Returns the waiting member that `release` would choose. Fails with `UNKNOWN_TARGET` if no
    /// connected member is waiting.
    fn next_in_line(&self, session: &SessionAuthority, who: &Participant, now: &Now) -> Result<AgentId> {
        let next = self.judge(now, |s| turn::next_owner(s, &who.agent));
        match next {
            turn::Next::Waiter(agent) => Ok(agent),
            _ => Err(Error::new(
                ErrorCode::UnknownTarget,
                format!("no connected member is waiting for the turn of session `{}`", session.name),
            )
            .hint("name a member, or run `stickpin turn release`")
            .details(json!({ "waiters": [] }))),
        }
    }

    /// Returns whether the caller replaced, in the same harness process, the owner or the agent
    /// that the turn is reserved for.
    fn replaces_owner(&self, who: &Participant) -> bool {
        let turn = &self.log.meta().turn;
        turn.owner.as_ref().or(turn.reserved_for.as_ref()).is_some_and(|agent| who.replaces.contains(agent))
    }
}

/// The minimum time between two writes of a lease to disk, in milliseconds. If an agent requests a
/// turn that it holds implicitly, the lease is written at once.
pub(crate) const STORE_EVERY_MS: u64 = 60_000;

fn reason_of(transition: &Transition) -> (GrantReason, Option<AgentId>) {
    match &transition.event {
        TurnEvent::Claimed { reason, .. } => ((*reason).into(), None),
        TurnEvent::Taken { reason, revoked, .. } => ((*reason).into(), revoked.clone()),
        _ => (GrantReason::OpenClaim, None),
    }
}
