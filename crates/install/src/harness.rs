//! The supported harnesses, as data: where each keeps its configuration and its skills.

use crate::edit::{Format, lookup};
use crate::shape::{self, Shape};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The key of stickpin's entry in every configuration.
pub(crate) const SERVER_NAME: &str = "stickpin";

/// A coding agent's program that reads skills and may list MCP servers in a configuration file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Harness {
    /// The name that commands accept.
    pub(crate) id: &'static str,
    /// The names of the program.
    pub(crate) programs: &'static [&'static str],
    /// The folder whose existence shows that the harness is installed.
    pub(crate) folder: Place,
    /// The configuration file with MCP servers, if known.
    pub(crate) config: Option<Config>,
    /// The folder of the skill.
    pub(crate) skill: Place,
    /// The harness's own folders in which the shared skill would be a duplicate.
    pub(crate) duplicates: &'static [Place],
}

/// A path below the home directory, or below a folder that an environment variable names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// The variable that names the base; `None` if the base is always below the home directory.
    pub(crate) variable: Option<&'static str>,
    /// The base below the home directory, if the variable is not set.
    pub(crate) base: &'static str,
    /// The path below the base.
    pub(crate) path: &'static str,
}

/// A configuration file that lists MCP servers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Config {
    /// The usual path of the file.
    pub(crate) file: Place,
    /// An alternative name for the file, which takes precedence if a file with that name exists.
    pub(crate) alternative: Option<Place>,
    /// The syntax of the file.
    pub(crate) format: Format,
    /// The possible positions of stickpin's entry. A new entry is written at the first position
    /// whose condition holds. An existing entry is recognized at any position and stays there.
    pub(crate) slots: &'static [Slot],
    /// Whether the harness itself writes the file while it is running, so that the harness's own
    /// command makes the change if its program is found.
    pub(crate) managed: bool,
}

/// A position of stickpin's entry in a configuration.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slot {
    /// The keys that lead to the entry.
    pub(crate) pointer: &'static [&'static str],
    /// Whether a configuration uses this position.
    pub(crate) applies: fn(&Value) -> bool,
    /// The shapes of entries. The first one is written.
    pub(crate) shapes: &'static [Shape],
    /// Shapes that former versions wrote.
    pub(crate) legacy: &'static [Shape],
}

/// The folder of the skill that several harnesses read.
pub(crate) const SHARED_SKILL: Place = Place { variable: None, base: ".agents/skills", path: SERVER_NAME };

const fn place(variable: &'static str, base: &'static str, path: &'static str) -> Place {
    Place { variable: Some(variable), base, path }
}

const fn slot(pointer: &'static [&'static str], shapes: &'static [Shape]) -> Slot {
    Slot { pointer, applies: |_| true, shapes, legacy: &[] }
}

pub(crate) const CLAUDE_CODE: Harness = Harness {
    id: "claude-code",
    programs: &["claude"],
    folder: place("CLAUDE_CONFIG_DIR", ".claude", ""),
    config: Some(Config {
        file: place("CLAUDE_CONFIG_DIR", "", ".claude.json"),
        alternative: None,
        format: Format::Json,
        slots: &[Slot {
            legacy: &[shape::COMMAND],
            ..slot(&["mcpServers", SERVER_NAME], &[shape::TYPED, shape::TYPED_WITHOUT_ENV])
        }],
        managed: true,
    }),
    skill: place("CLAUDE_CONFIG_DIR", ".claude", "skills/stickpin"),
    duplicates: &[],
};

pub(crate) const CODEX: Harness = Harness {
    id: "codex",
    programs: &["codex"],
    folder: place("CODEX_HOME", ".codex", ""),
    config: Some(Config {
        file: place("CODEX_HOME", ".codex", "config.toml"),
        alternative: None,
        format: Format::Toml,
        slots: &[slot(&["mcp_servers", SERVER_NAME], &[shape::COMMAND])],
        managed: false,
    }),
    skill: SHARED_SKILL,
    duplicates: &[place("CODEX_HOME", ".codex", "skills/stickpin")],
};

pub(crate) const GEMINI: Harness = Harness {
    id: "gemini",
    programs: &["gemini"],
    folder: place("GEMINI_CLI_HOME", "", ".gemini"),
    config: Some(Config {
        file: place("GEMINI_CLI_HOME", "", ".gemini/settings.json"),
        alternative: None,
        format: Format::Json,
        slots: &[slot(&["mcpServers", SERVER_NAME], &[shape::COMMAND])],
        managed: false,
    }),
    skill: SHARED_SKILL,
    duplicates: &[place("GEMINI_CLI_HOME", "", ".gemini/skills/stickpin")],
};

pub(crate) const OPENCODE: Harness = Harness {
    id: "opencode",
    programs: &["opencode"],
    folder: place("XDG_CONFIG_HOME", ".config", "opencode"),
    config: Some(Config {
        file: place("XDG_CONFIG_HOME", ".config", "opencode/opencode.json"),
        alternative: Some(place("XDG_CONFIG_HOME", ".config", "opencode/opencode.jsonc")),
        format: Format::Json,
        slots: &[
            Slot { applies: has_native_servers, ..slot(&["mcp", "servers", SERVER_NAME], &[shape::LOCAL]) },
            slot(&["mcp", SERVER_NAME], &[shape::LOCAL_ENABLED]),
        ],
        managed: false,
    }),
    skill: SHARED_SKILL,
    duplicates: &[place("XDG_CONFIG_HOME", ".config", "opencode/skills/stickpin")],
};

/// A harness that reads the shared skill, and has no known configuration for MCP servers.
pub(crate) const ANTIGRAVITY: Harness = Harness {
    id: "antigravity",
    programs: &["antigravity", "agy"],
    folder: place("GEMINI_CLI_HOME", "", ".gemini/antigravity"),
    config: None,
    skill: SHARED_SKILL,
    duplicates: &[],
};

/// All harnesses, in the order in which results list them.
pub(crate) const HARNESSES: &[Harness] = &[CLAUDE_CODE, CODEX, GEMINI, OPENCODE, ANTIGRAVITY];

/// The environment variables that locate the files of harnesses.
pub const PLACE_VARIABLES: &[&str] =
    &["CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME"];

/// Returns whether a configuration of OpenCode lists servers in the form of version 2. In version
/// 1, a server may be named `servers`, in which case it has a type.
fn has_native_servers(root: &Value) -> bool {
    lookup(root, &["mcp", "servers"])
        .and_then(Value::as_object)
        .is_some_and(|servers| !servers.get("type").is_some_and(Value::is_string))
}

impl Place {
    /// Returns the path. A variable that is empty or not an absolute path counts as unset.
    pub(crate) fn path(&self, home: &Path, variables: &BTreeMap<String, OsString>) -> PathBuf {
        let named = self.variable.and_then(|name| variables.get(name)).map(PathBuf::from);
        let base = named.filter(|base| base.is_absolute()).unwrap_or_else(|| join(home, self.base));
        join(&base, self.path)
    }
}

fn join(base: &Path, path: &str) -> PathBuf {
    if path.is_empty() { base.to_owned() } else { base.join(path) }
}

impl Config {
    /// Returns the position of a new entry in a configuration; `None` if no position applies.
    pub(crate) fn slot(&self, root: &Value) -> Option<&'static Slot> {
        self.slots.iter().find(|slot| (slot.applies)(root))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_variable_of_a_place_is_listed() {
        let places = HARNESSES.iter().flat_map(|harness| {
            let config = harness.config.iter().flat_map(|config| [Some(config.file), config.alternative]);
            config.flatten().chain([harness.folder, harness.skill]).chain(harness.duplicates.iter().copied())
        });
        let mut named: Vec<&str> = places.filter_map(|place| place.variable).collect();
        named.sort_unstable();
        named.dedup();
        assert_eq!(named, PLACE_VARIABLES);
    }

    #[test]
    fn relative_variable_counts_as_unset() {
        let place = CODEX.folder;
        let path = |value: &str| {
            place.path(Path::new("/home/u"), &[("CODEX_HOME".to_owned(), OsString::from(value))].into())
        };
        assert_eq!(path("/c"), Path::new("/c"));
        assert_eq!((path("c"), path("")), (PathBuf::from("/home/u/.codex"), PathBuf::from("/home/u/.codex")));
    }

    #[test]
    fn opencode_is_written_in_the_form_that_the_file_has() {
        let config = OPENCODE.config.expect("a configuration");
        let pointer = |root: Value| config.slot(&root).expect("a slot").pointer.len();
        assert_eq!(pointer(json!({})), 2);
        assert_eq!(pointer(json!({ "mcp": { "other": { "type": "local" } } })), 2);
        assert_eq!(pointer(json!({ "mcp": { "servers": {} } })), 3);
        assert_eq!(pointer(json!({ "mcp": { "servers": { "type": "local", "command": ["x"] } } })), 2);
    }
}
