//! Writing scripts in other formats.

use super::writer::{ExportReader, ExportScript, Note};
use super::{maestro::write as maestro, playwright};
use crate::plan::ReadFile;
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::Path;
use stickpin_kernel::Result;

/// Another tool's script format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Format {
    /// A flow (YAML).
    Maestro,
    /// A test for @playwright/test (TypeScript).
    Playwright,
}

/// A script in another format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    /// The content of the file.
    pub text: String,
    /// The steps that are omitted or written less exactly.
    pub notes: Vec<Note>,
}

/// Writes a script, with everything that it includes, in another format.
///
/// # Errors
/// Returns errors from reading the script: `INVALID_ARGS` with file and line, or `IO` for an
/// unreadable file.
pub fn export(file: &Path, format: Format, read: &ReadFile<'_>) -> Result<Export> {
    let mut reader = ExportReader::new(read);
    let (script, items) = reader.file(file, None, &[])?;
    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut notes = Vec::new();
    let flow = ExportScript { name, marks: &reader.marks, script: &script, items: &items };
    let text = match format {
        Format::Maestro => maestro::export(&flow, &mut notes),
        Format::Playwright => playwright::export(&flow, &mut notes),
    };
    Ok(Export { text, notes })
}
