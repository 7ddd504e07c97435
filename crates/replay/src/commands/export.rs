//! `replay export`: writes a script in another tool's format.

use super::{file_reader, resolve_optional};
use crate::formats::{self, Note};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use stickpin_client::{Call, ClientCommand};
use stickpin_kernel::registry::CommandDefinition;
use stickpin_kernel::{Effect, PathArg, Response, Result, Show, Spec, Text, files};
use stickpin_tree::format_count;

/// Write a script as a Maestro flow or as a Playwright test.
///
/// Steps without a counterpart are omitted and listed; steps that lose detail are listed as well.
/// Nothing is opened or run.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    /// The script.
    #[schemars(extend("x-positional" = 0))]
    file: PathArg,
    /// The format to write.
    format: formats::Format,
    /// The file to write; by default the result is printed.
    #[schemars(extend("x-path" = "written", "x-placeholder" = "FILE"))]
    out: Option<PathArg>,
}

static DEFINITION: CommandDefinition = CommandDefinition::of::<Arguments>(Spec {
    name: "replay export",
    effect: Effect::Reads,
    examples: &[
        "stickpin replay export flows/login.ad --format playwright --out login.spec.ts",
        "stickpin replay export flows/login.ad --format maestro",
    ],
    ..Spec::HOST
});

#[derive(Debug)]
pub(super) struct Export;

#[async_trait]
impl ClientCommand for Export {
    fn definition(&self) -> &'static CommandDefinition {
        &DEFINITION
    }

    async fn run(&self, input: Map<String, Value>, call: Call) -> Response {
        Response::outside_host(&DEFINITION, &call.render, export(input, &call))
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Exported {
    /// The file that was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<PathBuf>,
    /// The result, if it was not written to a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The steps that are omitted or written less exactly.
    notes: Vec<Note>,
}

fn export(input: Map<String, Value>, call: &Call) -> Result<Exported> {
    let args: Arguments = DEFINITION.read(input)?;
    let out = resolve_optional(call, args.out.as_ref())?;
    let written = formats::export(Path::new(args.file.as_written()), args.format, &file_reader(call))?;
    let formats::Export { text, notes } = written;
    let Some(path) = out else { return Ok(Exported { path: None, text: Some(text), notes }) };
    files::write_within(call.caller.file_roots.as_deref(), &path, text.as_bytes())?;
    Ok(Exported { path: Some(path), text: None, notes })
}

impl Show for Exported {
    fn show(&self, text: &mut Text) {
        match (&self.path, &self.text) {
            (Some(path), _) => text.line(format_args!("wrote {}", path.display())),
            // The comments in the result list what is left out.
            (None, written) => return text.app_text(written.as_deref().unwrap_or_default()),
        }
        let (omitted, inexact): (Vec<&Note>, Vec<&Note>) = self.notes.iter().partition(|note| note.omitted);
        for (notes, what) in [(omitted, "left out"), (inexact, "less exact")] {
            if !notes.is_empty() {
                text.line(format_args!("{} {what}:", format_count(notes.len(), "step")));
            }
            for note in notes {
                text.line(format_args!("  {} {} ({})", note.at, note.line, note.reason));
            }
        }
    }
}
