//! Selects the reader for a file and for a line.

#[cfg(feature = "formats")]
pub(crate) use super::agent_device::read as line;
#[cfg(feature = "formats")]
use super::maestro::parse as flow;
#[cfg(not(feature = "formats"))]
pub(crate) use stickpin_cmdline::parse as line;

use crate::script::{self, Script, ScriptError};
use std::path::Path;

/// Parses a script in the format that the file's extension indicates: a Maestro flow for `.yaml`
/// and `.yml`, otherwise an `.ad` script.
///
/// # Errors
/// Returns the first error, with its line and column.
pub fn parse(file: &Path, text: &str) -> Result<Script, ScriptError> {
    if is_maestro(file) { flow(text) } else { script::parse(text) }
}

#[cfg(not(feature = "formats"))]
fn flow(_: &str) -> Result<Script, ScriptError> {
    let (message, hint) =
        ("this build does not read Maestro flows", "build stickpin with the feature `formats`");
    Err(ScriptError { line: 1, column: 1, message: message.to_owned(), hint: hint.to_owned() })
}

/// Returns whether a file's extension is that of a Maestro flow.
pub(crate) fn is_maestro(file: &Path) -> bool {
    let extension = file.extension().unwrap_or_default();
    extension.eq_ignore_ascii_case("yaml") || extension.eq_ignore_ascii_case("yml")
}
