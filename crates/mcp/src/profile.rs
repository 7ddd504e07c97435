//! Which tools a client is shown, and the words of the few that nearly every task needs.
//!
//! A model reads the list in every conversation, so `core` is short and written for a reader who has nothing else: no
//! help, no command line. That is why this surface names commands, and words them anew, where the others take both from
//! the registry. Everything that `core` leaves out is reached through `batch`.

use crate::forms::Key;
use std::str::FromStr;
use std::sync::LazyLock;
use stickpin_kernel::{Error, ErrorCode};

/// Which tools are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    /// One tool that takes a command line.
    Slim,
    /// What nearly every task needs.
    #[default]
    Core,
    /// Every command.
    Full,
}

impl FromStr for Profile {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self, Error> {
        match word {
            "slim" => Ok(Self::Slim),
            "core" => Ok(Self::Core),
            "full" => Ok(Self::Full),
            _ => Err(Error::new(
                ErrorCode::InvalidArgs,
                format!("{} is not one of slim, core, full", stickpin_tree::quote(word)),
            )),
        }
    }
}

/// A tool of `core`.
#[derive(Debug, Default)]
pub(crate) struct Core {
    /// Its command.
    pub(crate) command: &'static str,
    /// The argument that chooses among the commands of its group: `wait` and `wait text` are one tool.
    pub(crate) key: Option<Key>,
    /// When to use it, and what comes back.
    pub(crate) about: String,
    /// Arguments that are not listed, because hardly any task needs them; they are taken all the same.
    pub(crate) unlisted: Vec<&'static str>,
}

impl Core {
    /// Parses a section of `text/core.md`: the command, lines `key: NAME [USUAL]` and `unlisted: NAMES`, then the description.
    fn parse(section: &'static str) -> Self {
        let mut lines = section.lines();
        let command = lines.next().unwrap_or_default().trim_start_matches("# ");
        let mut core = Self { command, ..Self::default() };
        let mut about = Vec::new();
        for line in lines {
            match line.split_once(": ") {
                Some(("key", key)) => {
                    let (name, usual) =
                        key.split_once(' ').map_or((key, None), |(name, word)| (name, Some(word)));
                    core.key = Some(Key { name, usual });
                }
                Some(("unlisted", names)) => core.unlisted = names.split(' ').collect(),
                _ => about.push(line),
            }
        }
        core.about = about.join(" ");
        core
    }
}

/// The tools of `core`, in the order of the list.
pub(crate) static CORE: LazyLock<Vec<Core>> =
    LazyLock::new(|| include_str!("../text/core.md").split("\n\n").map(Core::parse).collect());

/// The one tool of `slim`.
pub(crate) const SLIM: &str = "stickpin";

pub(crate) const SLIM_ABOUT: &str = include_str!("../text/slim.md").trim_ascii_end();

/// What every client is told once, when it connects.
pub(crate) const INSTRUCTIONS: &str = include_str!("../text/instructions.md").trim_ascii_end();
