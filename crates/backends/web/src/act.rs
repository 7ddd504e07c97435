//! Sends inputs and answers dialogs.

use crate::driven::{DialogRepetition, DrivenBrowser};
use crate::tabs;
use crate::unresponsive::{self, input_not_processed};
use std::time::{Duration, Instant};
use stickpin_device::{
    Action, Aim, AimOptions, CancellationToken, DialogAnswer, Dispatched, Error, ErrorCode, InputOutcome,
    Result, Ticket,
};
use stickpin_devtools::protocol as cdp;
use stickpin_tree::Handle;
use stickpin_webpage::act;
use stickpin_webpage::state::TabState;
use stickpin_webpage::tab::{Tab, dialog_open};
use tokio::time::timeout;

/// Timeout for a cancelled input to reach a point where nothing is half done. Shorter than the
/// kernel's own grace period.
const RELEASE_TIMEOUT: Duration = Duration::from_millis(300);

/// Timeout for a page to resume after its `beforeunload` dialog was dismissed. The page then
/// reports to the browser that it stays. If a navigation begins before that report arrives, the
/// browser mistakes the report for the answer to the new dialog and does not navigate.
const RESUME_TIMEOUT: Duration = Duration::from_secs(1);

/// Aims at an element, after any pending navigation is committed.
pub(crate) async fn aim(web: &mut DrivenBrowser, handle: Handle, options: AimOptions<'_>) -> Result<Aim> {
    web.page.commit(Some(handle)).await?;
    act::aim::aim_at(&mut web.page, handle, options).await
}

/// Sends an input.
pub(crate) async fn commit(
    web: &mut DrivenBrowser,
    action: &Action,
    prepared: &Ticket,
    cancel: &CancellationToken,
) -> Result<InputOutcome> {
    web.page.commit(None).await?;
    if let Some(dialog) = web.dialog() {
        return Err(dialog_open(&dialog));
    }
    web.dialog_repetition = DialogRepetition::default();
    let outcome = tokio::select! {
        biased;
        performed = act::perform(&mut web.page, action, prepared, cancel) => performed,
        // Dropping the input releases the keys and buttons that it holds.
        () = grace_period_over(cancel) => Err(unknown(input_not_processed().into())),
    };
    web.page.input_sent();
    tabs::complete_outcome(web, action, outcome).await
}

/// Answers the open dialog of the driven tab or, if that tab has none, of another tab.
pub(crate) async fn answer_dialog(web: &mut DrivenBrowser, answer: DialogAnswer) -> Result<()> {
    let Some(dialog) = web.page.tab.read(|tab| tab.dialog.clone())? else {
        return Err(Error::new(ErrorCode::ElementNotFound, "no dialog is open"));
    };
    let tab = match &dialog.tab {
        Some(id) => Tab { session: tabs::session_of(web, id)?, ..web.page.tab.clone() },
        None => web.page.tab.clone(),
    };
    let stays_on_page = dialog.kind == "beforeunload" && answer == DialogAnswer::Dismiss;
    let dismissed = answer == DialogAnswer::Dismiss;
    let silenced = dismissed && unresponsive::note_dismissal(web, &tab, &dialog)?;
    let method = match answer {
        DialogAnswer::Accept(prompt_text) => cdp::HandleDialog { accept: true, prompt_text },
        DialogAnswer::Dismiss => cdp::HandleDialog { accept: false, prompt_text: None },
    };
    let done = async {
        let before = tab.read(|tab| tab.answers)?;
        tab.command(&method).await?;
        // The next dialog may have the same text, so also compare the number of answers.
        let is_answered = |tab: &TabState| tab.answers != before || tab.dialog.as_ref() != Some(&dialog);
        tab.until(|tab| is_answered(tab).then_some(())).await?;
        if stays_on_page {
            // A timeout only ends the wait: the next command reports a dialog or a closed tab.
            drop(timeout(RESUME_TIMEOUT, tab.drain_timers()).await);
        }
        if silenced {
            unresponsive::check_resumed(web).await?;
        }
        // A page that responds may open the same dialog again later, so the count starts over.
        Ok(dismissed
            && !silenced
            && !stays_on_page
            && dialog.tab.is_none()
            && unresponsive::is_responsive(web).await?)
    };
    let done = done.await;
    if let Ok(true) = done {
        web.dialog_repetition = DialogRepetition::default();
    }
    web.page.last_input = Some(Instant::now());
    match done {
        // The answer closed the tab.
        Err(_) if tab.is_closed() => Ok(()),
        done => done.map(drop).map_err(unknown),
    }
}

/// Returns when a cancelled command has used up its grace period.
async fn grace_period_over(cancel: &CancellationToken) {
    cancel.cancelled().await;
    tokio::time::sleep(RELEASE_TIMEOUT).await;
}

fn unknown(error: Error) -> Error {
    error.dispatched(Dispatched::Unknown)
}
