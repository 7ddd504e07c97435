//! What a command is: a struct whose fields are its arguments, a [`Spec`], and `run`.

use crate::api::render::Show;
use crate::api::spec::{Effect, Spec};
use crate::command::context::Cx;
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use std::time::Duration;
use stickpin_device::Result;

/// How long a command may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Time {
    /// When the command has to be over. Includes what its own waiting may take.
    pub deadline: Duration,
    /// When the command has to be answered because its caller gave it a time (`--timeout`). An input that is under way
    /// then is not cut off: it goes on until the deadline, and the answer says that it may arrive.
    pub bound: Option<Duration>,
}

/// One command of the registry. Its doc comment is the help, its fields with their doc comments are the
/// arguments on every surface.
///
/// Annotations on fields (`#[schemars(extend("x-positional" = 0))]`) say how a command line spells them:
/// `x-positional` its place, `x-trailing` takes all that follows, `x-short` a one-letter flag, `x-value` =
/// `optional` a flag that works with and without `=VALUE`, `x-text` free text that may begin with a hyphen.
/// What an argument may lead to is said as well: `x-path` a path of the caller's (`"written"` where it is written),
/// `x-opens` an address or a file that the app goes to.
pub trait Command: DeserializeOwned + JsonSchema + Send + 'static {
    /// What every surface has to know about it.
    const SPEC: Spec;

    /// What it answers with.
    type Output: Serialize + Show + Send + 'static;

    /// Whether it changes the app, with these arguments.
    #[must_use]
    fn effect(_input: &Map<String, Value>) -> Effect {
        Self::SPEC.effect
    }

    /// How long it may take, with these arguments.
    fn time(&self) -> Time {
        Time { deadline: Self::SPEC.deadline, bound: None }
    }

    /// Does it. Nothing that was begun on the device may be left half done: a stop is a token in `cx` that is
    /// looked at between steps, the future itself is not dropped.
    fn run(self, cx: &mut Cx) -> impl Future<Output = Result<Self::Output>> + Send;
}
