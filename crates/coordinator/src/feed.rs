//! The feed: the events of a session for its members. The feed is a filtered view of the log;
//! reading the feed grants nothing and renews nothing.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use stickpin_session::Timestamp;
use stickpin_session::log::{Group, Kind, KindName, Record, VERSION};
use stickpin_session::turn::AgentId;

/// One entry of the feed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// The version of the records.
    pub v: u32,
    /// The name of the session.
    pub session: String,
    /// The unique id of the session, which is the same in all its lifetimes.
    pub session_uid: String,
    /// The `seq` of the record from which the event is made; also the cursor after the event.
    pub seq: u64,
    /// A unique id, for readers that receive an event twice.
    pub event_id: String,
    /// The wall time of the record.
    pub ts: Timestamp,
    /// The kind of event.
    #[serde(rename = "type")]
    pub kind: KindName,
    /// The turn in which the event happened.
    pub turn_id: u64,
    /// The agent that caused the event; `None` for the daemon.
    pub from: Option<AgentId>,
    /// The agent that the event concerns.
    pub to: Option<AgentId>,
    /// The audience of the event.
    pub scope: EventScope,
    /// The text of a message or note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
    /// The urgency of a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<Value>,
    /// The handoff to the next holder of the turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handoff: Option<Value>,
    /// The reason for the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Value>,
    /// The remaining fields of the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Value>,
}

/// The audience of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EventScope {
    /// One agent.
    Direct,
    /// All members.
    Broadcast,
    /// Nobody in particular.
    System,
}

/// The audience whose events are requested.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Audience {
    /// Everyone.
    #[default]
    Any,
    /// An agent: events addressed to it, or addressed to all by someone else.
    Member(AgentId),
    /// An agent: only events addressed to it.
    AddressedTo(AgentId),
}

/// The groups of records that are requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Breadth {
    /// Members, turns, messages, notes, delegation, daemon starts and log repairs.
    #[default]
    People,
    /// The groups of [`Breadth::People`], and commands, snapshots, recordings and conversations.
    Run,
    /// Every record.
    All,
}

/// The selection of events.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// The audience.
    pub audience: Audience,
    /// If set, only events caused by this agent.
    pub from: Option<AgentId>,
    /// If set, only these kinds, regardless of their group.
    pub kinds: Option<BTreeSet<KindName>>,
    /// The groups, if `kinds` is not set.
    pub breadth: Breadth,
}

impl Filter {
    /// Returns the selected events of a record: its own event, and one more for the agent to which
    /// a reservation was passed on.
    pub(crate) fn events(&self, session: &str, session_uid: &str, record: &Record) -> Vec<Event> {
        let event = self.wants_kind(record.kind.name()).then(|| event(session, session_uid, record));
        let passed_on = following_assignment(session, session_uid, record);
        let passed_on = passed_on.filter(|event| self.wants_kind(event.kind));
        event.into_iter().chain(passed_on).filter(|event| self.wants(event)).collect()
    }

    /// Returns whether any event of a record is selected.
    pub(crate) fn matches(&self, record: &Record) -> bool {
        !self.events("", "", record).is_empty()
    }

    fn wants_kind(&self, kind: KindName) -> bool {
        if let Some(kinds) = &self.kinds {
            return kinds.contains(&kind);
        }
        match kind.group() {
            Group::Member | Group::Turn | Group::Talk | Group::Delegation => true,
            Group::System => {
                self.breadth == Breadth::All
                    || matches!(kind, KindName::DaemonStarted | KindName::LogRepaired)
            }
            Group::Run => self.breadth != Breadth::People,
            Group::Segment => self.breadth == Breadth::All,
        }
    }

    fn wants(&self, event: &Event) -> bool {
        let from = self.from.as_ref().is_none_or(|from| event.from.as_ref() == Some(from));
        let audience = match &self.audience {
            Audience::Any => true,
            Audience::Member(me) => {
                let to_all = event.scope == EventScope::Broadcast;
                event.to.as_ref() == Some(me) || (to_all && event.from.as_ref() != Some(me))
            }
            Audience::AddressedTo(agent) => event.to.as_ref() == Some(agent),
        };
        from && audience
    }
}

/// Creates the event for a record.
fn event(session: &str, session_uid: &str, record: &Record) -> Event {
    let mut fields = match serde_json::to_value(&record.kind) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    // The kind is already given by `type`, and the state of the turn belongs to `turn state`.
    fields.remove("kind");
    fields.remove("turnAfter");
    let [body, hint, handoff, reason] = ["body", "hint", "handoff", "reason"].map(|name| fields.remove(name));
    Event {
        v: VERSION,
        session: session.to_owned(),
        session_uid: session_uid.to_owned(),
        seq: record.seq,
        event_id: format!("{session_uid}:{}", record.seq),
        ts: record.ts,
        kind: record.kind.name(),
        turn_id: record.turn_id,
        from: record.agent.clone(),
        to: record.to.clone(),
        scope: match (record.bcast, &record.to) {
            (true, _) => EventScope::Broadcast,
            (false, Some(_)) => EventScope::Direct,
            (false, None) => EventScope::System,
        },
        body,
        hint,
        handoff,
        reason,
        payload: (!fields.is_empty()).then_some(Value::Object(fields)),
    }
}

/// Creates the event for the agent to which a turn was passed on because another agent was removed
/// or did not claim the turn in time. A member that leaves passes nothing on: its turn becomes
/// idle.
fn following_assignment(session: &str, session_uid: &str, record: &Record) -> Option<Event> {
    let after = match &record.kind {
        Kind::ReservationExpired(expired) => Some(&expired.turn_after),
        Kind::MemberKicked(kicked) => kicked.turn_after.as_ref(),
        _ => None,
    };
    let next = after?.reserved_for.clone()?;
    Some(Event {
        event_id: format!("{session_uid}:{}:next", record.seq),
        kind: KindName::TurnAssigned,
        from: None,
        to: Some(next),
        scope: EventScope::Direct,
        body: None,
        reason: Some("rerouted".into()),
        payload: None,
        ..event(session, session_uid, record)
    })
}

#[cfg(test)]
mod tests;
