//! From arguments to a plan. Pure: no file, no socket.

use crate::env::Env;
use crate::help;
use crate::local::{Local, Other};
use clap::ArgMatches;
use clap::error::ErrorKind;
use serde_json::{Map, Value};
use stickpin_client::ClientCommand;
use stickpin_cmdline::{Options, Own, Picked, Reading, options};
use stickpin_kernel::registry::{self, Entry};
use stickpin_kernel::{Error, ErrorCode, Render, Request, Result};

/// The action that a command line asks for.
#[derive(Debug)]
pub(crate) enum Plan {
    /// Call a command of the registry.
    Call(Box<Request>, Options),
    /// Run a client command in this process with this input.
    ClientCommand(&'static dyn ClientCommand, Map<String, Value>, Options),
    /// Run a command of the command line itself.
    Local(&'static Local, ArgMatches, Options),
    /// Print a text.
    Print(String),
    /// No command was given: print the overview as an error.
    Nothing(String),
}

/// Parses a command line, without the program's name.
///
/// # Errors
/// Returns `INVALID_ARGS`, with the name of the command as far as it is known.
pub(crate) fn plan(args: Vec<String>, env: &Env, others: &[Other]) -> Result<Plan, (&'static str, Error)> {
    let Some(Picked { name, args }) = stickpin_cmdline::pick(&args, others).map_err(|e| ("", e))? else {
        return no_command(&args, others).map_err(|e| ("", e));
    };
    match others.iter().find(|other| other.name() == name) {
        None => registry::lookup(name).and_then(|entry| call(entry, args, env)),
        Some(Other::Local(local)) => run(local, args),
        Some(Other::ClientCommand(command)) => client_command(*command, args),
    }
    .map_err(|e| (name, e))
}

fn call(entry: &'static Entry, args: Vec<String>, env: &Env) -> Result<Plan> {
    let (mut input, options) = match stickpin_cmdline::read(entry, args)? {
        Reading::Input(input, options) => (input, options),
        Reading::Help(text) => return Ok(Plan::Print(text)),
    };
    if let Some(ladder) = env.stale_refs.as_deref().filter(|ladder| !ladder.is_empty())
        && entry.fields().iter().any(|f| f.name == "staleRefs")
    {
        input.entry("staleRefs").or_insert_with(|| Value::from(ladder));
    }
    let request = Request {
        command: entry.spec.name.to_owned(),
        input,
        session: session(&options, env),
        caller: env.caller(None),
        render: Render { columns: env.columns, ..options.render() },
        timeout_ms: options.timeout_ms,
        ..Request::default()
    };
    Ok(Plan::Call(Box::new(request), options))
}

/// Returns the selected session, if one was named.
pub(crate) fn session(options: &Options, env: &Env) -> Option<String> {
    let given = |name: &Option<String>| name.clone().filter(|name| !name.is_empty());
    given(&options.session).or_else(|| given(&env.session))
}

fn client_command(command: &'static dyn ClientCommand, args: Vec<String>) -> Result<Plan> {
    Ok(match stickpin_cmdline::read(command.form(), args)? {
        Reading::Help(text) => Plan::Print(text),
        Reading::Input(input, options) => Plan::ClientCommand(command, input, options),
    })
}

fn run(local: &'static Local, args: Vec<String>) -> Result<Plan> {
    let mut command = local.command();
    let matches = match command.try_get_matches_from_mut(args) {
        Ok(matches) => matches,
        Err(e) if e.kind() == ErrorKind::DisplayHelp => return Ok(Plan::Print(e.to_string())),
        Err(e) => return Err(stickpin_cmdline::invalid_args(&e, &mut command)),
    };
    let options = options::read(&matches)?;
    Ok(Plan::Local(local, matches, options))
}

/// Handles options without a command.
fn no_command(args: &[String], others: &[Other]) -> Result<Plan> {
    let mut i = 0;
    while let Some(width) = args.get(i).and_then(|arg| options::width(arg)) {
        i += width;
    }
    match args.get(i).map(String::as_str) {
        Some("-h" | "--help") => Ok(Plan::Print(help::overview(others))),
        Some("-V" | "--version") => Ok(Plan::Print(format!("stickpin {}", stickpin_wire::rpc::VERSION))),
        None => Ok(Plan::Nothing(help::overview(others))),
        Some(other) => {
            Err(Error::new(ErrorCode::InvalidArgs, format!("there is no option `{other}` before a command"))
                .hint("run `stickpin help` to list the commands"))
        }
    }
}
