//! The arguments of `console` and `session attach`. The command line only parses them; the binary
//! runs the console.

use crate::local::{option, positional, switch};
use clap::{ArgMatches, Command};
use stickpin_cmdline::Options;
use stickpin_kernel::{Error, PathArg, Result};

/// How to run a console.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Console {
    /// Whether to read lines instead of showing a screen.
    pub plain: bool,
    /// Whether to keep the conversation in memory only.
    pub ephemeral: bool,
    /// The conversation to continue; `None` for the default one.
    pub context: Option<String>,
    /// The name given to `session attach`, otherwise the value of `--session`.
    pub session: Option<String>,
    /// The value of `--state-dir`.
    pub state_dir: Option<String>,
}

pub(crate) fn grammar(command: Command) -> Command {
    command.after_help(PathArg::RULES).args([
        switch("plain", "Read commands line by line; the default if input or output is not a terminal"),
        switch("ephemeral", "Keep the context of prompts in memory instead of the session log"),
        option("context", "NAME", "The conversation to continue (default main)").conflicts_with("ephemeral"),
    ])
}

/// The grammar of `session attach`, which names the session of the console.
pub(crate) fn attach_grammar(command: Command) -> Command {
    grammar(command).arg(positional("name", "NAME", "The session").required(true))
}

impl Console {
    /// Reads the arguments.
    ///
    /// # Errors
    /// Returns `INVALID_ARGS` for `--json`, which only the commands in the console accept, and for
    /// a conversation without a name.
    pub(crate) fn read(matches: &ArgMatches, options: &Options) -> Result<Self> {
        if options.json {
            return Err(Error::invalid_args("a console does not accept `--json`")
                .hint("add `--json` to the commands that you type in the console"));
        }
        let context = matches.get_one::<String>("context").cloned();
        if context.as_ref().is_some_and(|name| name.trim().is_empty()) {
            return Err(
                Error::invalid_args("`--context` is empty").hint("omit `--context` to use the default")
            );
        }
        // Only `session attach` has this argument.
        let named = matches.try_get_one::<String>("name").ok().flatten().cloned();
        Ok(Self {
            plain: matches.get_flag("plain"),
            ephemeral: matches.get_flag("ephemeral"),
            context,
            session: named.or_else(|| options.session.clone()),
            state_dir: options.state_dir.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Console> {
        let command = grammar(stickpin_cmdline::local_grammar("console", ""));
        let matches = command.try_get_matches_from(line.split_whitespace());
        let matches = matches.map_err(|e| Error::invalid_args(e.to_string()))?;
        Console::read(&matches, &stickpin_cmdline::options::read(&matches)?)
    }

    #[test]
    fn attached_session_is_that_of_the_console() {
        let command = || attach_grammar(stickpin_cmdline::local_grammar("session attach", ""));
        let matches = command().try_get_matches_from(["shop", "--plain"]).unwrap();
        let console = Console::read(&matches, &stickpin_cmdline::options::read(&matches).unwrap()).unwrap();
        assert_eq!(console, Console { plain: true, session: Some("shop".into()), ..Console::default() });
        assert!(command().try_get_matches_from([""; 0]).is_err(), "it needs a name");
    }

    #[test]
    fn arguments_are_read() {
        assert_eq!(read("").unwrap(), Console::default());
        let console = read("--plain --context buying --session shop").unwrap();
        assert_eq!((console.plain, console.context.as_deref()), (true, Some("buying")));
        assert_eq!(console.session.as_deref(), Some("shop"));
        for refused in ["--json", "--context=", "--context a --ephemeral"] {
            assert!(read(refused).is_err(), "{refused}");
        }
    }
}
