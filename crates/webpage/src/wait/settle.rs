//! Waits for quiet: a period without document changes, finite animations, recent requests or
//! navigation.

use crate::agent::QuietAnswer;
use crate::read::page::Page;
use crate::state::{LoadStage, Request, TabState};
use crate::tab::{TabError, expression};
use std::time::{Duration, Instant};
use stickpin_device::{CancellationToken, PendingActivity, Result, SettleResult, describe_request};
use stickpin_tree::quote_url;
use tokio::time::{sleep_until, timeout};

/// The age above which a pending request counts as long-lived.
const LONG_LIVED_AGE: Duration = Duration::from_secs(5);

/// The time after which the unfinished body of a script's request counts as a stream or as unread.
const STREAM_AGE: Duration = Duration::from_millis(500);

/// The maximum time that a single request to the page waits.
const MAX_REQUEST_WAIT: Duration = Duration::from_secs(10);

/// Timeout, after the deadline, for the page to name what is moving.
const DESCRIBE_TIMEOUT: Duration = Duration::from_millis(500);

/// The maximum number of descriptions of what is still moving.
const MAX_STILL: usize = 5;

/// Returns the time at which a request stops delaying quiet. Later answers and the ends of streams
/// do not count.
fn ignored_from(request: &Request) -> Instant {
    let latest = request.since + LONG_LIVED_AGE;
    request.answered.map_or(latest, |answered| latest.min(answered + STREAM_AGE))
}

/// Returns the activity in a tab according to its events, and when to check again without an event.
/// `None` when all is quiet.
fn pending_activity(
    tab: &TabState,
    last_input: Option<Instant>,
    quiet: Duration,
) -> Option<(Vec<PendingActivity>, Option<Instant>)> {
    if let Some(dialog) = &tab.dialog {
        return Some((vec![PendingActivity::Other(format!("a {} dialog", dialog.kind))], None));
    }
    if let Some((url, _)) = &tab.navigating {
        return Some((vec![PendingActivity::Other(format!("navigation to {}", quote_url(url)))], None));
    }
    if tab.main_frame().is_none_or(|frame| frame.stage < LoadStage::Ready) {
        return Some((vec![PendingActivity::Other("the document is being loaded".to_owned())], None));
    }
    let now = Instant::now();
    let pending: Vec<_> = tab.requests.values().filter(|r| r.counts && now < ignored_from(r)).collect();
    if let Some(oldest) = pending.iter().map(|r| ignored_from(r)).min() {
        let descriptions =
            pending.iter().map(|r| PendingActivity::Request(describe_request(&r.method, &r.url)));
        return Some((descriptions.take(MAX_STILL).collect(), Some(oldest)));
    }
    let since = tab.active_at.into_iter().chain(last_input).max()?;
    (now < since + quiet).then(|| (Vec::new(), Some(since + quiet)))
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Waits for quiet until `deadline`, but for at most `moving` while documents change and nothing is
/// loading. A dialog ends the wait, because nothing moves while it is open.
pub async fn settle_until(
    page: &mut Page,
    quiet: Duration,
    deadline: Instant,
    moving: Duration,
    cancel: &CancellationToken,
) -> Result<SettleResult> {
    let mut moving_until = None;
    let not_settled = |still| Ok(SettleResult::new(false, still));
    let activities =
        |quiet: QuietAnswer| quiet.still.into_iter().map(PendingActivity::Other).collect::<Vec<_>>();
    loop {
        let (version, state) =
            page.tab.read(|tab| (tab.version(), pending_activity(tab, page.last_input, quiet)))?;
        let now = Instant::now();
        let until = match &state {
            Some((still, _)) if !still.is_empty() => {
                moving_until = None;
                deadline
            }
            _ => deadline.min(*moving_until.get_or_insert(now + moving)),
        };
        if let Some((still, look_again)) = state {
            let dialog = page.tab.read(|tab| tab.dialog.is_some())?;
            if still.is_empty() && now >= until && !dialog {
                // Only the page can name changes of the document.
                let answer = timeout(DESCRIBE_TIMEOUT, documents_settled(page, milliseconds(quiet), 0)).await;
                return not_settled(answer.ok().and_then(Result::ok).map(activities).unwrap_or_default());
            }
            if dialog || now >= until || cancel.is_cancelled() {
                return not_settled(still);
            }
            let wake = look_again.map_or(until, |at| at.min(until));
            tokio::select! {
                changed = page.tab.until(|tab| (tab.version() != version).then_some(())) => changed?,
                () = sleep_until(wake.into()) => {}
                () = cancel.cancelled() => {}
            }
            continue;
        }
        // Everything is quiet from outside, so query the documents.
        let remaining = until.saturating_duration_since(now).min(MAX_REQUEST_WAIT);
        let request = documents_settled(page, milliseconds(quiet), milliseconds(remaining));
        let answer = tokio::select! {
            // A page too busy to answer is not quiet.
            answer = timeout(remaining + Duration::from_secs(1), request) => answer,
            () = cancel.cancelled() => return not_settled(Vec::new()),
        };
        match answer {
            Err(_) if Instant::now() < deadline => moving_until = None,
            Err(_) => {
                return not_settled(vec![PendingActivity::Other(
                    "a script on the page is running".to_owned(),
                )]);
            }
            Ok(Ok(answer)) => {
                let last_input = page.last_input;
                let state = page.tab.read(|tab| pending_activity(tab, last_input, quiet))?;
                // A page that has meanwhile begun to load something may take longer.
                let loads = state.as_ref().is_some_and(|(still, _)| !still.is_empty());
                let until = if loads { deadline } else { until };
                if answer.settled && state.is_none() {
                    return Ok(SettleResult::quiet());
                }
                if !answer.settled && Instant::now() + Duration::from_millis(20) >= until {
                    return not_settled(activities(answer));
                }
            }
            Ok(Err(TabError::WorldGone | TabError::Dialog(_))) => {}
            Ok(Err(fault)) => return Err(fault.into()),
        }
    }
}

/// Waits until every document is quiet, for at most `timeout` milliseconds, and combines their
/// answers. A document is quiet after `quiet` milliseconds without a change.
async fn documents_settled(page: &Page, quiet: u64, timeout: u64) -> Result<QuietAnswer, TabError> {
    let worlds = page.tab.worlds().await?;
    let requests = page.tab.send_requests(&worlds, |_| expression("settled", (quiet, timeout)))?;
    let answers: Vec<Option<QuietAnswer>> = page.tab.finish_all(&worlds, requests).await?;
    let mut all = QuietAnswer { settled: true, still: Vec::new() };
    // A frame that went away is quiet.
    for QuietAnswer { settled, still } in answers.into_iter().flatten() {
        all.settled &= settled;
        all.still.extend(still);
    }
    all.still.truncate(MAX_STILL);
    Ok(all)
}
