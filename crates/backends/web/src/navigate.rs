//! Navigates, and detects when a navigation is complete.

use crate::driven::DrivenBrowser;
use crate::file_gate;
use crate::unresponsive;
use std::time::{Duration, Instant};
use stickpin_device::{
    CancellationToken, Dispatched, Error, ErrorCode, LeavePolicy, Navigation, NavigationResult, Notice, Page,
    Result, SettleResult,
};
use stickpin_devtools::Method;
use stickpin_devtools::protocol as cdp;
use stickpin_tree::quote;
use stickpin_webpage::state::TabState;
use stickpin_webpage::tab::{TabError, dialog_open};
use stickpin_webpage::text::clip;
use stickpin_webpage::wait::settle;
use tokio::time::{timeout, timeout_at};

/// The time without activity after which a page counts as loaded.
const QUIET_TIME: Duration = Duration::from_millis(150);

/// How long a new document may keep changing while it loads nothing. A clock or a game never stops
/// changing. A large editor stops when it is ready, which takes time on a busy machine.
const MOVING_TIMEOUT: Duration = Duration::from_secs(5);

/// Timeout for a browser to cancel a navigation. Short, because the caller has already timed out.
const CANCEL_TIMEOUT: Duration = Duration::from_millis(300);

/// Timeout for a browser to report what it received instead of a page.
const RESULT_TIMEOUT: Duration = Duration::from_secs(1);

/// The URL of a new tab.
pub(crate) const BLANK_URL: &str = "about:blank";

pub(crate) async fn navigate(
    web: &mut DrivenBrowser,
    to: &Navigation,
    leave: LeavePolicy,
    deadline: Instant,
    cancel: &CancellationToken,
) -> Result<NavigationResult> {
    let before = web.page.tab.url()?;
    if let Navigation::To(what) = to {
        // An invalid or refused address must leave the page alone.
        file_gate::parse_allowed(what, web.state.file_roots().as_deref())?;
    }
    let answers = tokio::select! {
        answers = unresponsive::interrupt_page(web, leave) => answers?,
        () = cancel.cancelled() => return Err(cancelled_error()),
    };
    if !answers {
        return unresponsive::replace_tab(web, to, deadline, cancel).await;
    }
    let arrivals = web.page.tab.read(|tab| tab.arrivals)?;
    let navigated = tokio::select! {
        moved = leave_page(web, to, leave, deadline) => moved,
        () = cancel.cancelled() => Err(cancelled_error()),
    };
    let moved = match navigated {
        Ok(moved) => moved,
        // The navigation was not even attempted.
        Err(e) if matches!(e.code, ErrorCode::InvalidArgs | ErrorCode::Unsupported) => return Err(e),
        Err(mut e) => {
            if e.code == ErrorCode::DeviceNotFound
                && !web.page.tab.is_closed()
                && before != BLANK_URL
                && web.page.tab.read(|tab| tab.arrivals)? != arrivals
            {
                e.message = format!("{}; an error page has replaced {}", e.message, clip(&before));
                e.hint = format!("{}; run `stickpin back` to return to the previous page", e.hint);
            }
            if e.code == ErrorCode::Timeout {
                // The current page does not answer while the browser is waiting for another one.
                // The browser refuses the command if no navigation is in progress.
                drop(timeout(CANCEL_TIMEOUT, web.page.tab.command(&cdp::StopLoading {})).await);
                web.page.tab.write(|tab| tab.navigating = None)?;
            }
            return Err(e.dispatched(Dispatched::Unknown));
        }
    };
    web.page.last_input = None;
    let arrival = match moved {
        true => wait_until_quiet(web, deadline, cancel).await?,
        false => SettleResult::quiet(),
    };
    let Page { url, title, .. } = current_page(web).await?;
    Ok(NavigationResult::default().moved(moved).url(url).title(title).quiet(arrival))
}

/// Waits until a new document is quiet.
pub(crate) async fn wait_until_quiet(
    web: &mut DrivenBrowser,
    deadline: Instant,
    cancel: &CancellationToken,
) -> Result<SettleResult> {
    settle::settle_until(&mut web.page, QUIET_TIME, deadline, MOVING_TIMEOUT, cancel).await
}

/// Returns the URL, which is known from events, and the title, which takes one request to read.
pub(crate) async fn current_page(web: &DrivenBrowser) -> Result<Page> {
    Ok(Page::new(web.page.tab.url()?, title(web).await?))
}

/// Navigates until another document is committed. Unless `leave` is [`LeavePolicy::Ask`], accepts
/// `beforeunload` dialogs. Returns false when there is nowhere to go.
async fn leave_page(
    web: &mut DrivenBrowser,
    to: &Navigation,
    leave: LeavePolicy,
    deadline: Instant,
) -> Result<bool> {
    if leave == LeavePolicy::Ask {
        return start_navigation(web, to, leave, deadline).await;
    }
    tokio::select! {
        biased;
        moved = start_navigation(web, to, leave, deadline) => moved,
        never = discard(web) => match never? {},
    }
}

/// Accepts every `beforeunload` dialog of the page, for as long as the future is polled.
pub(crate) async fn discard(web: &DrivenBrowser) -> Result<std::convert::Infallible> {
    loop {
        let message = web.page.tab.until(|tab| leave_prompt(tab).map(str::to_owned)).await?;
        web.page.tab.command(&cdp::HandleDialog { accept: true, prompt_text: None }).await?;
        web.page.tab.write(|tab| tab.notice(Notice::DialogShown { text: clip(&message) }))?;
        web.page.tab.until(|tab| leave_prompt(tab).is_none().then_some(())).await?;
    }
}

/// Navigates until another document is committed. Returns false when there is nowhere to go, and an
/// error when a dialog opens that `leave` does not answer.
async fn start_navigation(
    web: &DrivenBrowser,
    to: &Navigation,
    leave: LeavePolicy,
    deadline: Instant,
) -> Result<bool> {
    let arrivals = web.page.tab.read(|tab| tab.arrivals)?;
    match to {
        Navigation::To(what) => return visit(web, what, deadline).await,
        Navigation::Home => {
            return Err(
                stickpin_device::unsupported("web", "go to a home screen").hint("run `stickpin open URL`")
            );
        }
        Navigation::Reload => {
            send_unless_prompted(web, leave, &cdp::Reload {}).await?;
        }
        Navigation::Back | Navigation::Forward => {
            let Some(entry) = history_entry(web, to).await? else { return Ok(false) };
            send_unless_prompted(web, leave, &cdp::GoToEntry { entry_id: entry.id }).await?;
        }
        _ => return Err(stickpin_device::unsupported("web", "go there")),
    }
    let committed_or_dialog = web.page.tab.until(|tab| {
        // The caller must answer "Leave the page?": a draft may be lost.
        let answered = leave == LeavePolicy::Discard && leave_prompt(tab).is_some();
        if let Some(dialog) = tab.dialog.as_ref().filter(|_| !answered) {
            return Some(Err(dialog_open(dialog)));
        }
        (tab.arrivals != arrivals).then_some(Ok(true))
    });
    match timeout_at(deadline.into(), committed_or_dialog).await {
        Ok(arrived) => arrived?,
        Err(_) => Err(Error::new(ErrorCode::Timeout, "the page did not load in time")
            .hint("check that the server is running; the current page is still open")),
    }
}

/// Returns the history entry one step back or forward, if any.
pub(crate) async fn history_entry(web: &DrivenBrowser, to: &Navigation) -> Result<Option<cdp::HistoryEntry>> {
    let history = web.page.tab.command(&cdp::GetHistory {}).await?;
    let at = history.current_index;
    let entry = if *to == Navigation::Back { at.checked_sub(1) } else { at.checked_add(1) };
    let entry = entry.and_then(|at| history.entries.get(at).cloned());
    // The empty page with which every tab starts does not count as visited.
    let began = *to == Navigation::Back && at == 1 && history.entries.len() > 1;
    Ok(entry.filter(|entry| !(began && entry.url == BLANK_URL)))
}

/// Sends a command that leaves the page. With [`LeavePolicy::Ask`], returns early with an error
/// when a dialog opens.
async fn send_unless_prompted<M: Method>(web: &DrivenBrowser, leave: LeavePolicy, method: &M) -> Result<()> {
    let sent = web.page.tab.command(method);
    match leave {
        LeavePolicy::Discard => sent.await.map(drop)?,
        _ => web.page.tab.unless_dialog(sent).await.map(drop)?,
    }
    Ok(())
}

/// Navigates to a URL. Always returns true: a URL that cannot be opened is an error.
async fn visit(web: &DrivenBrowser, what: &str, deadline: Instant) -> Result<bool> {
    let url = file_gate::parse_allowed(what, web.state.file_roots().as_deref())?;
    let before = Instant::now();
    let navigate = cdp::Navigate { url: url.as_str().to_owned() };
    let result = timeout_at(deadline.into(), web.page.tab.command(&navigate)).await;
    let Ok(answer) = result else {
        let text = format!("{} did not respond in time", clip(url.as_str()));
        let hint = match has_previous_page(web) {
            true => "check that the server is running; the previous page is still open",
            false => "check that the server is running",
        };
        return Err(Error::new(ErrorCode::Timeout, text).hint(hint));
    };
    let cdp::Navigated { loader_id, error_text, .. } = answer?;
    if let Some(text) = error_text.filter(|text| !text.is_empty()) {
        return Err(open_error(web, url.as_str(), &text, before).await);
    }
    let Some(loader) = loader_id.filter(|id| !id.is_empty()) else { return Ok(true) };
    let committed = web.page.tab.until(|tab| tab.main_frame().filter(|f| f.loader == loader).map(|_| ()));
    match timeout_at(deadline.into(), committed).await {
        Ok(committed) => committed.map(|()| true),
        // The document was committed, and its script navigated away at once.
        Err(_) => Ok(true),
    }
}

/// Returns the error for a URL that showed no page, with the reason.
async fn open_error(web: &DrivenBrowser, url: &str, text: &str, since: Instant) -> Error {
    let shown = clip(url);
    if text != "net::ERR_ABORTED" {
        let message = format!("{shown} cannot be opened: {text}");
        return Error::new(ErrorCode::DeviceNotFound, message).hint(hint_for(text));
    }
    // The browser reports responses and downloads through different events.
    let download_or_tab = web.page.tab.shared.until(|state| {
        let known = web.state.lock();
        let file = known.downloads.iter().rev().find(|d| d.began >= since).map(|d| d.download.name.clone());
        let tab = state.tabs.get(&web.page.tab.session)?;
        let status = tab.document_status(since).filter(|status| matches!(status, 204 | 205 | 300..=399));
        file.map(NonPageResult::File).or(status.map(NonPageResult::Nothing))
    });
    let previous = has_previous_page(web);
    let stays = match previous {
        true => "the previous page is still open: run `stickpin snapshot -i`",
        false => "check the address",
    };
    let (message, hint) = match timeout(RESULT_TIMEOUT, download_or_tab).await {
        Ok(NonPageResult::File(name)) => (
            format!("{shown} is a file, not a page: {} is being downloaded", quote(&name)),
            match previous {
                true => "run `stickpin wait download`; the previous page is still open",
                false => "open a page first; then open this address, and run `stickpin wait download`",
            },
        ),
        Ok(NonPageResult::Nothing(status @ 300..)) => (
            format!(
                "{shown} shows no page: the server answered {status} with a redirect that a tab cannot follow"
            ),
            stays,
        ),
        Ok(NonPageResult::Nothing(status)) => {
            (format!("{shown} shows no page: the server answered {status}, which has no content"), stays)
        }
        Err(_) => (format!("{shown} shows no page: the browser gave up ({text})"), stays),
    };
    Error::new(ErrorCode::DeviceNotFound, message).hint(hint)
}

async fn title(web: &DrivenBrowser) -> Result<String> {
    let Ok(world) = web.page.tab.top_world().await else { return Ok(String::new()) };
    // Call the getter itself: a page can have an image named "title".
    let script = "Object.getOwnPropertyDescriptor(Document.prototype,'title').get.call(document)";
    match web.page.tab.evaluate(&world, script.to_owned()).await {
        Ok(title) => Ok(title),
        // The page is being replaced or shows a dialog, so it has no readable title now.
        Err(TabError::WorldGone | TabError::Dialog(_)) => Ok(String::new()),
        Err(fault) => Err(fault.into()),
    }
}

/// The outcome of a navigation that showed no page.
enum NonPageResult {
    /// A download with this file name.
    File(String),
    /// A response that showed no page, with this status code.
    Nothing(u16),
}

/// Returns whether the tab shows a page that a failed navigation leaves open. A new tab shows none.
fn has_previous_page(web: &DrivenBrowser) -> bool {
    web.page.tab.url().is_ok_and(|url| !url.is_empty() && url != BLANK_URL)
}

fn cancelled_error() -> Error {
    Error::new(ErrorCode::Timeout, "the navigation was cancelled")
}

/// Returns the message of the page's `beforeunload` dialog, if one is open.
fn leave_prompt(tab: &TabState) -> Option<&str> {
    let prompt = tab.dialog.as_ref().filter(|d| d.kind == "beforeunload" && d.tab.is_none());
    prompt.map(|d| d.message.as_str())
}

/// Returns the hint for a URL that cannot be reached.
fn hint_for(text: &str) -> &'static str {
    match text {
        "net::ERR_NAME_NOT_RESOLVED" => "check the host name and the network",
        "net::ERR_CONNECTION_REFUSED" => "check that the server is running on this port",
        "net::ERR_FILE_NOT_FOUND" => "check the file's path",
        text if text.starts_with("net::ERR_CERT") => "make this machine trust the server's certificate",
        text if text.starts_with("net::ERR_SSL") => {
            "write `http://` before the name if the server does not use TLS"
        }
        _ => "open the address with `--headed` to see what the browser shows",
    }
}
