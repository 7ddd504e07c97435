//! `turn wait`: waiting for the turn.

use super::authority::{Registration, SessionAuthority, State};
use super::commands::implicit_check_ms;
use super::events::Events;
use crate::feed::{Audience, Event, Filter};
use crate::participant::Participant;
use crate::replies::TurnReply;
use serde_json::json;
use std::time::Duration;
use stickpin_device::{Error, ErrorCode, Result};
use stickpin_session::turn::{AgentId, MemberRole, Now, WaitMode};
use stickpin_store::Amendment;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The options for a wait.
#[derive(Debug, Clone, Copy, Default)]
pub struct WaitOptions {
    /// How long to wait; `None` for no limit, zero for a single attempt.
    pub timeout: Option<Duration>,
    /// Whether to listen without claiming the turn.
    pub park: bool,
    /// Whether to claim the turn only while another driver is a member.
    pub no_solo: bool,
    /// Whether to also return when a record concerns the agent.
    pub events: bool,
    /// The record after which events are read. By default, reading begins after the last event that
    /// the agent read, or after the agent joined.
    pub after: Option<u64>,
    /// The id of the client's process, which is stated in the error for a second wait of the same
    /// agent.
    pub pid: Option<u32>,
}

/// The reply to a request for the turn.
#[derive(Debug, Clone)]
pub struct WaitReply {
    /// The state of the turn.
    pub reply: TurnReply,
    /// The events that concern the agent, oldest first; empty if no events were requested.
    pub events: Vec<Event>,
}

/// The maximum number of events in a reply. The next wait returns the rest.
const MAX_EVENTS: usize = 500;

/// Ends a registration when the wait ends, even if a panic or the loss of the client ends the wait.
#[derive(Debug)]
#[must_use = "a registration ends with it"]
pub(super) struct Registered<'s> {
    session: &'s SessionAuthority,
    agent: AgentId,
    registration: Registration,
    end: WaitEnd,
}

/// What the end of a registration means for its agent.
#[derive(Debug, Clone, Copy)]
enum WaitEnd {
    /// Nothing, because the agent did not run `turn wait`: its command waited to be admitted.
    OfCommand,
    /// The wait returned without a turn to a client that may wait again.
    MayWaitAgain,
    /// The agent no longer waits: it has the turn, its wait was cancelled or failed, its client is
    /// gone, or the session is closed.
    Over,
}

impl Drop for Registered<'_> {
    fn drop(&mut self) {
        self.session.unregister(&self.agent, self.registration, self.end);
    }
}

impl SessionAuthority {
    /// Waits until the caller holds the turn or may take it, the session is closed, or the wait
    /// times out or is cancelled. With `events`, also returns as soon as there is an event for the
    /// caller. A wait that is parked, or that has `no_solo` set while no other driver is a member,
    /// returns only for an event, or when it times out or is cancelled.
    ///
    /// # Errors
    /// Returns `DUPLICATE_LISTENER` if the agent is already waiting, `INVALID_CURSOR` for a record
    /// beyond the end, `GUARDIAN_UNAVAILABLE`, `ROLE_OBSERVER`, `IDENTITY_AMBIGUOUS`,
    /// `UNKNOWN_MEMBER` if the agent is removed from the session while it waits, and errors from
    /// the log.
    pub async fn wait(
        &self,
        who: &Participant,
        options: WaitOptions,
        cancel: &CancellationToken,
    ) -> Result<WaitReply> {
        who.require_unambiguous()?;
        self.require_guardian()?;
        let until = options.timeout.map(|timeout| Instant::now() + timeout);
        let mut turns = self.turns.subscribe();
        let mut registered = self.register(who, options, true)?;
        let mut cursor = options.events.then(|| self.read_position(who, options.after)).transpose()?;
        loop {
            turns.mark_unchanged();
            let mut reply = if options.park || (options.no_solo && self.lock().is_alone(&who.agent)) {
                self.look(who)?
            } else {
                self.claim(who)?
            };
            let events = match &mut cursor {
                Some(cursor) => take_events(self, who, cursor, &mut reply)?,
                None => Vec::new(),
            };
            let over = until.is_some_and(|until| Instant::now() >= until);
            let is_decided = !matches!(reply, TurnReply::NotYet(_));
            if over || is_decided || !events.is_empty() || cancel.is_cancelled() {
                let may_wait = matches!(reply, TurnReply::NotYet(_) | TurnReply::TakeoverAvailable(_));
                if may_wait && !cancel.is_cancelled() {
                    registered.end = WaitEnd::MayWaitAgain;
                }
                return Ok(WaitReply { reply, events });
            }
            let now = self.now();
            let again = Instant::now() + self.lock().next_look(&who.agent, &now);
            let next = until.map_or(again, |until| until.min(again));
            tokio::select! {
                _ = turns.changed() => {}
                () = tokio::time::sleep_until(next) => {}
                () = cancel.cancelled() => {}
            }
        }
    }

    /// Returns the state of the turn without claiming it.
    fn look(&self, who: &Participant) -> Result<TurnReply> {
        let now = self.now();
        let mut state = self.lock();
        state.touch(who, &now);
        state.require_member(&self.name, &who.agent)?;
        Ok(TurnReply::NotYet(state.not_yet(&now)))
    }

    /// Makes the caller a driver if it is not a member yet, and registers its wait until the result
    /// is dropped. If the agent is already waiting, this fails if `exclusive` is set; otherwise the
    /// earlier registrations are kept too.
    pub(super) fn register(
        &self,
        who: &Participant,
        options: WaitOptions,
        exclusive: bool,
    ) -> Result<Registered<'_>> {
        let registration = self.change(|state, now| {
            state.touch(who, now);
            state.join_as_driver(who, now)?;
            if exclusive && let Some(other) = state.waits.get(&who.agent).and_then(|waits| waits.first()) {
                let message =
                    format!("{} is already waiting for the turn of session `{}`", who.agent, self.name);
                return Err(Error::new(ErrorCode::DuplicateListener, message)
                    .hint("end that wait, or run `stickpin turn state` instead")
                    .details(json!({ "pid": other.pid, "since": other.since })));
            }
            let WaitOptions { park: parked, events: reads, pid, .. } = options;
            let number = state.registrations;
            let registration = Registration { number, parked, reads, since: now.wall, pid };
            state.registrations += 1;
            state.waits.entry(who.agent.clone()).or_default().push(registration);
            set_wait_mode(state, &who.agent, now);
            Ok(registration)
        })?;
        let end = if exclusive { WaitEnd::Over } else { WaitEnd::OfCommand };
        Ok(Registered { session: self, agent: who.agent.clone(), registration, end })
    }

    fn unregister(&self, agent: &AgentId, registration: Registration, end: WaitEnd) {
        let ended = self.change(|state, now| {
            let Some(waits) = state.waits.get_mut(agent) else { return Ok(()) };
            let count = waits.len();
            waits.retain(|wait| *wait != registration);
            let (is_last, was_registered) = (waits.is_empty(), waits.len() != count);
            if is_last {
                state.waits.remove(agent);
            }
            if was_registered {
                if let Some(seen) = state.seen.get_mut(agent) {
                    match end {
                        WaitEnd::OfCommand => {}
                        WaitEnd::MayWaitAgain if !registration.parked => seen.polled = Some(now.mono_ms),
                        // An earlier poll no longer counts either.
                        WaitEnd::MayWaitAgain | WaitEnd::Over => seen.polled = None,
                    }
                }
                match is_last {
                    true => drop(end_waits(state, now)),
                    false => set_wait_mode(state, agent, now),
                }
            }
            Ok(())
        });
        debug_assert!(ended.is_ok(), "a registration ends without a record");
    }
}

/// Stores how an agent waits, after one of its waits has begun, or has ended while others remain.
fn set_wait_mode(state: &mut State, agent: &AgentId, now: &Now) {
    let mode = if state.parked_wait(agent) == Some(true) { WaitMode::Parked } else { WaitMode::Active };
    state.log.amend(Amendment::Waits { agent: agent.clone(), mode, at: now.wall });
}

/// Ends the wait mode of each member that is not waiting. Spares members that waited so recently
/// that their clients may wait again. Returns the time until the first of these is no longer
/// spared; `None` if no member is spared.
pub(crate) fn end_waits(state: &mut State, now: &Now) -> Option<Duration> {
    let meta = state.log.meta();
    let (mut over, mut next) = (Vec::new(), None::<u64>);
    for member in meta.members.iter().filter(|member| member.wait_mode != WaitMode::None) {
        if state.waits.contains_key(&member.agent_id) {
            continue;
        }
        let polled = state.seen.get(&member.agent_id).and_then(|seen| seen.polled);
        let until = polled.map(|at| at.saturating_add(meta.policy.mcp_waiter_grace_ms));
        match until.and_then(|until| until.checked_sub(now.mono_ms)).filter(|left| *left > 0) {
            Some(left) => next = Some(next.map_or(left, |next| next.min(left))),
            None => over.push(member.agent_id.clone()),
        }
    }
    for agent in over {
        state.log.amend(Amendment::WaitEnded { agent });
    }
    next.map(Duration::from_millis)
}

/// Adds the events that an agent has not read yet to the reply to one of its requests.
///
/// # Errors
/// Returns errors from reading the log.
pub fn with_unread(session: &SessionAuthority, who: &Participant, mut reply: TurnReply) -> Result<WaitReply> {
    let mut cursor = session.read_position(who, None)?;
    let events = take_events(session, who, &mut cursor, &mut reply)?;
    Ok(WaitReply { reply, events })
}

/// Returns the events after `cursor` that concern the agent, and advances `cursor` and the cursor
/// of the reply.
fn take_events(
    session: &SessionAuthority,
    who: &Participant,
    cursor: &mut u64,
    reply: &mut TurnReply,
) -> Result<Vec<Event>> {
    let found = session.lock().take_events(&who.agent, *cursor)?;
    *cursor = found.cursor_seq;
    reply.set_cursor(found.cursor_seq);
    Ok(found.events)
}

impl State {
    /// Returns the events after a record that concern the agent. These events count as read when
    /// the response has been delivered.
    fn take_events(&mut self, agent: &AgentId, after: u64) -> Result<Events> {
        let filter = Filter { audience: Audience::Member(agent.clone()), ..Filter::default() };
        let found = self.read(&filter, after, MAX_EVENTS)?;
        match found.events.is_empty() {
            true => drop(self.positions.insert(agent.clone(), found.cursor_seq)),
            false => drop(self.unconfirmed.insert(agent.clone(), found.cursor_seq)),
        }
        Ok(found)
    }

    /// Returns whether no other driver is a member.
    pub(crate) fn is_alone(&self, agent: &AgentId) -> bool {
        !self.log.meta().members.iter().any(|m| m.agent_id != *agent && m.role == MemberRole::Driver)
    }

    /// Returns the time after which a wait checks the turn again, because the turn may change
    /// without a request.
    fn next_look(&self, agent: &AgentId, now: &Now) -> Duration {
        let meta = self.log.meta();
        let policy = &meta.policy;
        let ms = if meta.turn.implicit {
            implicit_check_ms(self, now)
        } else if meta.turn.prev_owner.as_ref() == Some(agent) {
            policy.waiter_grace_ms
        } else {
            // The time after which the owner counts as silent or gone.
            policy.owner_idle_ms.min(policy.gone_grace_ms)
        };
        Duration::from_millis(ms.max(1))
    }
}
