//! The command line: converts arguments into requests, prints the responses, and sets the exit
//! code.
//!
//! [`run`] reads the arguments, finds the command, builds only that command's grammar, and sends a
//! request to the daemon. No command of the registry is named here. Differences from other front
//! ends are in `local.rs`, with the reasons.
//!
//! ```
//! use stickpin_cli::{Env, request};
//!
//! let request = request(&["press", "@e3", "--settle"], &Env::default())?;
//! assert_eq!((request.command.as_str(), &request.input["target"]), ("press", &"@e3".into()));
//! # Ok::<(), stickpin_kernel::Error>(())
//! ```

mod caller;
mod client_command;
mod color;
mod complete;
mod console;
mod daemon;
mod env;
mod follow;
mod help;
mod local;
mod man;
mod mcp;
mod output;
mod parse;
mod picture;
mod progress;

pub use caller::caller;
pub use console::Console;
pub use daemon::start;
pub use env::{ColorVariables, Env};
pub use mcp::Mcp;
pub use output::{Colors, Streams, printed};
pub use picture::terminal_variables;
pub use stickpin_client::ClientCommands;

use local::{CliCommand, FrontEndCommand, LocalAction};
use parse::CliAction;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;
use stickpin_client::Connection;
use stickpin_cmdline::{LocalCommand, Options, options};
use stickpin_kernel::registry::{self, COMMANDS, CommandDefinition};
use stickpin_kernel::{Error, ErrorCode, Request, Result};
use stickpin_wire::StateDir;

/// The maximum length of standard input, in bytes.
const STDIN_LIMIT: u64 = 4 * 1024 * 1024;

/// Functions that the binary provides, because only it knows the backends and the daemon.
#[derive(Debug, Clone, Copy)]
pub struct Hooks {
    /// Becomes the daemon of a state directory. The second argument is how long the daemon stays up
    /// without sessions, if given.
    pub daemon: fn(PathBuf, Option<Duration>) -> u8,
    /// Returns the names of apps that `open` could start, for completions.
    pub apps: fn() -> Vec<String>,
    /// Shows the demonstration.
    pub demo: fn(&mut Streams<'_>) -> u8,
    /// Serves an MCP client.
    pub mcp: fn(&Mcp, &Env, &mut Streams<'_>) -> Result<u8>,
    /// Runs the interactive console.
    pub console: fn(&Console, &Env, &mut Streams<'_>) -> Result<u8>,
    /// Removes stale registrations if this version has not done so yet and, for a person, refreshes
    /// installed skills. Runs before each command of the registry and each client command.
    pub first_run: fn(&Env, &Path) -> Result<Option<String>>,
    /// Removes stale registrations, for the given reason.
    pub cleanup: fn(&Env, &Path, &str) -> Result<Option<String>>,
    /// Commands that run in this process instead of the daemon.
    pub client_commands: ClientCommands,
}

/// Runs a command line, without the program's name, and returns the exit code.
pub fn run(
    args: impl IntoIterator<Item = OsString>,
    env: &Env,
    hooks: Hooks,
    streams: &mut Streams<'_>,
) -> u8 {
    let args = match to_words(args) {
        Ok(args) => args,
        Err(error) => return streams.fail("", error, false),
    };
    let json = options::wants_json(&args);
    streams.set_colors(env.colors(options::color_choice(&args)));
    let others = local::front_end_commands(hooks.client_commands);
    match parse::parse_line(args, env, &others) {
        Ok(CliAction::Call(mut request, options)) => with_stdin(&mut request, &options)
            .and_then(|()| match follow::of(&request, &options) {
                Some(how) => Ok(follow::run(&request, how, &options, env, hooks, streams)),
                None => call(&request, &options, env, hooks, streams),
            })
            .unwrap_or_else(|error| streams.fail(&request.command, error, options.json)),
        Ok(CliAction::ClientCommand(command, input, options)) => {
            client_command::run(command, input, &options, env, hooks, streams)
                .unwrap_or_else(|e| streams.fail(command.definition().spec.name, e, options.json))
        }
        Ok(CliAction::Local(local, matches, options)) => {
            run_local(local, &matches, &options, env, hooks, streams)
                .unwrap_or_else(|e| streams.fail(local.name, e, json))
        }
        Ok(CliAction::Print(text)) => {
            streams.print(&text);
            0
        }
        Ok(CliAction::Nothing(overview)) => {
            streams.print_error(&overview);
            ErrorCode::InvalidArgs.exit()
        }
        Err((command, error)) => streams.fail(command, error, json),
    }
}

/// Reports why a command line is not run at all, and returns the exit code.
pub fn refuse(args: impl IntoIterator<Item = OsString>, error: Error, streams: &mut Streams<'_>) -> u8 {
    let args: Vec<String> = args.into_iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    streams.fail("", error, options::wants_json(&args))
}

/// Converts a command line into a request, for programs that show command lines and run them in
/// process.
///
/// # Errors
/// Returns `INVALID_ARGS` for an invalid command line, and for one that calls no command of the
/// registry.
pub fn request(args: &[&str], env: &Env) -> Result<Request> {
    match parse::parse_line(args.iter().map(|&arg| arg.to_owned()).collect(), env, &[]) {
        Ok(CliAction::Call(request, _)) => Ok(*request),
        Ok(_) => Err(Error::invalid_args(
            "the line contains no command: it is empty or only requests help or the version",
        )),
        Err((_, error)) => Err(error),
    }
}

/// Returns the grammar of every command that help lists, in the order of the list, each with the
/// definition from which it was made, if any. The command reference is generated from these
/// grammars.
pub fn grammars(
    client_commands: ClientCommands,
) -> impl Iterator<Item = (Option<&'static CommandDefinition>, clap::Command)> {
    let registry = COMMANDS.iter().map(|e| (Some(&**e), stickpin_cmdline::command_grammar(e)));
    registry.chain(local::front_end_commands(client_commands).into_iter().filter(|o| !o.hidden()).map(
        |other| match other {
            FrontEndCommand::ClientCommand(command) => (Some(command.definition()), other.command()),
            FrontEndCommand::Local(_) => (None, other.command()),
        },
    ))
}

/// Returns the names of the commands that only the command line has, except `help`.
pub fn shell_commands() -> impl Iterator<Item = &'static str> {
    local::LOCAL_COMMANDS.iter().filter(|local| local.action != LocalAction::Help).map(|local| local.name)
}

/// Returns the text of a help topic, the help of a command, or the commands of a group; for an
/// empty `topic`, the overview.
///
/// # Errors
/// Returns `INVALID_ARGS` if `topic` is none of these.
pub fn help_text(topic: &str, client_commands: ClientCommands) -> Result<String> {
    help::topic_text(topic, &local::front_end_commands(client_commands))
}

fn to_words(args: impl IntoIterator<Item = OsString>) -> Result<Vec<String>> {
    let word = |arg: OsString| {
        arg.into_string().map_err(|arg| {
            let message = format!("the argument {:?} is not UTF-8", arg.to_string_lossy());
            Error::invalid_args(message)
        })
    };
    args.into_iter().map(word).collect()
}

fn call(
    request: &Request,
    options: &Options,
    env: &Env,
    hooks: Hooks,
    streams: &mut Streams<'_>,
) -> Result<u8> {
    let state_dir = prepared_state_dir(options, env, hooks, streams)?;
    let (response, connection) = Connection::run(&state_dir, &daemon::start(env), request)?;
    let code = streams.respond(&response, options.json);
    // If the response did not reach its reader, the turn that it announces is reserved for the same
    // agent again.
    if streams.is_delivered() {
        connection.acknowledge();
    }
    if options.show {
        picture::show(&response, options, env, streams);
    }
    Ok(code)
}

/// Opens the state directory, and removes stale registrations before the first command of another
/// version. Only a person is notified. A failure to remove them does not affect the typed command;
/// the next command tries again.
fn prepared_state_dir(
    options: &Options,
    env: &Env,
    hooks: Hooks,
    streams: &mut Streams<'_>,
) -> Result<StateDir> {
    let state_dir = state_dir(options, env)?;
    if let Ok(Some(summary)) = (hooks.first_run)(env, state_dir.path())
        && env.is_person()
        && !options.json
    {
        streams.print_error(&summary);
    }
    Ok(state_dir)
}

/// Reads standard input if the command line takes its steps or an argument from it.
fn with_stdin(request: &mut Request, options: &Options) -> Result<()> {
    let entry = registry::lookup(&request.command)?;
    if !options.stdin && !stickpin_cmdline::wants_stdin(entry, &mut request.input) {
        return Ok(());
    }
    let text = std::io::read_to_string(std::io::stdin().take(STDIN_LIMIT + 1));
    let text = text.map_err(|e| Error::io(format!("cannot read standard input: {e}")))?;
    if text.len() as u64 > STDIN_LIMIT {
        let message = format!("standard input exceeds {STDIN_LIMIT} bytes");
        return Err(Error::invalid_args(message));
    }
    if options.stdin {
        stickpin_cmdline::insert_stdin_text(entry, &mut request.input, &text);
        return Ok(());
    }
    stickpin_cmdline::insert_stdin_steps(entry, &mut request.input, &text)
}

/// Returns the state directory of the daemon that the options select.
fn state_dir(options: &Options, env: &Env) -> Result<StateDir> {
    env.state_dir(options.state_dir.as_deref()).and_then(|dir| StateDir::open(&dir))
}

fn run_local(
    local: &'static CliCommand,
    matches: &clap::ArgMatches,
    options: &Options,
    env: &Env,
    hooks: Hooks,
    streams: &mut Streams<'_>,
) -> Result<u8> {
    let others = local::front_end_commands(hooks.client_commands);
    let words = |name: &str| {
        Vec::from_iter(matches.get_many::<String>(name).into_iter().flatten().cloned()).join(" ")
    };
    let text = match local.action {
        LocalAction::Status => return daemon::status(&state_dir(options, env)?, options.json, streams),
        LocalAction::Start => return daemon::ensure(&state_dir(options, env)?, env, options.json, streams),
        LocalAction::Stop => {
            return daemon::stop(&state_dir(options, env)?, matches.get_flag("force"), options.json, streams);
        }
        LocalAction::Run => {
            let seconds = matches.get_one::<String>("idle-exit").map(|text| {
                let message = || format!("`--idle-exit`: {text:?} is not a number of seconds");
                text.parse().map_err(|_| Error::invalid_args(message()))
            });
            let state_dir = env.state_dir(options.state_dir.as_deref())?;
            return Ok((hooks.daemon)(state_dir, seconds.transpose()?.map(Duration::from_secs)));
        }
        LocalAction::Cleanup => {
            let state_dir = state_dir(options, env)?;
            let summary = (hooks.cleanup)(env, state_dir.path(), &words("reason"))?;
            if let Some(summary) = summary.filter(|_| env.is_person()) {
                streams.print_error(&summary);
            }
            return Ok(0);
        }
        LocalAction::Completions => complete::script(&words("shell"), &others).unwrap_or_default(),
        LocalAction::Complete if words("what") == complete::SESSIONS => {
            complete::sessions(&state_dir(options, env)?)?.join("\n")
        }
        LocalAction::Complete => (hooks.apps)().join("\n"),
        LocalAction::Man => match matches.get_one::<String>("out") {
            Some(dir) => format!("wrote {} manual pages", man::write_all(&env.resolve(dir)?, &others)?),
            None => man::page(&words("command"), &others)?,
        },
        LocalAction::Help => help::topic_text(&words("topic"), &others)?,
        LocalAction::Demo => return Ok((hooks.demo)(streams)),
        LocalAction::Console => return (hooks.console)(&Console::read(matches, options)?, env, streams),
        LocalAction::Mcp => return (hooks.mcp)(&Mcp::read(matches, options)?, env, streams),
    };
    streams.print(&text);
    Ok(0)
}

#[cfg(test)]
mod tests;
