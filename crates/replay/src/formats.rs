//! Scripts in other formats than our own, read to the same value and written from it.

pub(crate) mod agent_device;
mod export;
mod maestro;
mod playwright;
mod yaml;

#[cfg(test)]
mod tests;

pub use export::{Export, Format, Note, export};

use crate::script::{self, Script, ScriptError};
use std::path::Path;

/// Reads a script in the format that its file's name says: a Maestro flow (`.yaml`, `.yml`), else our own.
///
/// # Errors
/// The first fault, with its line and column.
pub fn parse(file: &Path, text: &str) -> Result<Script, ScriptError> {
    if is_maestro(file) { maestro::parse(text) } else { script::parse(text) }
}

/// A command of another format without a counterpart here: its name, why, and what to write instead.
type Refused = (&'static str, &'static str, &'static str);

/// Why a command of a format is not read, and what to write instead, where the format's table lists it.
fn unsupported(table: &[Refused], format: &str, name: &str) -> Option<(String, &'static str)> {
    let (_, why, hint) = table.iter().find(|(listed, ..)| *listed == name)?;
    Some((format!("`{name}` of {format} is not supported: {why}"), hint))
}

/// Whether a file's name says that it is a Maestro flow.
pub(crate) fn is_maestro(file: &Path) -> bool {
    let extension = file.extension().unwrap_or_default();
    extension.eq_ignore_ascii_case("yaml") || extension.eq_ignore_ascii_case("yml")
}
