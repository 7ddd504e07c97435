//! The server's configuration. The binary fills it in; this crate does not read the environment.

use crate::profile::Profile;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use stickpin_client::{ClientCommands, Start};
use stickpin_kernel::{Caller, Result};

/// The default maximum length of an answer in characters: clients accept this length without
/// truncating the answer.
pub const MAX_CHARS: usize = 25_000;

/// A function that returns the caller for the name of a client connection.
pub type MakeCaller = dyn Fn(&str) -> Caller + Send + Sync;

/// A function that returns the state directory for a name, or the default one for `None`.
pub type FindStateDir = dyn Fn(Option<&str>) -> Result<PathBuf> + Send + Sync;

/// The server's configuration.
#[derive(Clone)]
pub struct Setup {
    /// The profile of listed tools.
    pub profile: Profile,
    /// Whether to serve only commands that read.
    pub read_only: bool,
    /// Folders whose files a client may name, besides its roots or the working directory.
    pub allow: Vec<PathBuf>,
    /// The project folder that the server's environment names, for a client without roots if the
    /// server's working directory is `/`, the home directory or a directory that contains it.
    pub project_dir: Option<PathBuf>,
    /// State directories that a call may name, besides the server's own.
    pub state_dirs: Vec<PathBuf>,
    /// Whether to serve commands that run a client's script in the app.
    pub allow_script: bool,
    /// Whether a client may start any program, not only installed apps.
    pub allow_programs: bool,
    /// Whether to also return the envelope as structured content.
    pub structured: bool,
    /// The maximum length of an answer's text in characters.
    pub max_chars: usize,
    /// The session of calls that do not name a session; `None` gives each client its own session.
    pub session: Option<String>,
    /// The default of `staleRefs` for commands that have it.
    pub stale_refs: Option<String>,
    /// Returns the caller for the name of a client connection. The caller's own session is named
    /// after the project and the connection.
    pub caller: Arc<MakeCaller>,
    /// Returns the given state directory, or the default one.
    pub state_dir: Arc<FindStateDir>,
    /// The client commands, which run in this process.
    pub client_commands: ClientCommands,
    /// Script variables from the environment.
    pub variables: BTreeMap<String, String>,
    /// How to start the daemon.
    pub start: Start,
}
