//! `install`, `uninstall` and `doctor install`: client commands that need neither a session nor a
//! daemon.

mod doctor;
mod install;
mod report;
mod uninstall;

#[cfg(test)]
pub(crate) use doctor::examine;
#[cfg(test)]
pub(crate) use install::{InstallOptions, install_into};
#[cfg(test)]
pub(crate) use uninstall::{UninstallOptions, uninstall_from};

use crate::setup::Setup;
use schemars::JsonSchema;
use serde::Deserialize;
use stickpin_client::{Call, ClientCommand};
use stickpin_kernel::{Error, Result};

/// The client commands of this crate, in the order in which help lists them.
pub const COMMANDS: &[&dyn ClientCommand] =
    &[&install::Install, &uninstall::Uninstall, &doctor::DoctorInstall];

/// The harnesses that `install` accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Name {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// OpenCode.
    Opencode,
    /// Antigravity, which reads the shared skill.
    Antigravity,
}

impl Name {
    fn id(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Antigravity => "antigravity",
        }
    }
}

/// Returns the setup of the caller's machine.
fn setup(call: &Call) -> Result<Setup> {
    let Some(home) = call.caller.home.clone() else {
        return Err(Error::io("cannot locate the configuration files: the home directory is unknown")
            .hint("set HOME to the absolute path of the home directory"));
    };
    let machine = &*call.installation;
    if machine.program.to_str().is_none() {
        let message = format!("the path of this program, {:?}, is not UTF-8", machine.program);
        return Err(Error::io(message).hint("move or rename the program so that its path is UTF-8"));
    }
    Ok(Setup {
        home,
        state_dir: machine.state_dir.clone(),
        program: machine.program.clone(),
        variables: machine.variables.clone(),
        private: machine.private.clone(),
    })
}

/// Runs blocking work on another thread, so that signals are still handled. If `work` is an error,
/// returns that error.
async fn blocking<T: Send + 'static>(work: Result<impl FnOnce() -> Result<T> + Send + 'static>) -> Result<T> {
    let done = tokio::task::spawn_blocking(work?).await;
    done.unwrap_or_else(|e| Err(Error::internal(format!("the background task failed: {e}"))))
}

/// Refuses a choice of harnesses that is empty or contradictory.
fn check_choice(names: usize, all: bool, verb: &str) -> Result<()> {
    let (message, hint) = match (names, all) {
        (0, false) => ("no harness is named", format!("name a harness, or run `stickpin {verb} --all`")),
        (1.., true) => {
            ("`--all` cannot be combined with harness names", format!("run `stickpin {verb} --all`"))
        }
        _ => return Ok(()),
    };
    Err(Error::invalid_args(message).hint(hint))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::HARNESSES;

    #[test]
    fn every_harness_has_a_name() {
        let names = [Name::ClaudeCode, Name::Codex, Name::Gemini, Name::Opencode, Name::Antigravity];
        assert_eq!(
            names.map(Name::id).to_vec(),
            HARNESSES.iter().map(|harness| harness.id).collect::<Vec<_>>()
        );
    }
}
