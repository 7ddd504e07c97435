//! Registers stickpin with coding agents, and removes what it registered.
//!
//! `install` registers the MCP server in a harness's configuration and installs the skill;
//! `uninstall` removes exactly what an installation writes. [`first_run`] removes stale
//! registrations. None of them needs a daemon.
//!
//! Pure modules decide (`decide`) and edit (`edit`); `registration` and `skill` carry out the
//! decisions through a `disk`.
//!
//! ```
//! use stickpin_install::{COMMANDS, Setup, first_run};
//!
//! let names: Vec<&str> = COMMANDS.iter().map(|command| command.definition().spec.name).collect();
//! assert_eq!(names, ["install", "uninstall", "doctor install"]);
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let home = folder.path().to_owned();
//! let setup = Setup { state_dir: home.join("state"), home, ..Setup::default() };
//! assert_eq!(first_run(&setup, true)?, None, "nothing is stale on a fresh machine");
//! # Ok::<(), stickpin_kernel::Error>(())
//! ```

mod audit;
mod cleanup;
mod commands;
mod config_file;
mod decide;
mod disk;
mod edit;
mod error;
mod harness;
mod manager;
mod manifest;
mod outcome;
mod registration;
mod run;
mod setup;
mod shape;
mod skill;
mod state;
#[cfg(test)]
mod tests;

pub use audit::Reason;
pub use cleanup::{cleanup, first_run};
pub use commands::COMMANDS;
pub use harness::PLACE_VARIABLES;
pub use setup::Setup;
