//! The configuration passed by the binary, which alone knows the command line and the environment.

use crate::model::outcome::Printed;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use stickpin_client::{Client, ClientCommands, Installation};
use stickpin_kernel::{Caller, Response, Result};

/// Returns the help of a topic or a command.
pub type Help = Arc<dyn Fn(&str) -> Result<String> + Send + Sync>;

/// The configuration passed by the binary, which alone knows the command line and the environment.
#[derive(Clone)]
pub struct Setup {
    /// Runs commands on the daemon.
    pub client: Arc<dyn Client>,
    /// The person or agent that runs the console, with the number of the console as evidence.
    pub caller: Caller,
    /// The session; by default the caller's own.
    pub session: Option<String>,
    /// The conversation to continue; `None` for one that ends with the console.
    pub context: Option<String>,
    /// Whether to show colors.
    pub colors: bool,
    /// The default of `open --stale-refs`.
    pub stale_refs: Option<String>,
    /// Commands that run in this process.
    pub client_commands: ClientCommands,
    /// The names of commands that exist only on the command line.
    pub shell_only: Vec<&'static str>,
    /// The values that the environment sets for script variables, by name.
    pub variables: BTreeMap<String, String>,
    /// The installation, for commands that run in this process.
    pub installation: Arc<Installation>,
    /// Formats a response as the command line does; the flag requests JSON.
    pub print: fn(&Response, bool) -> Printed,
    /// Returns the help of a topic or a command.
    pub help: Help,
}

impl fmt::Debug for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Setup")
            .field("session", &self.session)
            .field("context", &self.context)
            .field("colors", &self.colors)
            .finish_non_exhaustive()
    }
}
