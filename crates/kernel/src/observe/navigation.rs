//! Navigation, and tabs that close on their own.

use crate::command::context::Cx;
use crate::command::facets::navigator;
use std::sync::atomic::Ordering;
use std::time::Duration;
use stickpin_device::{Arrived, Dispatched, ErrorCode, Leave, Navigation, Page, Result, TabEnd, TabEnded};

/// Navigates the app. An address that the device refuses does not count as dispatched.
///
/// # Errors
/// Returns errors of the device.
pub(crate) async fn go(cx: &mut Cx, to: &Navigation, leave: Leave, ready: Duration) -> Result<Arrived> {
    cx.check()?;
    let before = cx.dispatched.swap(true, Ordering::Relaxed);
    let cancel = cx.cancel.clone();
    let under_way = cx.under_way();
    let arrived = navigator(cx.device()?, "go anywhere else")?.navigate(to, leave, ready, &cancel).await;
    drop(under_way);
    match &arrived {
        Ok(at) => {
            let client = cx.client();
            let live = cx.live()?;
            live.at = Some(Page::new(at.url.clone(), at.title.clone()));
            live.pictures.leave(&client, &at.url);
        }
        Err(e) => {
            cx.dispatched.store(before || e.dispatched == Dispatched::Unknown, Ordering::Relaxed);
            // A failed navigation may have replaced the page, for example by an error page.
            if e.code == ErrorCode::DeviceNotFound
                && let Ok(Some(page)) = cx.device()?.page().await
            {
                cx.live()?.at = Some(page);
            }
        }
    }
    arrived
}

/// Processes tabs that ended. Returns a message if the session's own tab is among them, because the
/// session then continues in another tab.
pub(crate) fn attend(cx: &mut Cx) -> Option<String> {
    let live = cx.live().ok()?;
    let mut moved = None;
    let ended = live.device.tabs().map(|tabs| tabs.ended_tabs()).unwrap_or_default();
    for TabEnded { id, surface, how, now, .. } in ended {
        live.session.end_surface(surface);
        let why = match how {
            TabEnd::Asked => continue,
            TabEnd::Closed => "was closed",
            TabEnd::Crashed => "crashed",
            _ => "ended",
        };
        if let Some(now) = now {
            live.at = None;
            moved = Some(format!("tab {id} {why}; the session goes on in {now}"));
        }
    }
    moved
}

/// Warns about changes of the device itself, unless the receipt reports them.
pub(crate) fn tell_asides(cx: &mut Cx) {
    let Ok(live) = cx.live() else { return };
    let asides = live.device.lifecycle().map(|life| life.device_notices()).unwrap_or_default();
    for line in asides.iter().filter_map(crate::observe::receipt::aside) {
        if !cx.envelope.receipt.iter().any(|told| told.text == line) {
            cx.warn(format!("Note: {line}."));
        }
    }
}

/// Processes tabs that ended, and turns the message into a warning.
pub(crate) fn attend_aloud(cx: &mut Cx) {
    if let Some(moved) = attend(cx) {
        cx.warn(format!("Note: {moved}."));
    }
}
