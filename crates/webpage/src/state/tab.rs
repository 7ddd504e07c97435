//! The state of one tab: its frames, our worlds in them, and its pending requests.

use super::traffic;
use hashbrown::HashMap;
use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};
use stickpin_device::{Dialog, MAX_NOTICES, Notice, TabEndReason, push_latest};
use stickpin_devtools::protocol::TargetInfo;

/// The state of one tab.
#[derive(Debug, Default)]
pub struct TabState {
    /// The id of the tab's target.
    pub target: String,
    /// The number of the tab in its browser, starting at 1.
    pub number: u64,
    /// The target that opened the tab.
    pub opener: Option<String>,
    /// Whether the tab has ever been the driven tab.
    pub driven: bool,
    /// Whether we closed the tab or are about to.
    pub asked_to_close: bool,
    /// The addresses of tabs that the page requested and that have not appeared yet.
    pub opening: VecDeque<String>,
    /// The id of the top frame.
    pub main: String,
    /// The frames by id. The map's order means nothing; see `Frame::order`.
    pub frames: BTreeMap<String, Frame>,
    pub(crate) next_order: u64,
    /// The first set-up command that the browser refused, until the refusal is reported.
    pub(crate) refused: Option<String>,
    /// How the tab ended, if it did.
    pub gone: Option<TabEndReason>,
    /// The dialog that blocks this tab: its own, or another tab's. A dialog of another tab names
    /// that tab.
    pub dialog: Option<Dialog>,
    /// The number of dialogs closed so far, in any tab.
    pub answers: u64,
    /// The kind and message of a dialog that is dismissed automatically because a script repeats
    /// the dialog.
    pub silenced: Option<(String, String)>,
    /// An uncommitted cross-document navigation of the top frame: the URL, and when it began.
    pub navigating: Option<(String, Instant)>,
    /// The number of committed navigations of the top frame, including those within a document.
    pub arrivals: u64,
    /// The pending requests, by id.
    pub(crate) requests: HashMap<String, Request>,
    /// The most recent requests, oldest first, including those that ended.
    pub(crate) traffic: VecDeque<traffic::LoggedRequest>,
    /// Counts visible changes, such as those of documents, frames and dialogs.
    pub changes: u64,
    /// Counts everything that may have changed the page.
    pub activity: u64,
    /// When `activity` was last incremented.
    pub(crate) active_at: Option<Instant>,
    /// The notices to report, oldest first.
    pub notices: VecDeque<Notice>,
    /// The last position of the pointer, and the value of `activity` at that time.
    pub(crate) pointer: Option<((f64, f64), u64)>,
    /// The URLs of scripts that run as workers: no event reports the end of their requests.
    pub(crate) workers: VecDeque<String>,
    /// The last report of a press for which a document watched; see [`agent`](crate::agent).
    pub verdict: Option<crate::agent::PressVerdict>,
    /// The kind of element that received a press and renders its own content (such as `canvas`),
    /// until notices are taken.
    pub drawn: Option<String>,
    /// The data of a drag that we intercepted.
    pub(crate) drag: Option<serde_json::Value>,
    /// Whether a press is expected to open a file chooser, or the chooser that it opened.
    pub(crate) chooser: Chooser,
}

/// Whether a file chooser is expected or has opened.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Chooser {
    /// A chooser that opens is closed without a choice and reported.
    #[default]
    Unexpected,
    /// A chooser that opens is kept for the waiting command.
    Expected,
    /// A chooser opened: the frame, and the node of its input, if any.
    Opened(String, Option<i64>),
}

/// One frame of a tab.
#[derive(Debug, Clone, Default)]
pub struct Frame {
    /// The id of the frame.
    pub id: String,
    pub(crate) parent: Option<String>,
    /// The session of the frame's document.
    pub session: String,
    /// The loader id of the frame's document.
    pub loader: String,
    /// The URL of the frame's document.
    pub url: String,
    /// The position of the frame among the frames of its tab, in order of arrival.
    pub(crate) order: u64,
    pub(crate) world: Option<World>,
    /// The loading stage of the document.
    pub(crate) stage: LoadStage,
    /// When the document was committed, if the commit was seen.
    pub(crate) committed: Option<Instant>,
    /// Whether a cross-document navigation of this inner frame is pending.
    pub navigating: bool,
}

/// Our world in the document of a frame.
#[derive(Debug, Clone)]
pub struct World {
    /// The scope of the document's handles.
    pub(crate) scope: u64,
    /// The unique id of the execution context, never reused within a browser.
    pub(crate) unique: String,
    /// The id of the execution context, unique within its session while it exists.
    pub(crate) context: i64,
    /// The element that shows the frame, once known: the scope of the parent document and the id in
    /// it.
    pub owner: Option<(u64, u64)>,
    /// The document's change count at the agent's last report.
    pub changes: u64,
}

/// The loading stage of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum LoadStage {
    #[default]
    Loading,
    /// Parsed; deferred scripts have run.
    Ready,
    /// Loaded with all of its resources.
    Loaded,
}

/// A pending request.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub url: String,
    pub(crate) since: Instant,
    /// Whether quiet waits for the request. Long-lived connections, beacons and media never count.
    pub(crate) counts: bool,
    /// Whether a failure of the request is worth a notice.
    pub(crate) reported: bool,
    /// When a script's request was answered. A body that keeps arriving for a long time is a
    /// stream.
    pub(crate) answered: Option<Instant>,
}

impl TabState {
    /// Returns the name of the tab, such as `t1`.
    pub fn id(&self) -> String {
        format!("t{}", self.number)
    }

    /// Queues a notice for the next report, and drops the oldest one if the queue is full.
    pub fn notice(&mut self, notice: Notice) {
        push_latest(&mut self.notices, notice, MAX_NOTICES);
    }

    /// Creates the state of a tab that the browser just reported. `leads_to` is the URL for which
    /// the tab was opened, if the tab will navigate.
    #[must_use]
    pub fn new(info: TargetInfo, session: &str, number: u64, leads_to: Option<String>) -> Self {
        let main = info.target_id.clone();
        let frame =
            Frame { id: main.clone(), session: session.to_owned(), url: info.url, ..Frame::default() };
        Self {
            target: info.target_id,
            number,
            opener: info.opener_id,
            frames: BTreeMap::from([(main.clone(), frame)]),
            main,
            // The tab shows an empty page until it reaches that URL.
            navigating: leads_to.map(|url| (url, Instant::now())),
            ..Self::default()
        }
    }

    /// Records that a frame of the tab moved to its own session.
    pub fn frame_moved(&mut self, info: TargetInfo, session: &str) {
        self.next_order += 1;
        let (id, order) = (info.target_id, self.next_order);
        let frame = self.frames.entry(id.clone()).or_insert_with(|| Frame {
            id,
            parent: info.parent_frame_id,
            order,
            ..Frame::default()
        });
        session.clone_into(&mut frame.session);
        frame.url = info.url;
        frame.world = None;
        // The frame moved to another process because its navigation was committed there.
        frame.navigating = false;
    }

    /// Returns whether the page, or a frame around the document with this scope, is about to be
    /// replaced.
    pub(crate) fn is_leaving(&self, scope: Option<u64>) -> bool {
        let has_scope = |frame: &&Frame| frame.world.as_ref().is_some_and(|w| Some(w.scope) == scope);
        let mut frame = scope.and_then(|_| self.frames.values().find(has_scope));
        // No page can make a frame its own ancestor, but an event that claims so must not cause an
        // endless loop.
        for _ in 0..self.frames.len() {
            match frame {
                Some(Frame { navigating: true, .. }) => return true,
                Some(Frame { parent: Some(parent), .. }) => frame = self.frames.get(parent),
                _ => break,
            }
        }
        self.navigating.is_some()
    }

    /// Returns the deadline for waiting for committed documents that are not parsed yet; `None` if
    /// there are no such documents, or if all of them have taken longer than `timeout`.
    pub(crate) fn parse_deadline(&self, timeout: Duration) -> Option<Instant> {
        let loading = self.frames.values().filter(|f| f.stage == LoadStage::Loading);
        let now = Instant::now();
        loading.filter_map(|f| Some(f.committed? + timeout)).filter(|until| *until > now).max()
    }

    /// Returns whether all documents are parsed, no navigation of the top frame is pending, and no
    /// dialog is open.
    pub(crate) fn is_complete(&self) -> bool {
        self.dialog.is_none()
            && self.navigating.is_none()
            && self.frames.values().all(|f| f.stage != LoadStage::Loading)
    }

    /// Records that the visible page may have changed.
    pub fn note_visible_change(&mut self) {
        self.changes += 1;
        self.note_activity();
    }

    /// Records an event that may lead to a change.
    pub(crate) fn note_activity(&mut self) {
        self.activity += 1;
        self.active_at = Some(Instant::now());
    }

    /// Returns a value that differs after every event that a wait for quiet must consider.
    pub(crate) fn version(&self) -> (u64, usize, usize, bool, bool) {
        // A response shortens the wait for its request.
        let unanswered = self.requests.values().filter(|r| r.counts && r.answered.is_none()).count();
        let requests = self.requests.len();
        (self.activity, requests, unanswered, self.navigating.is_some(), self.dialog.is_some())
    }

    /// Returns the top frame.
    pub fn main_frame(&self) -> Option<&Frame> {
        self.frames.get(&self.main)
    }

    /// Removes a frame and its descendants.
    pub(crate) fn remove_frame(&mut self, id: &str) {
        self.remove_frames_below(id);
        self.frames.remove(id);
    }

    /// Removes the descendants of a frame.
    pub(crate) fn remove_frames_below(&mut self, id: &str) {
        let below: Vec<String> =
            self.frames.values().filter(|f| f.parent.as_deref() == Some(id)).map(|f| f.id.clone()).collect();
        below.iter().for_each(|child| self.remove_frame(child));
    }

    /// Returns all frames: parents before their children, children in order of arrival.
    pub(crate) fn frames_in_order(&self) -> Vec<&Frame> {
        let mut children: HashMap<&str, Vec<&Frame>> = HashMap::new();
        for frame in self.frames.values() {
            if let Some(parent) = &frame.parent {
                children.entry(parent).or_default().push(frame);
            }
        }
        let mut order = Vec::with_capacity(self.frames.len());
        let mut open: Vec<&Frame> = self.main_frame().into_iter().collect();
        while let Some(frame) = open.pop() {
            order.push(frame);
            if let Some(mut below) = children.remove(frame.id.as_str()) {
                below.sort_by_key(|f| std::cmp::Reverse(f.order));
                open.extend(below);
            }
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tab(frames: &[(&str, Option<&str>)]) -> TabState {
        let mut tab = TabState { main: "top".into(), ..TabState::default() };
        for (order, (id, parent)) in frames.iter().enumerate() {
            let frame = Frame {
                id: (*id).into(),
                parent: parent.map(Into::into),
                order: order as u64,
                ..Frame::default()
            };
            tab.frames.insert((*id).into(), frame);
        }
        tab
    }

    #[test]
    fn frames_come_depth_first_in_the_order_of_their_coming() {
        let tab = tab(&[("top", None), ("z", Some("top")), ("a", Some("top")), ("m", Some("z"))]);
        let order: Vec<_> = tab.frames_in_order().iter().map(|f| f.id.as_str()).collect();
        assert_eq!(order, ["top", "z", "m", "a"]);
    }

    #[test]
    fn a_document_leaves_with_the_frames_around_it() {
        let mut tab = tab(&[("top", None), ("a", Some("top")), ("b", Some("a")), ("c", Some("top"))]);
        for (scope, id) in [(1, "top"), (2, "a"), (3, "b"), (4, "c")] {
            let world = World { scope, unique: id.into(), context: 0, owner: None, changes: 0 };
            tab.frames.get_mut(id).unwrap().world = Some(world);
        }
        tab.frames.get_mut("a").unwrap().navigating = true;
        let leaves_page =
            |tab: &TabState| [None, Some(1), Some(2), Some(3), Some(4), Some(9)].map(|s| tab.is_leaving(s));
        assert_eq!(leaves_page(&tab), [false, false, true, true, false, false]);
        tab.navigating = Some(("x".into(), Instant::now()));
        assert_eq!(leaves_page(&tab), [true; 6]);
    }

    #[test]
    fn a_document_that_came_a_moment_ago_is_arriving() {
        let mut tab = tab(&[("top", None), ("a", Some("top"))]);
        let second = Duration::from_secs(1);
        assert_eq!(tab.parse_deadline(second), None, "nothing was committed");
        let frame = tab.frames.get_mut("a").unwrap();
        frame.committed = Some(Instant::now());
        assert!(tab.parse_deadline(second).is_some());
        assert_eq!(tab.parse_deadline(Duration::ZERO), None, "it had its time");
        tab.frames.get_mut("a").unwrap().stage = LoadStage::Ready;
        assert_eq!(tab.parse_deadline(second), None, "it is there");
    }

    #[test]
    fn a_frame_takes_its_own_with_it() {
        let mut tab = tab(&[("top", None), ("z", Some("top")), ("m", Some("z")), ("a", Some("top"))]);
        tab.remove_frame("z");
        assert_eq!(tab.frames.keys().collect::<Vec<_>>(), ["a", "top"]);
    }

    #[test]
    fn notices_are_bounded_and_the_oldest_go() {
        let mut tab = TabState::default();
        for n in 0..100 {
            tab.notice(Notice::ConsoleError { text: n.to_string() });
        }
        assert_eq!(tab.notices.len(), MAX_NOTICES);
        assert_eq!(tab.notices.back(), Some(&Notice::ConsoleError { text: "99".into() }));
    }
}
