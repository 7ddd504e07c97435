//! Notices from the device: for receipts, and for people who watch.

use crate::command::context::Cx;
use stickpin_device::{Notice, Result};

/// Discards the notices from before an action, which the action's input did not cause. Watchers
/// still see the console errors among these notices.
///
/// # Errors
/// Returns errors from the device.
pub(crate) async fn discard(cx: &mut Cx) -> Result<()> {
    read(cx).await?;
    cx.open_session()?.noticed.discard();
    Ok(())
}

/// Takes the notices since the action began, oldest first.
///
/// # Errors
/// Returns errors from the device.
pub(crate) async fn take(cx: &mut Cx) -> Result<Vec<Notice>> {
    read(cx).await?;
    Ok(cx.open_session()?.noticed.take())
}

/// Returns the console errors that no receipt has reported, oldest first and limited in number. All
/// notices are kept for the receipts to which they may belong.
///
/// # Errors
/// Returns errors from the device.
#[cfg(feature = "pictures")]
pub(crate) async fn unreported_console_errors(cx: &mut Cx) -> Result<Vec<String>> {
    // An app that is waiting for an answer to its dialog cannot be queried.
    if cx.device()?.dialog().is_none() {
        read(cx).await?;
    }
    let errors = cx.open_session()?.noticed.console_errors();
    let described = errors.into_iter().map(|(text, times)| {
        let line = super::receipt::describe_console_error(&text);
        if times == 1 { line } else { format!("{line} ({times} times)") }
    });
    Ok(described.collect())
}

async fn read(cx: &mut Cx) -> Result<()> {
    let notices = cx.device()?.notices().await?;
    cx.open_session()?.noticed.keep(notices);
    Ok(())
}
