//! The actions of a person on the page, such as taking the turn, pressing and typing. Each action
//! runs a command, with the same checks as an agent's command.

use crate::board::Board;
use crate::remote::Remote;
use crate::steps::Frame;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stickpin_kernel::{Error, ErrorCode, Response, Result};

/// The maximum length of typed text, in bytes.
const MAX_TEXT: usize = 16 << 10;

/// An action that a person requests.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields, tag = "act")]
pub(crate) enum Act {
    /// Take the turn.
    Take,
    /// Give the turn back, and state what was done and what comes next.
    Release { status: String, next_action: String },
    /// Press a point of a frame's screenshot.
    Press {
        frame: u64,
        x: f64,
        y: f64,
        #[serde(default = "once")]
        count: u8,
    },
    /// Type into the focused element.
    Type { text: String },
    /// Press a key, or a chord such as `Control+a`, with the names of `KeyboardEvent.key`.
    Key { chord: String },
    /// Scroll the page.
    Scroll { direction: String, amount: u32 },
    /// Go back or forward, or reload the page.
    Go { to: Way },
    /// Answer the app's dialog.
    Dialog { accept: bool },
}

/// A direction in the history, or a reload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Way {
    Back,
    Forward,
    Reload,
}

fn once() -> u8 {
    1
}

/// The result of an action.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ActAnswer {
    pub(crate) ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) warning: Option<String>,
    pub(crate) receipt: Vec<String>,
}

impl From<Error> for ActAnswer {
    fn from(error: Error) -> Self {
        Self { message: Some(error.to_string()), ..Self::default() }
    }
}

impl From<Response> for ActAnswer {
    fn from(response: Response) -> Self {
        let message = response.error.as_ref().map(ToString::to_string);
        Self { ok: message.is_none(), message, warning: response.warning, receipt: response.receipt }
    }
}

/// Performs an action that a person requested.
///
/// # Errors
/// Returns `NOT_YOUR_TURN` if the person has not taken the session and the action is neither to
/// take nor to release it, `STALE_REF` if the screenshot is out of date, `INVALID_ARGS` for text
/// that is too long or a point outside the screenshot, or an error from reading the turn before it
/// is taken. The answer contains the errors from all other commands.
pub(crate) async fn perform(act: Act, board: &Board, remote: &Remote) -> Result<ActAnswer> {
    let (command, input) = match act {
        Act::Take => return take(board, remote).await,
        Act::Release { status, next_action } => {
            let response = release(remote, &status, &next_action).await;
            if response.error.is_none() {
                board.update(|session| (session.mine, session.owner) = (false, None));
            }
            return Ok(response.into());
        }
        _ if !board.session().mine => {
            return Err(Error::new(ErrorCode::NotYourTurn, "you can only watch until you take the session")
                .hint("press Take on the page"));
        }
        Act::Press { frame, x, y, count } => {
            let target = target(board, frame, x, y)?;
            let response = remote.call("press", json!({ "target": target, "count": count })).await;
            // A warning states the age of the capture that a ref comes from, but the person looked
            // at the picture.
            return Ok(ActAnswer { warning: None, ..response.into() });
        }
        Act::Type { text } if text.len() > MAX_TEXT => {
            let message = format!("the text is longer than {MAX_TEXT} bytes");
            return Err(Error::new(ErrorCode::InvalidArgs, message));
        }
        Act::Type { text } => ("type", json!({ "text": text })),
        Act::Key { chord } => ("key", json!({ "chord": chord })),
        Act::Scroll { direction, amount } => ("scroll", json!({ "direction": direction, "amount": amount })),
        Act::Go { to: Way::Back } => ("back", json!({})),
        Act::Go { to: Way::Forward } => ("forward", json!({})),
        Act::Go { to: Way::Reload } => ("reload", json!({})),
        Act::Dialog { accept: true } => ("alert accept", json!({})),
        Act::Dialog { accept: false } => ("alert dismiss", json!({})),
    };
    Ok(remote.call(command, input).await.into())
}

async fn take(board: &Board, remote: &Remote) -> Result<ActAnswer> {
    // A turn can be taken only in the state in which it was last seen.
    let _: Value = remote.output("turn state", json!({})).await?;
    let response = remote.call("turn take", json!({ "operatorRequested": true })).await;
    let owned = response.output.as_ref().is_some_and(|output| output["status"] == "your_turn");
    let answer = ActAnswer::from(response);
    if !owned {
        let message = answer.message.unwrap_or_else(|| "the turn could not be taken".to_owned());
        return Ok(ActAnswer { ok: false, message: Some(message), ..ActAnswer::default() });
    }
    board.update(|session| {
        (session.mine, session.implicit) = (true, false);
        session.owner = Some(session.person.clone());
    });
    Ok(answer)
}

/// Gives the turn back.
pub(crate) async fn release(remote: &Remote, status: &str, next_action: &str) -> Response {
    let or = |text: &str, otherwise: &str| {
        let text = text.trim();
        if text.is_empty() { otherwise.to_owned() } else { text.to_owned() }
    };
    let handoff = json!({
        "status": or(status, "a person used the session on the watch page"),
        "nextAction": or(next_action, "continue"),
    });
    remote.call("turn release", handoff).await
}

/// Returns the target of a press at a point of a screenshot: the ref of the element that the
/// screenshot shows there, or the point.
fn target(board: &Board, frame: u64, x: f64, y: f64) -> Result<String> {
    let stale =
        |why: &str| Error::new(ErrorCode::StaleRef, why).hint("look at the picture again, then press");
    let seen = board.recent_frame(frame).ok_or_else(|| stale("the picture is out of date"))?;
    let inside = |value: f64, size: u32| value >= 0.0 && value < f64::from(size);
    if !inside(x, seen.width) || !inside(y, seen.height) {
        return Err(Error::new(ErrorCode::InvalidArgs, format!("the point {x},{y} is outside the picture")));
    }
    if let Some(reference) = seen.at(x, y).and_then(|element| element.reference.clone()) {
        return Ok(reference);
    }
    // The host checks a point against the last frame, which may be later than the one the person
    // saw.
    let newest = board.newest_frame().ok_or_else(|| stale("there is no picture"))?;
    if !newest.points {
        return Err(stale("the picture is from before you took the session"));
    }
    match same_element(&seen, &newest, x, y) {
        true => Ok(format!("{},{}", x.round(), y.round())),
        false => Err(stale("a newer picture shows something else at that point")),
    }
}

fn same_element(seen: &Frame, newest: &Frame, x: f64, y: f64) -> bool {
    let named = |frame: &Frame| frame.at(x, y).map(|b| (b.reference.clone(), b.role.clone(), b.name.clone()));
    seen.id == newest.id || (named(seen) == named(newest) && seen.url == newest.url)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stickpin_kernel::commands::frame::FrameBox;

    fn frame(id: u64, name: &str, reference: Option<&str>) -> Frame {
        let boxes = vec![FrameBox {
            reference: reference.map(str::to_owned),
            role: "button".to_owned(),
            name: name.to_owned(),
            x: 10.0,
            y: 10.0,
            width: 20.0,
            height: 20.0,
        }];
        Frame { id, boxes, width: 100, height: 100, points: true, ..Frame::default() }
    }

    fn board(frames: Vec<Frame>) -> Board {
        let board = Board::new("shop");
        for frame in frames {
            board.add_frame(frame, Vec::new());
        }
        board
    }

    #[test]
    fn press_names_the_element_that_the_picture_shows() {
        let board = board(vec![frame(1, "Pay", Some("@e3~s7"))]);
        assert_eq!(target(&board, 1, 15.0, 15.0).expect("a target"), "@e3~s7");
        assert_eq!(target(&board, 1, 50.4, 50.0).expect("a target"), "50,50");
        assert_eq!(target(&board, 1, 100.0, 50.0).unwrap_err().code, ErrorCode::InvalidArgs);
        assert_eq!(target(&board, 1, f64::NAN, 50.0).unwrap_err().code, ErrorCode::InvalidArgs);
        assert_eq!(target(&board, 9, 15.0, 15.0).unwrap_err().code, ErrorCode::StaleRef);
    }

    #[test]
    fn press_at_what_changed_meanwhile_is_refused() {
        let replaced = board(vec![frame(1, "Pay", None), frame(2, "Delete", None)]);
        assert_eq!(target(&replaced, 1, 15.0, 15.0).unwrap_err().code, ErrorCode::StaleRef);
        assert_eq!(target(&replaced, 2, 15.0, 15.0).expect("the newest"), "15,15");
        let repainted = board(vec![frame(1, "Pay", None), frame(2, "Pay", None)]);
        assert_eq!(target(&repainted, 1, 15.0, 15.0).expect("still there"), "15,15");
        let unmarked = board(vec![Frame { points: false, ..frame(1, "Pay", None) }]);
        assert_eq!(target(&unmarked, 1, 15.0, 15.0).unwrap_err().code, ErrorCode::StaleRef);
    }
}
