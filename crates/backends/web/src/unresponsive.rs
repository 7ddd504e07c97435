//! Handles pages that do not answer because a script runs endlessly or opens one dialog after
//! another. The browser can leave a page only if the page's process answers. The script of a
//! hanging page is therefore terminated first; if that fails, navigation continues in another tab.

use crate::driven::{DrivenBrowser, MAX_DISMISSALS};
use crate::navigate;
use crate::tabs::{self, create, timeout_error};
use std::time::{Duration, Instant};
use stickpin_device::{
    CancellationToken, Dialog, Error, ErrorCode, LeavePolicy, Navigation, NavigationResult, Notice, Result,
};
use stickpin_devtools::protocol as cdp;
use stickpin_webpage::state::TabState;
use stickpin_webpage::tab::{Tab, TabError};
use tokio::time::timeout;

/// Timeout for a busy page, after which it counts as hanging.
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);

/// Timeout for a page to answer after its script was terminated or its dialog was answered.
const INTERRUPT_TIMEOUT: Duration = Duration::from_millis(500);

/// The delay before a page that answers again is probed once more, because it may hang again.
const REHANG_TIME: Duration = Duration::from_millis(50);

/// The maximum number of times that a page is probed again after its scripts were terminated or its
/// dialog was dismissed.
const MAX_ATTEMPTS: usize = 3;

/// Timeout for a tab to open or close.
const TAB_TIMEOUT: Duration = Duration::from_secs(5);

/// Makes a hanging page answer so that it can be left; returns false if it still hangs. `leave`
/// determines whether its dialogs may be answered: with [`LeavePolicy::Ask`], an open dialog stays
/// open, and the result is true.
///
/// # Errors
/// Returns `BACKEND_LOST` when the browser is gone, and `DEVICE_NOT_FOUND` when only the tab is
/// gone.
pub(crate) async fn interrupt_page(web: &DrivenBrowser, leave: LeavePolicy) -> Result<bool> {
    for round in 0..=MAX_ATTEMPTS {
        match responsiveness(web, if round == 0 { BUSY_TIMEOUT } else { INTERRUPT_TIMEOUT }).await? {
            Responsiveness::Responsive if round == 0 => return Ok(true),
            Responsiveness::Responsive => {
                // A timer may have started the next script.
                tokio::time::sleep(REHANG_TIME).await;
                return is_responsive(web).await;
            }
            // The caller decides about the dialog; the next step reports it.
            Responsiveness::ShowsDialog if leave == LeavePolicy::Ask => return Ok(true),
            Responsiveness::ShowsDialog => dismiss_repeated(&web.page.tab).await?,
            Responsiveness::Unresponsive => end_scripts(&web.page.tab)?,
        }
    }
    Ok(false)
}

/// Dismisses the open dialog, and all equal ones until the next document replaces the page.
async fn dismiss_repeated(tab: &Tab) -> Result<()> {
    tab.write(|state| {
        state.silenced = state.dialog.as_ref().map(|dialog| (dialog.kind.clone(), dialog.message.clone()));
    })?;
    match tab.command(&cdp::HandleDialog { accept: false, prompt_text: None }).await {
        // The browser has already closed the dialog.
        Err(e) if e.code == ErrorCode::Internal => Ok(()),
        done => done.map(drop),
    }
}

/// Returns how the page's processes react to a command within `limit`.
async fn responsiveness(web: &DrivenBrowser, limit: Duration) -> Result<Responsiveness> {
    let has_dialog = |tab: &TabState| tab.dialog.as_ref().is_some_and(|d| d.kind != "beforeunload");
    if web.page.tab.read(has_dialog)? {
        return Ok(Responsiveness::ShowsDialog);
    }
    let probe = cdp::Evaluate { expression: "0".to_owned(), ..cdp::Evaluate::default() };
    let sessions = web.page.tab.sessions()?;
    let replies: Vec<_> = sessions.iter().map(|s| web.page.tab.client.send(Some(s), &probe)).collect();
    let answered = async {
        for reply in replies {
            // A refusal means that the document is going away.
            drop(reply.await);
        }
    };
    tokio::select! {
        biased;
        answered = timeout(limit, answered) => {
            web.page.tab.read(|_| ())?;
            Ok(if answered.is_ok() { Responsiveness::Responsive } else { Responsiveness::Unresponsive })
        }
        asks = web.page.tab.until(|tab| has_dialog(tab).then_some(())) => asks.map(|()| Responsiveness::ShowsDialog),
    }
}

/// Records that a dialog is about to be dismissed. Returns true if the same dialog was dismissed
/// too often; equal dialogs are then dismissed automatically.
pub(crate) fn note_dismissal(web: &mut DrivenBrowser, tab: &Tab, dialog: &Dialog) -> Result<bool> {
    if dialog.kind == "beforeunload" || !web.dialog_repetition.is_repeated(&dialog.kind, &dialog.message) {
        return Ok(false);
    }
    tab.write(|state| state.silenced = Some((dialog.kind.clone(), dialog.message.clone())))?;
    Ok(true)
}

/// Returns whether the page responds without opening another dialog at once.
pub(crate) async fn is_responsive(web: &DrivenBrowser) -> Result<bool> {
    Ok(responsiveness(web, INTERRUPT_TIMEOUT).await? == Responsiveness::Responsive)
}

/// Checks that a page continues after its dialogs were silenced.
///
/// # Errors
/// Returns `TIMEOUT` when the page does not answer, for example because it only opens the dialog
/// again.
pub(crate) async fn check_resumed(web: &DrivenBrowser) -> Result<()> {
    match responsiveness(web, INTERRUPT_TIMEOUT).await? {
        Responsiveness::Unresponsive => Err(Error::new(
            ErrorCode::Timeout,
            format!("the page does not continue after {MAX_DISMISSALS} dismissals of the same dialog; from now on, the dialog is dismissed automatically"),
        )
        .hint("run `stickpin reload` to reload the page, or `stickpin back` or `stickpin open URL` to leave it")),
        Responsiveness::Responsive | Responsiveness::ShowsDialog => Ok(()),
    }
}

/// Navigates in a new tab and abandons the hanging one. If the navigation leads nowhere, the
/// hanging tab stays driven.
///
/// # Errors
/// Returns the errors of finding the address and of opening the new tab; the hanging tab then stays
/// driven. Also returns the errors of the navigation itself; in that case, the hanging page has
/// already been abandoned.
pub(crate) async fn replace_tab(
    web: &mut DrivenBrowser,
    to: &Navigation,
    deadline: Instant,
    cancel: &CancellationToken,
) -> Result<NavigationResult> {
    let Some(what) = address_of(web, to).await? else {
        return Ok(NavigationResult::default());
    };
    let hung = web.page.tab.clone();
    let (id, target_id) = hung.write(|tab| {
        tab.asked_to_close = true;
        (tab.id(), tab.target.clone())
    })?;
    let created = timeout(TAB_TIMEOUT, create(&hung.client, &hung.shared)).await;
    let session = created.map_err(|_| timeout_error("opened", TAB_TIMEOUT))??;
    tabs::set_driven_tab(web, session);
    web.previous_tabs.retain(|session| *session != hung.session);
    web.page.tab.write(|tab| {
        tab.driven = true;
        tab.notice(Notice::TabClosed { id });
    })?;
    // A hanging page does not close by itself.
    drop(hung.client.send(Some(&hung.session), &cdp::CrashPage {}));
    drop(hung.client.send(None, &cdp::CloseTarget { target_id }));
    if timeout(TAB_TIMEOUT, hung.shared.wait_until_gone(&hung.session)).await.is_err() {
        tracing::warn!("a hung page was abandoned");
    }
    web.page.tab.top_world().await?;
    Box::pin(navigate::navigate(web, &Navigation::To(what), LeavePolicy::Discard, deadline, cancel)).await
}

/// Returns the URL that a navigation leads to; `None` if it leads nowhere.
async fn address_of(web: &DrivenBrowser, to: &Navigation) -> Result<Option<String>> {
    match to {
        Navigation::To(what) => Ok(Some(what.clone())),
        Navigation::Reload => web.page.tab.url().map(Some),
        Navigation::Back | Navigation::Forward => {
            Ok(navigate::history_entry(web, to).await?.map(|entry| entry.url))
        }
        _ => Ok(None),
    }
}

/// Terminates the scripts that are running in a page. The browser handles this command even while a
/// script is running.
fn end_scripts(tab: &Tab) -> Result<()> {
    for session in tab.sessions()? {
        tracing::debug!(session, "terminating the scripts of the page");
        // The answer would show only that no script is running any more; the next probe shows that
        // too.
        drop(tab.client.send(Some(&session), &cdp::TerminateExecution {}));
    }
    Ok(())
}

/// A page's reaction to a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Responsiveness {
    /// The page answers.
    Responsive,
    /// The page shows a dialog and waits for an answer.
    ShowsDialog,
    /// The page does not answer.
    Unresponsive,
}

/// Returns the error for an input that the page did not process in time.
pub(crate) fn input_not_processed() -> TabError {
    Error::new(ErrorCode::Timeout, "the page did not process the input in time")
        .hint("a script on the page may be stuck in a loop; run `stickpin reload`")
        .into()
}
