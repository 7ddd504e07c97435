//! The keyboard focus: keys without a target go to the focused element, whatever the caller
//! assumes.

use crate::act::locate::RECHECK_INTERVAL;
use crate::command::context::Cx;
use crate::observe::{capture, waiting};
use std::time::Duration;
use stickpin_device::{Error, Result};
use stickpin_session::Origin;
use stickpin_tree::{NodeRef, Role, States};
use tokio::time::Instant;

/// How long the focus may take to leave a pressed button. Toolbars return the focus to their
/// document a frame later.
const FOCUS_RETURN_TIMEOUT: Duration = Duration::from_secs(1);

/// The focused element.
#[derive(Debug)]
pub(crate) struct FocusedElement {
    /// The element's description in a response: `@e3 textbox "Email"`.
    pub(crate) description: String,
    /// Whether the element accepts no text and a typed space or line break would press it.
    takes_presses: bool,
}

/// Returns the focused element, or `None` if no element has the focus. The element counts as the
/// opener of the next popup.
///
/// # Errors
/// Returns `UNSUPPORTED` when the last action filled a field that did not take the focus, and
/// errors from the device.
pub(crate) async fn focused_element(cx: &mut Cx) -> Result<Option<FocusedElement>> {
    if let Some(field) = &cx.open_session()?.unfocused {
        let message =
            format!("{field} was filled but did not take the keyboard focus, so keys would go elsewhere");
        return Err(Error::unsupported(message)
            .hint("press the field first to focus it, or pass it to `type` with `--into`"));
    }
    let tree = capture::capture_app(cx, Origin::Internal).await?;
    // Take the innermost one: a frame element has the focus together with the focused element
    // inside it.
    let focused = |n: &NodeRef<'_>| n.is(States::FOCUSED);
    let Some(innermost) = tree.nodes().rev().find(focused) else { return Ok(None) };
    // The unnamed internals of a field are not worth naming.
    let says = |n: &NodeRef<'_>| n.role() != Role::Generic || !n.name().is_empty();
    let around = innermost.ancestors().filter(focused).find(says);
    let node = Some(innermost).filter(says).or(around).unwrap_or(innermost);
    let meaning = capture::meaning(cx, &tree, node.id())?;
    let session = &mut cx.open_session()?.session;
    session.note_act(node.id());
    let words = match session.ref_of(node.id()) {
        Some(r) => format!("{r} {meaning}"),
        None => meaning.to_string(),
    };
    let by_keys =
        matches!(node.role(), Role::Button | Role::Link | Role::Checkbox | Role::Radio | Role::Switch);
    Ok(Some(FocusedElement { description: words, takes_presses: by_keys && !innermost.is(States::EDITABLE) }))
}

/// Returns the focused element for typing `text`. If typing could press that element, waits briefly
/// for the focus to move on.
///
/// # Errors
/// Returns `INVALID_ARGS` when typing the text would press the focused element, and the errors of
/// [`focused_element`].
pub(crate) async fn focus_for_text(cx: &mut Cx, text: &str) -> Result<Option<FocusedElement>> {
    let until = Instant::now() + FOCUS_RETURN_TIMEOUT;
    loop {
        let focus = match focused_element(cx).await? {
            Some(focus) if focus.takes_presses => focus,
            focus => return Ok(focus),
        };
        let left = until.saturating_duration_since(Instant::now());
        if !left.is_zero() {
            waiting::wait_for_change(cx, left.min(RECHECK_INTERVAL)).await?;
            continue;
        }
        if !text.contains([' ', '\n']) {
            return Ok(Some(focus));
        }
        return Err(Error::invalid_args(format!(
            "the focus is on {}, which a space or a line break would press",
            focus.description
        ))
        .hint("pass a field to `type` with `--into`, or use `key` to send single keys"));
    }
}
