//! From words to what should be done. Pure: no file, no socket.

use crate::env::Env;
use crate::globals::{self, Globals};
use crate::local::Local;
use crate::words::{self, Leaf};
use crate::{errors, grammar, help, own, points};
use clap::ArgMatches;
use clap::error::ErrorKind;
use serde_json::Value;
use stickpin_kernel::registry::Entry;
use stickpin_kernel::{Error, ErrorCode, Request, Result, schema};

/// What a command line asks for.
#[derive(Debug)]
pub(crate) enum Plan {
    /// A command of the registry.
    Call(Request, Globals),
    /// A command of the command line itself.
    Local(&'static Local, ArgMatches, Globals),
    /// A text to print.
    Print(String),
    /// Nothing was asked for: the overview, as an error.
    Nothing(String),
}

/// Reads a command line, without the program's name.
///
/// # Errors
/// `INVALID_ARGS`, with the name of the command as far as it is known.
pub(crate) fn plan(args: Vec<String>, env: &Env) -> Result<Plan, (&'static str, Error)> {
    let Some(picked) = words::pick(&args).map_err(|e| ("", e))? else {
        return no_command(&args).map_err(|e| ("", e));
    };
    let name = picked.leaf.name();
    match picked.leaf {
        Leaf::Registry(entry) => call(entry, picked.args, env),
        Leaf::Local(local) => run(local, picked.args),
    }
    .map_err(|e| (name, e))
}

fn call(entry: &'static Entry, args: Vec<String>, env: &Env) -> Result<Plan> {
    let mut command = grammar::leaf(entry);
    let args = points::join(entry.fields(), args, |option| grammar::takes_value(&command, option));
    let matches = match matches(&mut command, args)? {
        Ok(matches) => matches,
        Err(help) => return Ok(Plan::Print(help)),
    };
    let globals = globals::read(&matches)?;
    let mut input = grammar::input(entry.fields(), &matches);
    if let Some(ladder) = env.stale_refs.as_deref().filter(|ladder| !ladder.is_empty())
        && entry.fields().iter().any(|f| f.name == "staleRefs")
    {
        input.entry("staleRefs").or_insert_with(|| Value::from(ladder));
    }
    // What is wrong in itself is said before a daemon is started for it.
    schema::check(entry.spec.name, entry.fields(), &input)?;
    let given = |name: &Option<String>| name.clone().filter(|name| !name.is_empty());
    let request = Request {
        command: entry.spec.name.to_owned(),
        input,
        session: given(&globals.session).or_else(|| given(&env.session)),
        caller: own::caller(&env.cwd, env.home.as_deref()),
        render: globals.render(),
        timeout_ms: globals.timeout_ms,
        since: None,
    };
    Ok(Plan::Call(request, globals))
}

fn run(local: &'static Local, args: Vec<String>) -> Result<Plan> {
    let mut command = grammar::local(local);
    let matches = match matches(&mut command, args)? {
        Ok(matches) => matches,
        Err(help) => return Ok(Plan::Print(help)),
    };
    let globals = globals::read(&matches)?;
    Ok(Plan::Local(local, matches, globals))
}

/// Matches, or the help that was asked for.
fn matches(command: &mut clap::Command, args: Vec<String>) -> Result<Result<ArgMatches, String>> {
    match command.try_get_matches_from_mut(args) {
        Ok(matches) => Ok(Ok(matches)),
        Err(e) if e.kind() == ErrorKind::DisplayHelp => Ok(Err(e.to_string())),
        Err(e) => Err(errors::invalid_args(&e, command)),
    }
}

/// Options without a command.
fn no_command(args: &[String]) -> Result<Plan> {
    let mut i = 0;
    while let Some(width) = args.get(i).and_then(|arg| globals::width(arg)) {
        i += width;
    }
    match args.get(i).map(String::as_str) {
        Some("-h" | "--help") => Ok(Plan::Print(help::overview())),
        Some("-V" | "--version") => Ok(Plan::Print(format!("stickpin {}", stickpin_wire::rpc::VERSION))),
        None => Ok(Plan::Nothing(help::overview())),
        Some(other) => {
            Err(Error::new(ErrorCode::InvalidArgs, format!("there is no option `{other}` before a command"))
                .hint("stickpin help lists the commands"))
        }
    }
}
