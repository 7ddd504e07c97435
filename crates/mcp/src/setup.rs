//! What the server is started with. The binary fills it in; nothing here reads the environment.

use crate::profile::Profile;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use stickpin_client::{ClientCommands, Start};
use stickpin_kernel::{Caller, Result};

/// The longest text of one answer, in characters, unless another is chosen: what clients take without cutting it.
pub const MAX_CHARS: usize = 25_000;

/// Who calls, given the name of a client connection.
pub type MakeCaller = dyn Fn(&str) -> Caller + Send + Sync;

/// Where a daemon keeps its state, given what was named, if anything was.
pub type FindStateDir = dyn Fn(Option<&str>) -> Result<PathBuf> + Send + Sync;

/// How the server works.
#[derive(Clone)]
pub struct Setup {
    /// Which tools are listed.
    pub profile: Profile,
    /// Serve only what reads.
    pub read_only: bool,
    /// Folders that files may be in, besides the client's roots or the working directory.
    pub allow: Vec<PathBuf>,
    /// State folders that a call may name, besides the server's own.
    pub state_dirs: Vec<PathBuf>,
    /// Serve commands that run a script of the client in the app.
    pub allow_script: bool,
    /// Start any program that a client names, not installed apps alone.
    pub allow_programs: bool,
    /// Say the envelope as structured content beside the text.
    pub structured: bool,
    /// The longest text of one answer, in characters.
    pub max_chars: usize,
    /// The session of all clients; else each has its own.
    pub session: Option<String>,
    /// The default of `staleRefs`, where a command has that.
    pub stale_refs: Option<String>,
    /// Who calls, given the name of a client connection: its own session is named after both.
    pub caller: Arc<MakeCaller>,
    /// The state dir: the one that is given, else the default.
    pub state_dir: Arc<FindStateDir>,
    /// Commands that this process runs, through a client.
    pub client_commands: ClientCommands,
    /// Variables of scripts that the surroundings set.
    pub variables: BTreeMap<String, String>,
    /// How the daemon is started.
    pub start: Start,
}
