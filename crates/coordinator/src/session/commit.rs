//! Commits a change of the turn: to the log, and then to memory.

use super::authority::State;
use crate::error;
use stickpin_device::Result;
use stickpin_session::log::{
    Kind, MemberKicked, MemberLeft, Redacted, RedactedHandoff, ReleaseReason, ReservationExpired,
    SurrenderReason, TurnAssigned, TurnClaimed, TurnClosed, TurnLeaseStale, TurnReleased, TurnSurrendered,
    TurnTaken,
};
use stickpin_session::turn::{AgentId, Label, Now, Transition, TurnEvent, TurnPhase, TurnState, deadlines};
use stickpin_store::Origin;

/// The contents of a record in addition to the change itself.
#[derive(Debug, Clone, Default)]
pub(super) struct Remarks {
    pub(super) handoff: Option<RedactedHandoff>,
    pub(super) reason: Option<Redacted>,
    pub(super) operator_requested: bool,
    /// Whether the member that left was removed by another member.
    pub(super) kicked: bool,
}

impl State {
    /// Appends a record.
    pub(crate) fn append(&mut self, origin: &Origin, kind: Kind) -> Result<u64> {
        let seq = self.log.append(origin, kind).map_err(error::of_store)?;
        self.addressed += u64::from(origin.to.is_some() || origin.bcast);
        Ok(seq)
    }

    /// Appends the record of a transition. `by` is the agent that caused the transition; `None` if
    /// the transition became due.
    pub(super) fn commit(
        &mut self,
        by: Option<&Origin>,
        transition: Transition,
        remarks: Remarks,
        now: &Now,
    ) -> Result<u64> {
        let Transition { mut after, event } = transition;
        let daemon = Origin::daemon(now.wall);
        let mut origin = by.cloned().unwrap_or(daemon);
        origin.to = addressee(&event).cloned();
        let becomes_idle = after.state == TurnPhase::Idle;
        let inflight = match &event {
            TurnEvent::Taken { revoked: Some(revoked), .. } => self.running_of(&|agent| agent == revoked),
            _ => None,
        };
        if matches!(event, TurnEvent::Claimed { .. } | TurnEvent::Taken { .. }) {
            after.grant.granted_seq = Some(self.next_seq(&origin)?);
        }
        let kind = kind(event, after, remarks, inflight);
        let seq = self.append(&origin, kind)?;
        self.idle_since = becomes_idle.then_some(now.mono_ms);
        self.repaired = false;
        Ok(seq)
    }

    /// Records once that the lease of a claimed turn ended without being renewed. The owner keeps
    /// the turn until another member takes it.
    pub(crate) fn report_stale_lease(&mut self, now: &Now) -> Result<()> {
        if self.judge(now, stickpin_session::turn::label) != Label::OwnerStale {
            return Ok(());
        }
        let turn_after = self.log.meta().turn.clone();
        let deadline = turn_after.lease.as_ref().map(|lease| lease.deadline_mono_ms);
        if turn_after.implicit || self.stale == deadline {
            return Ok(());
        }
        let mut origin = Origin::daemon(now.wall);
        origin.to.clone_from(&turn_after.owner);
        self.append(&origin, Kind::TurnLeaseStale(Box::new(TurnLeaseStale { turn_after })))?;
        self.stale = deadline;
        Ok(())
    }

    /// Commits the changes that have become due. Nothing is due for an owner that is acting: it is
    /// neither gone nor silent, and its implicit turn continues.
    pub(crate) fn commit_due(&mut self, now: &Now, acting: Option<&AgentId>) -> Result<()> {
        loop {
            if acting.is_some() && self.log.meta().turn.owner.as_ref() == acting {
                return Ok(());
            }
            let Some(transition) = self.judge(now, deadlines::due) else { return Ok(()) };
            self.commit(None, transition, Remarks::default(), now)?;
        }
    }
}

/// Returns the agent that an event is addressed to.
fn addressee(event: &TurnEvent) -> Option<&AgentId> {
    match event {
        TurnEvent::Released { to, .. } => to.as_ref(),
        TurnEvent::Assigned { to, .. } | TurnEvent::Undelivered { to } => Some(to),
        TurnEvent::Taken { revoked, .. } => revoked.as_ref(),
        TurnEvent::Surrendered { by } => Some(by),
        TurnEvent::ReservationExpired { missed, .. } => Some(missed),
        TurnEvent::Claimed { .. } | TurnEvent::Left { .. } | TurnEvent::Closed => None,
    }
}

fn kind(
    event: TurnEvent,
    turn_after: TurnState,
    remarks: Remarks,
    inflight: Option<stickpin_session::log::CommandId>,
) -> Kind {
    let Remarks { handoff, reason: note, operator_requested, kicked } = remarks;
    match event {
        TurnEvent::Claimed { reason, .. } => Kind::TurnClaimed(Box::new(TurnClaimed { reason, turn_after })),
        TurnEvent::Released { implicit_end, .. } => {
            let reason = if implicit_end { ReleaseReason::ImplicitEnd } else { ReleaseReason::Release };
            Kind::TurnReleased(Box::new(TurnReleased { reason, handoff, turn_after }))
        }
        TurnEvent::Undelivered { .. } => Kind::TurnReleased(Box::new(TurnReleased {
            reason: ReleaseReason::Undelivered,
            handoff: None,
            turn_after,
        })),
        TurnEvent::Assigned { .. } => {
            Kind::TurnAssigned(Box::new(TurnAssigned { handoff, operator_requested, turn_after }))
        }
        TurnEvent::Taken { revoked, reason, .. } => Kind::TurnTaken(Box::new(TurnTaken {
            revoked,
            reason,
            note,
            operator_requested,
            inflight,
            turn_after,
        })),
        TurnEvent::Surrendered { .. } => Kind::TurnSurrendered(Box::new(TurnSurrendered {
            reason: SurrenderReason::OwnerGone,
            turn_after,
        })),
        TurnEvent::ReservationExpired { missed, .. } => {
            Kind::ReservationExpired(Box::new(ReservationExpired { missed, turn_after }))
        }
        TurnEvent::Left { who } if kicked => Kind::MemberKicked(Box::new(MemberKicked {
            agent_id: who,
            reason: note,
            turn_after: Some(turn_after),
        })),
        TurnEvent::Left { who } => {
            Kind::MemberLeft(Box::new(MemberLeft { agent_id: who, turn_after: Some(turn_after) }))
        }
        TurnEvent::Closed => Kind::TurnClosed(Box::new(TurnClosed { turn_after })),
    }
}

/// Returns the record of a turn that a reboot took from its owner, or from the agent that it was
/// reserved for.
pub(crate) fn surrendered_by_reboot(before: &TurnState, after: TurnState) -> Kind {
    match &before.reserved_for {
        Some(missed) => Kind::ReservationExpired(Box::new(ReservationExpired {
            missed: missed.clone(),
            turn_after: after,
        })),
        None => Kind::TurnSurrendered(Box::new(TurnSurrendered {
            reason: SurrenderReason::Reboot,
            turn_after: after,
        })),
    }
}
