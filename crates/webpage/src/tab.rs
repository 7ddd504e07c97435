//! One tab, as the rest of this crate drives it: commands that end when the tab does (in this
//! module), its documents (`worlds`), and calls into the agent of each (`script`).

mod delivery;
mod error;
pub mod frames;
mod nodes;
mod script;
mod worlds;

pub use error::{TabError, browser_lost, dialog_open};
pub use script::NONE;
pub(crate) use script::{PendingRequest, expression};
pub use worlds::World;

use crate::state::{SharedState, TabState};
use error::{tab_ended, timeout_error};
use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Arc;
use stickpin_device::{Error, ErrorCode, TabEndReason};
use stickpin_devtools::{CallError, Client, Method, Reply};

/// A reference to a tab. Clones drive the same tab.
#[derive(Debug, Clone)]
pub struct Tab {
    /// The connection to the browser.
    pub client: Client,
    /// The state of the browser's pages.
    pub shared: Arc<SharedState>,
    /// The session of the tab's page.
    pub session: String,
}

impl Tab {
    /// Reads the state of the tab.
    ///
    /// # Errors
    /// Returns `BACKEND_LOST` when the browser or its last tab is gone, and `DEVICE_NOT_FOUND` when
    /// only this tab is gone.
    pub fn read<T>(&self, look: impl FnOnce(&TabState) -> T) -> Result<T, Error> {
        self.write(|tab| look(tab))
    }

    /// Changes the state of the tab, to take values out of it or to set expectations.
    ///
    /// # Errors
    /// Returns the same errors as [`Tab::read`].
    pub fn write<T>(&self, change: impl FnOnce(&mut TabState) -> T) -> Result<T, Error> {
        let mut state = self.shared.state();
        if let Some(why) = &state.lost {
            return Err(browser_lost(why));
        }
        match state.tabs.get_mut(&self.session) {
            Some(tab) if tab.gone.is_none() => Ok(change(tab)),
            _ => Err(tab_ended(&state, &self.session)),
        }
    }

    /// Returns the URL of the tab's document, known from events.
    ///
    /// # Errors
    /// Returns the same errors as [`Tab::read`].
    pub fn url(&self) -> Result<String, Error> {
        self.read(|tab| tab.main_frame().map(|frame| frame.url.clone()).unwrap_or_default())
    }

    /// Returns whether the tab was closed while the browser and other tabs still exist.
    pub fn is_closed(&self) -> bool {
        let state = self.shared.state();
        let closed = state.tabs.get(&self.session).is_some_and(|tab| tab.gone == Some(TabEndReason::Closed));
        closed && state.lost.is_none() && !state.drivable_tabs().is_empty()
    }

    /// Waits until `look` returns a value for the state of the tab.
    ///
    /// # Errors
    /// Returns the errors of [`Tab::read`] as soon as the tab is gone.
    pub async fn until<T>(&self, mut look: impl FnMut(&TabState) -> Option<T>) -> Result<T, Error> {
        let found = self.shared.until(|state| {
            if let Some(why) = &state.lost {
                return Some(Err(browser_lost(why)));
            }
            match state.tabs.get(&self.session) {
                Some(tab) if tab.gone.is_none() => look(tab).map(Ok),
                _ => Some(Err(tab_ended(state, &self.session))),
            }
        });
        found.await
    }

    /// Waits for an answer while the tab exists.
    ///
    /// # Errors
    /// Returns the errors of [`Tab::read`], `TIMEOUT`, or `INTERNAL` when the browser refuses.
    pub async fn answer<M: Method>(&self, reply: Reply<M>) -> Result<M::Output, Error> {
        self.unless_gone(reply).await?.map_err(|e| self.call_error(&e))
    }

    async fn unless_gone<M: Method>(&self, reply: Reply<M>) -> Result<Result<M::Output, CallError>, Error> {
        tokio::select! {
            biased;
            answer = reply => Ok(answer),
            gone = self.until(|_| None::<std::convert::Infallible>) => match gone {
                Ok(never) => match never {},
                Err(error) => Err(error),
            },
        }
    }

    /// Waits for an answer about a node; `None` when the browser refuses because the node is gone.
    ///
    /// # Errors
    /// Returns the same errors as [`Tab::answer`].
    pub(crate) async fn answer_if<M: Method>(&self, reply: Reply<M>) -> Result<Option<M::Output>, Error> {
        match self.unless_gone(reply).await? {
            Ok(answer) => Ok(Some(answer)),
            Err(e) if e.is_gone() => Ok(None),
            Err(e) => Err(self.call_error(&e)),
        }
    }

    /// Sends a command to the page and waits for the answer. For commands that the browser answers
    /// even while a dialog is open.
    ///
    /// # Errors
    /// Returns the same errors as [`Tab::answer`].
    pub async fn command<M: Method>(&self, method: &M) -> Result<M::Output, Error> {
        self.answer(self.client.send(Some(&self.session), method)).await
    }

    /// Runs work that the page must answer, unless a dialog is open or opens.
    ///
    /// # Errors
    /// Returns [`TabError::Dialog`] for a dialog, and otherwise the errors of `work`.
    pub async fn unless_dialog<T, E>(&self, work: impl Future<Output = Result<T, E>>) -> Result<T, TabError>
    where
        TabError: From<E>,
    {
        // Do not send the command while a dialog is open: it would run when the dialog closes, when
        // nobody expects it.
        if let Some(dialog) = self.read(|tab| tab.dialog.clone())? {
            return Err(TabError::Dialog(dialog));
        }
        tokio::select! {
            biased;
            done = work => done.map_err(TabError::from),
            dialog = self.until(|tab| tab.dialog.clone()) => Err(TabError::Dialog(dialog?)),
        }
    }

    /// Sends a command that the page's main thread answers.
    ///
    /// # Errors
    /// Returns [`TabError::Dialog`] for a dialog, and otherwise the errors of [`Tab::command`].
    pub(crate) async fn query<M: Method>(&self, session: &str, method: &M) -> Result<M::Output, TabError> {
        self.unless_dialog(async { self.answer(self.client.send(Some(session), method)).await }).await
    }

    /// Returns the sessions of the page and of its out-of-process frames.
    ///
    /// # Errors
    /// Returns the same errors as [`Tab::read`].
    pub fn sessions(&self) -> Result<BTreeSet<String>, Error> {
        let frame_sessions =
            |tab: &TabState| tab.frames.values().map(|frame| frame.session.clone()).collect();
        let mut sessions: BTreeSet<String> = self.read(frame_sessions)?;
        sessions.insert(self.session.clone());
        sessions.remove("");
        Ok(sessions)
    }

    /// Converts a failed command to the error for the caller.
    pub fn call_error(&self, error: &CallError) -> Error {
        match error {
            CallError::Lost(why) => browser_lost(why),
            error if error.is_session_gone() => tab_ended(&self.shared.state(), &self.session),
            CallError::TimedOut { limit, .. } => timeout_error(*limit),
            error => Error::new(ErrorCode::Internal, format!("a browser command failed: {error}")),
        }
    }
}
