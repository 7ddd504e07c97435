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
    /// The binary, its text.
    ProcessText,
    /// The binary with `--json`.
    ProcessJson,
    /// The MCP server through `rmcp`'s client.
    Mcp,
    /// The MCP server through the TypeScript SDK's client.
    McpTypescript,
    /// Lines of a script, in a host in this process.
    Script,
}

impl SurfaceName {
    /// All of them.
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
    /// What it is there for, one sentence.
    pub about: String,
    /// The device that it needs: `sim`, `web` or `linux`.
    #[serde(default = "sim")]
    pub device: String,
    /// Surfaces that it leaves out, each with the reason.
    #[serde(default)]
    pub without: BTreeMap<SurfaceName, String>,
    /// What its app shows that looks like a pinned ref of ours. Any other that stands in an answer is a difference.
    #[serde(default)]
    pub decoys: Vec<String>,
    /// The commands in order.
    #[serde(rename = "step")]
    pub steps: Vec<Step>,
}

fn sim() -> String {
    "sim".to_owned()
}

/// One command and what must come of it. What is not named is not checked, except that an unexpected warning and an
/// unexpected failure fail.
///
/// Beside that no answer may show a pin where a ref stands, errors about what was typed (exit 2) apart.
///
/// In `run`, `$LOG` is the file that a simulated app writes its ground truth to, `$PAGES` the address of the page
/// server, `$WEB` the folder that it serves, `$LINUX` that of our own desktop apps, `$DIR` the folder of the run, `$STATE` the state dir.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Step {
    /// The command line, without the program's name; words as a shell splits them.
    pub run: String,
    /// Whose command it is: each name is a caller of its own, in a folder of that name. The session stays the same.
    pub caller: Option<String>,
    /// Remembers the generation that this step (one whose text has a header) answers with: `$NAME` in later `run`s and in every text.
    pub keep: Option<String>,
    /// Exit code.
    pub exit: u8,
    /// The whole text, normalised, without white space at its ends.
    pub text: Option<String>,
    /// Parts of the text.
    pub has: Vec<String>,
    /// What must not stand in the text.
    pub lacks: Vec<String>,
    /// The error's code.
    pub code: Option<String>,
    /// A part of the error's message.
    pub message: Option<String>,
    /// A part of the error's hint.
    pub hint: Option<String>,
    /// `dispatched` of an error.
    pub dispatched: Option<String>,
    /// A part of the warning; without it there must be none.
    pub warning: Option<String>,
    /// Its ref had ended and came back: a client that pins has let it go, sends it plain and is warned like any other.
    pub came_back: bool,
    /// Fields of the output, by value; what is left out is not compared.
    pub output: Option<toml::Value>,
    /// Fields of the error's details.
    pub details: Option<toml::Value>,
    /// The ranges that were issued, like `1-4 7`.
    pub issued: Option<String>,
    /// The ranges that ended.
    pub ended: Option<String>,
    /// Generation relative to the first of the lifetime.
    pub generation: Option<u64>,
    /// Lines that a page reports, in its own time, because of this step.
    pub waits: Vec<String>,
    /// Lines that the app's own log gained with this step, apart from those waited for.
    pub received: Option<Vec<String>>,
}

impl Scenario {
    /// Reads a file.
    ///
    /// # Errors
    /// A sentence with the file and what is wrong in it.
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
    /// What a client sees of it that pins by itself: no generation in headers, and of a ref that it read before the tree
    /// changed the precise warning, which names both trees, in place of the short one.
    #[must_use]
    pub fn for_a_client_that_pins(&self) -> Self {
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
            } else if warning.starts_with("it is still ") {
                " was minted from snapshot ".clone_into(warning);
            }
        }
        step
    }
}

/// A header without ` · refs s+0` or ` since s+0`.
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
/// A quote that is not closed.
pub fn split(line: &str) -> Result<Vec<String>, String> {
    stickpin_cmdline::split(line).map_err(|e| e.message)
}
