//! Keeps the board current: frames while somebody is watching, events and the turn at all times.

use crate::board::Board;
use crate::log_entry::Event;
use crate::remote::Remote;
use crate::steps::Frame;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hyper::body::Bytes;
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;
use stickpin_kernel::commands::frame::WatchFrameOutput;
use stickpin_kernel::{Error, ErrorCode, Result};
use tokio::time::Instant;

/// How long the host waits for a change before it takes a frame anyway, because animations and
/// canvases change without events.
const REFRESH: Duration = Duration::from_millis(600);

/// The maximum time that the host waits when one frame after another shows nothing new.
const MAX_REFRESH: Duration = Duration::from_millis(2_400);

/// The pause between two frames, so that an animation does not keep the app busy with screenshots.
const FRAME_PAUSE: Duration = Duration::from_millis(80);

/// The pause after a failure.
const RETRY: Duration = Duration::from_millis(500);

/// How long a request for events waits before the turn is read again. No event reports that an
/// implicit turn became a lasting one.
const EVENT_WAIT: Duration = Duration::from_secs(1);

/// The maximum number of old records that are read before the page is served. A command has two
/// records, and a third if it stored a tree.
const HISTORY: u64 = 1_500;

/// The maximum number of records in a reply to a request for old records.
const PAGE: u64 = 250;

/// The minimum time between two requests for events, so that the beginning and the end of a short
/// command arrive together.
const EVENT_INTERVAL: Duration = Duration::from_millis(60);

/// The minimum time between two reads of the turn while events arrive that are not about the turn.
const TURN_INTERVAL: Duration = Duration::from_millis(250);

/// Part of the feed of a session.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Events {
    events: Vec<Event>,
    cursor_seq: u64,
    #[serde(default)]
    closed: bool,
}

/// The parts of a session's turn that are shown.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct TurnState {
    owner: Option<String>,
    implicit: bool,
    reserved_for: Option<String>,
}

/// The number of the last log record that was read before the page was served.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor(u64);

/// Reads the identity of the person, the last events and the turn.
///
/// # Errors
/// Returns `SESSION_NOT_FOUND` if there is no such session, or an error from the daemon.
pub(crate) async fn begin(board: &Board, remote: &Remote) -> Result<Cursor> {
    let who: serde_json::Value = remote.output("whoami", json!({})).await?;
    let person = who["agentId"].as_str().unwrap_or_default().to_owned();
    let last: Events = remote.output("events", json!({ "limit": 1 })).await?;
    let mut after = last.cursor_seq.saturating_sub(HISTORY);
    let mut closed = last.closed;
    // Read in pages, so that commands of the session run between them.
    while after < last.cursor_seq {
        let input = json!({ "include": "run", "target": "any", "after": after, "limit": PAGE });
        let page: Events = remote.output("events", input).await?;
        board.add_events(&page.events);
        closed = page.closed;
        if page.cursor_seq <= after {
            break;
        }
        after = page.cursor_seq;
    }
    board.update(|session| (session.person, session.closed) = (person, closed));
    read_turn(board, remote).await?;
    Ok(Cursor(after))
}

/// Follows the feed until the future is dropped.
pub(crate) async fn follow_events(board: &Board, remote: &Remote, Cursor(mut after): Cursor) {
    let mut turn_read = Instant::now();
    loop {
        let next = Instant::now() + EVENT_INTERVAL;
        let wait = u64::try_from(EVENT_WAIT.as_millis()).unwrap_or(u64::MAX);
        let input =
            json!({ "include": "run", "target": "any", "wait": true, "timeout": wait, "after": after });
        match remote.output::<Events>("events", input).await {
            Ok(Events { events, cursor_seq, closed }) => {
                after = cursor_seq;
                board.add_events(&events);
                board.update(|session| session.closed = closed);
                let is_due = events.is_empty() || turn_read.elapsed() >= TURN_INTERVAL;
                let turn = if is_due || events.iter().any(Event::is_about_turn) {
                    turn_read = Instant::now();
                    read_turn(board, remote).await
                } else {
                    Ok(())
                };
                if closed || turn.is_err() {
                    // The session may be opened again, with the same log.
                    tokio::time::sleep(RETRY).await;
                }
                tokio::time::sleep_until(next).await;
            }
            Err(e) => {
                tracing::debug!("events: {e}");
                if e.code == ErrorCode::InvalidCursor {
                    // The session now has a different log.
                    board.clear();
                    after = 0;
                }
                board.update(|session| session.closed |= e.code == ErrorCode::SessionNotFound);
                tokio::time::sleep(RETRY).await;
            }
        }
    }
}

async fn read_turn(board: &Board, remote: &Remote) -> Result<()> {
    let turn: TurnState = remote.output("turn state", json!({})).await?;
    board.update(|session| {
        session.mine = !turn.implicit && turn.owner.as_ref() == Some(&session.person);
        (session.owner, session.implicit) = (turn.owner, turn.implicit);
        session.reserved_for = turn.reserved_for;
    });
    Ok(())
}

/// Takes frames while somebody is watching, until the future is dropped.
pub(crate) async fn take_frames(board: &Board, remote: &Remote) {
    let mut viewers = board.viewers();
    let mut last = Last::default();
    // The sender exists as long as the board.
    while viewers.wait_for(|viewers| *viewers > 0).await.is_ok() {
        let points = board.session().mine;
        match frame(remote, &last, points).await {
            Ok(output) => {
                board.update(|session| session.problem = None);
                let new = last.frame(output, points);
                last.refresh = if new.is_some() { REFRESH } else { MAX_REFRESH.min(last.refresh * 2) };
                if let Some((frame, receipts)) = new {
                    board.add_frame(frame, receipts);
                }
            }
            Err(e) => {
                board.update(|session| session.problem = Some(e.to_string()));
                last.commands = None;
                tokio::time::sleep(RETRY).await;
            }
        }
        tokio::time::sleep(FRAME_PAUSE).await;
    }
}

async fn frame(remote: &Remote, last: &Last, points: bool) -> Result<WatchFrameOutput> {
    let refresh = if last.points == points { last.refresh } else { Duration::ZERO };
    let input = json!({
        "wait": u64::try_from(refresh.as_millis()).unwrap_or(u64::MAX),
        "picture": last.picture,
        "commands": last.commands,
        "after": last.receipts,
        "points": points,
    });
    remote.output("watch frame", input).await
}

/// The parts of the last frame that determine what is new in the next one.
#[derive(Debug, Default)]
struct Last {
    id: u64,
    picture: Option<String>,
    image: Bytes,
    commands: Option<u64>,
    receipts: u64,
    points: bool,
    /// How long the host waits for a change before the next frame.
    refresh: Duration,
    /// What the viewers received besides the screenshot.
    shown: Option<WatchFrameOutput>,
}

impl Last {
    /// Returns the next frame for viewers, with new receipts. Returns `None` if nothing has changed
    /// for viewers or the picture cannot be decoded.
    fn frame(
        &mut self,
        output: WatchFrameOutput,
        points: bool,
    ) -> Option<(Frame, Vec<stickpin_kernel::commands::frame::FrameReceipt>)> {
        let WatchFrameOutput { image, mut receipts, .. } = output.clone();
        receipts.retain(|receipt| receipt.command.is_some_and(|command| command > self.receipts));
        self.receipts = receipts.iter().filter_map(|receipt| receipt.command).fold(self.receipts, u64::max);
        if let Some(image) = image {
            match BASE64_STANDARD.decode(image) {
                Ok(image) => self.image = image.into(),
                Err(e) => {
                    tracing::warn!("the picture is not base64: {e}");
                    return None;
                }
            }
        }
        (self.picture, self.commands) = (output.picture.clone(), Some(output.commands));
        let comparable =
            WatchFrameOutput { image: None, receipts: Vec::new(), commands: 0, ..output.clone() };
        let is_new = self.shown.as_ref() != Some(&comparable) || points != self.points;
        self.points = points;
        self.shown = Some(comparable);
        if !is_new && receipts.is_empty() {
            return None;
        }
        self.id += 1;
        let frame = Frame {
            id: self.id,
            step: output.last_command,
            url: output.url,
            title: output.title,
            image: if output.picture.is_some() { self.image.clone() } else { Bytes::new() },
            picture: output.picture,
            width: output.width,
            height: output.height,
            boxes: output.boxes,
            outline: output.outline,
            dialog: output.dialog,
            failed_requests: output.failed_requests,
            console_errors: output.console_errors,
            points,
        };
        Some((frame, receipts))
    }
}

/// Returns the error for a page that cannot be served.
pub(crate) fn cannot_listen(port: u16, e: &std::io::Error) -> Error {
    if port == 0 {
        return Error::new(ErrorCode::Io, format!("cannot listen on 127.0.0.1: {e}"));
    }
    Error::new(ErrorCode::Io, format!("cannot listen on port {port} of 127.0.0.1: {e}"))
        .hint("choose another port, or run `stickpin watch` without a port to use a free one")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(commands: u64, picture: &str) -> WatchFrameOutput {
        WatchFrameOutput {
            url: "http://a/".to_owned(),
            title: String::new(),
            picture: Some(picture.to_owned()),
            image: Some(BASE64_STANDARD.encode(picture)),
            width: 10,
            height: 10,
            boxes: Vec::new(),
            outline: String::new(),
            dialog: None,
            commands,
            last_command: Some(commands),
            receipts: Vec::new(),
            failed_requests: Vec::new(),
            console_errors: Vec::new(),
        }
    }

    #[test]
    fn equal_frames_are_shown_once() {
        let mut last = Last::default();
        let (first, _) = last.frame(output(1, "a"), false).expect("the first frame");
        assert_eq!((first.id, &first.image[..]), (1, &b"a"[..]));
        assert!(last.frame(output(1, "a"), false).is_none());
        let same = WatchFrameOutput { image: None, title: "b".to_owned(), ..output(1, "a") };
        let (second, _) = last.frame(same, false).expect("another title");
        assert_eq!((second.id, &second.image[..]), (2, &b"a"[..]), "the picture is the one before");
        assert!(last.frame(WatchFrameOutput { title: "b".to_owned(), ..output(1, "a") }, true).is_some());
    }
}
