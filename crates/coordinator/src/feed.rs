//! The feed: what happened in a session, as its members read it. A filtered view of the log;
//! reading it grants nothing and renews nothing.

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
    /// The session.
    pub session: String,
    /// The session over all its names and lifetimes.
    pub session_uid: String,
    /// The record that the event is made from, and the cursor behind it.
    pub seq: u64,
    /// Unique, for readers that get an event twice.
    pub event_id: String,
    /// When, in wall time.
    pub ts: Timestamp,
    /// What happened.
    #[serde(rename = "type")]
    pub kind: KindName,
    /// The turn in which it happened.
    pub turn_id: u64,
    /// Who did it; `None` for the daemon.
    pub from: Option<AgentId>,
    /// Whom it concerns.
    pub to: Option<AgentId>,
    /// For whom it is.
    pub scope: EventScope,
    /// The text of a message or note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
    /// How urgent a message is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<Value>,
    /// What the holder of the turn tells the next one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handoff: Option<Value>,
    /// Why it happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Value>,
    /// Everything else that the record says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Value>,
}

/// For whom an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EventScope {
    /// For one agent.
    Direct,
    /// For all members.
    Broadcast,
    /// For nobody in particular.
    System,
}

/// Whose events are wanted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Audience {
    /// Everyone's.
    #[default]
    Any,
    /// Those that this agent has to know: addressed to it, or to all by somebody else.
    Member(AgentId),
    /// Those that are addressed to this agent.
    AddressedTo(AgentId),
}

/// Which groups of records are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Breadth {
    /// Members, turns, messages, notes, delegation, and what happened to the host and the log.
    #[default]
    People,
    /// Commands and snapshots as well.
    Run,
    /// Every record.
    All,
}

/// Which events are wanted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// Whose.
    pub audience: Audience,
    /// Only those of this agent.
    pub from: Option<AgentId>,
    /// Only these kinds, of whatever group they are.
    pub kinds: Option<BTreeSet<KindName>>,
    /// Which groups, where no kinds are named.
    pub breadth: Breadth,
}

impl Filter {
    /// Returns the events of a record that are wanted: one, or also that of the agent to which a
    /// reservation was passed on.
    pub(crate) fn events(&self, session: &str, session_uid: &str, record: &Record) -> Vec<Event> {
        let event = self.wants_kind(record.kind.name()).then(|| event(session, session_uid, record));
        let passed_on = passed_on(session, session_uid, record);
        let passed_on = passed_on.filter(|event| self.wants_kind(event.kind));
        event.into_iter().chain(passed_on).filter(|event| self.wants(event)).collect()
    }

    /// Whether any event of a record is wanted.
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

/// Makes the event of a record.
fn event(session: &str, session_uid: &str, record: &Record) -> Event {
    let mut fields = match serde_json::to_value(&record.kind) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    // Named by `type`, and the business of `turn state`.
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

/// Makes the event of the agent for which a turn is reserved now because another one missed it.
fn passed_on(session: &str, session_uid: &str, record: &Record) -> Option<Event> {
    let after = match &record.kind {
        Kind::ReservationExpired(expired) => Some(&expired.turn_after),
        Kind::MemberLeft(left) => left.turn_after.as_ref(),
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
