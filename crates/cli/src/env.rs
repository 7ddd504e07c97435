//! The environment of a command line. The binary reads the variables; this crate reads none.

use crate::caller;
use crate::output::Colors;
use clap::ColorChoice;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use stickpin_client::Installation;
use stickpin_kernel::{Caller, Error, Evidence, ResolvedPath, Result, Secret};
use stickpin_wire::StateDir;

/// The environment of one call.
#[derive(Debug, Clone, Default)]
pub struct Env {
    /// The working directory.
    pub cwd: PathBuf,
    /// The home directory.
    pub home: Option<PathBuf>,
    /// `CLAUDE_PROJECT_DIR`: the project folder of a harness that starts the MCP server elsewhere.
    pub project_dir: Option<String>,
    /// The value of `STICKPIN_STATE_DIR`.
    pub state_dir: Option<String>,
    /// The value of `STICKPIN_SESSION`.
    pub session: Option<String>,
    /// `STICKPIN_STALE_REFS`: the default of `open --stale-refs`.
    pub stale_refs: Option<String>,
    /// `STICKPIN_MCP_PROFILE`: the default of `mcp --profile`.
    pub mcp_profile: Option<String>,
    /// `STICKPIN_MCP_TOKEN`: the token that clients of `mcp --http` must send.
    pub mcp_token: Option<String>,
    /// Variables of scripts, by KEY: the values of `STICKPIN_VAR_KEY`, otherwise of `AD_VAR_KEY`.
    pub variables: BTreeMap<String, String>,
    /// Values for `fill --secret`, by NAME: those of `STICKPIN_SECRET_NAME`. No answer shows them.
    pub secrets: BTreeMap<String, Secret>,
    /// Variables that reveal the agent behind the caller, by name.
    pub evidence: BTreeMap<String, String>,
    /// Variables that locate agents' programs and settings, by name.
    pub harness_variables: BTreeMap<String, OsString>,
    /// Secret variables, which are not passed to started programs.
    pub private: Vec<OsString>,
    /// Whether stderr is a terminal.
    pub terminal: bool,
    /// Whether stdout is a terminal.
    pub answer_on_terminal: bool,
    /// Whether the terminal shows only text, as `TERM=dumb` states.
    pub dumb_terminal: bool,
    /// The width of the terminal on stdout, in characters; `None` if stdout is not a terminal.
    pub columns: Option<u16>,
    /// The function that returns the current width of the terminal on stderr; if there is none, the
    /// width is 80.
    pub progress_columns: Option<fn() -> u16>,
    /// The width of a character cell on stdout in pixels, if the terminal reports it.
    pub cell_width: Option<u16>,
    /// Variables that reveal the kind of the terminal, by name.
    pub terminal_variables: BTreeMap<String, String>,
    /// Environment variables that control colors.
    pub color: ColorVariables,
    /// This program, which is started again as the daemon.
    pub program: PathBuf,
    /// Additional environment variables for the daemon.
    pub of_daemon: &'static [(&'static str, &'static str)],
}

/// Environment variables about colors, as documented at no-color.org and bixense.com/clicolors.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ColorVariables {
    /// Whether `NO_COLOR` has a value.
    pub no_color: bool,
    /// Whether `CLICOLOR_FORCE` has a value other than 0.
    pub force: bool,
    /// Whether `CLICOLOR=0` or `TERM=dumb` is set.
    pub never: bool,
}

impl Env {
    /// Decides which streams show colors. The option takes precedence over the variables; without
    /// either, a stream shows colors if it is a terminal.
    #[must_use]
    pub fn colors(&self, choice: ColorChoice) -> Colors {
        let colors = |shown| Colors { out: shown, err: shown };
        match choice {
            ColorChoice::Always => colors(true),
            ColorChoice::Never => colors(false),
            ColorChoice::Auto if self.color.no_color => colors(false),
            ColorChoice::Auto if self.color.force => colors(true),
            ColorChoice::Auto if self.color.never => colors(false),
            ColorChoice::Auto => Colors { out: self.answer_on_terminal, err: self.terminal },
        }
    }

    /// Returns whether a person reads stderr, rather than an agent or a program.
    #[must_use]
    pub fn is_person(&self) -> bool {
        self.terminal && self.evidence.is_empty()
    }

    /// Returns the installation whose state is in `state_dir`.
    #[must_use]
    pub fn installation(&self, state_dir: &StateDir) -> Installation {
        Installation {
            program: self.program.clone(),
            state_dir: state_dir.path().to_owned(),
            variables: self.harness_variables.clone(),
            private: self.private.clone(),
        }
    }

    /// Returns the caller, with the secrets that its commands may use. A named client has its own
    /// session.
    #[must_use]
    pub fn caller(&self, client: Option<&str>) -> Caller {
        Caller {
            secrets: self.secrets.clone(),
            evidence: Evidence { env: self.evidence.clone(), ..Evidence::default() },
            ..caller::caller(&self.cwd, self.home.as_deref(), client)
        }
    }

    /// Resolves a path from the command line.
    ///
    /// # Errors
    /// Returns the errors of [`Caller::resolve_path`].
    pub fn resolve(&self, path: &str) -> Result<PathBuf> {
        let caller = Caller { cwd: self.cwd.clone(), home: self.home.clone(), ..Caller::default() };
        caller.resolve_path(path).map(ResolvedPath::into_path_buf)
    }

    /// Returns the state directory: the option, otherwise the variable, otherwise a folder below
    /// the home directory.
    ///
    /// # Errors
    /// Returns the errors of [`Caller::resolve_path`], or `IO` when there is no home directory
    /// either.
    pub fn state_dir(&self, option: Option<&str>) -> Result<PathBuf> {
        if let Some(path) = option.or(self.state_dir.as_deref()).filter(|path| !path.is_empty()) {
            return self.resolve(path);
        }
        match &self.home {
            Some(home) => Ok(home.join(".local/state/stickpin")),
            None => Err(Error::io("without a home directory, the state directory has no default")
                .hint("name the state directory with `--state-dir DIR` or STICKPIN_STATE_DIR")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stickpin_kernel::ErrorCode;

    #[test]
    fn colors_follow_option_then_variables_then_terminal() {
        let env = |no_color, force, terminal| Env {
            color: ColorVariables { no_color, force, never: false },
            answer_on_terminal: terminal,
            ..Env::default()
        };
        let shown = |env: &Env, choice| env.colors(choice).out;
        assert!(shown(&env(false, false, true), ColorChoice::Auto));
        assert!(!shown(&env(false, false, false), ColorChoice::Auto));
        assert!(!shown(&env(true, true, true), ColorChoice::Auto));
        assert!(shown(&env(false, true, false), ColorChoice::Auto));
        assert!(shown(&env(true, false, false), ColorChoice::Always));
        assert!(!shown(&env(false, true, true), ColorChoice::Never));
        let dumb_terminal = Env {
            color: ColorVariables { never: true, ..ColorVariables::default() },
            ..env(false, false, true)
        };
        assert!(!shown(&dumb_terminal, ColorChoice::Auto));
        assert!(!env(false, false, true).colors(ColorChoice::Auto).err, "stderr is not a terminal");
    }

    #[test]
    fn state_dir_follows_option_then_variable_then_home() {
        let env = Env {
            cwd: "/w".into(),
            home: Some("/h".into()),
            state_dir: Some("~/s".into()),
            ..Env::default()
        };
        assert_eq!(env.state_dir(Some("x")).unwrap(), PathBuf::from("/w/x"));
        assert_eq!(env.state_dir(None).unwrap(), PathBuf::from("/h/s"));
        let env = Env { state_dir: Some(String::new()), ..env };
        assert_eq!(env.state_dir(None).unwrap(), PathBuf::from("/h/.local/state/stickpin"));
        let env = Env { home: None, ..env };
        assert_eq!(env.state_dir(None).unwrap_err().code, ErrorCode::Io);
    }
}
