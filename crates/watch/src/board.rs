//! The state that viewers see, kept once and with a version. A viewer gets what has changed since
//! its last update, so that a slow viewer skips outdated states.

use crate::log_entry::{Event, Log, StoredTree};
use crate::steps::{AddedFrame, Frame, Steps};
use hyper::body::Bytes;
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::Arc;
use stickpin_kernel::commands::frame::FrameReceipt;
use tokio::sync::watch;

/// The maximum number of log entries in one message.
const MAX_ENTRIES: usize = 500;

/// The state of the session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionView {
    pub(crate) session: String,
    /// The agent id of the person at the page.
    pub(crate) person: String,
    /// The member that has the turn.
    pub(crate) owner: Option<String>,
    /// Whether the turn is implicit: a command took it, and it ends by itself.
    pub(crate) implicit: bool,
    /// The member that the turn is reserved for.
    pub(crate) reserved_for: Option<String>,
    /// Whether the person at the page took the turn.
    pub(crate) mine: bool,
    pub(crate) closed: bool,
    /// The reason why the app is not shown in its current state.
    pub(crate) problem: Option<String>,
    pub(crate) viewers: usize,
}

#[derive(Debug, Default)]
struct Content {
    version: u64,
    session: SessionView,
    session_version: u64,
    steps: Steps,
    frame_version: u64,
    log: Log,
}

/// The state that viewers see.
#[derive(Debug)]
pub(crate) struct Board {
    content: Mutex<Content>,
    version: watch::Sender<u64>,
    viewers: watch::Sender<usize>,
}

impl Board {
    pub(crate) fn new(session: &str) -> Self {
        let session = SessionView { session: session.to_owned(), ..SessionView::default() };
        let content = Content { session, session_version: 1, version: 1, ..Content::default() };
        Self { content: Mutex::new(content), version: watch::Sender::new(1), viewers: watch::Sender::new(0) }
    }

    /// Changes the state of the session.
    pub(crate) fn update(&self, change: impl FnOnce(&mut SessionView)) {
        self.change(|content, version| {
            let mut session = content.session.clone();
            change(&mut session);
            if session == content.session {
                return false;
            }
            (content.session, content.session_version) = (session, version);
            true
        });
    }

    /// Returns the state of the session.
    pub(crate) fn session(&self) -> SessionView {
        self.content.lock().session.clone()
    }

    /// Adds events to the log.
    pub(crate) fn add_events(&self, events: &[Event]) {
        self.change(|content, version| {
            events.iter().for_each(|event| content.log.add(event, version));
            !events.is_empty()
        });
    }

    /// Removes all log entries, steps and frames, because the session now has a different log.
    pub(crate) fn clear(&self) {
        self.change(|content, version| {
            content.log.clear(version);
            content.steps = Steps::default();
            true
        });
    }

    /// Shows a frame, and the receipts that came with it.
    pub(crate) fn add_frame(&self, mut frame: Frame, receipts: Vec<FrameReceipt>) {
        self.change(|content, version| {
            frame.step = frame.step.or_else(|| content.log.last_command());
            for receipt in receipts {
                let Some(command) = receipt.command else { continue };
                content.log.change(command, version, |entry| {
                    let is_new = entry.receipt.is_empty();
                    entry.receipt = receipt.lines;
                    is_new
                });
            }
            let picture = frame.picture.clone();
            let AddedFrame { step, dropped } = content.steps.add(Arc::new(frame));
            let named = step.map(|step| (step, picture));
            for (step, picture) in named.into_iter().chain(dropped.into_iter().map(|step| (step, None))) {
                content.log.change(step, version, |entry| {
                    let is_new = entry.picture != picture;
                    entry.picture = picture;
                    is_new
                });
            }
            content.frame_version = version;
            true
        });
    }

    /// Returns the newest frame.
    pub(crate) fn newest_frame(&self) -> Option<Arc<Frame>> {
        self.content.lock().steps.newest().cloned()
    }

    /// Returns a frame by its id, if it is one of the newest.
    pub(crate) fn recent_frame(&self, id: u64) -> Option<Arc<Frame>> {
        self.content.lock().steps.recent(id).cloned()
    }

    /// Returns the frame after a command.
    pub(crate) fn step(&self, command: u64) -> Option<Arc<Frame>> {
        self.content.lock().steps.step(command).cloned()
    }

    /// Returns the tree that a command stored or, if it stored no tree, the last tree stored
    /// before. Returns `None` if there is no such tree, or if the record is not a command.
    pub(crate) fn tree_at(&self, command: u64) -> Option<StoredTree> {
        let content = self.content.lock();
        content.log.tree_at(command).filter(|_| content.log.is_command(command)).cloned()
    }

    /// Returns a screenshot by its name.
    pub(crate) fn picture(&self, name: &str) -> Option<Bytes> {
        self.content.lock().steps.picture(name)
    }

    /// Returns the current version, and the messages about changes after the version `seen`.
    pub(crate) fn messages(&self, seen: u64) -> (u64, Vec<(&'static str, Value)>) {
        let content = self.content.lock();
        let mut messages = Vec::new();
        if content.session_version > seen {
            messages.push(("session", json!(content.session)));
        }
        let (cleared, changed) = content.log.changes(seen);
        if cleared {
            messages.push(("clear", json!({})));
        }
        messages.extend(changed.chunks(MAX_ENTRIES).map(|entries| ("log", json!(entries))));
        if let (true, Some(frame)) = (content.frame_version > seen, content.steps.newest()) {
            messages.push(("frame", json!(**frame)));
        }
        (content.version, messages)
    }

    /// Returns a channel that reports the current version.
    pub(crate) fn versions(&self) -> watch::Receiver<u64> {
        self.version.subscribe()
    }

    /// Returns a channel that reports the number of viewers.
    pub(crate) fn viewers(&self) -> watch::Receiver<usize> {
        self.viewers.subscribe()
    }

    /// Counts a viewer until the result is dropped. Returns `None` if there are already `max`
    /// viewers.
    pub(crate) fn enter(self: &Arc<Self>, max: usize) -> Option<Viewer> {
        let entered = self.viewers.send_if_modified(|viewers| {
            let free = *viewers < max;
            *viewers += usize::from(free);
            free
        });
        entered.then(|| {
            self.count_viewers();
            Viewer(Arc::clone(self))
        })
    }

    fn count_viewers(&self) {
        let viewers = *self.viewers.borrow();
        self.update(|session| session.viewers = viewers);
    }

    fn change(&self, change: impl FnOnce(&mut Content, u64) -> bool) {
        let version = {
            let mut content = self.content.lock();
            let version = content.version + 1;
            if !change(&mut content, version) {
                return;
            }
            content.version = version;
            version
        };
        self.version.send_modify(|known| *known = version.max(*known));
    }
}

/// A connected viewer.
#[derive(Debug)]
pub(crate) struct Viewer(Arc<Board>);

impl Viewer {
    /// Returns the board that the viewer sees.
    pub(crate) fn board(&self) -> &Board {
        &self.0
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        self.0.viewers.send_modify(|viewers| *viewers -= 1);
        self.0.count_viewers();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(messages: &[(&'static str, Value)]) -> Vec<&'static str> {
        messages.iter().map(|(name, _)| *name).collect()
    }

    #[test]
    fn slow_viewer_gets_only_the_newest_frame() {
        let board = Board::new("shop");
        for id in 1..=1_000 {
            board.add_frame(Frame { id, ..Frame::default() }, Vec::new());
        }
        let (seen, messages) = board.messages(0);
        assert_eq!(names(&messages), ["session", "frame"]);
        assert_eq!(messages[1].1["id"], 1_000);
        assert!(board.messages(seen).1.is_empty());
    }

    #[test]
    fn unchanged_state_wakes_nobody() {
        let board = Board::new("shop");
        let versions = board.versions();
        board.update(|session| session.closed = false);
        assert!(!versions.has_changed().expect("the board is there"));
        board.update(|session| session.closed = true);
        assert!(versions.has_changed().expect("the board is there"));
    }

    #[test]
    fn viewers_are_limited() {
        let board = Arc::new(Board::new("shop"));
        let all: Vec<_> = (0..50).map_while(|_| board.enter(50)).collect();
        assert_eq!((all.len(), board.session().viewers), (50, 50));
        assert!(board.enter(50).is_none());
        drop(all);
        assert_eq!(board.session().viewers, 0);
        assert!(board.enter(50).is_some());
    }
}
