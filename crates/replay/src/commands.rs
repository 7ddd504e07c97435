//! `replay`, `replay export` and `test`: client commands that run or convert scripts.

#[cfg(feature = "formats")]
mod export;
mod replay;
mod report_files;
mod test;

use crate::plan::{Plan, read_script_or};
use crate::vars::Vars;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use stickpin_client::{Call, ClientCommand};
use stickpin_kernel::{PathArg, ResolvedPath, Result};

/// This crate's client commands, in the order in which help lists them.
pub const COMMANDS: &[&dyn ClientCommand] = &[
    &replay::Replay,
    #[cfg(feature = "formats")]
    &export::Export,
    &test::Test,
];

/// Reads a script with the caller's variables and permissions.
///
/// # Errors
/// Returns `INVALID_ARGS` for an invalid variable or, with the position, an invalid script. Returns
/// `POLICY_DENIED` for a file or command that the caller may not use, and `IO` for a file that
/// cannot be read.
fn read_plan(call: &Call, file: &Path, given: &[String], built_in: BTreeMap<String, String>) -> Result<Plan> {
    let mut vars = Vars { environment: call.variables.clone(), built_in, ..Vars::default() };
    for pair in given {
        vars.set_from_pair(pair)?;
    }
    let mut plan = Plan::read(file, &vars, &file_reader(call))?;
    plan.visit(&mut |definition, input| call.policy.command(definition, input))?;
    Ok(plan)
}

/// Returns a function that reads a script if the caller may read it.
fn file_reader(call: &Call) -> impl Fn(&Path) -> Result<String> {
    |path| {
        let path = resolve_file(call, path)?;
        read_script_or(&path, &|e| path.io_error("read", e))
    }
}

/// Resolves the path of a script, as the caller or an including script names it.
fn resolve_file(call: &Call, path: &Path) -> Result<ResolvedPath> {
    call.caller.resolve_path(&path.to_string_lossy())
}

/// Resolves an optional path argument.
fn resolve_optional(call: &Call, path: Option<&PathArg>) -> Result<Option<PathBuf>> {
    let resolved = path.map(|path| call.caller.resolve_path(path.as_written())).transpose()?;
    Ok(resolved.map(ResolvedPath::into_path_buf))
}

/// Returns the built-in variables for a script.
pub(crate) fn built_in_variables(file: &Path, session: &str) -> BTreeMap<String, String> {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    [("AD_SESSION", session.to_owned()), ("AD_FILENAME", name)]
        .map(|(key, value)| (key.to_owned(), value))
        .into()
}

/// Formats a duration in milliseconds for people: `80 ms`, `1.5 s`.
pub(crate) fn format_seconds(millis: f64) -> String {
    if millis < 100.0 { format!("{millis:.0} ms") } else { format!("{:.1} s", millis / 1000.0) }
}
