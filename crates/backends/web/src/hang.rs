//! Pages that do not answer, because a script of theirs runs for ever or asks one question after the other. A page is
//! left through its own process: whoever wants to leave one that hangs ends its script first, and where that does not
//! help, goes on in another tab.

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

/// How long a page that is to be left may be busy.
const BUSY: Duration = Duration::from_secs(2);

/// How long a page may take to answer whose script was ended, or whose question was answered.
const ENDED: Duration = Duration::from_millis(500);

/// How long a page is given to hang again.
const AGAIN: Duration = Duration::from_millis(50);

/// How often scripts are ended.
const ROUNDS: usize = 3;

/// How long a tab may take to be there, or to be gone.
const OTHER: Duration = Duration::from_secs(5);

/// Makes a page answer that is to be left; false where it does not. `leave` says whether its questions may be answered.
///
/// # Errors
/// `BACKEND_LOST`.
pub(crate) async fn wake(web: &Driven, leave: Leave) -> Result<bool> {
    for round in 0..=ROUNDS {
        match answered(web, if round == 0 { BUSY } else { ENDED }).await? {
            Answer::Now if round == 0 => return Ok(true),
            Answer::Now => {
                // A timer may have begun the next one.
                tokio::time::sleep(AGAIN).await;
                return answers_now(web).await;
            }
            // It is for whoever drives the page, and what comes next says so.
            Answer::Asks if leave == Leave::Ask => return Ok(true),
            Answer::Asks => silence(&web.page.tab).await?,
            Answer::Never => end_scripts(&web.page.tab)?,
        }
    }
    Ok(false)
}

/// Dismisses what a page asks, now and from here on, until another document is there.
async fn silence(tab: &Tab) -> Result<()> {
    tab.write(|state| {
        state.silenced = state.dialog.as_ref().map(|dialog| (dialog.kind.clone(), dialog.message.clone()));
    })?;
    match tab.command(&cdp::HandleDialog { accept: false, prompt_text: None }).await {
        // The browser closed it meanwhile.
        Err(e) if e.code == ErrorCode::Internal => Ok(()),
        done => done.map(drop),
    }
}

/// Whether every process of the page takes up what it is told.
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
            // Refused: that document is on its way out.
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

/// A question of a tab is about to be dismissed. One that comes over and over is dismissed by itself from here on,
/// which is the answer.
pub(crate) fn dismissing(web: &mut Driven, tab: &Tab, dialog: &Dialog) -> Result<bool> {
    if dialog.kind == "beforeunload" || !web.nagging.again(&dialog.kind, &dialog.message) {
        return Ok(false);
    }
    tab.write(|state| state.silenced = Some((dialog.kind.clone(), dialog.message.clone())))?;
    Ok(true)
}

/// Whether the page takes up what it is told, rather than asking again at once.
pub(crate) async fn answers_now(web: &Driven) -> Result<bool> {
    Ok(answered(web, ENDED).await? == Answer::Now)
}

/// Whether a page goes on that was dismissed for the last time.
///
/// # Errors
/// `TIMEOUT` when it does nothing but ask.
pub(crate) async fn goes_on(web: &Driven) -> Result<()> {
    match answered(web, ENDED).await? {
        Answer::Never => Err(Error::new(
            ErrorCode::Timeout,
            format!("dismissed {PATIENCE} times in a row, and the page does nothing but ask again: it is not heard any more"),
        )
        .hint("stickpin reload starts it anew; stickpin back, or stickpin open URL, leaves it")),
        Answer::Now | Answer::Asks => Ok(()),
    }
}

/// Goes on in another tab, and gives up the one that hangs.
///
/// # Errors
/// As for any navigation; the page that hangs is given up all the same.
pub(crate) async fn replace(
    web: &mut Driven,
    to: &Navigation,
    deadline: Instant,
    cancel: &CancellationToken,
) -> Result<Arrived> {
    let Some(what) = address_of(web, to).await? else {
        return Ok(Arrived { moved: false, ..Arrived::default() });
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
    // A page that hangs does not close itself.
    drop(hung.client.send(Some(&hung.session), &cdp::CrashPage {}));
    drop(hung.client.send(None, &cdp::CloseTarget { target_id }));
    if timeout(OTHER, hung.shared.until_gone(&hung.session)).await.is_err() {
        tracing::warn!("a page that hangs was left behind");
    }
    web.page.tab.top().await?;
    Box::pin(navigate::go(web, &Navigation::To(what), Leave::Discard, deadline, cancel)).await
}

/// The address that a step leads to; none where it leads nowhere.
async fn address_of(web: &Driven, to: &Navigation) -> Result<Option<String>> {
    match to {
        Navigation::To(what) => Ok(Some(what.clone())),
        Navigation::Reload => web.page.tab.url().map(Some),
        Navigation::Back | Navigation::Forward => Ok(navigate::entry(web, to).await?.map(|entry| entry.url)),
        Navigation::Home => Ok(None),
    }
}

/// Ends what runs in a page now. The browser interrupts scripts for this.
fn end_scripts(tab: &Tab) -> Result<()> {
    for session in tab.sessions()? {
        tracing::debug!(session, "scripts of the page are ended");
        // What it answers is that nothing runs any more, which shows itself.
        drop(tab.client.send(Some(&session), &cdp::TerminateExecution {}));
    }
    Ok(())
}

/// What a page says to being spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// It goes on.
    Now,
    /// It waits for an answer itself.
    Asks,
    /// Nothing.
    Never,
}

/// An input that the page did not take up before its time was over.
pub(crate) fn not_taken() -> Fault {
    Error::new(ErrorCode::Timeout, "the page did not take the input up in time")
        .hint("a script of the page may be running for ever: stickpin reload")
        .into()
}
