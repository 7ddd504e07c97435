//! The format of a scenario file.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// A way to call commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SurfaceName {
    /// A `Host` in this process.
    InProcess,
    /// The daemon's socket.
    Socket,
    /// The binary with text output.
    ProcessText,
    /// The binary with `--json`.
    ProcessJson,
    /// The MCP server through `rmcp`'s client.
    Mcp,
    /// The MCP server through the TypeScript SDK's client.
    McpTypescript,
    /// Lines of a script, with a host in this process.
    Script,
}

impl SurfaceName {
    /// All surfaces.
    pub const ALL: [Self; 7] = [
        Self::InProcess,
        Self::Socket,
        Self::ProcessText,
        Self::ProcessJson,
        Self::Mcp,
        Self::McpTypescript,
        Self::Script,
    ];
}

/// A scenario.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The purpose in one sentence.
    pub about: String,
    /// The required device: `sim`, `web` or `linux`.
    #[serde(default = "sim")]
    pub device: String,
    /// Surfaces that do not run it, each with the reason.
    #[serde(default)]
    pub without: BTreeMap<SurfaceName, String>,
    /// Texts in the app that look like our pinned refs. Any other pinned ref in an answer is a
    /// difference.
    #[serde(default)]
    pub decoys: Vec<String>,
    /// The commands in order.
    #[serde(rename = "step")]
    pub steps: Vec<Step>,
}

fn sim() -> String {
    "sim".to_owned()
}

/// A command and its expected outcome. Fields that are not set are not checked, but an unexpected
/// warning or failure fails.
///
/// In addition, no answer may show a pinned ref, except errors about the command line (exit 2).
///
/// Names in `run` that are replaced:
/// - `$LOG`: the file of a simulated app's ground truth
/// - `$PAGES`: the address of the page server
/// - `$WEB`: the folder that the page server serves
/// - `$LINUX`: the folder of our own desktop apps
/// - `$DIR`: the folder of the run
/// - `$STATE`: the state directory
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Step {
    /// The command line, without the program's name, split into words as a shell does.
    pub run: String,
    /// The caller. Each name is a separate caller in a folder of that name. The session stays the
    /// same.
    pub caller: Option<String>,
    /// The agent that the caller is, such as `codex:bob`; by default, whatever the surface finds.
    #[serde(rename = "as")]
    pub agent: Option<String>,
    /// Stores the generation in this step's answer, which must have a header, as `$NAME` for later
    /// `run`s and all texts.
    pub keep: Option<String>,
    /// The exit code.
    pub exit: u8,
    /// The whole normalized text, trimmed.
    pub text: Option<String>,
    /// Parts of the text.
    pub has: Vec<String>,
    /// Texts that the text must not contain.
    pub lacks: Vec<String>,
    /// The code of the error.
    pub code: Option<String>,
    /// A part of the error's message.
    pub message: Option<String>,
    /// A part of the error's hint.
    pub hint: Option<String>,
    /// The `dispatched` value of the error.
    pub dispatched: Option<String>,
    /// A part of the warning; if not set, there must be none.
    pub warning: Option<String>,
    /// Whether the ref ended and came back. A client that pins has dropped its pin, sends the ref
    /// without one and is warned like any other client.
    pub came_back: bool,
    /// Fields of the output by value; others are not compared.
    pub output: Option<toml::Value>,
    /// Fields of the error's details.
    pub details: Option<toml::Value>,
    /// The issued ranges, as in `1-4 7`.
    pub issued: Option<String>,
    /// The ended ranges.
    pub ended: Option<String>,
    /// The generation relative to the first of the lifetime.
    pub generation: Option<u64>,
    /// Lines that a page reports because of this step, possibly later.
    pub waits: Vec<String>,
    /// New lines of the app's own log, except those in `waits`.
    pub received: Option<Vec<String>>,
}

impl Scenario {
    /// Reads a file.
    ///
    /// # Errors
    /// Returns a sentence that names the file and the error.
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let scenario: Self = toml::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))?;
        if scenario.steps.is_empty() {
            return Err(format!("{}: no step", path.display()));
        }
        if let Some((surface, _)) = scenario.without.iter().find(|(_, reason)| reason.trim().is_empty()) {
            return Err(format!("{}: without {surface:?}, but no reason", path.display()));
        }
        Ok(scenario)
    }
}

impl Step {
    /// Returns the step as a client that pins sees it. Headers have no generation. A ref read
    /// before the tree changed gets the precise warning, which names both trees, instead of the
    /// short one.
    #[must_use]
    pub fn for_pinning_client(&self) -> Self {
        let mut step = self.clone();
        for text in step.text.iter_mut().chain(&mut step.has) {
            *text = without_generation(text);
        }
        if let Some(warning) = &mut step.warning
            && !step.came_back
        {
            if let Some(rest) = warning.strip_prefix("The tree changed since ") {
                let r#ref = rest.split(' ').next().unwrap_or_default();
                *warning = format!("Ref {ref} was minted from snapshot ");
            } else if warning.starts_with("the ref still means ") {
                " was minted from snapshot ".clone_into(warning);
            }
        }
        step
    }
}

/// Removes ` · refs s+0` or ` since s+0` from a header.
fn without_generation(text: &str) -> String {
    let mut out = text.to_owned();
    if out.ends_with("changes since") {
        out.truncate(out.len() - " since".len());
    }
    for mark in [" · refs s+", " since s+"] {
        while let Some(at) = out.find(mark) {
            let rest = &out[at + mark.len()..];
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            out.replace_range(at..at + mark.len() + digits, "");
        }
    }
    out
}

/// Splits a command line as a shell would.
///
/// # Errors
/// Returns an error if a quote is not closed.
pub fn split(line: &str) -> Result<Vec<String>, String> {
    stickpin_cmdline::split(line).map_err(|e| e.message)
}
