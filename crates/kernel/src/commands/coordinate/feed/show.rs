//! The feed and the log as text.

use super::{EventsOutput, FeedStatus, SessionLogOutput};
use crate::api::render::{Cell, Show, Text, json_excerpt, json_name};
use crate::commands::coordinate::claim::{CLOSED, NOT_YET};
use serde_json::Value;
use std::collections::BTreeSet;
use stickpin_coordinator::{Event, EventScope};
use stickpin_session::log::KindName;
use stickpin_tree::{escape, quote_whole};

impl Show for EventsOutput {
    fn exit(&self) -> u8 {
        match self.status {
            FeedStatus::Ok => 0,
            FeedStatus::NotYet => NOT_YET,
            FeedStatus::Closed => CLOSED,
        }
    }

    fn show(&self, text: &mut Text) {
        show_events(&self.events, !self.cursors.is_empty(), text);
        self.show_cursor(text);
    }
}

impl EventsOutput {
    fn show_cursor(&self, text: &mut Text) {
        text.cursor(&json_name(&self.status), self.cursor_seq, &self.cursors);
    }
}

/// Prints one line per event. `sessions` adds the name of the session to each line.
pub(in crate::commands::coordinate) fn show_events(events: &[Event], sessions: bool, text: &mut Text) {
    for event in events {
        let to = match (event.scope, &event.to) {
            (EventScope::Direct, Some(to)) => format!(" -> {to}"),
            (EventScope::Broadcast, _) => " -> room".to_owned(),
            _ => String::new(),
        };
        let (seq, at, from) = (event.seq, clock(event), from(event));
        let session = if sessions { format!("{} ", event.session) } else { String::new() };
        text.line(format_args!("{session}{seq} {at} {from}{to}: {}", describe(event)));
    }
}

impl Show for SessionLogOutput {
    fn exit(&self) -> u8 {
        self.0.exit()
    }

    /// Prints one row per log record, except that the beginning of a command is omitted if its end
    /// is shown.
    fn show(&self, text: &mut Text) {
        let events = &self.0.events;
        let ended: BTreeSet<u64> = events
            .iter()
            .filter(|event| event.kind == KindName::CommandEnd)
            .filter_map(|event| number(event, "cmdId"))
            .collect();
        let shown = events.iter().filter(|e| e.kind != KindName::CommandBegin || !ended.contains(&e.seq));
        let rows = shown.map(|event| {
            let (what, detail) = match string(event, "verb") {
                Some(verb) => (verb.to_owned(), string(event, "summary").unwrap_or_default().to_owned()),
                None => (event.kind.as_str().to_owned(), details(event).join(" ")),
            };
            vec![
                Cell::Word(event.seq.to_string()),
                Cell::Word(clock(event)),
                Cell::Word(from(event)),
                Cell::Word(escape(&what, usize::MAX)),
                Cell::Prose(escape(&detail, usize::MAX)),
                Cell::Word(outcome(event).unwrap_or_default()),
            ]
        });
        text.table(&rows.collect::<Vec<_>>(), "  ");
        self.0.show_cursor(text);
    }
}

/// Returns an event's time of day in UTC.
fn clock(event: &Event) -> String {
    event.ts.to_string().get(11..19).unwrap_or_default().to_owned()
}

fn from(event: &Event) -> String {
    event.from.as_ref().map_or_else(|| "daemon".to_owned(), ToString::to_string)
}

fn field<'e>(event: &'e Event, name: &str) -> Option<&'e Value> {
    event.payload.as_ref()?.get(name)
}

fn string<'e>(event: &'e Event, name: &str) -> Option<&'e str> {
    field(event, name)?.as_str()
}

fn number(event: &Event, name: &str) -> Option<u64> {
    field(event, name)?.as_u64()
}

/// Describes an event in one line.
fn describe(event: &Event) -> String {
    let mut words = vec![event.kind.as_str().to_owned()];
    if let Some(verb) = string(event, "verb") {
        words.push(escape(&format!("{verb} {}", string(event, "summary").unwrap_or_default()), usize::MAX));
    }
    words.extend(details(event));
    words.extend(outcome(event));
    words.join(" ").trim_end().to_owned()
}

/// Returns the details of an event, apart from a command's name, summary and outcome. Quotes texts
/// that agents wrote.
fn details(event: &Event) -> Vec<String> {
    let mut words = Vec::new();
    words.extend(number(event, "noteId").map(|id| format!("note {id}")));
    let tree = number(event, "generation").filter(|_| event.kind == KindName::Snapshot);
    words.extend(tree.map(|generation| format!("s{generation}")));
    words.extend(event.hint.as_ref().filter(|hint| *hint == "interrupt").map(|_| "(interrupt)".to_owned()));
    words.extend(event.body.as_ref().map(quote_text));
    for (name, word) in [("status", "done"), ("nextAction", "next")] {
        let said = event.handoff.as_ref().and_then(|handoff| handoff.get(name));
        words.extend(said.map(|said| format!("{word} {}", quote_text(said))));
    }
    words.extend(event.reason.as_ref().map(|reason| match reason.as_str() {
        Some(word) if word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_') => format!("({word})"),
        _ => quote_text(reason),
    }));
    words.extend(field(event, "note").map(quote_text));
    let member = field(event, "member").and_then(|member| member.get("display"));
    words.extend(member.or_else(|| field(event, "agentId")).map(quote_text));
    words
}

/// Describes how a command ended and how long it took, or returns `None` if the event has no
/// outcome.
fn outcome(event: &Event) -> Option<String> {
    let outcome = string(event, "outcome")?;
    let code = field(event, "error").and_then(|error| error.get("code")?.as_str()).unwrap_or(outcome);
    let late = if field(event, "late") == Some(&Value::Bool(true)) { ", late" } else { "" };
    Some(format!("{code} in {} ms{late}", number(event, "durationMs").unwrap_or_default()))
}

/// Quotes a text that came from an agent.
fn quote_text(value: &Value) -> String {
    value.as_str().map_or_else(|| escape(&json_excerpt(value), usize::MAX), quote_whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::request::Render;

    fn shown(output: &EventsOutput, cursor: bool) -> String {
        let mut text = Text::new(&Render { cursor, ..Render::default() });
        output.show(&mut text);
        text.finish()
    }

    #[test]
    fn wait_in_vain_names_status_and_cursor_to_readers_without_another_place_for_them() {
        let mut output = EventsOutput {
            status: FeedStatus::NotYet,
            events: Vec::new(),
            cursor_seq: Some(44),
            cursors: [].into(),
            closed: false,
        };
        assert_eq!(shown(&output, true), "status not_yet, cursorSeq 44");
        assert_eq!(shown(&output, false), "");
        (output.cursor_seq, output.cursors) = (None, [("mail".into(), 3), ("shop".into(), 44)].into());
        assert_eq!(shown(&output, true), "status not_yet, cursor mail=3, cursor shop=44");
    }
}
