//! Sends pointer and keyboard input, sets values and files, and uses the clipboard. Also takes
//! screenshots.

pub mod aim;
pub mod clipboard;
mod code;
pub mod files;
pub mod keyboard;
mod keys;
pub mod mouse;
pub mod screenshot;

use crate::read::page::Page;
use crate::read::prefetch::AnnouncedPress;
use crate::tab::TabError;
use stickpin_device::{
    Action, CancellationToken, Dispatched, Error, InputOutcome, Result, Ticket, unsupported,
};

/// Sends one input. `prepared` is the ticket of the preceding aim at the target.
///
/// # Errors
/// Returns the error from the input, which also states whether anything may have reached the page.
pub async fn perform(
    page: &mut Page,
    action: &Action,
    prepared: &Ticket,
    cancel: &CancellationToken,
) -> Result<InputOutcome> {
    // Only a press uses the announcement of a press.
    let announced = prepared.take::<AnnouncedPress>().filter(|_| matches!(action, Action::Press { .. }));
    match action {
        Action::Press { .. } => mouse::press(page, action, announced, cancel).await,
        Action::Drag { from, source, to, target } => mouse::drag(page, *from, *source, *to, *target).await,
        Action::Fill { target, text } => keyboard::fill(page, *target, text).await,
        Action::Type { target, text } => keyboard::type_text(page, *target, text, cancel).await,
        Action::Key { modifiers, key } => keyboard::chord(page, *modifiers, key).await,
        Action::Select { target, options } => keyboard::select(page, *target, options).await,
        Action::Scroll { target, dx, dy } => mouse::scroll(page, *target, *dx, *dy).await,
        Action::Choose { point, target } => files::choose_files(page, *point, *target, cancel).await,
        Action::Upload { target, files } => files::upload(page, *target, files).await,
        Action::Drop { point, target, files } => files::drop_files(page, *point, *target, files).await,
        _ => Err(unsupported("web", "send this kind of input")),
    }
}

/// Marks an error to state that the input may have reached the page.
fn unknown(fault: impl Into<Error>) -> Error {
    fault.into().dispatched(Dispatched::Unknown)
}

/// Returns whether a dialog opened in response to an input. In that case, the input arrived, and
/// the page cannot answer requests for now.
fn is_dialog_open(delivered: Result<(), TabError>) -> Result<bool> {
    match delivered {
        Ok(()) => Ok(false),
        Err(TabError::Dialog(_)) => Ok(true),
        Err(fault) => Err(unknown(fault)),
    }
}

/// Returns a document's answer after an input; `None` when a dialog is open or the document went
/// away with the input.
fn ignore_gone_document<T>(answer: Result<T, TabError>) -> Result<Option<T>> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(TabError::Dialog(_) | TabError::WorldGone) => Ok(None),
        Err(fault) => Err(unknown(fault)),
    }
}
