//! `turn state`: returns the state of the turn, the members and the waiters.

use super::authority::SessionAuthority;
use crate::participant::Participant;
use crate::replies::Guardian;
use serde::{Deserialize, Serialize};
use stickpin_device::Result;
use stickpin_session::Timestamp;
use stickpin_session::turn::{
    self, AgentId, Handoff, Label, Liveness, Loan, MemberKind, MemberRole, Now, Policy, TakeReason, TurnPhase,
};

/// The state of a session: its turn, members, waiters, loans, notes and limits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionState {
    /// The name of the session.
    pub session: String,
    /// The most actionable description of the turn.
    pub label: Label,
    /// The stored state of the turn.
    pub state: TurnPhase,
    /// The number of the turn.
    pub turn_id: u64,
    /// The holder of the turn; `None` if nobody holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<AgentId>,
    /// Whether a command took the turn, so that the turn ends by itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub implicit: bool,
    /// The wall time at which the holder's lease ends if it is not renewed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_expires_at: Option<Timestamp>,
    /// The agent that may claim the turn next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserved_for: Option<AgentId>,
    /// The wall time at which the reservation expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim_expires_at: Option<Timestamp>,
    /// The process that renews leases.
    pub guardian: Guardian,
    /// The members in the order in which they joined.
    pub members: Vec<MemberState>,
    /// The members that are waiting for the turn.
    pub waiters: Vec<Waiter>,
    /// The handoff that the current or next owner has not acted on yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_handoff: Option<Handoff>,
    /// Whether the caller may take the turn.
    pub takeover: TakeoverState,
    /// The scope that was lent to other sessions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loans: Vec<Loan>,
    /// The number of unresolved notes.
    pub open_notes: usize,
    /// The limits of the session.
    pub policy: Policy,
    /// The `seq` of the newest record.
    pub cursor_seq: u64,
}

/// A member of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MemberState {
    /// The id of the agent.
    pub agent_id: AgentId,
    /// The display name.
    pub display: String,
    /// Whether the member is a harness, a person or a console.
    pub kind: MemberKind,
    /// Whether the member may hold the turn.
    pub role: MemberRole,
    /// Whether the member's harness is running; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alive: Option<bool>,
    /// The number of milliseconds since the member's last request to this host, or since the
    /// session was loaded if there was no such request; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silent_ms: Option<u64>,
    /// Whether the member is the caller.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub you: bool,
}

/// A member that is waiting for the turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Waiter {
    /// The id of the member.
    pub agent_id: AgentId,
    /// Whether the member listens without claiming the turn.
    pub parked: bool,
}

/// Whether the caller may take the turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TakeoverState {
    /// Whether the owner's state permits the caller to take the turn. A caller that replaced the
    /// owner, or whose operator requests the takeover, may take the turn in any case.
    pub available: bool,
    /// The reason that permits the takeover.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<TakeReason>,
}

impl SessionAuthority {
    /// Returns the state of the session as seen by `who`.
    ///
    /// # Errors
    /// Returns errors from the log, which contains the handoff.
    pub fn state(&self, who: Option<&Participant>) -> Result<SessionState> {
        let now = self.now();
        let mut state = self.lock();
        if let Some(who) = who {
            state.touch(who, &now);
            let turn = state.log.meta().turn.turn_id;
            state.reported.insert(who.agent.clone(), turn);
        }
        let presence = state.presence(&now);
        let label = state.judge(&now, turn::label);
        let reason = who.and_then(|who| state.judge(&now, |s| turn::machine::take_reason(s, &who.agent)));
        let pending_handoff = state.pending_handoff()?;
        let meta = state.log.meta();
        let members = meta.members.iter().map(|member| {
            let presence = presence.get(&member.agent_id).copied().unwrap_or_default();
            MemberState {
                agent_id: member.agent_id.clone(),
                display: member.display.clone(),
                kind: member.kind,
                role: member.role,
                alive: match presence.liveness {
                    Liveness::Alive => Some(true),
                    Liveness::Gone => Some(false),
                    Liveness::Unknown => None,
                },
                silent_ms: (presence.silent_ms != u64::MAX).then_some(presence.silent_ms),
                you: who.is_some_and(|who| who.agent == member.agent_id),
            }
        });
        let waiters = state.waits.keys().filter_map(|agent| Some((agent, state.parked_wait(agent)?)));
        Ok(SessionState {
            session: self.name().to_owned(),
            label,
            state: meta.turn.state,
            turn_id: meta.turn.turn_id,
            owner: meta.turn.owner.clone(),
            implicit: meta.turn.implicit,
            lease_expires_at: meta.turn.lease.as_ref().map(|lease| now.display_lease(lease)),
            reserved_for: meta.turn.reserved_for.clone(),
            claim_expires_at: meta.turn.claim_deadline.as_ref().map(|deadline| now.display(deadline)),
            guardian: self.guardian(),
            members: members.collect(),
            waiters: waiters.map(|(agent, parked)| Waiter { agent_id: agent.clone(), parked }).collect(),
            pending_handoff,
            takeover: TakeoverState { available: reason.is_some(), reason },
            loans: meta.loans.iter().map(|loan| loan_for_display(loan, &now)).collect(),
            open_notes: meta.open_note_count(),
            policy: meta.policy.clone(),
            cursor_seq: meta.applied_seq,
        })
    }
}

/// Returns a loan with its expiry in current wall time.
fn loan_for_display(loan: &Loan, now: &Now) -> Loan {
    let expires_at = loan.expires_mono.as_ref().map(|at| now.display(at));
    Loan { expires_at, ..loan.clone() }
}
