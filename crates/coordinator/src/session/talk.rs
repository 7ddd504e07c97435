//! Messages and notes.

use super::authority::{SessionAuthority, State};
use crate::error;
use crate::participant::Participant;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::ops::ControlFlow;
use stickpin_device::{Error, ErrorCode, Result};
use stickpin_session::Timestamp;
use stickpin_session::log::{Kind, Message, MessageHint, NoteAdded, NoteResolved, Redacted, Redactor};
use stickpin_session::turn::{AgentId, Liveness, Now, TurnError, TurnPhase};
use stickpin_store::{Origin, Phase};

/// The name that addresses all members.
const ROOM: &str = "room";

/// A message that was written to the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sent {
    /// The `seq` of the message's record.
    pub seq: u64,
    /// The id of the message's event.
    pub event_id: String,
    /// How soon the message is likely to be read. Only a hint: the message is in the log in any
    /// case.
    pub delivery: Delivery,
}

/// How soon a message is likely to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Delivery {
    /// A recipient is connected and is reading the feed.
    Live,
    /// A recipient will read the message later.
    Stored,
    /// The harnesses of all recipients have ended.
    Unreachable,
}

/// A note and its state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Note {
    /// The number of the note.
    pub note_id: u64,
    /// The `seq` of the note's record.
    pub seq: u64,
    /// The wall time at which the note was added.
    pub ts: Timestamp,
    /// The author; `None` for the daemon.
    pub author: Option<AgentId>,
    /// The text of the note.
    pub body: Redacted,
    /// The turn that the note is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<u64>,
    /// Whether the note is resolved.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub resolved: bool,
}

/// The messages and notes of a session.
#[derive(Debug, Clone, Copy)]
pub struct Talk<'s>(pub &'s SessionAuthority);

impl Talk<'_> {
    /// Returns the member with the given id or display name.
    ///
    /// # Errors
    /// Returns `UNKNOWN_RECIPIENT` and `AMBIGUOUS_RECIPIENT`.
    pub fn member(&self, name: &str) -> Result<AgentId> {
        self.0.lock().find_member(&self.0.name, name, ErrorCode::UnknownRecipient)
    }

    /// Sends a message to a member, or to all members if the recipient is `room`. A sender that
    /// speaks as a member of the peer `from` need not be a member, and the message names the peer
    /// as its origin.
    ///
    /// # Errors
    /// Returns `UNKNOWN_MEMBER` for a sender that is not a member, `UNKNOWN_RECIPIENT`,
    /// `AMBIGUOUS_RECIPIENT`, `INVALID_BODY`, `MESSAGE_TOO_LARGE`, `SESSION_CLOSED`,
    /// `IDENTITY_AMBIGUOUS`, and errors from the log.
    pub fn send(
        &self,
        who: &Participant,
        from: Option<String>,
        to: &str,
        body: String,
        hint: MessageHint,
        redactor: &dyn Redactor,
    ) -> Result<Sent> {
        who.require_unambiguous()?;
        let from_session = from.filter(|peer| self.is_peer(peer));
        self.0.change(|state, now| {
            self.is_open(state)?;
            if from_session.is_none() {
                state.touch(who, now);
                state.require_member(&self.0.name, &who.agent)?;
            }
            let to = match to {
                ROOM => None,
                name => Some(state.find_member(&self.0.name, name, ErrorCode::UnknownRecipient)?),
            };
            let body = state.text(body, ErrorCode::MessageTooLarge, redactor)?;
            let origin = Origin { to: to.clone(), bcast: to.is_none(), ..State::origin(who, now) };
            let message = Message { body, hint, from_session };
            let seq = state.append(&origin, Kind::Message(message))?;
            let event_id = format!("{}:{seq}", state.log.meta().session_uid);
            let delivery = self.delivery(state, &who.agent, to.as_ref(), seq, now)?;
            Ok(Sent { seq, event_id, delivery })
        })
    }

    /// Adds a note, optionally about a turn. Returns the number of the note and the `seq` of its
    /// record.
    ///
    /// # Errors
    /// Returns `UNKNOWN_MEMBER` for an author that is not a member, `INVALID_BODY`,
    /// `BODY_TOO_LARGE`, `INVALID_TURN_ID` for a turn that has not begun, `SESSION_CLOSED`,
    /// `IDENTITY_AMBIGUOUS`, and errors from the log.
    pub fn add_note(
        &self,
        who: &Participant,
        body: String,
        turn: Option<u64>,
        redactor: &dyn Redactor,
    ) -> Result<(u64, u64)> {
        self.0.change_for(who, |state, now| {
            self.may_talk(state, who)?;
            let current = state.log.meta().turn.turn_id;
            if let Some(turn) = turn.filter(|turn| *turn > current) {
                let message = format!("session `{}` has no turn {turn} yet", self.0.name);
                return Err(Error::new(ErrorCode::InvalidTurnId, message)
                    .hint("run `stickpin turn state` to see the current turn")
                    .details(json!({ "turnId": current })));
            }
            let body = state.text(body, ErrorCode::BodyTooLarge, redactor)?;
            let note_id = state.last_note()? + 1;
            let note = NoteAdded { note_id, body, scope_turn: turn };
            let seq = state.append(&State::origin(who, now), Kind::NoteAdded(note))?;
            Ok((note_id, seq))
        })
    }

    /// Returns at most `limit` notes after the note `after`, oldest first. Unless `all` is set,
    /// omits resolved notes.
    ///
    /// # Errors
    /// Returns errors from reading the log.
    pub fn notes(&self, all: bool, after: u64, limit: usize) -> Result<Vec<Note>> {
        let state = self.0.lock();
        let open = &state.log.meta().open_notes.ids;
        let mut notes = Vec::new();
        if !all && open.is_empty() {
            return Ok(notes);
        }
        state.each_note(|note| {
            let resolved = !open.contains(&note.note_id);
            if note.note_id > after && (all || !resolved) {
                notes.push(Note { resolved, ..note });
            }
            notes.len() < limit
        })?;
        Ok(notes)
    }

    /// Marks a note as resolved. Only its author and the holder of the turn may do so. Returns the
    /// `seq` of the new record.
    ///
    /// # Errors
    /// Returns `NOTE_NOT_FOUND` for a note that does not exist or is already resolved,
    /// `NOT_YOUR_TURN`, `UNKNOWN_MEMBER`, `SESSION_CLOSED`, `IDENTITY_AMBIGUOUS`, and errors from
    /// the log.
    pub fn resolve_note(&self, who: &Participant, note_id: u64) -> Result<u64> {
        self.0.change_for(who, |state, now| {
            self.may_talk(state, who)?;
            if !state.log.meta().open_notes.ids.contains(&note_id) {
                let message = format!("session `{}` has no open note {note_id}", self.0.name);
                return Err(Error::new(ErrorCode::NoteNotFound, message)
                    .hint("run `stickpin notes list --all` to see all notes"));
            }
            let owner = state.log.meta().turn.owner.clone();
            if owner.as_ref() != Some(&who.agent) {
                let mut author = None;
                state.each_note(|note| {
                    let found = note.note_id == note_id;
                    author = note.author.filter(|_| found);
                    !found
                })?;
                if author.as_ref() != Some(&who.agent) {
                    let message =
                        format!("only the author or the owner of the turn can resolve note {note_id}");
                    return Err(Error::new(ErrorCode::NotYourTurn, message)
                        .hint("run `stickpin msg send room TEXT` to ask the author to resolve the note, or get the turn with `stickpin turn wait` first")
                        .details(json!({ "author": author, "owner": owner })));
                }
            }
            state.append(&State::origin(who, now), Kind::NoteResolved(NoteResolved { note_id }))
        })
    }

    /// Refuses an agent that is not a member, and a closed session.
    fn may_talk(&self, state: &State, who: &Participant) -> Result<()> {
        self.is_open(state)?;
        state.require_member(&self.0.name, &who.agent)
    }

    fn is_open(&self, state: &State) -> Result<()> {
        match state.log.meta().turn.state {
            TurnPhase::Closed => Err(self.0.turn_error(state, TurnError::Closed)),
            TurnPhase::Idle | TurnPhase::Owned | TurnPhase::Reserved => Ok(()),
        }
    }

    /// Returns how soon the message in the record `seq` is likely to be read.
    fn delivery(
        &self,
        state: &State,
        from: &AgentId,
        to: Option<&AgentId>,
        seq: u64,
        now: &Now,
    ) -> Result<Delivery> {
        let record = state.log.records_after(seq - 1, 1, Phase::Feed).map_err(error::of_store)?;
        let record = record.first();
        let is_for = |agent: &AgentId| to.map_or(agent != from, |to| agent == to);
        let reads = state
            .readers
            .iter()
            .any(|r| is_for(&r.agent) && record.is_some_and(|record| r.filter.matches(record)));
        let waits =
            state.waits.iter().any(|(agent, waits)| waits.iter().any(|wait| wait.reads) && is_for(agent));
        if reads || waits {
            return Ok(Delivery::Live);
        }
        let members = state.log.meta().members.iter().filter(|member| is_for(&member.agent_id));
        let liveness: Vec<_> = members.map(|member| state.presence_of(member, now).liveness).collect();
        let gone = !liveness.is_empty() && liveness.iter().all(|l| *l == Liveness::Gone);
        Ok(if gone { Delivery::Unreachable } else { Delivery::Stored })
    }
}

impl State {
    /// Checks the text of a message or note, and removes secrets from it.
    fn text(&self, body: String, too_large: ErrorCode, redactor: &dyn Redactor) -> Result<Redacted> {
        if body.trim().is_empty() {
            return Err(
                Error::new(ErrorCode::InvalidBody, "the text is empty or blank").hint("write some text")
            );
        }
        let most = self.log.meta().policy.max_text_bytes;
        if body.len() as u64 > most {
            let message = format!("the text is {} bytes long; the maximum is {most}", body.len());
            return Err(Error::new(too_large, message)
                .hint("write the text to a file, and give the path of the file instead"));
        }
        Ok(Redacted::new(body, redactor))
    }

    /// Returns the number of the newest note; 0 if there is none.
    fn last_note(&self) -> Result<u64> {
        let seq = self.log.meta().open_notes.max_note_seq;
        let Some(before) = seq.checked_sub(1) else { return Ok(0) };
        let records = self.log.records_after(before, 1, Phase::Feed).map_err(error::of_store)?;
        match records.first().map(|record| &record.kind) {
            Some(Kind::NoteAdded(note)) => Ok(note.note_id),
            _ => Err(Error::internal(format!("record {seq} is not the newest note"))),
        }
    }

    /// Visits the notes in order, until `visit` returns false.
    fn each_note(&self, mut visit: impl FnMut(Note) -> bool) -> Result<()> {
        let last = self.log.meta().open_notes.max_note_seq;
        let scanned = stickpin_store::scan(&self.log, 0, Phase::Feed, &mut |record| {
            if let Kind::NoteAdded(NoteAdded { note_id, body, scope_turn }) = &record.kind {
                let (seq, ts, author) = (record.seq, record.ts, record.agent.clone());
                let (body, turn_id) = (body.clone(), *scope_turn);
                let note = Note { note_id: *note_id, seq, ts, author, body, turn_id, resolved: false };
                if !visit(note) {
                    return ControlFlow::Break(());
                }
            }
            if record.seq < last { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        scanned.map_err(error::of_store)
    }
}
