//! Handles pages that do not answer because a script runs endlessly or opens one dialog after
//! another. A page is left through its own process. A hanging page is therefore left by terminating
//! its script first; if that fails, navigation continues in another tab.

use crate::driven::{Driven, PATIENCE};
use crate::navigate;
use crate::tabs::{self, create, slow};
use std::time::{Duration, Instant};
use stickpin_device::{
    Arrived, CancellationToken, Dialog, Error, ErrorCode, Leave, Navigation, Notice, Result,
};
use stickpin_devtools::protocol as cdp;
use stickpin_webpage::state::TabState;
use stickpin_webpage::tab::{Fault, Tab};
use tokio::time::timeout;

/// Timeout for a busy page, after which it counts as hanging.
const BUSY: Duration = Duration::from_secs(2);

/// Timeout for a page to answer after its script was terminated or its dialog answered.
const ENDED: Duration = Duration::from_millis(500);

/// The time given to a page to hang again.
const AGAIN: Duration = Duration::from_millis(50);

/// The number of attempts to terminate scripts.
const ROUNDS: usize = 3;

/// Timeout for a tab to open or close.
const OTHER: Duration = Duration::from_secs(5);

/// Makes a hanging page answer so that it can be left; returns false if it does not. `leave` says
/// whether its dialogs may be answered.
///
/// # Errors
/// Returns `BACKEND_LOST` when the browser is gone.
pub(crate) async fn wake(web: &Driven, leave: Leave) -> Result<bool> {
    for round in 0..=ROUNDS {
        match answered(web, if round == 0 { BUSY } else { ENDED }).await? {
            Answer::Now if round == 0 => return Ok(true),
            Answer::Now => {
                // A timer may have started the next script.
                tokio::time::sleep(AGAIN).await;
                return answers_now(web).await;
            }
            // The caller decides about the dialog; the next step reports it.
            Answer::Asks if leave == Leave::Ask => return Ok(true),
            Answer::Asks => silence(&web.page.tab).await?,
            Answer::Never => end_scripts(&web.page.tab)?,
        }
    }
    Ok(false)
}

/// Dismisses the open dialog and all equal ones until the next document.
async fn silence(tab: &Tab) -> Result<()> {
    tab.write(|state| {
        state.silenced = state.dialog.as_ref().map(|dialog| (dialog.kind.clone(), dialog.message.clone()));
    })?;
    match tab.command(&cdp::HandleDialog { accept: false, prompt_text: None }).await {
        // The browser closed the dialog meanwhile.
        Err(e) if e.code == ErrorCode::Internal => Ok(()),
        done => done.map(drop),
    }
}

/// The reaction of the page's processes to a command within `patience`.
async fn answered(web: &Driven, patience: Duration) -> Result<Answer> {
    let asked = |tab: &TabState| tab.dialog.as_ref().is_some_and(|d| d.kind != "beforeunload");
    if web.page.tab.read(asked)? {
        return Ok(Answer::Asks);
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
        answered = timeout(patience, answered) => {
            web.page.tab.read(|_| ())?;
            Ok(if answered.is_ok() { Answer::Now } else { Answer::Never })
        }
        asks = web.page.tab.until(|tab| asked(tab).then_some(())) => asks.map(|()| Answer::Asks),
    }
}

/// Records that a dialog is about to be dismissed. Returns true if the same dialog was dismissed
/// too often; equal dialogs are then dismissed automatically.
pub(crate) fn dismissing(web: &mut Driven, tab: &Tab, dialog: &Dialog) -> Result<bool> {
    if dialog.kind == "beforeunload" || !web.nagging.again(&dialog.kind, &dialog.message) {
        return Ok(false);
    }
    tab.write(|state| state.silenced = Some((dialog.kind.clone(), dialog.message.clone())))?;
    Ok(true)
}

/// Whether the page answers rather than opening another dialog at once.
pub(crate) async fn answers_now(web: &Driven) -> Result<bool> {
    Ok(answered(web, ENDED).await? == Answer::Now)
}

/// Checks that a page continues after its dialogs were silenced.
///
/// # Errors
/// Returns `TIMEOUT` when the page does nothing but ask.
pub(crate) async fn goes_on(web: &Driven) -> Result<()> {
    match answered(web, ENDED).await? {
        Answer::Never => Err(Error::new(
            ErrorCode::Timeout,
            format!("dismissed {PATIENCE} times in a row, and the page only asks again: its dialogs are ignored from now on"),
        )
        .hint("run `stickpin reload` to start it again, or `stickpin back` or `stickpin open URL` to leave it")),
        Answer::Now | Answer::Asks => Ok(()),
    }
}

/// Continues in another tab and abandons the hanging one.
///
/// # Errors
/// Returns the same errors as any navigation; the hanging page is abandoned even then.
pub(crate) async fn replace(
    web: &mut Driven,
    to: &Navigation,
    deadline: Instant,
    cancel: &CancellationToken,
) -> Result<Arrived> {
    let Some(what) = address_of(web, to).await? else {
        return Ok(Arrived::default());
    };
    let hung = web.page.tab.clone();
    let (id, target_id) = hung.write(|tab| {
        tab.asked_to_close = true;
        (tab.id(), tab.target.clone())
    })?;
    let created = timeout(OTHER, create(&hung.client, &hung.shared)).await;
    let session = created.map_err(|_| slow("opened"))??;
    tabs::drive(web, session);
    web.trail.retain(|session| *session != hung.session);
    web.page.tab.write(|tab| {
        tab.driven = true;
        tab.notice(Notice::Closed { id });
    })?;
    // A hanging page does not close by itself.
    drop(hung.client.send(Some(&hung.session), &cdp::CrashPage {}));
    drop(hung.client.send(None, &cdp::CloseTarget { target_id }));
    if timeout(OTHER, hung.shared.until_gone(&hung.session)).await.is_err() {
        tracing::warn!("a page that hangs was left behind");
    }
    web.page.tab.top().await?;
    Box::pin(navigate::go(web, &Navigation::To(what), Leave::Discard, deadline, cancel)).await
}

/// The URL that a navigation leads to; `None` where it leads nowhere.
async fn address_of(web: &Driven, to: &Navigation) -> Result<Option<String>> {
    match to {
        Navigation::To(what) => Ok(Some(what.clone())),
        Navigation::Reload => web.page.tab.url().map(Some),
        Navigation::Back | Navigation::Forward => Ok(navigate::entry(web, to).await?.map(|entry| entry.url)),
        _ => Ok(None),
    }
}

/// Terminates the scripts that run in a page now. The browser interrupts scripts for this.
fn end_scripts(tab: &Tab) -> Result<()> {
    for session in tab.sessions()? {
        tracing::debug!(session, "scripts of the page are ended");
        // The answer says only that nothing runs any more, which the next probe shows.
        drop(tab.client.send(Some(&session), &cdp::TerminateExecution {}));
    }
    Ok(())
}

/// The reaction of a page to a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// The page answers.
    Now,
    /// The page shows a dialog and waits for an answer.
    Asks,
    /// The page does not answer.
    Never,
}

/// The error for an input that the page did not process in time.
pub(crate) fn not_taken() -> Fault {
    Error::new(ErrorCode::Timeout, "the page did not process the input in time")
        .hint("a script of the page may be stuck in a loop; run `stickpin reload`")
        .into()
}
