//! Waits for the effects of an action, and reports them.

use crate::read::page::Page;
use crate::state::TabState;
use crate::state::traffic::LoggedRequest;
use crate::tab::NONE;
use crate::tab::{TabError, expression};
use crate::text::clip;
use std::time::Duration;
use stickpin_device::{CancellationToken, NetworkRequest, Notice, RequestEnd, Result};
use tokio::time::timeout;

/// Timeout for effects in progress.
const EFFECT_TIMEOUT: Duration = Duration::from_millis(300);

/// Timeout for a busy page to run its timers, after which the action counts as without effect.
const BUSY_TIMEOUT: Duration = Duration::from_secs(1);

/// Timeout for a script's reaction to the last effect.
const REACTION_TIMEOUT: Duration = Duration::from_millis(50);

/// The maximum number of notices about requests that an action caused.
const MAX_REQUEST_NOTICES: usize = 3;

/// Waits for the first effect of an action, then until the effects in progress are over.
///
/// # Errors
/// Returns an error from the tab, such as `INTERNAL` when the tab could not be set up.
pub async fn wait_for_effects(page: &mut Page, at_most: Duration, cancel: &CancellationToken) -> Result<()> {
    let (reported, action_began) = (page.changes_reported, page.action_began);
    let arrivals = page.tab.read(|tab| tab.arrivals)?;
    let has_effect = |tab: &TabState| {
        let seen = tab.changes != reported || !tab.notices.is_empty() || tab.dialog.is_some();
        (seen || tab.is_loading_since(action_began)).then_some(())
    };
    report_changes_at_once(page, at_most, has_effect).await?;
    let quiet = tokio::select! {
        stirred = timeout(at_most, page.tab.until(has_effect)) => match stirred {
            Ok(stirred) => { stirred?; false }
            Err(_) => true,
        },
        () = cancel.cancelled() => return Ok(()),
    };
    if quiet {
        // Time is up by our clock, but a page that had no chance to run has done nothing yet.
        tokio::select! {
            stirred = page.tab.until(has_effect) => stirred?,
            _ = timeout(BUSY_TIMEOUT, page.tab.drain_timers()) => {}
            () = cancel.cancelled() => return Ok(()),
        }
    }
    if !page.tab.read(|tab| tab.is_loading_since(action_began))? {
        return Ok(());
    }
    let finished = page.tab.until(|tab| {
        let has_arrived = tab.dialog.is_some() || tab.navigating.is_none() && tab.arrivals != arrivals;
        (has_arrived || !tab.is_loading_since(action_began)).then_some(tab.notices.len())
    });
    let noticed = tokio::select! {
        over = timeout(EFFECT_TIMEOUT, finished) => match over {
            Ok(noticed) => noticed?,
            Err(_) => return Ok(()),
        },
        () = cancel.cancelled() => return Ok(()),
    };
    // The script may respond with a console error or a toast.
    let reaction = page.tab.until(|tab| (tab.notices.len() > noticed).then_some(()));
    timeout(REACTION_TIMEOUT, reaction).await.unwrap_or(Ok(()))
}

/// Makes every document report changes at once, unless an effect has already been seen. Otherwise,
/// a change that soon follows another one is reported with a delay.
async fn report_changes_at_once(
    page: &Page,
    at_most: Duration,
    has_effect: impl Fn(&TabState) -> Option<()>,
) -> Result<()> {
    if page.tab.read(has_effect)?.is_some() {
        return Ok(());
    }
    let worlds = match timeout(at_most, page.tab.worlds()).await {
        // Another page, or none yet, is itself an effect.
        Err(_) | Ok(Err(TabError::Dialog(_) | TabError::WorldGone)) => return Ok(()),
        Ok(worlds) => worlds?,
    };
    match page.tab.send_requests(&worlds, |_| expression("tell", NONE)) {
        // The reports come as signals; the answers add nothing. A dialog delays them all.
        Ok(_) | Err(TabError::Dialog(_) | TabError::WorldGone) => Ok(()),
        Err(fault) => Err(fault.into()),
    }
}

/// Waits for any event since the last call. Returns whether one came.
///
/// # Errors
/// Returns the errors of [`Tab::read`](crate::tab::Tab::read).
pub async fn wait_for_event(page: &mut Page, wait: Duration, cancel: &CancellationToken) -> Result<bool> {
    tokio::task::yield_now().await;
    let last_version = page.last_event_reported;
    let next_version = page.tab.shared.wait_for_change(last_version);
    let new_version = tokio::select! {
        version = timeout(wait, next_version) => version.ok(),
        () = cancel.cancelled() => None,
    };
    if let Some(version) = new_version {
        page.last_event_reported = version;
    }
    // Reports an error if the tab is gone.
    page.tab.read(|_| new_version.is_some())
}

/// Returns the requests since the action began, and those that were pending then.
///
/// # Errors
/// Returns the errors of [`Tab::read`](crate::tab::Tab::read).
pub fn requests_since_action(page: &Page) -> Result<Vec<NetworkRequest>> {
    let action_began = page.action_began;
    page.tab.read(|tab| {
        let seen = tab.traffic.iter().filter(|s| s.overlaps_since(action_began));
        let to_request = |s: &LoggedRequest| {
            NetworkRequest::new(s.method.clone(), s.url.clone())
                .end(s.end.as_ref().map(|(end, _)| end.clone()))
                .duration(s.duration())
                .counts(s.counts)
        };
        seen.map(to_request).collect()
    })
}

/// Returns notices of a pending navigation and of the action's requests that have no notice yet,
/// and marks these requests as reported.
pub fn unreported_effects(page: &Page) -> Result<Vec<Notice>> {
    let action_began = page.action_began;
    page.tab.write(|tab| {
        let navigation = tab.navigating.as_ref().map(|(url, _)| Notice::NavigationStarted { url: clip(url) });
        let is_unreported =
            |s: &&mut LoggedRequest| s.by_script && s.counts && !s.reported && s.began >= action_began;
        let requests = tab.traffic.iter_mut().filter(is_unreported).filter_map(|s| {
            s.reported = true;
            let status = match s.end {
                None => None,
                Some((RequestEnd::Status(status), _)) if status < 400 => Some(status),
                // A failed request has its own notice.
                Some(_) => return None,
            };
            Some(Notice::RequestObserved { method: s.method.clone(), url: clip(&s.url), status })
        });
        let requests: Vec<Notice> = requests.collect();
        navigation.into_iter().chain(requests.into_iter().take(MAX_REQUEST_NOTICES)).collect()
    })
}
