//! Navigation, and tabs that close on their own.

use crate::api::render::{Show, Text};
use crate::command::context::Cx;
use crate::command::facets::navigator;
use crate::observe::waiting::MAX_PENDING_CHARS;
use serde::{Deserialize, Serialize};
use std::sync::atomic::Ordering;
use std::time::Duration;
use stickpin_device::{
    Dispatched, EndedTab, ErrorCode, LeavePolicy, Navigation, NavigationResult, Page, Result, SettleResult,
    TabEndReason,
};
use stickpin_tree::escape;

/// The maximum wait until a document is ready and quiet.
pub(crate) const READY_TIMEOUT: Duration = Duration::from_secs(10);

/// Whether the app was quiet when a command stopped waiting for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Quiet {
    /// Whether the app became ready and quiet in time.
    pub settled: bool,
    /// What was still active.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub still: Vec<String>,
}

impl From<SettleResult> for Quiet {
    fn from(result: SettleResult) -> Self {
        Self { settled: result.is_quiet, still: result.pending.iter().map(ToString::to_string).collect() }
    }
}

impl Show for Quiet {
    fn show(&self, text: &mut Text) {
        match &self.still[..] {
            _ if self.settled => {}
            [] => text.line("not quiet yet"),
            still => {
                text.line(format_args!("not quiet yet: {}", escape(&still.join(", "), MAX_PENDING_CHARS)))
            }
        }
    }
}

/// Navigates the app. An address that the device refuses does not count as dispatched.
///
/// # Errors
/// Returns `TIMEOUT` when the command was cancelled, `UNSUPPORTED` when the device cannot navigate,
/// and errors from the device.
pub(crate) async fn navigate(cx: &mut Cx, to: &Navigation, leave: LeavePolicy) -> Result<NavigationResult> {
    cx.check()?;
    let before = cx.dispatched.swap(true, Ordering::Relaxed);
    let cancel = cx.cancel.clone();
    let under_way = cx.begin_operation();
    let arrived = navigator(cx.device()?, "navigate")?.navigate(to, leave, READY_TIMEOUT, &cancel).await;
    drop(under_way);
    match &arrived {
        Ok(at) => {
            let client = cx.client_id();
            let live = cx.open_session()?;
            live.page = Some(Page::new(at.url.clone(), at.title.clone()));
            live.screenshots.forget_unless_at(&client, &at.url);
        }
        Err(e) => {
            cx.dispatched.store(before || e.dispatched == Dispatched::Unknown, Ordering::Relaxed);
            // A failed navigation may have replaced the page, for example with an error page.
            if e.code == ErrorCode::DeviceNotFound
                && let Ok(Some(page)) = cx.device()?.page().await
            {
                cx.open_session()?.page = Some(page);
            }
        }
    }
    arrived
}

/// Processes tabs that ended. Returns a message if the session's own tab is among them and no
/// command closed it, because the session then continues in another tab.
pub(crate) fn process_ended_tabs(cx: &mut Cx) -> Option<String> {
    let live = cx.open_session().ok()?;
    let mut moved = None;
    let ended = live.device.tabs().map(|tabs| tabs.ended_tabs()).unwrap_or_default();
    for EndedTab { id, surface, reason: opts, active_tab: now, .. } in ended {
        live.session.end_surface(surface);
        let why = match opts {
            TabEndReason::ByCommand => continue,
            TabEndReason::Closed => "was closed",
            TabEndReason::Crashed => "crashed",
            _ => "ended",
        };
        if let Some(now) = now {
            live.page = None;
            moved = Some(format!("tab {id} {why}; the session continues in {now}"));
        }
    }
    moved
}

/// Warns about changes to the device itself, unless the receipt reports them.
pub(crate) fn warn_device_notices(cx: &mut Cx) {
    let Ok(live) = cx.open_session() else { return };
    let asides = live.device.lifecycle().map(|life| life.device_notices()).unwrap_or_default();
    for line in asides.iter().filter_map(crate::observe::receipt::describe_device_notice) {
        if !cx.envelope.receipt.iter().any(|told| told.text == line) {
            cx.warn(format!("Note: {line}."));
        }
    }
}

/// Processes tabs that ended, and warns if the session continues in another tab.
pub(crate) fn warn_ended_tabs(cx: &mut Cx) {
    if let Some(moved) = process_ended_tabs(cx) {
        cx.warn(format!("Note: {moved}."));
    }
}
