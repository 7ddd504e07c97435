//! [`Call`]: a command that runs when it is awaited.

use crate::api::request::{Detail, Format, Render, Request, Response};
use crate::command::args::{ActOptions, Acting, OptionalValue, Receipt};
use crate::command::definition::Command;
use crate::embed::answer::Answer;
use crate::embed::session::Session;
use serde_json::Value;
use std::pin::Pin;
use std::time::Duration;
use stickpin_device::{Error, Result};
use tokio_util::sync::CancellationToken;

/// A command with its arguments, which runs when this value is awaited.
///
/// When the future is dropped, the command ends at the next point where nothing is half done.
#[derive(Debug)]
#[must_use = "a command runs when it is awaited"]
pub struct Call<'s, C> {
    session: &'s Session,
    command: Result<C>,
    deadline: Option<Duration>,
}

impl<'s, C: Command> Call<'s, C> {
    pub(crate) fn new(session: &'s Session, command: Result<C>) -> Self {
        Self { session, command, deadline: None }
    }

    /// Changes arguments: `press("@e3").with(|press| press.count = 2)`.
    pub fn with(mut self, change: impl FnOnce(&mut C)) -> Self {
        if let Ok(command) = &mut self.command {
            change(command);
        }
        self
    }

    /// Sets the time within which the command must respond. The default is the command's own
    /// deadline.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Runs the command and returns the whole response, even for a failure: its warning, its
    /// receipt, and the output of a batch up to the failed step.
    pub async fn response(self) -> Response {
        let Session { host, name, caller } = self.session;
        let request = self.command.and_then(|command| {
            let mut request = Request::new(C::SPEC.name, caller.clone());
            request.input = match serde_json::to_value(&command) {
                Ok(Value::Object(input)) => input,
                other => return Err(unserializable::<C>(other.err())),
            };
            // An argument that was not given is absent.
            request.input.retain(|_, value| !value.is_null());
            Ok(request)
        });
        let request = match request {
            Ok(request) => request,
            Err(e) => return crate::run::respond::respond_failed(C::SPEC.name, &render(), e),
        };
        let timeout_ms = self.deadline.map(|d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX));
        let request = Request { session: Some(name.clone()), render: render(), timeout_ms, ..request };
        host.call(request, CancellationToken::new()).await
    }

    async fn answer(self) -> Result<Answer<C>> {
        Answer::of(self.response().await)
    }
}

/// Returns the rendering that a session handle requests: text for a reader, and values with the
/// standing of the target.
fn render() -> Render {
    Render { format: Format::Both, detail: Detail::Full, ..Render::default() }
}

fn unserializable<C: Command>(e: Option<serde_json::Error>) -> Error {
    let why = e.map_or_else(|| "they are not a struct".to_owned(), |e| e.to_string());
    Error::internal(format!("the arguments of `{}` cannot be written as JSON: {why}", C::SPEC.name))
}

impl<C: Acting> Call<'_, C> {
    fn option(self, set: impl FnOnce(ActOptions<'_>)) -> Self {
        self.with(|command| set(command.options()))
    }

    /// Waits after the action until the app is quiet, for at most ten seconds, and reports what
    /// changed.
    pub fn settle(self) -> Self {
        self.option(|o| *o.settle = Some(OptionalValue::Plain(true)))
    }

    /// Waits after the action until the app is quiet, for at most the given time, and reports what
    /// changed.
    pub fn settle_within(self, most: Duration) -> Self {
        self.option(|o| *o.settle = Some(OptionalValue::Value(millis(most))))
    }

    /// Sets how long to wait for the target to become actionable.
    pub fn timeout(self, timeout: Duration) -> Self {
        self.option(|o| *o.timeout = Some(millis(timeout)))
    }

    /// Acts on the element of a ref even if the meaning of the element has changed.
    pub fn allow_changed(self) -> Self {
        self.option(|o| *o.allow_changed = true)
    }

    /// Sends the input even if the target is covered, disabled or out of view, or if the screenshot
    /// showed something else at the point.
    pub fn force(self) -> Self {
        self.option(|o| *o.force = true)
    }

    /// Sends nothing if the device cannot determine whether something covers the target.
    pub fn strict(self) -> Self {
        self.option(|o| *o.strict = true)
    }

    /// Omits the observations since the action from the response.
    pub fn without_receipt(self) -> Self {
        self.option(|o| *o.receipt = Some(Receipt::Off))
    }
}

fn millis(d: Duration) -> u64 {
    u64::try_from(d.as_millis()).unwrap_or(u64::MAX)
}

impl<'s, C: Command> IntoFuture for Call<'s, C> {
    type Output = Result<Answer<C>>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 's>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.answer())
    }
}
