//! The end of a lifetime: closing a session, and revoking a lifetime whose app could not be
//! started.

use super::authority::{SessionAuthority, State};
use super::commit::Remarks;
use crate::error;
use crate::participant::Participant;
use serde_json::json;
use stickpin_device::{Error, ErrorCode, Result};
use stickpin_session::log::{Kind, MemberLeft, SessionMeta, StartReason, Status};
use stickpin_session::turn::{
    AgentId, MemberRole, Now, Transition, TurnError, TurnEvent, TurnPhase, TurnState, machine,
};
use stickpin_store::Start;

/// The options for closing a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Closing {
    /// Whether to close the session even if another agent holds the turn or the caller is not a
    /// driver.
    pub force: bool,
    /// Whether the caller is a member of the parent or of a child, and may therefore close the
    /// session while no agent has the turn.
    pub(crate) for_family: bool,
}

impl Closing {
    /// Returns the options for closing a session; with `force`, the session is closed in any case.
    #[must_use]
    pub fn new(force: bool) -> Self {
        Self { force, for_family: false }
    }
}

impl SessionAuthority {
    /// Closes the session and ends its turn.
    ///
    /// # Errors
    /// Returns `NOT_YOUR_TURN` if another agent holds the turn or has it reserved. If the turn is
    /// idle and the session has drivers, only a driver or a member of the parent or of a child may
    /// close it. A person may always close it, and so may a caller with `force`. Also returns
    /// `IDENTITY_AMBIGUOUS`, and errors from the log.
    pub fn close(&self, who: Option<&Participant>, how: Closing) -> Result<()> {
        who.map_or(Ok(()), Participant::require_unambiguous)?;
        self.change(|state, now| {
            let origin = who.map(|who| State::origin(who, now));
            state.commit_due(now, who.map(|who| &who.agent))?;
            let turn = &state.log.meta().turn;
            if turn.state == TurnPhase::Closed {
                return Ok(());
            }
            who.map_or(Ok(()), |who| require_close_right(self, state, who, how, now))?;
            let closed = state.judge(now, machine::close);
            state.commit(origin.as_ref(), closed, Remarks::default(), now).map(drop)
        })
    }
}

/// Refuses an agent that may not close the session.
pub(crate) fn require_right_to_close(
    session: &SessionAuthority,
    who: &Participant,
    how: Closing,
) -> Result<()> {
    who.require_unambiguous()?;
    session.change(|state, now| {
        state.commit_due(now, Some(&who.agent))?;
        require_close_right(session, state, who, how, now)
    })
}

/// Restores the state that a session had before a lifetime whose app could not be started, except
/// for the number of the lifetime and the number of a turn that was granted to the opener. `before`
/// is the session's metadata in that state.
pub(crate) fn revoke_lifetime(
    session: &SessionAuthority,
    before: &SessionMeta,
    who: &Participant,
) -> Result<()> {
    session.change(|state, now| {
        let by = State::origin(who, now);
        let turn = &state.log.meta().turn;
        let granted = turn.turn_id > before.turn.turn_id && turn.owner.as_ref() == Some(&who.agent);
        if granted && turn.implicit && before.turn.state != TurnPhase::Closed {
            let after = TurnState { turn_id: turn.turn_id, ..before.turn.clone() };
            let (agent, to) = (who.agent.clone(), after.reserved_for.clone());
            let event = TurnEvent::Released { by: agent, to, implicit_end: true };
            state.commit(Some(&by), Transition { after, event }, Remarks::default(), now)?;
        }
        let was_member = before.members.iter().any(|member| member.agent_id == who.agent);
        if !was_member && state.member(&who.agent).is_some() {
            let left = MemberLeft { agent_id: who.agent.clone(), turn_after: None };
            state.append(&by, Kind::MemberLeft(Box::new(left)))?;
        }
        let start = Start {
            platform: before.platform.clone(),
            manifest: before.manifest.clone(),
            policy: state.log.meta().policy.clone(),
            targets: before.targets.clone(),
            base_scope: before.base_scope.clone(),
        };
        state.log.restart(StartReason::Revoke, start, &by).map_err(error::of_store)?;
        if before.status == Status::Closed {
            let closed = state.judge(now, machine::close);
            state.commit(Some(&by), closed, Remarks::default(), now)?;
        }
        Ok(())
    })
}

/// Refuses an agent that may not close a session. The owner of the turn may close the session, and
/// so may the agent for which the turn is reserved. While no agent has the turn, a driver may close
/// the session, because a driver could take the turn. A member of the parent or of a child may do
/// so too. Anyone may close a session without drivers. A person is never refused, nor is a caller
/// with `force`.
fn require_close_right(
    session: &SessionAuthority,
    state: &State,
    who: &Participant,
    how: Closing,
    now: &Now,
) -> Result<()> {
    let meta = state.log.meta();
    let turn = &meta.turn;
    if how.force || who.is_person() || turn.state == TurnPhase::Closed {
        return Ok(());
    }
    let holder = turn.owner.as_ref().or(turn.reserved_for.as_ref());
    // A command that encounters an implicit turn whose owner is idle would take the turn.
    let holder = holder.filter(|_| !state.implicit_owner_rests(now));
    if let Some(holder) = holder.filter(|holder| **holder != who.agent) {
        let e = TurnError::TurnHeld { owner: holder.clone(), turn_id: turn.turn_id };
        return Err(session.turn_error(state, e));
    }
    // A harness that began a new conversation has a new id.
    let is_caller = |agent: &AgentId| *agent == who.agent || who.replaces.contains(agent);
    let mut drivers = meta.members.iter().filter(|member| member.role == MemberRole::Driver).peekable();
    if holder.is_some() || how.for_family || drivers.peek().is_none() {
        return Ok(());
    }
    if drivers.any(|driver| is_caller(&driver.agent_id)) {
        return Ok(());
    }
    let name = session.name();
    let members: Vec<_> = meta.members.iter().map(|member| member.agent_id.to_string()).collect();
    let message = format!("session `{name}` is not yours to close: {} is not one of its drivers", who.agent);
    Err(Error::new(ErrorCode::NotYourTurn, message)
        .hint(
            "ask a driver of the session to close it, or add `--force` if your operator told you to close it",
        )
        .details(json!({ "turnId": turn.turn_id, "state": turn.state, "members": members })))
}
