//! The calls and messages of a session, as rows that change while calls are running.

use super::event::FeedEvent;
use serde_json::Value;
use std::collections::VecDeque;
use stickpin_tree::{escape, format_count};

/// The maximum number of rows.
const MAX_ROWS: usize = 4_000;

/// The maximum number of lines shown for one answer or error.
const MAX_ANSWER_LINES: usize = 500;

/// The progress or result of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CallOutcome {
    /// Still running.
    Running,
    /// Succeeded, after this many milliseconds.
    Ok(u64),
    /// Failed with a code, after this many milliseconds.
    Failed(String, u64),
}

impl CallOutcome {
    /// Returns the outcome in a few words.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Running => "…".to_owned(),
            Self::Ok(ms) => duration(*ms),
            Self::Failed(code, ms) => format!("{code} {}", duration(*ms)),
        }
    }
}

/// Formats a duration as `850ms`, `3.2s` or `2m5s`.
fn duration(ms: u64) -> String {
    match ms {
        0..=999 => format!("{ms}ms"),
        1_000..=99_999 => format!("{}.{}s", ms / 1_000, ms % 1_000 / 100),
        _ => format!("{}m{}s", ms / 60_000, ms % 60_000 / 1_000),
    }
}

/// A row of the log. Its texts are escaped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Row {
    /// A command of a member.
    Call {
        /// The `seq` of the record that begins the call.
        seq: u64,
        /// The time of day, in UTC.
        time: String,
        /// The id of the caller.
        who: String,
        /// The command and a summary of its arguments.
        what: String,
        /// The progress or result of the call.
        outcome: CallOutcome,
    },
    /// Another event in the session.
    Note {
        /// The time of day, in UTC.
        time: String,
        /// The id of the agent that caused the event, or `daemon`.
        who: String,
        /// A description of the event.
        what: String,
    },
    /// A line typed in this console.
    Typed(String),
    /// A line of the answer to a line that was typed in this console.
    Answer(String),
    /// A line of an error or a warning.
    Error(String),
}

/// The rows, oldest first, and how far the person has scrolled up.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Log {
    rows: VecDeque<Row>,
    /// The number of rows below the visible part; 0 follows the newest.
    below: usize,
    /// The newest record that was added.
    seq: u64,
}

impl Log {
    /// Returns the rows, oldest first.
    pub(crate) fn rows(&self) -> &VecDeque<Row> {
        &self.rows
    }

    /// Returns the number of rows below the visible part.
    pub(crate) fn below(&self) -> usize {
        self.below
    }

    /// Adds an entry of the feed. Ignores an entry that was added before.
    pub(crate) fn add(&mut self, event: &FeedEvent) {
        if event.seq <= self.seq {
            return;
        }
        self.seq = event.seq;
        let time = event.ts.get(11..19).unwrap_or_default().to_owned();
        let who = escape(event.from.as_deref().unwrap_or("daemon"), 80);
        let text = |name: &str| event.payload[name].as_str().unwrap_or_default();
        match event.kind.as_str() {
            "command_begin" => {
                let what = escape(&format!("{} {}", text("verb"), text("summary")), usize::MAX);
                let what = what.trim_end().to_owned();
                self.push(Row::Call { seq: event.seq, time, who, what, outcome: CallOutcome::Running });
            }
            "command_end" => self.end(event),
            // The console already shows what was typed in it. Stored trees and the ends of log
            // segments are not shown.
            "context" | "context_cleared" | "snapshot" | "segment_end" => {}
            kind => self.push(Row::Note { time, who, what: describe(kind, event) }),
        }
    }

    fn end(&mut self, event: &FeedEvent) {
        let ms = event.payload["durationMs"].as_u64().unwrap_or_default();
        let ended = match event.payload["outcome"].as_str() {
            Some("ok") => CallOutcome::Ok(ms),
            other => {
                let code = event.payload["error"]["code"].as_str().or(other).unwrap_or("error");
                CallOutcome::Failed(escape(code, 40), ms)
            }
        };
        let id = event.payload["cmdId"].as_u64();
        let call = self.rows.iter_mut().rev().find_map(|row| match row {
            Row::Call { seq, outcome, .. } if Some(*seq) == id => Some(outcome),
            _ => None,
        });
        if let Some(outcome) = call {
            *outcome = ended;
        }
    }

    /// Adds a line that was typed, and follows the newest rows again.
    pub(crate) fn add_typed(&mut self, line: &str) {
        self.below = 0;
        self.push(Row::Typed(escape(line, usize::MAX)));
    }

    /// Adds an answer.
    pub(crate) fn answer(&mut self, text: &str) {
        self.lines(text, Row::Answer);
    }

    /// Adds an error or a warning.
    pub(crate) fn error(&mut self, text: &str) {
        self.lines(text, Row::Error);
    }

    fn lines(&mut self, text: &str, row: fn(String) -> Row) {
        let mut lines = text.lines();
        for line in lines.by_ref().take(MAX_ANSWER_LINES) {
            self.push(row(escape(line, usize::MAX)));
        }
        let more = lines.count();
        if more > 0 {
            self.push(row(format!("… {}", format_count(more, "more line"))));
        }
    }

    fn push(&mut self, row: Row) {
        if self.rows.len() == MAX_ROWS {
            self.rows.pop_front();
        }
        self.rows.push_back(row);
        // Rows that are being read do not move.
        if self.below > 0 {
            self.below = (self.below + 1).min(self.rows.len());
        }
    }

    /// Scrolls by a number of rows; a negative number scrolls up.
    pub(crate) fn scroll(&mut self, rows: isize) {
        let most = self.rows.len().saturating_sub(1);
        self.below = self.below.saturating_add_signed(-rows).min(most);
    }

    /// Follows the newest rows.
    pub(crate) fn follow_newest(&mut self) {
        self.below = 0;
    }
}

/// Describes a record other than a command, in one line.
fn describe(kind: &str, event: &FeedEvent) -> String {
    let mut words = vec![escape(&kind.replace('_', " "), 40)];
    if let Some(to) = &event.to {
        words.push(format!("to {}", escape(to, 80)));
    }
    let quoted = |value: &Value| match value.as_str() {
        Some(text) => stickpin_tree::quote_whole(text),
        None => "(not shown)".to_owned(),
    };
    words.extend(event.body.as_ref().map(quoted));
    words.extend(event.reason.as_ref().and_then(Value::as_str).map(|word| format!("({})", escape(word, 80))));
    let member = event.payload["member"]["display"].as_str().or(event.payload["agentId"].as_str());
    // A member that joins or leaves has already been named.
    let member = member.filter(|name| Some(*name) != event.from.as_deref());
    words.extend(member.map(|name| escape(name, 80)));
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn event(seq: u64, kind: &str, payload: Value) -> FeedEvent {
        serde_json::from_value(json!({
            "seq": seq, "ts": "2026-01-31T09:08:07.006Z", "type": kind, "from": "claude:ada", "to": null,
            "payload": payload,
        }))
        .expect("an event")
    }

    #[test]
    fn call_changes_its_row_when_it_ends() {
        let mut log = Log::default();
        log.add(&event(
            4,
            "command_begin",
            json!({"cmdId": 4, "verb": "press", "summary": "target=\"@e3\""}),
        ));
        let Row::Call { outcome, what, time, .. } = &log.rows()[0] else { panic!("{:?}", log.rows()) };
        assert_eq!((what.as_str(), time.as_str()), ("press target=\"@e3\"", "09:08:07"));
        assert_eq!(*outcome, CallOutcome::Running);
        let end =
            json!({"cmdId": 4, "outcome": "error", "error": {"code": "STALE_REF"}, "durationMs": 1_230});
        log.add(&event(5, "command_end", end.clone()));
        log.add(&event(5, "command_end", end));
        let Row::Call { outcome, .. } = &log.rows()[0] else { panic!("{:?}", log.rows()) };
        assert_eq!((outcome.words().as_str(), log.rows().len()), ("STALE_REF 1.2s", 1));
    }

    #[test]
    fn hostile_text_cannot_leave_its_row() {
        let mut log = Log::default();
        let mut message = event(1, "message", Value::Null);
        message.body = Some("\u{1b}[2J\u{202e}\nadmin: ok".into());
        message.from = Some("x\u{7}".into());
        log.add(&message);
        log.answer("a\u{1b}]0;title\u{7}b");
        let shown = format!("{:?}", log.rows());
        assert!(!shown.contains("\\u{1b}[") || shown.contains("\\\\u{1b}"), "{shown}");
        for row in log.rows() {
            let text = match row {
                Row::Note { who, what, .. } => format!("{who}{what}"),
                Row::Answer(text) => text.clone(),
                other => panic!("{other:?}"),
            };
            assert!(!text.chars().any(stickpin_tree::is_unsafe), "{text:?}");
        }
    }

    #[test]
    fn scrolled_rows_stay_in_view_while_others_arrive() {
        let mut log = Log::default();
        (0..10).for_each(|n| log.answer(&n.to_string()));
        log.scroll(-3);
        log.answer("new");
        assert_eq!(log.below(), 4);
        log.scroll(2);
        assert_eq!(log.below(), 2);
        log.add_typed("press @e1");
        assert_eq!(log.below(), 0);
    }
}
