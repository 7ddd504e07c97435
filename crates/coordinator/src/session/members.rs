//! Members: joining, leaving, removal.

use super::authority::{SessionAuthority, State};
use super::commit::Remarks;
use crate::error;
use crate::participant::Participant;
use serde_json::json;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use stickpin_device::{Error, ErrorCode, Result};
use stickpin_session::log::{
    AgentSuperseded, Kind, MemberJoined, MemberKicked, MemberLeft, Redacted, Redactor, Via,
};
use stickpin_session::turn::{
    AgentId, Fence, Member, MemberKind, MemberRole, Now, TurnError, TurnPhase, WaitMode, machine,
};
use stickpin_store::Phase;

/// The result of joining.
#[derive(Debug, Clone)]
pub struct Joined {
    /// The caller as a member of the session.
    pub member: Member,
    /// Whether the caller was not a member before.
    pub created: bool,
    /// The `seq` of the newest record when the join was committed.
    pub cursor_seq: u64,
}

/// The effects of removing a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kicked {
    /// Whether the member owned the turn.
    pub was_owner: bool,
    /// Whether the turn was reserved for the member.
    pub was_reserved: bool,
}

impl SessionAuthority {
    /// Makes the caller a member, or changes the caller's role, kind or display name.
    ///
    /// # Errors
    /// Returns `SESSION_CLOSED`, `MUST_RELEASE_FIRST` for an owner that would become an observer,
    /// `IDENTITY_AMBIGUOUS`, and errors from the log.
    pub fn join(&self, who: &Participant, observer: bool, display: Option<String>) -> Result<Joined> {
        self.change_for(who, |state, now| {
            let role = if observer { MemberRole::Observer } else { MemberRole::Driver };
            let turn = &state.log.meta().turn;
            if turn.state == TurnPhase::Closed {
                return Err(self.turn_error(state, TurnError::Closed));
            }
            if observer && turn.owner.as_ref() == Some(&who.agent) {
                let (agent, turn_id) = (who.agent.clone(), turn.turn_id);
                return Err(self.turn_error(state, TurnError::MustReleaseFirst { agent, turn_id }));
            }
            let created = state.member(&who.agent).is_none();
            let member = state.put_member(who, role, display, now)?;
            Ok(Joined { member, created, cursor_seq: state.log.meta().applied_seq })
        })
    }

    /// Ends the caller's membership, and with it a turn that one of the caller's commands took.
    /// Returns the number of remaining members.
    ///
    /// # Errors
    /// Returns `MUST_RELEASE_FIRST` for an owner that claimed its turn, `UNKNOWN_MEMBER`,
    /// `IDENTITY_AMBIGUOUS`, and errors from the log.
    pub fn leave(&self, who: &Participant) -> Result<usize> {
        self.change_for(who, |state, now| {
            state.require_member(&self.name, &who.agent)?;
            let left = state.judge(now, |s| machine::leave(s, &who.agent));
            let origin = State::origin(who, now);
            match left.map_err(|e| self.turn_error(state, e))? {
                Some(transition) => state.commit(Some(&origin), transition, Remarks::default(), now)?,
                None => {
                    let left = MemberLeft { agent_id: who.agent.clone(), turn_after: None };
                    state.append(&origin, Kind::MemberLeft(Box::new(left)))?
                }
            };
            Ok(state.log.meta().members.len())
        })
    }

    /// Removes another member.
    ///
    /// # Errors
    /// Returns `TARGET_ACTIVE` for an active member without `force`, `CANNOT_KICK_SELF`,
    /// `UNKNOWN_MEMBER`, `AMBIGUOUS_RECIPIENT`, `IDENTITY_AMBIGUOUS`, and errors from the log.
    pub fn kick(
        &self,
        who: &Participant,
        target: &str,
        reason: Option<String>,
        force: bool,
        redactor: &dyn Redactor,
    ) -> Result<Kicked> {
        self.change_for(who, |state, now| {
            state.require_member(&self.name, &who.agent)?;
            let target = state.find_member(&self.name, target, ErrorCode::UnknownMember)?;
            if target == who.agent {
                let message = format!("{target} cannot remove itself");
                return Err(Error::new(ErrorCode::CannotKickSelf, message)
                    .hint("run `stickpin turn leave` to leave the session"));
            }
            let turn = &state.log.meta().turn;
            let kicked = Kicked {
                was_owner: turn.owner.as_ref() == Some(&target),
                was_reserved: turn.reserved_for.as_ref() == Some(&target),
            };
            let change = state.judge(now, |s| machine::kick(s, &who.agent, &target, force));
            let change = change.map_err(|e| self.turn_error(state, e))?;
            let reason = reason.map(|reason| Redacted::new(reason, redactor));
            let origin = State::origin(who, now);
            let removed = target.clone();
            match change {
                Some(transition) => {
                    let remarks = Remarks { reason, kicked: true, ..Remarks::default() };
                    state.commit(Some(&origin), transition, remarks, now)?
                }
                None => {
                    let kicked = MemberKicked { agent_id: target, reason, turn_after: None };
                    state.append(&origin, Kind::MemberKicked(Box::new(kicked)))?
                }
            };
            state.waits.remove(&removed);
            Ok(kicked)
        })
    }

    /// Makes the opener of a lifetime a member, and gives it an implicit turn if the turn is free
    /// and need not be requested.
    pub(crate) fn join_opener(&self, who: &Participant) -> Result<()> {
        self.change(|state, now| {
            state.touch(who, now);
            state.join_as_driver(who, now)?;
            let fence = Fence { agent: who.agent.clone(), turn_id: None, lease_id: None };
            let lease_id = self.shared.environment.lease_id();
            let entered = state.judge(now, |s| machine::enter(s, &fence, lease_id));
            // Otherwise, another agent has the turn, the turn must be requested, or the opener is
            // an observer. The opener acts later.
            if let Ok(Some(transition)) = entered {
                state.commit(Some(&State::origin(who, now)), transition, Remarks::default(), now)?;
            }
            Ok(())
        })
    }
}

/// Makes an agent a member on behalf of another agent.
pub(crate) fn admit_member(session: &SessionAuthority, agent: AgentId) -> Result<()> {
    let harness = agent.as_str().split(':').next().unwrap_or_default().to_owned();
    let (kind, anchor, via) = (MemberKind::Harness, None, Via::Daemon);
    let (ambiguous, replaces) = (Vec::new(), Vec::new());
    let who = Participant { agent, harness, kind, anchor, ambiguous, replaces, via };
    session.change(|state, now| state.put_member(&who, MemberRole::Driver, None, now).map(drop))
}

/// The maximum number of records that are searched for a session's last handoff.
const HANDOFF_SPAN: u64 = 10_000;

/// Takes the turn from one of these agents, which thereby leaves the session. The turn becomes
/// idle, or is reserved for the member accepted by `heirs` that held it last.
pub(crate) fn end_turn_of(
    session: &SessionAuthority,
    agents: &BTreeSet<AgentId>,
    heirs: Option<&dyn Fn(&AgentId) -> bool>,
) -> Result<()> {
    session.change(|state, now| {
        let turn = &state.log.meta().turn;
        let Some(agent) = turn.owner.iter().chain(&turn.reserved_for).find(|a| agents.contains(*a)).cloned()
        else {
            return Ok(());
        };
        let change = match heirs {
            None => {
                let host = AgentId::new("daemon");
                let kicked = state.judge(now, |s| machine::kick(s, &host, &agent, true));
                kicked.map_err(|e| session.turn_error(state, e))?
            }
            Some(is_heir) => {
                let back = state.reversion(agents, is_heir)?;
                state.judge(now, |s| machine::revert(s, &agent, back))
            }
        };
        match change {
            Some(transition) => {
                let remarks = Remarks { kicked: true, ..Remarks::default() };
                state.commit(None, transition, remarks, now).map(drop)
            }
            None => Ok(()),
        }
    })
}

impl State {
    pub(super) fn member(&self, agent: &AgentId) -> Option<&Member> {
        self.log.meta().members.iter().find(|member| member.agent_id == *agent)
    }

    /// Refuses an agent that is not a member.
    pub(crate) fn require_member(&self, session: &str, agent: &AgentId) -> Result<()> {
        if self.member(agent).is_some() {
            return Ok(());
        }
        Err(Error::new(ErrorCode::UnknownMember, format!("{agent} is not a member of session `{session}`"))
            .hint(format!("run `stickpin --session {session} turn join` first")))
    }

    /// Returns the member with the given id or display name. `unknown` is the error code for a name
    /// that no member has.
    pub(crate) fn find_member(&self, session: &str, name: &str, unknown: ErrorCode) -> Result<AgentId> {
        let members = &self.log.meta().members;
        if let Some(member) = members.iter().find(|member| member.agent_id.as_str() == name) {
            return Ok(member.agent_id.clone());
        }
        let named: Vec<_> = members.iter().filter(|member| member.display == name).collect();
        let names: Vec<_> = members.iter().map(|member| member.agent_id.to_string()).collect();
        match named.as_slice() {
            [member] => Ok(member.agent_id.clone()),
            [] => Err(Error::new(
                unknown,
                format!("no member of session `{session}` is named {}", stickpin_tree::quote(name)),
            )
            .hint("run `stickpin turn state` to list the members")
            .details(json!({ "members": names }))),
            several => {
                let candidates: Vec<_> = several.iter().map(|m| m.agent_id.to_string()).collect();
                Err(Error::new(
                    ErrorCode::AmbiguousRecipient,
                    format!(
                        "several members of session `{session}` have the display name {}",
                        stickpin_tree::quote(name)
                    ),
                )
                .hint(format!("name the member by its agent id: {}", candidates.join(" or ")))
                .details(json!({ "candidates": candidates })))
            }
        }
    }

    /// Returns the heir that held the turn last, and the last handoff.
    fn reversion(
        &self,
        leaving: &BTreeSet<AgentId>,
        is_heir: &dyn Fn(&AgentId) -> bool,
    ) -> Result<machine::Reversion> {
        let meta = self.log.meta();
        let heirs = meta.members.iter().filter(|m| !leaving.contains(&m.agent_id) && is_heir(&m.agent_id));
        let held = heirs.filter_map(|member| Some((member.last_held_turn?, &member.agent_id)));
        let to = held.max_by_key(|(turn, _)| *turn).map(|(_, agent)| agent.clone());
        let mut handoff = None;
        let from = meta.applied_seq.saturating_sub(HANDOFF_SPAN);
        let scanned = stickpin_store::scan(&self.log, from, Phase::Feed, &mut |record| {
            let hands_over = match &record.kind {
                Kind::TurnReleased(released) => released.handoff.is_some(),
                Kind::TurnAssigned(assigned) => assigned.handoff.is_some(),
                _ => false,
            };
            if hands_over {
                handoff = record.agent.clone().map(|author| (record.seq, author));
            }
            ControlFlow::Continue(())
        });
        scanned.map_err(error::of_store)?;
        Ok(machine::Reversion { to, handoff })
    }

    /// Makes an acting agent a member, unless it already is one.
    pub(crate) fn join_as_driver(&mut self, who: &Participant, now: &Now) -> Result<()> {
        match self.member(&who.agent) {
            Some(_) => Ok(()),
            None => self.put_member(who, MemberRole::Driver, None, now).map(drop),
        }
    }

    /// Records the members that a new member replaces and whose turns it may take.
    fn report_replaced(&mut self, who: &Participant, now: &Now) -> Result<()> {
        for old in who.replaces.iter().filter(|old| **old != who.agent) {
            if self.member(old).is_some() {
                let superseded = AgentSuperseded { old: old.clone(), new: who.agent.clone() };
                self.append(&State::origin(who, now), Kind::AgentSuperseded(superseded))?;
            }
        }
        Ok(())
    }

    /// Adds a member, or changes the role, kind or display name of an existing one.
    pub(super) fn put_member(
        &mut self,
        who: &Participant,
        role: MemberRole,
        display: Option<String>,
        now: &Now,
    ) -> Result<Member> {
        let members = &self.log.meta().members;
        let known = self.member(&who.agent);
        let is_new = known.is_none();
        let next = members.iter().map(|member| member.ordinal).max().unwrap_or(0) + 1;
        let member = Member {
            agent_id: who.agent.clone(),
            display: display
                .or_else(|| known.map(|m| m.display.clone()))
                .unwrap_or_else(|| who.agent.to_string()),
            harness: who.harness.clone(),
            kind: who.kind,
            ordinal: known.map_or(next, |m| m.ordinal),
            joined_at: known.map_or(now.wall, |m| m.joined_at),
            last_seen_at: now.wall,
            last_wait_at: known.and_then(|m| m.last_wait_at),
            wait_mode: known.map_or(WaitMode::None, |m| m.wait_mode),
            last_held_turn: known.and_then(|m| m.last_held_turn),
            anchor: who.anchor.clone(),
            role,
        };
        let unchanged =
            known.is_some_and(|m| (m.role, m.kind, &m.display) == (role, who.kind, &member.display));
        if !unchanged {
            let joined = MemberJoined { member: member.clone() };
            let seq = self.append(&State::origin(who, now), Kind::MemberJoined(Box::new(joined)))?;
            if is_new {
                self.positions.insert(who.agent.clone(), seq);
            }
        }
        if is_new {
            self.report_replaced(who, now)?;
        }
        Ok(member)
    }
}
