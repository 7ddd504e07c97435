//! One tab, as the rest of this crate drives it: commands that end when the tab does, and calls
//! into the agent of each frame's document.

mod delivery;
pub mod frames;
mod nodes;

use crate::agent;
use crate::state::{SharedState, State, TabState};
use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stickpin_device::{Dialog, Error, ErrorCode, TabEndReason};
use stickpin_devtools::protocol as cdp;
use stickpin_devtools::{CallError, Client, Method, Reply};
use tokio::time::timeout;

/// An empty argument list.
pub const NONE: [u8; 0] = [];

/// Timeout for a tab to show a document.
const DOCUMENT: Duration = Duration::from_secs(5);

/// A reference to a tab. Clones drive the same tab.
#[derive(Debug, Clone)]
pub struct Tab {
    /// The connection to the browser.
    pub client: Client,
    /// The state of its pages.
    pub shared: Arc<SharedState>,
    /// The session of the tab's page.
    pub session: String,
}

/// Our world in the document of a frame, as of the lookup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct World {
    /// The scope of the document's handles.
    pub(crate) scope: u64,
    /// The id of the frame.
    pub(crate) frame: String,
    /// The id of the parent frame.
    pub parent: Option<String>,
    /// The position of the frame, stable across loads: empty for the top frame, else indices such
    /// as `0` or `0/2`.
    pub(crate) path: String,
    /// The URL of the document.
    pub url: String,
    /// The session in which to call the world.
    pub session: String,
    pub(crate) context: String,
}

/// A pending request to a document.
#[derive(Debug)]
pub(crate) struct PendingRequest {
    reply: Reply<cdp::Evaluate>,
    context: String,
}

/// Why a call into a document failed.
#[derive(Debug, Clone, PartialEq)]
pub enum TabError {
    /// The document went away before it answered.
    WorldGone,
    /// A dialog keeps the page from answering.
    Dialog(Dialog),
    /// The script threw: a bug in stickpin, or a document in an unexpected state.
    Threw(String),
    /// Any other error, which the caller passes on.
    Failed(Error),
}

impl From<TabError> for Error {
    fn from(fault: TabError) -> Self {
        match fault {
            TabError::WorldGone => {
                Self::new(ErrorCode::ElementNotFound, "the document was replaced during the command")
                    .hint("run `stickpin snapshot -i`")
            }
            TabError::Dialog(dialog) => dialog_open(&dialog),
            TabError::Threw(what) => {
                Self::new(ErrorCode::Internal, format!("the page script failed: {what}"))
            }
            TabError::Failed(error) => error,
        }
    }
}

impl From<Error> for TabError {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Returns the error for a call that a dialog blocks.
pub fn dialog_open(dialog: &Dialog) -> Error {
    Error::new(
        ErrorCode::DialogOpen,
        format!("the page is waiting for an answer to its {}", dialog.describe()),
    )
    .hint("run `stickpin alert accept` or `stickpin alert dismiss`")
}

/// Returns the error for a tab that is gone. The session ends too, unless it can continue in
/// another tab.
fn tab_ended(state: &State, session: &str) -> Error {
    let tab = state.tabs.get(session);
    let has_crashed = tab.is_some_and(|tab| tab.gone == Some(TabEndReason::Crashed));
    if !state.drivable_tabs().iter().any(|(other, _)| *other != session) {
        return browser_lost(if has_crashed { "the page crashed" } else { "the tab was closed" });
    }
    let id = tab.map_or_else(|| "the tab".to_owned(), |tab| format!("tab {}", tab.id()));
    let ending = if has_crashed { "crashed" } else { "was closed" };
    Error::new(ErrorCode::DeviceNotFound, format!("{id} {ending} during the command"))
        .hint("the session continues in another tab; run `stickpin tab list` and `stickpin snapshot -i`")
}

/// Returns the error for a browser that is gone, or its last tab.
pub fn browser_lost(reason: &str) -> Error {
    Error::new(ErrorCode::BackendLost, reason).hint("run `stickpin open URL` to start again")
}

impl Tab {
    /// Reads the state of the tab.
    ///
    /// # Errors
    /// Returns `BACKEND_LOST` when the browser or its last tab is gone, `DEVICE_NOT_FOUND` when
    /// only this tab is.
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
    pub fn closed(&self) -> bool {
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

    /// Returns the id of a world's execution context in its session.
    ///
    /// # Errors
    /// Returns [`TabError::WorldGone`] when the document is gone.
    pub(crate) fn context_number(&self, world: &World) -> Result<i64, TabError> {
        let known = self.read(|tab| {
            let w = tab.frames.get(&world.frame)?.world.as_ref()?;
            (w.scope == world.scope).then_some(w.context)
        })?;
        known.ok_or(TabError::WorldGone)
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

    /// Returns the agent of the top document. Installs the agent if the document has none.
    ///
    /// # Errors
    /// Returns the errors of `Tab::call`, `INTERNAL` when the browser refused to set up the tab, or
    /// `TIMEOUT` when no document appears.
    pub async fn top_world(&self) -> Result<World, TabError> {
        let deadline = Instant::now() + DOCUMENT;
        loop {
            if let Some(why) = self.write(|tab| tab.refused.take())? {
                let message = format!("the browser refused to set up the tab: {why}");
                return Err(Error::new(ErrorCode::Internal, message).hint("run `stickpin doctor`").into());
            }
            let (world, main) = self.read(|tab| (top_world(tab), tab.main.clone()))?;
            if let Some(world) = world {
                return Ok(world);
            }
            if Instant::now() >= deadline {
                return Err(Error::new(ErrorCode::Timeout, "the tab shows no document").into());
            }
            self.inject(&self.session, main).await?;
            // Either the world exists now, or the document is being replaced.
            let document = self.until(|tab| top_world(tab).map(|_| ()));
            if let Ok(gone) = timeout(Duration::from_millis(100), document).await {
                gone?;
            }
        }
    }

    /// Returns our worlds in all documents of the tab, parents before their children. Frames that
    /// are still loading and have no document yet are left out.
    ///
    /// # Errors
    /// Returns the same errors as `Tab::call`.
    pub(crate) async fn worlds(&self) -> Result<Vec<World>, TabError> {
        self.top_world().await?;
        let bare: Vec<(String, String)> = self.read(|tab| {
            let frames = tab.frames.values().filter(|f| f.world.is_none() && !f.session.is_empty());
            frames.map(|f| (f.session.clone(), f.id.clone())).collect()
        })?;
        for (session, frame) in bare {
            self.inject(&session, frame).await?;
        }
        Ok(self.read(known_worlds)?)
    }

    /// Returns the world of a scope, while its document exists. Sends no command.
    pub(crate) fn world(&self, scope: u64) -> Result<Option<World>, Error> {
        self.read(|tab| known_worlds(tab).into_iter().find(|w| w.scope == scope))
    }

    /// Installs the agent in a document that started without it.
    async fn inject(&self, session: &str, frame: String) -> Result<(), TabError> {
        let create = cdp::CreateWorld { frame_id: frame.clone(), world_name: agent::WORLD };
        let created = self.unless_dialog(self.answer_if(self.client.send(Some(session), &create))).await?;
        if created.is_none() {
            // The frame went away meanwhile.
            return Ok(());
        }
        let world = self.read(|tab| known_worlds(tab).into_iter().find(|w| w.frame == frame))?;
        let Some(world) = world else { return Ok(()) };
        match self.evaluate::<IgnoredAny>(&world, agent::AGENT.to_owned()).await {
            Ok(_) | Err(TabError::WorldGone) => Ok(()),
            Err(e) => Err(e),
        }
    }

    /// Calls a function of the agent in a document. `arguments` is a tuple or array.
    ///
    /// # Errors
    /// See [`TabError`].
    pub async fn call<T: DeserializeOwned>(
        &self,
        world: &World,
        function: &str,
        arguments: impl Serialize,
    ) -> Result<T, TabError> {
        let request = self.send_request(world, expression(function, arguments)?)?;
        self.receive_answer(request).await
    }

    /// Waits until the document could react to an input: one frame, or 100 ms if no frames are
    /// rendered.
    ///
    /// # Errors
    /// See [`TabError`].
    pub async fn wait_frame(&self, world: &World) -> Result<(), TabError> {
        self.call::<IgnoredAny>(world, "frame", NONE).await.map(drop)
    }

    /// Waits until every document has run its due timers. Their reports have then arrived.
    ///
    /// # Errors
    /// Returns a [`TabError`] for a dialog or a tab that is gone. A document that went away is not
    /// an error.
    pub async fn drain_timers(&self) -> Result<(), TabError> {
        let worlds = self.worlds().await?;
        for asked in self.send_requests(&worlds, |_| expression("turn", NONE))? {
            match self.receive_answer::<IgnoredAny>(asked).await {
                Ok(_) | Err(TabError::WorldGone) => {}
                Err(fault) => return Err(fault),
            }
        }
        Ok(())
    }

    /// Evaluates an expression in a document and awaits its promise.
    ///
    /// # Errors
    /// See [`TabError`].
    pub async fn evaluate<T: DeserializeOwned>(
        &self,
        world: &World,
        expression: String,
    ) -> Result<T, TabError> {
        let request = self.send_request(world, expression)?;
        self.receive_answer(request).await
    }

    /// Sends a request to a document without waiting, so that several documents can be queried at
    /// the same time.
    ///
    /// # Errors
    /// Returns [`TabError::Dialog`] when a dialog is open. The request would run when the dialog
    /// closes, when nobody expects it.
    pub(crate) fn send_request(&self, world: &World, expression: String) -> Result<PendingRequest, TabError> {
        if let Some(dialog) = self.read(|tab| tab.dialog.clone())? {
            return Err(TabError::Dialog(dialog));
        }
        let method = cdp::Evaluate {
            expression,
            unique_context_id: Some(world.context.clone()),
            return_by_value: true,
            await_promise: true,
        };
        let reply = self.client.send(Some(&world.session), &method);
        Ok(PendingRequest { reply, context: world.context.clone() })
    }

    /// Sends each document its own request at once. Frames in other processes answer in parallel.
    ///
    /// # Errors
    /// Returns the same errors as [`Tab::send_request`].
    pub(crate) fn send_requests(
        &self,
        worlds: &[World],
        expression_for: impl Fn(&World) -> Result<String, Error>,
    ) -> Result<Vec<PendingRequest>, TabError> {
        worlds.iter().map(|world| self.send_request(world, expression_for(world)?)).collect()
    }

    /// Returns the answers of several documents; `None` for a frame that is being replaced, which
    /// is empty for a moment.
    ///
    /// # Errors
    /// See [`TabError`].
    pub(crate) async fn finish_all<T: DeserializeOwned>(
        &self,
        worlds: &[World],
        requests: Vec<PendingRequest>,
    ) -> Result<Vec<Option<T>>, TabError> {
        let mut answers = Vec::with_capacity(worlds.len());
        for (world, asked) in worlds.iter().zip(requests) {
            answers.push(match self.receive_answer(asked).await {
                Err(TabError::WorldGone) if world.parent.is_some() => None,
                answer => Some(answer?),
            });
        }
        Ok(answers)
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

    /// Waits for the answer to a request.
    ///
    /// # Errors
    /// See [`TabError`].
    pub(crate) async fn receive_answer<T: DeserializeOwned>(
        &self,
        request: PendingRequest,
    ) -> Result<T, TabError> {
        let PendingRequest { reply, context } = request;
        let answered = self.unless_dialog(async {
            tokio::select! {
                biased;
                answer = self.answer_raw(reply) => answer,
                // A promise goes away with its document and is then never answered.
                () = self.wait_until_world_gone(&context) => Err(TabError::WorldGone),
            }
        });
        let cdp::Evaluated { result, exception_details } = answered.await?;
        if let Some(thrown) = exception_details {
            let words = thrown.exception.and_then(|e| e.description).unwrap_or(thrown.text);
            return Err(TabError::Threw(crate::text::clip(&words)));
        }
        let value = result.value.as_deref().unwrap_or(serde_json::value::RawValue::NULL);
        serde_json::from_str(value.get())
            .map_err(|e| TabError::Threw(format!("a response from the browser cannot be parsed: {e}")))
    }

    /// Waits for a document's answer, telling a gone document apart from other refusals.
    async fn answer_raw(&self, reply: Reply<cdp::Evaluate>) -> Result<cdp::Evaluated, TabError> {
        let answer = reply.await;
        if answer.as_ref().is_err_and(CallError::is_gone) {
            self.read(|_| ())?;
        }
        answer.map_err(|e| self.refusal_error(&e))
    }

    async fn wait_until_world_gone(&self, context: &str) {
        let gone = self.until(|tab| (!has_context(tab, context)).then_some(()));
        // A tab that is gone took the document with it.
        gone.await.unwrap_or_default();
    }

    /// Converts a failed command to the error for the caller.
    pub fn call_error(&self, error: &CallError) -> Error {
        match error {
            CallError::Lost(why) => browser_lost(why),
            error if error.is_session_gone() => tab_ended(&self.shared.state(), &self.session),
            CallError::TimedOut { limit, .. } => timeout_error(*limit),
            error => Error::new(ErrorCode::Internal, format!("the browser refused: {error}")),
        }
    }
}

fn known_worlds(tab: &TabState) -> Vec<World> {
    let mut paths: hashbrown::HashMap<&str, (String, usize)> = hashbrown::HashMap::new();
    let mut worlds = Vec::new();
    for frame in tab.frames_in_order() {
        let path = match frame.parent.as_deref().and_then(|p| paths.get_mut(p)) {
            None => String::new(),
            Some((above, children)) => {
                let index = *children;
                *children += 1;
                if above.is_empty() { index.to_string() } else { format!("{above}/{index}") }
            }
        };
        paths.insert(&frame.id, (path.clone(), 0));
        if let Some(world) = &frame.world {
            worlds.push(World {
                scope: world.scope,
                frame: frame.id.clone(),
                parent: frame.parent.clone(),
                path,
                url: frame.url.clone(),
                session: frame.session.clone(),
                context: world.unique.clone(),
            });
        }
    }
    worlds
}

/// Returns the source of a call of an agent function. `arguments` is a tuple or array.
///
/// # Errors
/// Returns `INTERNAL` when the arguments cannot be serialized.
pub(crate) fn expression(function: &str, arguments: impl Serialize) -> Result<String, Error> {
    let arguments = serde_json::to_string(&arguments).map_err(|e| {
        Error::new(ErrorCode::Internal, format!("cannot encode the arguments of {function}: {e}"))
    })?;
    Ok(format!("{}.{function}(...{arguments})", agent::GLOBAL))
}

fn top_world(tab: &TabState) -> Option<World> {
    tab.main_frame()?.world.as_ref()?;
    known_worlds(tab).into_iter().next()
}

fn has_context(tab: &TabState, context: &str) -> bool {
    tab.frames.values().any(|f| f.world.as_ref().is_some_and(|w| w.unique == context))
}

fn timeout_error(limit: Duration) -> Error {
    let seconds = limit.as_secs();
    Error::new(ErrorCode::Timeout, format!("the page did not respond within {seconds} s"))
        .hint("a script on the page may be stuck in a loop; run `stickpin reload`")
}
