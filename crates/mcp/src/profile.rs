//! Which tools a client sees, and the descriptions of the few that nearly every task needs.
//!
//! A model reads the tool list in every conversation. `core` is therefore short, and written for a
//! reader without help and without a command line. For this reason, this front end names commands
//! and describes them in its own words, whereas other front ends take both from the registry.
//! Commands of the registry that `core` omits are available through `batch`.

use crate::arguments::GroupKey;
use std::str::FromStr;
use std::sync::LazyLock;
use stickpin_kernel::Error;

/// The set of listed tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    /// One tool that accepts a command line.
    Slim,
    /// The tools that nearly every task needs.
    #[default]
    Core,
    /// A tool for every command.
    Full,
}

impl FromStr for Profile {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self, Error> {
        match word {
            "slim" => Ok(Self::Slim),
            "core" => Ok(Self::Core),
            "full" => Ok(Self::Full),
            _ => Err(Error::invalid_args(format!(
                "{} is not a profile; use `slim`, `core` or `full`",
                stickpin_tree::quote(word)
            ))),
        }
    }
}

/// A tool of `core`.
#[derive(Debug, Default)]
pub(crate) struct CoreTool {
    /// The name of its command.
    pub(crate) command: &'static str,
    /// The argument that selects a command of its group: `wait` and `wait text` are one tool.
    pub(crate) key: Option<GroupKey>,
    /// When to use the tool, and what it returns.
    pub(crate) description: String,
    /// Arguments that are accepted but not listed, because they are rarely needed.
    pub(crate) unlisted: Vec<&'static str>,
}

impl CoreTool {
    /// Parses a section of `text/core.md`: the command, lines `key: NAME [USUAL]` and `unlisted:
    /// NAMES`, then the description.
    fn parse(section: &'static str) -> Self {
        let mut lines = section.lines();
        let command = lines.next().unwrap_or_default().trim_start_matches("# ");
        let mut core = Self { command, ..Self::default() };
        let mut description = Vec::new();
        for line in lines {
            match line.split_once(": ") {
                Some(("key", key)) => {
                    let (name, default_word) =
                        key.split_once(' ').map_or((key, None), |(name, word)| (name, Some(word)));
                    core.key = Some(GroupKey { name, default_word });
                }
                Some(("unlisted", names)) => core.unlisted = names.split(' ').collect(),
                _ => description.push(line),
            }
        }
        core.description = description.join(" ");
        core
    }
}

/// The tools of `core`, in list order.
pub(crate) static CORE: LazyLock<Vec<CoreTool>> =
    LazyLock::new(|| include_str!("../text/core.md").split("\n\n").map(CoreTool::parse).collect());

/// The name of the single tool of `slim`.
pub(crate) const SLIM: &str = "stickpin";

pub(crate) const SLIM_ABOUT: &str = include_str!("../text/slim.md").trim_ascii_end();

/// The instructions that every client gets once, when it connects.
pub(crate) const INSTRUCTIONS: &str = include_str!("../text/instructions.md").trim_ascii_end();
