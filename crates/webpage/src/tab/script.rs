//! Calls into the agents of documents, one at a time or several at once.

use super::{Tab, TabError, World};
use crate::agent;
use crate::state::TabState;
use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use stickpin_device::{Error, ErrorCode};
use stickpin_devtools::protocol as cdp;
use stickpin_devtools::{CallError, Reply};

/// An empty argument list.
pub const NONE: [u8; 0] = [];

/// A pending request to a document.
#[derive(Debug)]
pub(crate) struct PendingRequest {
    reply: Reply<cdp::Evaluate>,
    context: String,
}

impl Tab {
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

    /// Waits until every document has run its due timers. By then, their reports have arrived.
    ///
    /// # Errors
    /// See [`TabError`]. A document that went away is not an error.
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
    /// Returns [`TabError::Dialog`] when a dialog is open: the request would run when the dialog
    /// closes and nobody expects the request. Otherwise, returns the errors of [`Tab::read`].
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

    /// Returns the answers from several documents; `None` for a frame that is being replaced, which
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
            .map_err(|e| TabError::Threw(format!("its answer cannot be parsed: {e}")))
    }

    /// Waits for a document's answer, and distinguishes a gone document from other refusals.
    pub(super) async fn answer_raw(&self, reply: Reply<cdp::Evaluate>) -> Result<cdp::Evaluated, TabError> {
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
}

/// Returns the source of a call to an agent function. `arguments` is a tuple or array.
///
/// # Errors
/// Returns `INTERNAL` when the arguments cannot be serialized.
pub(crate) fn expression(function: &str, arguments: impl Serialize) -> Result<String, Error> {
    let arguments = serde_json::to_string(&arguments).map_err(|e| {
        Error::new(ErrorCode::Internal, format!("cannot encode the arguments of `{function}`: {e}"))
    })?;
    Ok(format!("{}.{function}(...{arguments})", agent::GLOBAL))
}

fn has_context(tab: &TabState, context: &str) -> bool {
    tab.frames.values().any(|f| f.world.as_ref().is_some_and(|w| w.unique == context))
}
