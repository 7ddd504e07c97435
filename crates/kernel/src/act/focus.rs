//! The keyboard focus: keys without a target go to the focused element, whatever the caller
//! assumes.

use crate::act::locate::RECHECK;
use crate::command::context::Cx;
use crate::observe::{capture, waiting};
use std::time::Duration;
use stickpin_device::{Error, Result};
use stickpin_session::Origin;
use stickpin_tree::{NodeRef, Role, States};
use tokio::time::Instant;

/// How long the focus may take to leave a pressed button. Toolbars return it to their document a
/// frame later.
const HANDED_BACK: Duration = Duration::from_secs(1);

/// The focused element.
#[derive(Debug)]
pub(crate) struct Focus {
    /// The element's name in a response: `@e3 textbox "Email"`.
    pub(crate) words: String,
    /// Whether the element takes no text and a typed space or line break would press it.
    takes_presses: bool,
}

/// Returns the focused element, or `None`. The element counts as the opener of the next popup.
///
/// # Errors
/// Returns `UNSUPPORTED` when the last act filled a field that did not take the focus, and errors
/// of the device.
pub(crate) async fn current(cx: &mut Cx) -> Result<Option<Focus>> {
    if let Some(field) = &cx.live()?.unfocused {
        let message =
            format!("{field} was filled but did not take the keyboard focus, so keys would go elsewhere");
        return Err(Error::unsupported(message)
            .hint("press the field first to focus it, or give it to `type` as `--into`"));
    }
    let tree = capture::look(cx, Origin::Internal).await?;
    // The innermost: the element of a frame has the focus together with the focused element inside.
    let focused = |n: &NodeRef<'_>| n.is(States::FOCUSED);
    let Some(innermost) = tree.nodes().rev().find(focused) else { return Ok(None) };
    // The unnamed internals of a field are not worth naming.
    let says = |n: &NodeRef<'_>| n.role() != Role::Generic || !n.name().is_empty();
    let around = innermost.ancestors().filter(focused).find(says);
    let node = Some(innermost).filter(says).or(around).unwrap_or(innermost);
    let meaning = capture::meaning(cx, &tree, node.id())?;
    let session = &mut cx.live()?.session;
    session.note_act(node.id());
    let words = match session.ref_of(node.id()) {
        Some(r) => format!("{r} {meaning}"),
        None => meaning.to_string(),
    };
    let by_keys =
        matches!(node.role(), Role::Button | Role::Link | Role::Checkbox | Role::Radio | Role::Switch);
    Ok(Some(Focus { words, takes_presses: by_keys && !innermost.is(States::EDITABLE) }))
}

/// Returns the focused element for typing `text`. If it is a button, waits briefly for the focus to
/// move on.
///
/// # Errors
/// Returns `INVALID_ARGS` when typing the text would press the focused element, and errors of the
/// device.
pub(crate) async fn for_text(cx: &mut Cx, text: &str) -> Result<Option<Focus>> {
    let until = Instant::now() + HANDED_BACK;
    loop {
        let focus = match current(cx).await? {
            Some(focus) if focus.takes_presses => focus,
            focus => return Ok(focus),
        };
        let left = until.saturating_duration_since(Instant::now());
        if !left.is_zero() {
            waiting::change(cx, left.min(RECHECK)).await?;
            continue;
        }
        if !text.contains([' ', '\n']) {
            return Ok(Some(focus));
        }
        return Err(Error::invalid_args(format!(
            "the focus is on {}, which a space or a line break would press",
            focus.words
        ))
        .hint("give a field to `type` as `--into`; `key` sends single keys"));
    }
}
