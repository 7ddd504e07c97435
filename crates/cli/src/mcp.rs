//! The arguments of `mcp`. The command line only parses them; the binary serves.

use crate::local::{option, switch};
use clap::{ArgAction, ArgMatches, Command};
use stickpin_cmdline::Options;
use stickpin_kernel::{Error, PathArg, Result};

/// How to serve MCP clients.
#[derive(Debug, Clone, Default)]
pub struct Mcp {
    /// The address to listen on; `None` for stdio.
    pub http: Option<String>,
    /// Host names of this machine besides loopback.
    pub hosts: Vec<String>,
    /// Seconds without a connection after which a client over HTTP counts as disconnected.
    pub client_timeout: Option<u64>,
    /// The profile that determines which tools are listed.
    pub profile: Option<String>,
    /// Whether to serve only commands that read.
    pub read_only: bool,
    /// Folders in which files may be read and written.
    pub allow: Vec<String>,
    /// State directories that a call may name.
    pub allow_state_dirs: Vec<String>,
    /// Whether to serve commands that run a client's script in the app.
    pub allow_script: bool,
    /// Whether a client may start any program, not only installed apps.
    pub allow_programs: bool,
    /// Whether to also return the envelope as structured content.
    pub structured: bool,
    /// The maximum length of a response's text, in characters.
    pub max_chars: Option<u64>,
    /// The client for which to print a configuration instead of serving.
    pub print_config: Option<String>,
    /// The value of `--session`.
    pub session: Option<String>,
    /// The value of `--state-dir`.
    pub state_dir: Option<String>,
}

pub(crate) fn grammar(command: Command) -> Command {
    let list = |name, word, help| option(name, word, help).action(ArgAction::Append);
    command.after_help(PathArg::RULES).args([
        option("http", "ADDR", "Listen for streamable HTTP on an address such as 127.0.0.1:8931"),
        list("allow-host", "NAME", "With `--http`: a host name of this machine that clients may use"),
        option(
            "client-timeout",
            "S",
            "With `--http`: seconds without a connection after which a client's session closes (default 600)",
        ),
        option("profile", "NAME", "The set of tools to list (default core)")
            .value_parser(["slim", "core", "full"]),
        switch("read-only", "Serve only commands that do not change the app"),
        list("allow-path", "DIR", "A folder whose files clients may use, besides their own roots"),
        list("allow-state-dir", "DIR", "A state directory that calls may name, besides the server's own"),
        switch("allow-script", "Serve `wait fn`, which runs a client's script in the page"),
        switch("allow-programs", "Let `open` start any program or command line, not only installed apps"),
        switch("structured", "Also return each response as JSON"),
        option("max-chars", "N", "Maximum length of a response in characters (default 25000)"),
        option(
            "print-config",
            "CLIENT",
            "Print the configuration for a client: claude-code, codex, gemini, opencode, cursor, vscode",
        ),
    ])
}

impl Mcp {
    /// Reads the arguments.
    ///
    /// # Errors
    /// Returns `INVALID_ARGS` for an invalid number.
    pub(crate) fn read(matches: &ArgMatches, options: &Options) -> Result<Self> {
        let text = |name: &str| matches.get_one::<String>(name).cloned();
        let texts = |name: &str| matches.get_many::<String>(name).into_iter().flatten().cloned().collect();
        let number = |name: &str, min: u64, what: &str| {
            let number = text(name).map(|n| {
                n.parse().ok().filter(|n| *n >= min).ok_or_else(|| {
                    let message =
                        format!("`--{name}` must be a whole number{what}, at least {min}, not {n:?}");
                    Error::invalid_args(message)
                })
            });
            number.transpose()
        };
        Ok(Self {
            http: text("http"),
            client_timeout: number("client-timeout", 1, " of seconds")?,
            hosts: texts("allow-host"),
            profile: text("profile"),
            read_only: matches.get_flag("read-only"),
            allow: texts("allow-path"),
            allow_state_dirs: texts("allow-state-dir"),
            allow_script: matches.get_flag("allow-script"),
            allow_programs: matches.get_flag("allow-programs"),
            structured: matches.get_flag("structured"),
            max_chars: number("max-chars", 1_000, "")?,
            print_config: text("print-config"),
            session: options.session.clone(),
            state_dir: options.state_dir.clone(),
        })
    }
}
