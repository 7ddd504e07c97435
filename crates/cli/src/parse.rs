//! Converts arguments into an action. Pure: no files, no sockets.

use crate::env::Env;
use crate::help;
use crate::local::{CliCommand, FrontEndCommand};
use clap::ArgMatches;
use clap::error::ErrorKind;
use serde_json::{Map, Value};
use stickpin_client::ClientCommand;
use stickpin_cmdline::{LocalCommand, Options, ParsedArguments, ResolvedCommand, options};
use stickpin_kernel::registry::{self, Entry};
use stickpin_kernel::{Error, Render, Request, Result};

/// The action that a command line requests.
#[derive(Debug)]
pub(crate) enum CliAction {
    /// Call a command of the registry.
    Call(Box<Request>, Options),
    /// Run a client command in this process with this input.
    ClientCommand(&'static dyn ClientCommand, Map<String, Value>, Options),
    /// Run a command of the command line itself.
    Local(&'static CliCommand, ArgMatches, Options),
    /// Print text.
    Print(String),
    /// No command was given: print the overview as an error.
    Nothing(String),
}

/// Parses a command line, without the program's name.
///
/// # Errors
/// Returns `INVALID_ARGS`, with the name of the command if it is known.
pub(crate) fn parse_line(
    args: Vec<String>,
    env: &Env,
    others: &[FrontEndCommand],
) -> Result<CliAction, (&'static str, Error)> {
    let Some(ResolvedCommand { name, args }) =
        stickpin_cmdline::resolve_command(&args, others).map_err(|e| ("", e))?
    else {
        return parse_no_command(&args, others).map_err(|e| ("", e));
    };
    match others.iter().find(|other| other.name() == name) {
        None => registry::lookup(name).and_then(|entry| parse_call(entry, args, env)),
        Some(FrontEndCommand::Local(local)) => parse_local(local, args),
        Some(FrontEndCommand::ClientCommand(command)) => parse_client_command(*command, args),
    }
    .map_err(|e| (name, e))
}

fn parse_call(entry: &'static Entry, args: Vec<String>, env: &Env) -> Result<CliAction> {
    let (mut input, options) = match stickpin_cmdline::read(entry, args)? {
        ParsedArguments::Input(input, options) => (input, options),
        ParsedArguments::Help(text) => return Ok(CliAction::Print(text)),
    };
    if let Some(policy) = env.stale_refs.as_deref().filter(|policy| !policy.is_empty())
        && entry.fields().iter().any(|f| f.name == "staleRefs")
    {
        input.entry("staleRefs").or_insert_with(|| Value::from(policy));
    }
    let request = Request {
        input,
        session: session(&options, env),
        render: Render { columns: env.columns, ..options.render() },
        timeout_ms: options.timeout_ms,
        turn: options.turn,
        ..Request::new(entry.spec.name, env.caller(None))
    };
    Ok(CliAction::Call(Box::new(request), options))
}

/// Returns the session named by `--session`, otherwise by `STICKPIN_SESSION`; `None` if neither
/// names one.
pub(crate) fn session(options: &Options, env: &Env) -> Option<String> {
    let nonempty = |name: &Option<String>| name.clone().filter(|name| !name.is_empty());
    nonempty(&options.session).or_else(|| nonempty(&env.session))
}

fn parse_client_command(command: &'static dyn ClientCommand, args: Vec<String>) -> Result<CliAction> {
    Ok(match stickpin_cmdline::read(command.definition(), args)? {
        ParsedArguments::Help(text) => CliAction::Print(text),
        ParsedArguments::Input(input, options) => {
            options::refuse_turn(&options)?;
            CliAction::ClientCommand(command, input, options)
        }
    })
}

fn parse_local(cli_command: &'static CliCommand, args: Vec<String>) -> Result<CliAction> {
    let mut command = cli_command.command();
    let matches = match command.try_get_matches_from_mut(args) {
        Ok(matches) => matches,
        Err(e) if e.kind() == ErrorKind::DisplayHelp => return Ok(CliAction::Print(e.to_string())),
        Err(e) => return Err(stickpin_cmdline::invalid_args(&e, &mut command)),
    };
    let options = options::read(&matches)?;
    Ok(CliAction::Local(cli_command, matches, options))
}

/// Handles options without a command.
fn parse_no_command(args: &[String], others: &[FrontEndCommand]) -> Result<CliAction> {
    let mut i = 0;
    while let Some(width) = args.get(i).and_then(|arg| options::width(arg)) {
        i += width;
    }
    match args.get(i).map(String::as_str) {
        Some("-h" | "--help") => Ok(CliAction::Print(help::overview(others))),
        Some("-V" | "--version") => Ok(CliAction::Print(format!("stickpin {}", stickpin_wire::rpc::VERSION))),
        None => Ok(CliAction::Nothing(help::overview(others))),
        Some(other) => Err(Error::invalid_args(format!("unknown option `{other}` before the command"))
            .hint("run `stickpin help` to list the commands")),
    }
}
