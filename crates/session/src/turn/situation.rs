//! The inputs for judging a request or a timer about a turn: the stored turn, the members, the
//! time, and the current state of the agents.

use super::{AgentId, Deadline, Lease, Member, MemberRole, Policy, TurnPhase, TurnState};
use crate::timestamp::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How long the owner of an implicit turn may be gone.
const IMPLICIT_GONE_MS: u64 = 5_000;

/// A point in time, on the monotonic clock for decisions and on the wall clock for display.
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

    /// Returns a deadline in wall time, for display. Returns the current time for a deadline that
    /// has passed or was set before a reboot.
    #[must_use]
    pub fn display(&self, deadline: &Deadline) -> Timestamp {
        let left = if self.has_passed(deadline) { 0 } else { deadline.mono_ms.saturating_sub(self.mono_ms) };
        Timestamp::from_millis(self.wall.millis().saturating_add(left))
    }

    /// Returns when a lease ends, in wall time, for display. Computed from the deadline, because
    /// the wall clock may have been changed since the lease was renewed.
    #[must_use]
    pub fn display_lease(&self, lease: &Lease) -> Timestamp {
        self.display(&Deadline { mono_ms: lease.deadline_mono_ms, boot_id: lease.boot_id.clone() })
    }

    /// Returns whether a deadline has passed. A deadline from before a reboot has always passed.
    #[must_use]
    pub fn has_passed(&self, deadline: &Deadline) -> bool {
        self.boot_id != deadline.boot_id || self.mono_ms >= deadline.mono_ms
    }

    pub(super) fn lease(&self, ttl_ms: u64) -> Lease {
        Lease {
            ttl_ms,
            deadline_mono_ms: self.mono_ms.saturating_add(ttl_ms),
            boot_id: self.boot_id.clone(),
            display_expires_at: Timestamp::from_millis(self.wall.millis().saturating_add(ttl_ms)),
        }
    }
}

/// Whether the process of an agent's harness is running.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Liveness {
    /// The process is running.
    Alive,
    /// The process ended, or its id now belongs to another process.
    Gone,
    /// The agent has no process that is visible on this machine.
    #[default]
    Unknown,
}

/// The daemon's current knowledge about an agent. Never stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Presence {
    /// Whether the harness is running.
    pub liveness: Liveness,
    /// Milliseconds since the last request or, if there was none, since the daemon loaded the
    /// session.
    pub silent_ms: u64,
    /// Whether a connected request from the agent is waiting to be given the turn.
    pub waiting: bool,
    /// Milliseconds since the last wait ended, if the agent waited and may wait again.
    pub last_poll_ms: Option<u64>,
    /// Whether the agent's last request came through MCP, whose waits poll in slices.
    pub via_mcp: bool,
    /// Whether a command of the agent is running on the device.
    pub in_flight: bool,
    /// Whether the agent has an open connection to the host.
    pub connected: bool,
}

/// The inputs for judging a request or a timer about a turn.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    /// The stored turn.
    pub turn: &'a TurnState,
    /// The members in order of joining.
    pub members: &'a [Member],
    /// The times and limits of the session.
    pub policy: &'a Policy,
    /// The presence of the members. Agents without an entry count as never seen.
    pub presence: &'a BTreeMap<AgentId, Presence>,
    /// Milliseconds since the turn became idle; `None` if it is not idle, or if the daemon has
    /// restarted since then.
    pub idle_ms: Option<u64>,
    /// The current time.
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

    pub(super) fn is_driver(&self, agent: &AgentId) -> bool {
        self.member(agent).is_some_and(|m| m.role == MemberRole::Driver)
    }

    pub(super) fn is_owner(&self, agent: &AgentId) -> bool {
        self.turn.state == TurnPhase::Owned && self.turn.owner.as_ref() == Some(agent)
    }

    pub(super) fn lease_has_expired(&self) -> bool {
        self.turn.lease.as_ref().is_some_and(|lease| {
            lease.boot_id != self.now.boot_id || self.now.mono_ms >= lease.deadline_mono_ms
        })
    }

    pub(super) fn owner_is_gone(&self) -> bool {
        let grace = if self.turn.implicit { IMPLICIT_GONE_MS } else { self.policy.gone_grace_ms };
        self.turn.owner.as_ref().is_some_and(|owner| {
            let presence = self.presence_of(owner);
            presence.liveness == Liveness::Gone && presence.silent_ms > grace && !presence.in_flight
        })
    }

    /// Returns whether the agent is waiting for the turn, or was waiting a moment ago. In the
    /// latter case, the wait ended because the agent may take the turn, or because the agent's
    /// client waits in slices.
    pub(super) fn awaits_turn(&self, agent: &AgentId) -> bool {
        let presence = self.presence_of(agent);
        presence.waiting || presence.last_poll_ms.is_some_and(|ms| ms < self.policy.mcp_waiter_grace_ms)
    }

    /// Returns whether someone other than `agent` is waiting for the turn.
    pub(super) fn has_waiter_besides(&self, agent: &AgentId) -> bool {
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
    /// The owner is silent and is running no command while another member is waiting.
    OwnerIdle,
    /// The turn is reserved for an agent whose harness ended.
    RecipientGone,
    /// No member's harness is running, no member is connected, and none was active recently.
    Dormant,
    /// Nobody holds the turn.
    Idle,
    /// A member holds the turn.
    Owned,
    /// The turn is reserved for one member.
    Reserved,
    /// The session is closed.
    Closed,
}

/// Returns the label of a turn: the most actionable one that applies.
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
    let recent = |m: &Member| {
        let presence = s.presence_of(&m.agent_id);
        presence.liveness == Liveness::Alive
            || presence.connected
            || presence.silent_ms <= s.policy.presence_ttl_ms
    };
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

pub(super) fn owner_is_idle(s: Situation<'_>) -> bool {
    s.turn.owner.as_ref().is_some_and(|owner| {
        let presence = s.presence_of(owner);
        let is_awaited = s.members.iter().any(|m| m.agent_id != *owner && s.awaits_turn(&m.agent_id));
        !presence.in_flight && presence.silent_ms >= s.policy.owner_idle_ms && is_awaited
    })
}
