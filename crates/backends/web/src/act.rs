//! Inputs, and answers to dialogs.

use crate::driven::{Driven, Nagging};
use crate::hang::{self, not_taken};
use crate::tabs;
use std::time::{Duration, Instant};
use stickpin_device::{
    Action, Aim, AimOptions, CancellationToken, DialogAnswer, Dispatched, Error, ErrorCode, Performed,
    Result, Ticket,
};
use stickpin_devtools::protocol as cdp;
use stickpin_tree::Handle;
use stickpin_webpage::act;
use stickpin_webpage::state::TabState;
use stickpin_webpage::tab::{Tab, dialog_open};
use tokio::time::timeout;

/// How long an input that is to end may take to be where nothing is half done: less than the kernel's own grace.
const RELEASE: Duration = Duration::from_millis(300);

/// How long a page that is not left may take to go on. A browser that is sent elsewhere before it heard from the page
/// that it stays takes the word for the answer to the new question, and goes nowhere.
const STAYS: Duration = Duration::from_secs(1);

/// Aims at an element, once what is there now is there to stay.
pub(crate) async fn aim(web: &mut Driven, handle: Handle, options: AimOptions<'_>) -> Result<Aim> {
    web.page.commit(Some(handle)).await?;
    act::aim::aim_at(&mut web.page, handle, options).await
}

/// Sends an input.
pub(crate) async fn commit(
    web: &mut Driven,
    action: &Action,
    prepared: &Ticket,
    cancel: &CancellationToken,
) -> Result<Performed> {
    web.page.commit(None).await?;
    if let Some(dialog) = web.dialog() {
        return Err(dialog_open(&dialog));
    }
    web.nagging = Nagging::default();
    let performed = tokio::select! {
        biased;
        performed = act::carry_out(&mut web.page, action, prepared, cancel) => performed,
        // What is held is released with it.
        () = late(cancel) => Err(unknown(not_taken().into())),
    };
    web.page.input_sent();
    tabs::performed(web, action, performed).await
}

/// Answers the dialog of the driven tab, or the one of another tab that it was told of.
pub(crate) async fn answer_dialog(web: &mut Driven, answer: DialogAnswer) -> Result<()> {
    let Some(dialog) = web.page.tab.read(|tab| tab.dialog.clone())? else {
        return Err(Error::new(ErrorCode::ElementNotFound, "no dialog is open"));
    };
    let tab = match &dialog.tab {
        Some(id) => Tab { session: tabs::session_of(web, id)?, ..web.page.tab.clone() },
        None => web.page.tab.clone(),
    };
    let stays = dialog.kind == "beforeunload" && answer == DialogAnswer::Dismiss;
    let dismissed = answer == DialogAnswer::Dismiss;
    let silenced = dismissed && hang::dismissing(web, &tab, &dialog)?;
    let method = match answer {
        DialogAnswer::Accept(prompt_text) => cdp::HandleDialog { accept: true, prompt_text },
        DialogAnswer::Dismiss => cdp::HandleDialog { accept: false, prompt_text: None },
    };
    let done = async {
        let before = tab.read(|tab| tab.answers)?;
        tab.command(&method).await?;
        // The next question may read like this one.
        let over = |tab: &TabState| tab.answers != before || tab.dialog.as_ref() != Some(&dialog);
        tab.until(|tab| over(tab).then_some(())).await?;
        if stays {
            // What stays undone here is the wait alone: a dialog or an end that came up is told by what comes next.
            drop(timeout(STAYS, tab.turn()).await);
        }
        if silenced {
            hang::goes_on(web).await?;
        }
        // A page that does something else than ask may ask again later.
        Ok(dismissed && !silenced && !stays && dialog.tab.is_none() && hang::answers_now(web).await?)
    };
    let done = done.await;
    if let Ok(true) = done {
        web.nagging = Nagging::default();
    }
    web.page.acted = Some(Instant::now());
    match done {
        // The answer was to close it.
        Err(_) if tab.closed() => Ok(()),
        done => done.map(drop).map_err(unknown),
    }
}

/// Returns when a command that was asked to end has had its time for that.
async fn late(cancel: &CancellationToken) {
    cancel.cancelled().await;
    tokio::time::sleep(RELEASE).await;
}

fn unknown(error: Error) -> Error {
    error.dispatched(Dispatched::Unknown)
}
