//! The [`Command`] trait: a struct whose fields are the arguments, a [`Spec`], and `run`.

use crate::api::render::Show;
use crate::api::spec::{Effect, Spec};
use crate::command::context::Cx;
use crate::command::table::CommandTable;
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use std::time::Duration;
use stickpin_device::Result;

/// The time limits of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeLimits {
    /// The time within which the command must end, including its own waits.
    pub deadline: Duration,
    /// The time within which the command must respond, if its caller set `--timeout`. An input in
    /// progress is not interrupted: it continues until the deadline, and the response says that it
    /// may still take effect.
    pub response_limit: Option<Duration>,
}

/// A command of the registry. Its doc comment is the help text. Its fields with their doc comments
/// are the arguments in every front end.
///
/// Annotations on fields (`#[schemars(extend("x-positional" = 0))]`) define the spelling on a
/// command line: `x-positional` is the position, `x-trailing` takes all that follows, and `x-short`
/// is a one-letter flag. `x-value` = `optional` marks a flag that works with and without `=VALUE`,
/// `x-text` free text that may begin with a hyphen, and `x-stdin` a value that `--stdin` reads.
///
/// Two annotations mark access to files: `x-path` marks a path that is resolved for the caller
/// (`"written"` if the file is written), and `x-opens` marks an address or a file that the app goes
/// to. A field of the type [`PathArg`](crate::PathArg) implies `x-path`.
pub trait Command: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// The properties of the command that every front end needs.
    const SPEC: Spec;

    /// The output of a successful run.
    type Output: Serialize + DeserializeOwned + Show + Send + 'static;

    /// Returns whether the command changes the app when it is called with this input. `_commands`
    /// are the commands that it may itself run.
    #[must_use]
    fn effect(_input: &Map<String, Value>, _commands: &CommandTable) -> Effect {
        Self::SPEC.effect
    }

    /// Returns the command's time limits for these arguments.
    fn time_limits(&self) -> TimeLimits {
        TimeLimits { deadline: Self::SPEC.deadline, response_limit: None }
    }

    /// Runs the command. No operation on the device may be left half done: cancellation is a token
    /// in `cx` that is checked between steps. The future is dropped only if the command does not
    /// end soon after it was cancelled.
    fn run(self, cx: &mut Cx) -> impl Future<Output = Result<Self::Output>> + Send;
}
