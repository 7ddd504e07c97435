//! The tabs of a browser, and the driven one.
//!
//! Tabs open in the background and, in a window that a person sees, stay there; only this module
//! changes which tab is driven. When the driven tab ends, every call that concerns this tab fails
//! until [`take_ended_tabs`] has reported its end. An input therefore never goes to a tab that
//! nobody chose.

use crate::driven::DrivenBrowser;
use crate::events::metrics;
use crate::navigate::{self, BLANK_URL};
use hashbrown::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stickpin_device::{
    Action, CancellationToken, Delivery, EndedTab, InputOutcome, LeavePolicy, Navigation, NavigationResult,
    Notice, TabEndReason, TabEntry,
};
use stickpin_device::{Dispatched, Error, ErrorCode, Result, SettleResult};
use stickpin_devtools::protocol as cdp;
use stickpin_devtools::{CallError, Client};
use stickpin_tree::{SurfaceId, quote};
use stickpin_webpage::agent::PressVerdict;
use stickpin_webpage::state::{SharedState, TabState};
use stickpin_webpage::tab::{Tab, TabError, browser_lost, dialog_open};
use stickpin_webpage::text::clip;
use tokio::time::timeout;

/// Timeout for a requested tab to open or close.
const TAB_TIMEOUT: Duration = Duration::from_secs(10);

/// Timeout for a page to report whether it is closing itself.
const CLOSE_CHECK_TIMEOUT: Duration = Duration::from_millis(500);

/// Timeout for a tab to appear after a page requested it. Tabs that the browser blocks never
/// appear.
const NEW_TAB_TIMEOUT: Duration = Duration::from_millis(1_000);

/// Opens an empty tab in the background and returns its DevTools session.
pub(crate) async fn create(client: &Client, shared: &Arc<SharedState>) -> Result<String> {
    let create = cdp::CreateTarget { url: BLANK_URL.into(), background: Some(true) };
    let refused = |e: CallError| browser_lost(&format!("the browser refused to open a tab: {e}"));
    let target = client.call(None, &create).await.map_err(refused)?.target_id;
    let attached = shared.until(|state| {
        if let Some(why) = &state.lost {
            return Some(Err(browser_lost(why)));
        }
        state.tabs.iter().find(|(_, tab)| tab.target == target).map(|(session, _)| Ok(session.clone()))
    });
    attached.await
}

/// Lists all tabs, oldest first. The titles come from the browser rather than from the pages,
/// because a page may be hanging.
pub(crate) async fn all_tabs(web: &DrivenBrowser) -> Result<Vec<TabEntry>> {
    let refused = |e: CallError| web.page.tab.call_error(&e);
    let targets = web.page.tab.client.call(None, &cdp::GetTargets {}).await.map_err(refused)?;
    let titles: HashMap<String, (String, String)> =
        targets.target_infos.into_iter().map(|t| (t.target_id, (t.title, t.url))).collect();
    let state = web.page.tab.shared.state();
    let open_tabs = state.drivable_tabs();
    let entry = |(session, tab): &(&String, &TabState)| {
        let (title, url) = titles.get(&tab.target).cloned().unwrap_or_default();
        let committed_url = tab.main_frame().map(|frame| frame.url.clone()).filter(|url| !url.is_empty());
        let current_url = committed_url.or_else(|| tab.navigating.as_ref().map(|(url, _)| url.clone()));
        let opener = open_tabs.iter().find(|(_, t)| Some(&t.target) == tab.opener.as_ref());
        TabEntry::new(tab.id(), current_url.unwrap_or(url), title)
            .active(**session == web.page.tab.session)
            .opener(opener.map(|(_, opener)| opener.id()))
            .dialog(tab.dialog.clone().filter(|dialog| dialog.tab.is_none()))
    };
    Ok(open_tabs.iter().map(entry).collect())
}

/// Returns the DevTools session of the open tab with this id.
pub(crate) fn session_of(web: &DrivenBrowser, id: &str) -> Result<String> {
    let state = web.page.tab.shared.state();
    if let Some(why) = &state.lost {
        return Err(browser_lost(why));
    }
    let open_tabs = state.drivable_tabs();
    let found = open_tabs.iter().find(|(_, tab)| tab.id() == id);
    found.map(|(session, _)| (*session).clone()).ok_or_else(|| {
        let ids: Vec<String> = open_tabs.iter().map(|(_, tab)| tab.id()).collect();
        Error::new(ErrorCode::DeviceNotFound, format!("there is no tab {}", quote(id)))
            .hint(format!("open tabs: {}; run `stickpin tab list`", ids.join(", ")))
    })
}

/// Makes a tab the driven one.
pub(crate) fn set_driven_tab(web: &mut DrivenBrowser, session: String) {
    if session == web.page.tab.session {
        return;
    }
    web.previous_tabs.retain(|s| *s != session);
    let previous = std::mem::replace(&mut web.page.tab.session, session);
    web.previous_tabs.push(previous);
    let mut state = web.page.tab.shared.state();
    state.active.clone_from(&web.page.tab.session);
    let tab = state.tabs.get(&web.page.tab.session);
    web.page.number = tab.map_or(web.page.number, |tab| tab.number);
    // Earlier changes are not effects of the next action.
    web.page.changes_reported = tab.map_or(0, |tab| tab.changes);
    web.page.seen = tab.map_or(0, |tab| tab.activity).wrapping_sub(1);
    web.page.last_input = None;
    drop(state);
    keep_in_front(web);
}

/// Brings the driven tab to the front of a headless browser, without waiting for this to take
/// effect. Chromium renders only one frame per second in a background tab, and input waits for a
/// frame.
pub(crate) fn keep_in_front(web: &DrivenBrowser) {
    let target_id = {
        let state = web.page.tab.shared.state();
        let Some(tab) = state.tabs.get(&web.page.tab.session) else { return };
        if web.browser.headed || state.drivable_tabs().len() == 1 {
            return;
        }
        let mut known = web.state.lock();
        let front = Some((web.page.tab.session.clone(), known.last_tab));
        if known.front == front {
            return;
        }
        known.front = front;
        tab.target.clone()
    };
    drop(web.page.tab.client.send(None, &cdp::ActivateTarget { target_id }));
}

/// Waits until the driven tab has loaded, if a page opened it; returns at once if the tab was
/// already driven before.
pub(crate) async fn wait_until_loaded(web: &mut DrivenBrowser) -> Result<()> {
    if web.page.tab.write(|tab| std::mem::replace(&mut tab.driven, true))? {
        return Ok(());
    }
    let never = CancellationToken::new();
    navigate::wait_until_quiet(web, Instant::now() + TAB_TIMEOUT, &never).await.map(drop)
}

/// Returns whether the page is closing itself; always false for the only tab. The page's `window`
/// object shows this before the browser reports it.
async fn closes_itself(web: &DrivenBrowser) -> bool {
    if web.page.tab.shared.state().drivable_tabs().len() < 2 {
        return false;
    }
    let closing = async {
        loop {
            let closed = async {
                let world = web.page.tab.top_world().await?;
                web.page.tab.evaluate::<bool>(&world, "window.closed".to_owned()).await
            };
            match closed.await {
                // The document is gone: either the tab is closing, or another document will follow.
                Err(TabError::WorldGone) => tokio::task::yield_now().await,
                Ok(closed) => return closed,
                Err(_) => return web.page.tab.is_closed(),
            }
        }
    };
    // A page that does not answer is not known to be closing.
    matches!(timeout(CLOSE_CHECK_TIMEOUT, closing).await, Ok(true))
}

/// Opens a tab, drives it, and navigates to `what`, if given. If the navigation fails, closes the
/// tab and drives the previous one again.
pub(crate) async fn open_tab(
    web: &mut DrivenBrowser,
    what: Option<&str>,
    deadline: Instant,
    cancel: &CancellationToken,
) -> Result<NavigationResult> {
    if let Some(what) = what {
        // Check first: nothing is opened for an invalid address.
        crate::file_gate::parse_allowed(what, web.state.file_roots().as_deref())?;
    }
    let created = timeout(TAB_TIMEOUT, create(&web.page.tab.client, &web.page.tab.shared)).await;
    let session = created.map_err(|_| timeout_error("opened", TAB_TIMEOUT))??;
    let before = web.page.tab.session.clone();
    set_driven_tab(web, session);
    web.page.tab.write(|tab| tab.driven = true)?;
    // Wait for the first, empty document: a tab that is navigated before then crashes.
    let arrived = match (web.page.tab.top_world().await, what) {
        (Err(fault), _) => Err(fault.into()),
        (Ok(_), Some(what)) => {
            navigate::navigate(web, &Navigation::To(what.to_owned()), LeavePolicy::Discard, deadline, cancel)
                .await
        }
        (Ok(_), None) => {
            Ok(NavigationResult::default().moved(true).url(BLANK_URL.into()).quiet(SettleResult::quiet()))
        }
    };
    if arrived.is_err() {
        let target = web.page.tab.read(|tab| tab.target.clone());
        let failed = web.page.tab.session.clone();
        set_driven_tab(web, before);
        web.previous_tabs.retain(|s| *s != failed);
        if let Ok(target_id) = target {
            // The tab is empty, and the error already names its address.
            let _ = Tab { session: failed.clone(), ..web.page.tab.clone() }
                .write(|tab| tab.asked_to_close = true);
            drop(web.page.tab.client.send(None, &cdp::CloseTarget { target_id }));
            // A tab that does not close stays visible in the list of tabs.
            drop(timeout(TAB_TIMEOUT, web.page.tab.shared.wait_until_gone(&failed)).await);
        }
    }
    arrived
}

/// Closes a tab. If it was the driven one, [`take_ended_tabs`] reports which tab is driven next.
pub(crate) async fn end_tab(
    web: &mut DrivenBrowser,
    id: &str,
    leave: LeavePolicy,
    cancel: &CancellationToken,
) -> Result<()> {
    let session = session_of(web, id)?;
    let last = web.page.tab.shared.state().drivable_tabs().len() == 1;
    if last {
        return Err(Error::new(ErrorCode::InvalidArgs, format!("{id} is the only tab")).hint(
            "run `stickpin close` to end the session, or `stickpin tab new` to open another tab first",
        ));
    }
    let tab = Tab { session, ..web.page.tab.clone() };
    let target = tab.write(|tab| {
        tab.asked_to_close = true;
        tab.target.clone()
    })?;
    let unknown = |e: Error| e.dispatched(Dispatched::Unknown);
    match leave {
        LeavePolicy::Discard => drop(tab.client.send(None, &cdp::CloseTarget { target_id: target })),
        _ => drop(tab.client.send(Some(&tab.session), &cdp::ClosePage {})),
    }
    let own_dialog = |tab: &TabState| tab.dialog.clone().filter(|dialog| dialog.tab.is_none());
    let dialog_before = tab.read(own_dialog).ok().flatten();
    let prompt = timeout(
        TAB_TIMEOUT,
        tab.until(|tab| {
            own_dialog(tab).filter(|now| leave == LeavePolicy::Ask && Some(now) != dialog_before.as_ref())
        }),
    );
    let ended = tokio::select! {
        ended = prompt => ended,
        () = cancel.cancelled() => Err(unknown(
            Error::new(ErrorCode::Timeout, "closing the tab was cancelled").hint("run `stickpin tab list`"),
        ))?,
    };
    match ended {
        Ok(Ok(mut dialog)) => {
            tab.write(|tab| tab.asked_to_close = false)?;
            dialog.tab = (tab.session != web.page.tab.session).then(|| id.to_owned());
            Err(dialog_open(&dialog).hint(format!(
                "run `stickpin tab close {id} --discard` to discard the draft, or `stickpin alert dismiss` to keep the tab"
            )))
        }
        // Either the tab is gone, as requested, or the browser is gone, which the next call
        // reports.
        Ok(Err(_)) => Ok(()),
        Err(_) => Err(unknown(timeout_error("closed", TAB_TIMEOUT))),
    }
}

/// Returns the tabs that ended since the last call; empty if no tab is left or the browser is gone.
/// If the driven tab ended, its opener, the previously driven tab or the newest tab is driven from
/// now on.
pub(crate) fn take_ended_tabs(web: &mut DrivenBrowser) -> Vec<EndedTab> {
    let mut state = web.page.tab.shared.state();
    if state.lost.is_some() || state.drivable_tabs().is_empty() {
        // The session ends with its last tab.
        return Vec::new();
    }
    let ended_tab = |(session, tab): (&String, &TabState)| tab.gone.map(|reason| (session.clone(), reason));
    let gone: Vec<(String, TabEndReason)> = state.tabs.iter().filter_map(ended_tab).collect();
    let mut ended = Vec::new();
    let mut next = None;
    for (session, how) in gone {
        let Some(tab) = state.tabs.remove(&session) else { continue };
        web.previous_tabs.retain(|s| *s != session);
        let mut now = None;
        if session == web.page.tab.session {
            let open_tabs = state.drivable_tabs();
            let opener = open_tabs.iter().find(|(_, t)| Some(&t.target) == tab.opener.as_ref());
            let previous =
                web.previous_tabs.iter().rev().find_map(|s| open_tabs.iter().find(|(l, _)| *l == s));
            if let Some((session, tab)) = opener.or(previous).or(open_tabs.last()) {
                let url = tab.main_frame().map(|frame| clip(&frame.url)).unwrap_or_default();
                now = Some(format!("{} {}", tab.id(), stickpin_tree::quote_url(&url)));
                next = Some((*session).clone());
            }
        }
        if how == TabEndReason::Crashed {
            // A crashed tab shows nothing and can be closed.
            drop(web.page.tab.client.send(None, &cdp::CloseTarget { target_id: tab.target.clone() }));
        }
        let reason = if tab.asked_to_close { TabEndReason::ByCommand } else { how };
        ended.push(EndedTab::new(tab.id(), SurfaceId(tab.number), reason).active_tab(now));
    }
    if let Some(tab) = next.as_ref().and_then(|next| state.tabs.get_mut(next)) {
        let closed = ended.iter().filter(|e| e.active_tab.is_some() && e.reason == TabEndReason::Closed);
        closed.for_each(|e| tab.notice(Notice::TabClosed { id: e.id.clone() }));
    }
    drop(state);
    if let Some(next) = next {
        let gone = web.page.tab.session.clone();
        set_driven_tab(web, next);
        web.previous_tabs.retain(|s| *s != gone);
    }
    ended
}

/// Completes the result of an input that may have opened tabs or closed its own tab.
pub(crate) async fn complete_outcome(
    web: &mut DrivenBrowser,
    action: &Action,
    performed: Result<InputOutcome>,
) -> Result<InputOutcome> {
    match performed {
        // A press on "Close" counts as successful even if the tab is gone. Text typed into a tab
        // that went away may not have arrived.
        Err(e)
            if e.dispatched == Dispatched::Unknown
                && web.page.tab.is_closed()
                && matches!(action, Action::Press { .. } | Action::Key { .. } | Action::Drag { .. }) =>
        {
            let state = web.page.tab.shared.state();
            let verdict = state.tabs.get(&web.page.tab.session).and_then(|tab| tab.verdict.clone());
            let landed = verdict.map_or(Delivery::Unknown, PressVerdict::delivery);
            Ok(InputOutcome::done().delivery(landed))
        }
        Ok(performed) => {
            if closes_itself(web).await {
                // The tab must be gone before a command looks for the effects of the input.
                let gone = web.page.tab.until(|_| None::<()>);
                drop(timeout(TAB_TIMEOUT, gone).await);
                return Ok(performed);
            }
            // Wait for the tabs that the page requested, so that they are reported as its effects.
            let tabs_attached =
                web.page.tab.until(|tab| (tab.opening.is_empty() || tab.dialog.is_some()).then_some(()));
            if timeout(NEW_TAB_TIMEOUT, tabs_attached).await.is_err() {
                // The browser blocked the tab. Later, a leftover address would be attributed to the
                // wrong tab.
                web.page.tab.write(|tab| tab.opening.clear())?;
            }
            Ok(performed)
        }
        Err(e) => Err(e),
    }
}

/// Sets the viewport of all current and future tabs, in CSS pixels.
pub(crate) async fn set_viewport(web: &mut DrivenBrowser, width: u32, height: u32) -> Result<()> {
    if web.browser.headed {
        return Err(stickpin_device::unsupported("web", "resize a window that a person sees"));
    }
    let sessions: Vec<String> = {
        web.state.lock().viewport = Some((width, height));
        let state = web.page.tab.shared.state();
        state.drivable_tabs().into_iter().map(|(session, _)| session.clone()).collect()
    };
    for session in sessions.iter().filter(|s| **s != web.page.tab.session) {
        // A hanging tab gets its size when it answers again.
        drop(web.page.tab.client.send(Some(session), &metrics(width, height)));
    }
    web.page.tab.command(&metrics(width, height)).await.map(drop)
}

/// Makes the driven tab of a headless browser the front one, because the browser draws no other
/// tab.
pub(crate) async fn bring_to_front_for_screenshot(web: &DrivenBrowser) -> Result<(), TabError> {
    if web.browser.headed || web.page.tab.shared.state().drivable_tabs().len() == 1 {
        return Ok(());
    }
    let target_id = web.page.tab.read(|tab| tab.target.clone())?;
    web.page.tab.answer(web.page.tab.client.send(None, &cdp::ActivateTarget { target_id })).await?;
    Ok(())
}

pub(crate) fn timeout_error(what_happened: &str, limit: Duration) -> Error {
    let message = format!("the tab was not {what_happened} within {} s", limit.as_secs());
    Error::new(ErrorCode::Timeout, message).hint("run `stickpin tab list`")
}
