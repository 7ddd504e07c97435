//! Commands, such as `test` and `export`, that run in the front end's process and may consist of
//! commands that a [`Client`] runs.
//!
//! Each has a [`CommandDefinition`], like the commands of the registry, so that help and tool lists
//! show all commands in the same way. The program that links front ends and commands passes these
//! commands to the front ends.

use crate::Client;
use async_trait::async_trait;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use stickpin_kernel::registry::CommandDefinition;
use stickpin_kernel::{Caller, CancellationToken, Render, Response, Result};
use tokio::sync::mpsc::UnboundedSender;

/// The client commands that a front end offers.
pub type ClientCommands = &'static [&'static dyn ClientCommand];

/// A command that runs in the front end.
#[async_trait]
pub trait ClientCommand: fmt::Debug + Send + Sync {
    /// Returns the name, arguments and help.
    fn definition(&self) -> &'static CommandDefinition;

    /// Returns whether the command serves until it is cancelled, as `watch` does. A console runs
    /// such a command alongside its prompt, and shows the command's first lasting line of progress
    /// as the response.
    fn serves(&self) -> bool {
        false
    }

    /// Runs the command and returns its response. `input` is not yet checked against the
    /// definition.
    async fn run(&self, input: Map<String, Value>, call: Call) -> Response;
}

/// The context of a [`ClientCommand`]: the caller, the client and the limits.
#[derive(Clone)]
pub struct Call {
    /// Runs the commands of which the client command consists.
    pub client: Arc<dyn Client>,
    /// The caller of the command.
    pub caller: Caller,
    /// The session; the caller's own if absent.
    pub session: Option<String>,
    /// The form of the response.
    pub render: Render,
    /// Environment variables, by the names that scripts use.
    pub variables: BTreeMap<String, String>,
    /// Receives progress.
    pub progress: UnboundedSender<Progress>,
    /// The permissions of the caller.
    pub policy: Arc<dyn Policy>,
    /// The installation that the front end runs from.
    pub installation: Arc<Installation>,
    /// Cancels the command. The command closes what it opened, and still returns a response.
    pub cancel: CancellationToken,
}

/// The installation from which a front end runs, for commands that set up this machine.
#[derive(Debug, Clone, Default)]
pub struct Installation {
    /// The running program.
    pub program: PathBuf,
    /// The state directory, as an absolute path.
    pub state_dir: PathBuf,
    /// Environment variables that locate other programs and their settings, by name.
    pub variables: BTreeMap<String, OsString>,
    /// The names of secret variables, which are not passed to started programs.
    pub private: Vec<OsString>,
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("caller", &self.caller)
            .field("session", &self.session)
            .finish_non_exhaustive()
    }
}

/// The progress of a long command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// The number of finished parts.
    pub done: usize,
    /// The number of parts; 0 if the command does not count any.
    pub total: usize,
    /// The last event, in one line.
    pub line: String,
    /// Whether the line stays on screen when the next one arrives.
    pub lasting: bool,
    /// The part that the event belongs to, if parts run in parallel. The line of a part's last
    /// event stays on screen.
    pub part: Option<ProgressPart>,
}

/// The progress of one of several parts that run in parallel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgressPart {
    /// The name of the part, which no other running part has.
    pub name: String,
    /// The number of finished steps.
    pub done: usize,
    /// The number of steps.
    pub total: usize,
}

/// The permissions of a caller. A command that consists of others checks each of them before it
/// sends the first.
pub trait Policy: Send + Sync {
    /// Checks that the caller may run this command, and use the files in its input. `input` is
    /// mutable only so that it can be visited.
    ///
    /// # Errors
    /// Returns `POLICY_DENIED`, or the reason why a path cannot be resolved.
    fn command(&self, definition: &CommandDefinition, input: &mut Map<String, Value>) -> Result<()>;
}

/// Allows everything: the policy of the command line and of the console.
#[derive(Debug, Clone, Copy, Default)]
pub struct AllowAll;

impl Policy for AllowAll {
    fn command(&self, _: &CommandDefinition, _: &mut Map<String, Value>) -> Result<()> {
        Ok(())
    }
}
