//! Commands: who may run them, and their beginnings and ends in the log.
//!
//! A command that changes the app passes two gates. [`SessionAuthority::admit`] runs before the
//! command queues for the device: it waits for another agent's implicit turn to end, and takes an
//! idle turn. [`SessionAuthority::begin`] runs when the command has the device: it checks that the
//! turn is still the one in which the command was admitted, and records the beginning in the log.

use super::authority::{Running, SessionAuthority, State};
use super::commit::Remarks;
use super::wait::WaitOptions;
use crate::error;
use crate::participant::Participant;
use std::time::Duration;
use stickpin_device::{Error, Result};
use stickpin_session::log::{CommandError, CommandId, RecordedStep, Redacted};
use stickpin_session::turn::{AgentId, Fence, Now, TurnError, deadlines, machine};
use stickpin_store::{Amendment, CommandOutcome, Origin};
use tokio_util::sync::CancellationToken;

pub use stickpin_store::NewCommand;

/// A command's right to run, bound to the turn in which it was admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Admission {
    turn: u64,
    /// Whether the caller named the turn.
    is_named: bool,
}

/// A command that has begun.
#[derive(Debug)]
#[must_use = "the end of a command belongs in the log"]
pub struct Ticket {
    command: CommandId,
    origin: Origin,
    began: u64,
    recorded: Option<RecordedStep>,
}

impl Ticket {
    /// Adds the step that the command contributed to its session's recording. The record of the
    /// command's end will contain the step.
    pub fn record(&mut self, step: RecordedStep) {
        self.recorded = Some(step);
    }

    /// Returns the id of the command.
    #[must_use]
    pub fn command(&self) -> CommandId {
        self.command
    }
}

impl SessionAuthority {
    /// Admits a command that changes the app. Waits at most `patience` for another agent's implicit
    /// turn to end. If `expected_turn` is set, the command is admitted only in that turn.
    ///
    /// # Errors
    /// Returns `NOT_YOUR_TURN` while another agent has the turn, `TURN_MISMATCH` or `STALE_LEASE`
    /// if the caller does not hold the expected turn, `TURN_REQUIRED` if the turn must be
    /// requested, `GUARDIAN_UNAVAILABLE`, `ROLE_OBSERVER`, `IDENTITY_AMBIGUOUS`, `SESSION_CLOSED`,
    /// `UNKNOWN_MEMBER` for an agent that was removed while it waited, and errors from the log.
    pub async fn admit(
        &self,
        who: &Participant,
        expected_turn: Option<u64>,
        patience: Duration,
        cancel: &CancellationToken,
    ) -> Result<Admission> {
        who.require_unambiguous()?;
        self.require_guardian()?;
        let until = tokio::time::Instant::now() + patience;
        let mut changes = self.turns.subscribe();
        let mut waiting = None;
        loop {
            changes.mark_unchanged();
            let (held, pause) = match self.enter(who, expected_turn, waiting.is_some()) {
                Ok(admission) => return Ok(admission),
                Err((e, Some(pause))) => (e, pause),
                Err((e, None)) => return Err(e),
            };
            if tokio::time::Instant::now() >= until {
                return Err(held);
            }
            if waiting.is_none() {
                waiting = Some(self.register(who, WaitOptions::default(), false)?);
            }
            let next = until.min(tokio::time::Instant::now() + pause);
            tokio::select! {
                _ = changes.changed() => {}
                () = tokio::time::sleep_until(next) => {}
                () = cancel.cancelled() => return Err(held),
            }
        }
    }

    /// Takes the turn or checks it. A caller that is already waiting must still be a member. If the
    /// error contains a duration, the caller may be admitted after that time.
    fn enter(
        &self,
        who: &Participant,
        expected_turn: Option<u64>,
        is_waiting: bool,
    ) -> Result<Admission, (Error, Option<Duration>)> {
        let entered = self.change(|state, now| {
            state.touch(who, now);
            match is_waiting {
                true => state.require_member(&self.name, &who.agent)?,
                false => state.join_as_driver(who, now)?,
            }
            state.commit_due(now, Some(&who.agent))?;
            let fence = Fence { agent: who.agent.clone(), turn_id: expected_turn, lease_id: None };
            let lease_id = self.shared.environment.lease_id();
            match state.judge(now, |s| machine::enter(s, &fence, lease_id)) {
                Ok(None) => {}
                Ok(Some(transition)) => {
                    let by = State::origin(who, now);
                    state.commit(Some(&by), transition, Remarks::default(), now)?;
                }
                Err(e) => {
                    // Waiting does not bring back a turn that is no longer current.
                    let rest = match &e {
                        TurnError::TurnMismatch { .. } | TurnError::StaleLease { .. } => None,
                        _ => state.implicit_rest_ms(now).map(|ms| Duration::from_millis(ms.max(1))),
                    };
                    return Ok(Err((self.turn_error(state, e), rest)));
                }
            }
            let turn = state.log.meta().turn.turn_id;
            state.reported.insert(who.agent.clone(), turn);
            Ok(Ok(Admission { turn, is_named: expected_turn.is_some() }))
        });
        entered.unwrap_or_else(|e| Err((e, None)))
    }

    /// Records the beginning of a command. The device must not be touched before this function
    /// returns. `admission` is required for a command that changes the app.
    ///
    /// # Errors
    /// If the turn passed on while the command was waiting for the device, returns `TURN_MISMATCH`
    /// for a caller that named the turn, and `STALE_LEASE` for any other. Also returns errors from
    /// the log.
    pub fn begin(
        &self,
        who: &Participant,
        admission: Option<Admission>,
        command: NewCommand,
        cancel: &CancellationToken,
    ) -> Result<Ticket> {
        self.change(|state, now| {
            state.touch(who, now);
            if let Some(Admission { turn, is_named }) = admission {
                let fence = Fence { agent: who.agent.clone(), turn_id: Some(turn), lease_id: None };
                let proven = state.judge(now, |s| machine::check(s, &fence));
                proven.map_err(|e| match e {
                    // The caller relied on its lease, which has ended, and not on a turn number.
                    TurnError::TurnMismatch { current, .. } if !is_named => self.turn_error(
                        state,
                        TurnError::StaleLease { agent: who.agent.clone(), turn_id: current },
                    ),
                    e => self.turn_error(state, e),
                })?;
                let meta = state.log.meta();
                let amended = deadlines::after_command(&meta.turn, &meta.policy, now);
                state.log.amend(Amendment::Turn(Box::new(amended)));
            }
            let origin = State::origin(who, now);
            let command = state.log.begin(&origin, command).map_err(error::of_store)?;
            state.running.push(Running { command, agent: who.agent.clone(), cancel: cancel.clone() });
            Ok(Ticket { command, origin, began: now.mono_ms, recorded: None })
        })
    }

    /// Records the end of a command. `generation` and `address` describe the tree and the app
    /// afterwards.
    ///
    /// # Errors
    /// Returns errors from the log.
    pub fn end(
        &self,
        ticket: Ticket,
        failure: Option<CommandError>,
        generation: Option<u64>,
        address: Option<Redacted>,
    ) -> Result<()> {
        let Ticket { command, origin, began, recorded } = ticket;
        self.change(|state, now| {
            state.running.retain(|running| running.command != command);
            if let Some(seen) = origin.agent.as_ref().and_then(|agent| state.seen.get_mut(agent)) {
                seen.at = now.mono_ms;
            }
            let duration_ms = now.mono_ms.saturating_sub(began);
            let outcome = CommandOutcome { error: failure, duration_ms, generation, address, recorded };
            let origin = Origin { ts: now.wall, ..origin };
            state.log.end(&origin, command, outcome).map(drop).map_err(error::of_store)
        })
    }
}

/// Waits up to the policy's drain time until no command of the selected agents is running, and then
/// cancels those that are still running. Returns the first of the commands that were running at the
/// beginning.
pub(crate) async fn drain(
    session: &SessionAuthority,
    of: &(dyn Fn(&AgentId) -> bool + Sync),
) -> Option<CommandId> {
    let (first, drain_ms) = {
        let state = session.lock();
        (state.running_of(of), state.log.meta().policy.drain_ms)
    };
    let first = first?;
    let mut feed = session.feed();
    let ended = async {
        loop {
            feed.mark_unchanged();
            if session.lock().running_of(of).is_none() || feed.changed().await.is_err() {
                return;
            }
        }
    };
    if tokio::time::timeout(Duration::from_millis(drain_ms), ended).await.is_err() {
        let state = session.lock();
        state.running.iter().filter(|r| of(&r.agent)).for_each(|r| r.cancel.cancel());
    }
    Some(first)
}

/// Returns the milliseconds after which an implicit turn is checked again. A turn that nobody took
/// although its owner was silent long enough is checked once per idle time.
pub(super) fn implicit_check_ms(state: &State, now: &Now) -> u64 {
    let idle_ms = state.log.meta().policy.implicit_idle_ms;
    state.implicit_rest_ms(now).filter(|rest_ms| *rest_ms > 0).unwrap_or(idle_ms)
}

impl State {
    /// Returns the first command that an agent selected by `of` is running on the device.
    pub(crate) fn running_of(&self, of: &dyn Fn(&AgentId) -> bool) -> Option<CommandId> {
        self.running.iter().find(|running| of(&running.agent)).map(|running| running.command)
    }

    /// Returns whether the turn is an implicit one whose owner has been silent long enough for
    /// others to take it.
    pub(super) fn implicit_owner_rests(&self, now: &Now) -> bool {
        let meta = self.log.meta();
        let owner = meta.turn.owner.as_ref().filter(|_| meta.turn.implicit);
        let member = owner.and_then(|owner| self.member(owner));
        member.is_some_and(|member| {
            let presence = self.presence_of(member, now);
            !presence.in_flight && presence.silent_ms >= meta.policy.implicit_idle_ms
        })
    }

    /// Returns the milliseconds until the owner of an implicit turn has been silent long enough for
    /// others to take the turn, if it makes no request meanwhile; 0 if it already has been. `None`
    /// if the turn is not an implicit one.
    fn implicit_rest_ms(&self, now: &Now) -> Option<u64> {
        let meta = self.log.meta();
        let owner = meta.turn.owner.as_ref().filter(|_| meta.turn.implicit)?;
        let member = meta.members.iter().find(|m| m.agent_id == *owner);
        let presence = member.map(|member| self.presence_of(member, now)).unwrap_or_default();
        let silent = if presence.in_flight { 0 } else { presence.silent_ms };
        Some(meta.policy.implicit_idle_ms.saturating_sub(silent))
    }
}
