//! The log of a session as viewers see it: one entry per command, and one per event about something
//! else, such as a message or the turn.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::VecDeque;
use stickpin_kernel::commands::frame::FrameReceiptLine;

/// The maximum number of kept entries.
pub(crate) const MAX_ENTRIES: usize = 2_000;

/// The visible part of an event in the feed.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Event {
    pub(crate) seq: u64,
    pub(crate) ts: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) from: Option<String>,
    pub(crate) to: Option<String>,
    pub(crate) body: Option<Value>,
    pub(crate) handoff: Option<Value>,
    pub(crate) reason: Option<Value>,
    pub(crate) payload: Option<Value>,
}

impl Event {
    /// Returns whether the event may be about the turn, because it is not about a command or a
    /// command's tree.
    pub(crate) fn is_about_turn(&self) -> bool {
        !matches!(self.kind.as_str(), "command_begin" | "command_end" | "snapshot")
    }
}

/// A tree that a command stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StoredTree {
    /// The log entry id of the command that stored the tree.
    pub(crate) command: u64,
    /// The name of the command that stored the tree.
    pub(crate) what: String,
    /// The time of the capture.
    pub(crate) at: String,
    #[serde(skip)]
    pub(crate) blob: String,
    #[serde(skip)]
    pub(crate) bytes: u64,
}

/// The progress of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Outcome {
    Running,
    Ok,
    Error,
    Interrupted,
}

/// An entry of the log.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LogEntry {
    /// The `seq` of the entry's first record.
    pub(crate) id: u64,
    pub(crate) at: String,
    pub(crate) who: String,
    /// The kind of the record, or the name of the command.
    pub(crate) what: String,
    pub(crate) detail: String,
    /// The progress of the command; absent for other records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) outcome: Option<Outcome>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) duration_ms: Option<u64>,
    pub(crate) receipt: Vec<FrameReceiptLine>,
    /// The name of the screenshot taken after the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) picture: Option<String>,
    /// The tree that the command stored.
    #[serde(skip)]
    pub(crate) tree: Option<StoredTree>,
    /// The version of the board at the last change of the entry.
    #[serde(skip)]
    pub(crate) version: u64,
}

/// The newest entries, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Log {
    entries: VecDeque<LogEntry>,
    /// The version at which all entries were last removed.
    cleared: u64,
}

impl Log {
    /// Adds an entry for an event, or completes the entry of the command that the event belongs to.
    pub(crate) fn add(&mut self, event: &Event, version: u64) {
        match event.kind.as_str() {
            "command_end" => self.end(event, version),
            "snapshot" => self.add_tree(event),
            _ => self.push(entry(event, version)),
        }
    }

    /// Applies `change` to an entry, if the log still has it. If `change` returns true, viewers
    /// receive the entry again.
    pub(crate) fn change(&mut self, id: u64, version: u64, change: impl FnOnce(&mut LogEntry) -> bool) {
        if let Ok(at) = self.entries.binary_search_by_key(&id, |entry| entry.id)
            && change(&mut self.entries[at])
        {
            self.entries[at].version = version;
        }
    }

    /// Returns the id of the last command.
    pub(crate) fn last_command(&self) -> Option<u64> {
        self.entries.iter().rev().find(|entry| entry.outcome.is_some()).map(|entry| entry.id)
    }

    /// Returns the tree that a command stored or, if it stored no tree, the last tree stored
    /// before.
    pub(crate) fn tree_at(&self, id: u64) -> Option<&StoredTree> {
        self.entries.iter().rev().filter(|entry| entry.id <= id).find_map(|entry| entry.tree.as_ref())
    }

    /// Returns whether an entry is a command.
    pub(crate) fn is_command(&self, id: u64) -> bool {
        let at = self.entries.binary_search_by_key(&id, |entry| entry.id);
        at.is_ok_and(|at| self.entries[at].outcome.is_some())
    }

    /// Adds a stored tree to the last command that began before the tree was captured. The record
    /// of a tree may follow later commands and has the time of the capture.
    fn add_tree(&mut self, event: &Event) {
        let begun = |entry: &&mut LogEntry| entry.outcome.is_some() && entry.at <= event.ts;
        let Some(entry) = self.entries.iter_mut().rev().find(begun) else { return };
        let field =
            |path: &[&str]| path.iter().try_fold(event.payload.as_ref()?, |value, name| value.get(name));
        let blob = field(&["blob", "blob"]).and_then(Value::as_str);
        let bytes = field(&["blob", "bytes"]).and_then(Value::as_u64);
        if let (Some(blob), Some(bytes)) = (blob, bytes) {
            entry.tree = Some(StoredTree {
                command: entry.id,
                what: entry.what.clone(),
                at: event.ts.clone(),
                blob: blob.to_owned(),
                bytes,
            });
        }
    }

    /// Removes all entries, because the session now has a different log.
    pub(crate) fn clear(&mut self, version: u64) {
        self.entries.clear();
        self.cleared = version;
    }

    /// Returns whether a reader must discard the entries that it has, and the entries that changed
    /// after a version.
    pub(crate) fn changes(&self, seen: u64) -> (bool, Vec<&LogEntry>) {
        (self.cleared > seen, self.entries.iter().filter(|entry| entry.version > seen).collect())
    }

    fn push(&mut self, entry: LogEntry) {
        if self.entries.back().is_some_and(|last| last.id >= entry.id) {
            return;
        }
        if self.entries.len() == MAX_ENTRIES {
            self.entries.pop_front();
        }
        self.entries.push_back(entry);
    }

    fn end(&mut self, event: &Event, version: u64) {
        let payload = event.payload.as_ref();
        let field = |name: &str| payload.and_then(|payload| payload.get(name));
        let Some(id) = field("cmdId").and_then(Value::as_u64) else { return };
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let error = field("error").map(|error| {
            let part = |name: &str| error.get(name).map(text).unwrap_or_default();
            format!("{}: {}", part("code"), part("message"))
        });
        let outcome = match field("outcome").and_then(Value::as_str) {
            Some("ok") => Outcome::Ok,
            Some("interrupted") => Outcome::Interrupted,
            _ => Outcome::Error,
        };
        let duration_ms = field("durationMs").and_then(Value::as_u64);
        self.change(id, version, |entry| {
            (entry.outcome, entry.error, entry.duration_ms) = (Some(outcome), error, duration_ms);
            true
        });
    }
}

fn entry(event: &Event, version: u64) -> LogEntry {
    let field = |name: &str| event.payload.as_ref()?.get(name)?.as_str().map(str::to_owned);
    let is_command = event.kind == "command_begin";
    let what = field("verb").filter(|_| is_command).unwrap_or_else(|| event.kind.replace('_', " "));
    let detail = if is_command { field("summary").unwrap_or_default() } else { describe(event) };
    LogEntry {
        id: event.seq,
        at: event.ts.clone(),
        who: event.from.clone().unwrap_or_else(|| "daemon".to_owned()),
        what,
        detail,
        outcome: is_command.then_some(Outcome::Running),
        error: None,
        duration_ms: None,
        receipt: Vec::new(),
        picture: None,
        tree: None,
        version,
    }
}

/// Returns the content of an event that is not about a command, as text.
fn describe(event: &Event) -> String {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut parts: Vec<String> = Vec::new();
    parts.extend(event.to.as_ref().map(|to| format!("to {to}")));
    parts.extend(event.body.as_ref().map(text));
    for (name, word) in [("status", "done"), ("nextAction", "next")] {
        let said = event.handoff.as_ref().and_then(|handoff| handoff.get(name));
        parts.extend(said.map(|said| format!("{word}: {}", text(said))));
    }
    parts.extend(event.reason.as_ref().map(text));
    let member = event.payload.as_ref().and_then(|payload| payload.get("member")?.get("display")?.as_str());
    parts.extend(member.map(str::to_owned));
    parts.join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn event(seq: u64, kind: &str, payload: Value) -> Event {
        Event { seq, kind: kind.to_owned(), payload: Some(payload), ..Event::default() }
    }

    #[test]
    fn command_is_one_entry() {
        let mut log = Log::default();
        log.add(
            &event(7, "command_begin", json!({"cmdId": 7, "verb": "press", "summary": "target=\"@e3\""})),
            1,
        );
        assert_eq!(log.changes(0).1[0].outcome, Some(Outcome::Running));
        let end = json!({"cmdId": 7, "outcome": "error", "durationMs": 12,
            "error": {"code": "STALE_REF", "message": "gone"}});
        log.add(&event(8, "command_end", end), 2);
        let (_, changed) = log.changes(1);
        let [entry] = changed[..] else { panic!("{changed:?}") };
        assert_eq!((entry.id, entry.outcome, entry.duration_ms), (7, Some(Outcome::Error), Some(12)));
        assert_eq!((entry.what.as_str(), entry.error.as_deref()), ("press", Some("STALE_REF: gone")));
        assert!(log.changes(2).1.is_empty());
    }

    #[test]
    fn records_about_people_say_what_was_said() {
        let release = Event {
            handoff: Some(json!({"status": "cart filled", "nextAction": "pay"})),
            from: Some("claude:ada".to_owned()),
            ..event(3, "turn_released", json!({}))
        };
        let mut log = Log::default();
        log.add(&release, 1);
        let entry = log.changes(0).1[0].clone();
        assert_eq!(
            (entry.what.as_str(), entry.detail.as_str()),
            ("turn released", "done: cart filled · next: pay")
        );
    }

    #[test]
    fn stored_tree_belongs_to_the_command_that_captured_it() {
        let begin = |seq, ts: &str| Event {
            ts: ts.to_owned(),
            ..event(seq, "command_begin", json!({"cmdId": seq, "verb": format!("v{seq}")}))
        };
        let tree = |seq, ts: &str| Event {
            ts: ts.to_owned(),
            ..event(seq, "snapshot", json!({"generation": seq, "blob": {"blob": "sha256:0", "bytes": 3}}))
        };
        let mut log = Log::default();
        log.add(&begin(1, "10:00:01"), 1);
        log.add(&begin(3, "10:00:03"), 1);
        log.add(&begin(5, "10:00:05"), 1);
        // Written after the next command began.
        log.add(&tree(6, "10:00:04"), 1);
        assert_eq!(log.tree_at(1), None);
        for id in [3, 5, 9] {
            let at = log.tree_at(id).expect("a tree");
            assert_eq!((at.what.as_str(), at.command), ("v3", 3), "{id}");
        }
        log.add(&tree(7, "09:00:00"), 1);
        assert_eq!(log.tree_at(1), None, "no command had begun");
    }

    #[test]
    fn log_is_bounded_and_takes_no_entry_twice() {
        let mut log = Log::default();
        for seq in 1..=MAX_ENTRIES as u64 + 10 {
            log.add(&event(seq, "message", json!({})), seq);
            log.add(&event(seq, "message", json!({})), seq);
        }
        assert_eq!(log.changes(0).1.len(), MAX_ENTRIES);
        log.clear(9_999);
        assert_eq!((log.changes(9_998).0, log.changes(9_998).1.len()), (true, 0));
    }
}
