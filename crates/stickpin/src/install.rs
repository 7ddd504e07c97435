//! Registrations with coding agents: configures the installation from the environment.

use std::path::Path;
use stickpin_cli::{ClientCommands, Env};
use stickpin_install::{Reason, Setup};
use stickpin_kernel::Result;

/// Returns all client commands, which run in this process instead of the daemon.
pub(crate) fn client_commands() -> ClientCommands {
    [stickpin_replay::COMMANDS, stickpin_watch::COMMANDS, stickpin_install::COMMANDS].concat().leak()
}

/// Removes stale registrations and, for a person, refreshes installed skills, unless this version
/// already did so. Without a home directory, there is nothing to do.
pub(crate) fn first_run(env: &Env, state_dir: &Path) -> Result<Option<String>> {
    match setup(env, state_dir) {
        Some(setup) => stickpin_install::first_run(&setup, env.is_person()),
        None => Ok(None),
    }
}

/// Removes stale registrations, if the home directory is known. Returns a summary if anything was
/// removed or failed.
pub(crate) fn cleanup(env: &Env, state_dir: &Path, reason: &str) -> Result<Option<String>> {
    let reason = if reason == "update" { Reason::Update } else { Reason::Manual };
    match setup(env, state_dir) {
        Some(setup) => stickpin_install::cleanup(&setup, reason),
        None => Ok(None),
    }
}

fn setup(env: &Env, state_dir: &Path) -> Option<Setup> {
    Some(Setup {
        home: env.home.clone()?,
        state_dir: state_dir.to_owned(),
        program: env.program.clone(),
        variables: env.harness_variables.clone(),
        private: env.private.clone(),
    })
}
