//! Scenario files, harness and surfaces for tests.
//!
//! A scenario is a file of commands with expected outcomes. It runs through every surface (in
//! process, over the daemon's socket, through the real binary as text and as JSON). All surfaces
//! must show the same outcome: that is the parity test. The app's own log, never one of our
//! answers, shows which element received the input.

mod chromium;
mod desktop;
mod expect;
pub mod floors;
mod harness;
mod hints;
mod in_process;
mod listing;
mod mcp;
mod normalise;
mod npm;
mod pages;
mod scenario;
mod shared_desktop;
mod skip;
pub mod staleness;
mod surface;

pub use chromium::{chromium, chromium_path};
pub use desktop::{desktop, heavy_desktop, installed_desktop};
pub use expect::Outcome;
pub use harness::{ScenarioRun, run_file, scenario_files};
pub use hints::hint_mentions;
pub use in_process::{InProcess, Script};
pub use listing::{Listing, ListingLine};
pub use mcp::{McpClient, McpSurface};
pub use normalise::Normaliser;
pub use npm::{editors, npm};
pub use pages::{PageRequest, PageResponse, PageServer, RequestHandler};
pub use scenario::{Scenario, Step, SurfaceName, split};
pub use shared_desktop::{SharedDesktop, shared_desktop};
pub use skip::skipped;
pub use surface::{Caller, ProcessJson, ProcessText, Socket, Surface};

use std::path::PathBuf;

/// Returns the root of the workspace, where fixtures are read.
#[must_use]
pub fn workspace_root() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("testkit lies two folders below the root").to_owned()
}
