//! What an act set off, and waits for it.

use crate::read::page::Page;
use crate::state::TabState;
use crate::state::traffic::Seen;
use crate::tab::NONE;
use crate::tab::{Fault, expression};
use crate::text::clip;
use std::time::Duration;
use stickpin_device::{CancellationToken, Notice, RequestEnd, Result, SeenRequest};
use tokio::time::timeout;

/// How long an act is watched while something that it set off is under way.
const UNDER_WAY: Duration = Duration::from_millis(300);

/// How long a page that is busy may take until nothing is said to have happened in it.
const BUSY: Duration = Duration::from_secs(1);

/// How long a script is given to react to what came.
const REACTION: Duration = Duration::from_millis(50);

/// Notices of requests that an act set off.
const TOLD: usize = 3;

/// Waits for a first sign of what an act set off, and until what it set off is over.
///
/// # Errors
/// `BACKEND_LOST` when the tab is gone.
pub async fn wait_for_effects(page: &mut Page, at_most: Duration, cancel: &CancellationToken) -> Result<()> {
    let (told, begun) = (page.told, page.begun);
    let arrivals = page.tab.read(|tab| tab.arrivals)?;
    let stirred = |tab: &TabState| {
        let seen = tab.changes != told || !tab.notices.is_empty() || tab.dialog.is_some();
        (seen || tab.under_way(begun)).then_some(())
    };
    listen_closely(page, at_most, stirred).await?;
    let quiet = tokio::select! {
        stirred = timeout(at_most, page.tab.until(stirred)) => match stirred {
            Ok(stirred) => { stirred?; false }
            Err(_) => true,
        },
        () = cancel.cancelled() => return Ok(()),
    };
    if quiet {
        // The time is over by our clock. A page that had no time of its own yet did nothing yet, either.
        tokio::select! {
            stirred = page.tab.until(stirred) => stirred?,
            _ = timeout(BUSY, page.tab.turn()) => {}
            () = cancel.cancelled() => return Ok(()),
        }
    }
    if !page.tab.read(|tab| tab.under_way(begun))? {
        return Ok(());
    }
    let over = page.tab.until(|tab| {
        let gone = tab.dialog.is_some() || tab.navigating.is_none() && tab.arrivals != arrivals;
        (gone || !tab.under_way(begun)).then_some(tab.notices.len())
    });
    let noticed = tokio::select! {
        over = timeout(UNDER_WAY, over) => match over {
            Ok(noticed) => noticed?,
            Err(_) => return Ok(()),
        },
        () = cancel.cancelled() => return Ok(()),
    };
    // What the script says about it: an error on the console, a toast.
    let reaction = page.tab.until(|tab| (tab.notices.len() > noticed).then_some(()));
    timeout(REACTION, reaction).await.unwrap_or(Ok(()))
}

/// Unless something is seen already, lets every document tell at once of what changes: otherwise what comes soon
/// after another change is held back for a moment.
async fn listen_closely(
    page: &Page,
    at_most: Duration,
    stirred: impl Fn(&TabState) -> Option<()>,
) -> Result<()> {
    if page.tab.read(stirred)?.is_some() {
        return Ok(());
    }
    let worlds = match timeout(at_most, page.tab.worlds()).await {
        // It shows something else, or nothing yet: that is a sign by itself.
        Err(_) | Ok(Err(Fault::Dialog(_) | Fault::WorldGone)) => return Ok(()),
        Ok(worlds) => worlds?,
    };
    match page.tab.ask_all(&worlds, |_| expression("tell", NONE)) {
        // What they are asked for comes as signals; the answers say nothing more. A dialog holds them all up.
        Ok(_) | Err(Fault::Dialog(_) | Fault::WorldGone) => Ok(()),
        Err(fault) => Err(fault.into()),
    }
}

/// Waits until anything happens that was not heard of before; whether it did.
///
/// # Errors
/// `BACKEND_LOST` when the tab is gone.
pub async fn wait_for_news(page: &mut Page, wait: Duration, cancel: &CancellationToken) -> Result<bool> {
    tokio::task::yield_now().await;
    let heard = page.heard;
    let news = page.tab.shared.until_after(heard);
    let came = tokio::select! {
        version = timeout(wait, news) => version.ok(),
        () = cancel.cancelled() => None,
    };
    if let Some(version) = came {
        page.heard = version;
    }
    // A tab that is gone says so.
    page.tab.read(|_| came.is_some())
}

/// The requests since the act began, and those that were under way.
///
/// # Errors
/// `BACKEND_LOST` when the tab is gone.
pub fn seen_requests(page: &Page) -> Result<Vec<SeenRequest>> {
    let begun = page.begun;
    page.tab.read(|tab| {
        let seen = tab.traffic.iter().filter(|s| s.is_since(begun));
        let tell = |s: &Seen| SeenRequest {
            method: s.method.clone(),
            url: s.url.clone(),
            end: s.end.as_ref().map(|(end, _)| end.clone()),
            took: s.took(),
            counts: s.counts,
        };
        seen.map(tell).collect()
    })
}

/// What an act set off besides what was noticed by itself.
pub fn set_off(page: &Page) -> Result<Vec<Notice>> {
    let begun = page.begun;
    page.tab.write(|tab| {
        let leaving = tab.navigating.as_ref().map(|(url, _)| Notice::Leaving { url: clip(url) });
        let fresh = |s: &&mut Seen| s.by_script && s.counts && !s.told && s.began >= begun;
        let requests = tab.traffic.iter_mut().filter(fresh).filter_map(|s| {
            s.told = true;
            let status = match s.end {
                None => None,
                Some((RequestEnd::Status(status), _)) if status < 400 => Some(status),
                // What failed has a notice of its own.
                Some(_) => return None,
            };
            Some(Notice::Requested { method: s.method.clone(), url: clip(&s.url), status })
        });
        let requests: Vec<Notice> = requests.collect();
        leaving.into_iter().chain(requests.into_iter().take(TOLD)).collect()
    })
}
