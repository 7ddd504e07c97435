//! `msg send`, `notes add`, `notes list`, `notes resolve`: messages and notes between agents.

use crate::commands::prelude::*;
use stickpin_coordinator::{Delivery, Note, Talk};
use stickpin_session::log::MessageHint;
use stickpin_tree::quote_whole;

/// The maximum number of notes in a response.
pub(super) const MAX_NOTES: usize = 200;

/// Send a message to a member, or to all members with `room`.
///
/// A message is for immediate communication. Use a note (`notes add`) for what must outlast the
/// handoff, and `turn release` to hand over work.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MsgSend {
    /// The agent id or display name of the member, or `room` for all.
    #[schemars(extend("x-positional" = 0))]
    pub to: String,
    /// The text, by default at most 16 KiB. Several words are joined by spaces.
    #[schemars(length(min = 1), extend("x-positional" = 1, "x-trailing" = true, "x-text" = true, "x-stdin" = true))]
    pub body: Vec<String>,
    /// Ask the recipient to read the message soon. Grants nothing.
    #[serde(default)]
    pub interrupt: bool,
}

/// Add a note that stays open in the session until it is resolved.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NotesAdd {
    /// The text, by default at most 16 KiB. Several words are joined by spaces.
    #[schemars(length(min = 1), extend("x-positional" = 0, "x-trailing" = true, "x-text" = true, "x-stdin" = true))]
    pub body: Vec<String>,
    /// The turn that the note is about.
    pub turn: Option<u64>,
}

/// List the notes that nobody has resolved, oldest first.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct NotesList {
    /// Also list resolved notes.
    pub all: bool,
    /// Start after this note.
    #[schemars(extend("x-placeholder" = "NOTE"))]
    pub after: Option<u64>,
    /// Maximum number of notes, at most 200 (default 50).
    pub limit: Option<usize>,
}

/// Resolve a note. Only its author and the owner of the turn can do so.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NotesResolve {
    /// The number of the note.
    #[schemars(extend("x-positional" = 0))]
    pub note: u64,
}

/// A message that was written to the log.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MsgSendOutput {
    /// Always `sent`.
    pub status: String,
    /// The name of the session.
    pub session: String,
    /// The number of the log record of the message.
    pub seq: u64,
    /// The id of the event that readers get.
    pub event_id: String,
    /// How soon the message is likely to be read. Only a hint: the message is stored in any case.
    pub delivery: Delivery,
}

/// A note that was written to the log.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NotesAddOutput {
    /// Always `added`.
    pub status: String,
    /// The name of the session.
    pub session: String,
    /// The number of the note.
    pub note_id: u64,
    /// The number of the log record of the note.
    pub seq: u64,
}

/// Notes, oldest first.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NotesListOutput {
    /// The name of the session.
    pub session: String,
    /// The listed notes, oldest first.
    pub notes: Vec<Note>,
}

/// A note that was resolved.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NotesResolveOutput {
    /// Always `resolved`.
    pub status: String,
    /// The name of the session.
    pub session: String,
    /// The number of the note.
    pub note_id: u64,
    /// The number of the log record of the resolution.
    pub seq: u64,
}

impl Command for MsgSend {
    const SPEC: Spec = Spec {
        name: "msg send",
        examples: &[
            "stickpin msg send codex:d4bc2492 'the cart is filled'",
            "stickpin msg send room 'the shop is down' --interrupt",
        ],
        ..Spec::COORDINATION
    };
    type Output = MsgSendOutput;

    async fn run(self, cx: &mut Cx) -> Result<MsgSendOutput> {
        let (session, who) = authority::require(cx)?;
        let hint = if self.interrupt { MessageHint::Interrupt } else { MessageHint::Normal };
        let redactor = authority::redactor(cx);
        // A caller that is not a member may still be a member of a peer session, and then speaks
        // for that session.
        let from = cx.host.config.coordinator.as_ref().and_then(|c| c.peer_through(&who, session.name()));
        let (to, body) = (&self.to, self.body.join(" "));
        let sent = Talk(&session).send(&who, from, to, body, hint, &redactor)?;
        Ok(MsgSendOutput {
            status: "sent".to_owned(),
            session: session.name().to_owned(),
            seq: sent.seq,
            event_id: sent.event_id,
            delivery: sent.delivery,
        })
    }
}

impl Command for NotesAdd {
    const SPEC: Spec = Spec {
        name: "notes add",
        examples: &["stickpin notes add 'the test card is declined on Sundays'"],
        ..Spec::COORDINATION
    };
    type Output = NotesAddOutput;

    async fn run(self, cx: &mut Cx) -> Result<NotesAddOutput> {
        let (session, who) = authority::require(cx)?;
        let redactor = authority::redactor(cx);
        let (note_id, seq) = Talk(&session).add_note(&who, self.body.join(" "), self.turn, &redactor)?;
        let session = session.name().to_owned();
        Ok(NotesAddOutput { status: "added".to_owned(), session, note_id, seq })
    }
}

impl Command for NotesList {
    const SPEC: Spec = Spec {
        name: "notes list",
        examples: &["stickpin notes list", "stickpin notes list --all --limit 200"],
        ..Spec::HOST
    };
    type Output = NotesListOutput;

    async fn run(self, cx: &mut Cx) -> Result<NotesListOutput> {
        let (session, _) = authority::require(cx)?;
        let limit = self.limit.unwrap_or(50).clamp(1, MAX_NOTES);
        let notes = Talk(&session).notes(self.all, self.after.unwrap_or(0), limit)?;
        Ok(NotesListOutput { session: session.name().to_owned(), notes })
    }
}

impl Command for NotesResolve {
    const SPEC: Spec =
        Spec { name: "notes resolve", examples: &["stickpin notes resolve 3"], ..Spec::COORDINATION };
    type Output = NotesResolveOutput;

    async fn run(self, cx: &mut Cx) -> Result<NotesResolveOutput> {
        let (session, who) = authority::require(cx)?;
        let seq = Talk(&session).resolve_note(&who, self.note)?;
        let session = session.name().to_owned();
        Ok(NotesResolveOutput { status: "resolved".to_owned(), session, note_id: self.note, seq })
    }
}

impl Show for MsgSendOutput {
    fn show(&self, text: &mut Text) {
        let delivery = match self.delivery {
            Delivery::Live => "a recipient is connected",
            Delivery::Stored => "it can be read later",
            Delivery::Unreachable => "the harness of every recipient has ended",
        };
        text.line(format_args!("sent as record {} of {}: {delivery}", self.seq, self.session));
    }
}

show_line!(NotesAddOutput: it => "added note {} to {}", it.note_id, it.session);

impl Show for NotesListOutput {
    fn show(&self, text: &mut Text) {
        if self.notes.is_empty() {
            text.line("no notes");
        }
        show_notes(&self.notes, text);
    }
}

/// Prints one line per note.
pub(super) fn show_notes<'n>(notes: impl IntoIterator<Item = &'n Note>, text: &mut Text) {
    for note in notes {
        let author = note.author.as_ref().map_or_else(String::new, |author| format!(" by {author}"));
        let turn = note.turn_id.map_or_else(String::new, |turn| format!(" about turn {turn}"));
        let resolved = if note.resolved { ", resolved" } else { "" };
        let body = note.body.text().map_or_else(|| "(a secret)".to_owned(), quote_whole);
        text.line(format_args!("{}{author}{turn}{resolved}: {body}", note.note_id));
    }
}

show_line!(NotesResolveOutput: it => "resolved note {} of {}", it.note_id, it.session);
