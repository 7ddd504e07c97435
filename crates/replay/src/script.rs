//! A script as a value: the `.ad` text format, read and written.
//!
//! One command per line in command-line form, `#` comments, `${KEY}` variables, a header (`context`, `env`) and the few
//! blocks that flows need. What the commands mean is not known here: the registry reads their words.

mod error;
mod parse;
mod template;
mod word;
mod write;

#[cfg(test)]
mod tests;

pub use error::ScriptError;
pub use parse::parse;
pub use template::{Part, Template, Unset};
pub(crate) use word::is_name;
pub(crate) use write::words as line;
pub use write::write;

/// The largest script that is read, in bytes: more is a mistake.
pub const MAX_BYTES: usize = 4 * 1024 * 1024;

/// How deep blocks may stand in one another.
pub const MAX_DEPTH: usize = 16;

/// How often `repeat` and `retry` may run their lines.
pub const MAX_TIMES: u32 = 1000;

/// A script.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Script {
    /// `context` keys in their order, each at most once: `platform`, `device`, `timeout`, `retries`, and what other
    /// writers add.
    pub context: Vec<(String, String)>,
    /// `env KEY=VALUE` lines in their order: defaults of variables.
    pub env: Vec<(String, Template)>,
    /// The lines that follow.
    pub body: Vec<Node>,
}

impl Script {
    /// The value of a `context` key.
    #[must_use]
    pub fn context(&self, key: &str) -> Option<&str> {
        self.context.iter().find(|(k, _)| k == key).map(|(_, value)| value.as_str())
    }
}

/// A line, or a block with its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Where it begins, from 1; 0 in a script that was not read from a text.
    pub line: u32,
    /// What it is.
    pub kind: Kind,
}

/// What a line is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// An empty line.
    Blank,
    /// `# ...`, without the `#` and one space after it. Those right above a command may be annotations of it.
    Comment(String),
    /// A command: its words.
    Command(Vec<Template>),
    /// `include FILE [KEY=VALUE]...`: the lines of another script stand here.
    Include {
        /// The file, from the folder of the script that includes it.
        file: Template,
        /// Variables that it is given; it sees those of this script, too.
        env: Vec<(String, Template)>,
    },
    /// A block with its lines.
    Block(Block<Template>, Vec<Node>),
}

/// How often the lines of a block are run, or whether; `T` is what `if` asks about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block<T> {
    /// `retry N { ... }`: again from its first line when one fails, at most so many times in all.
    Retry(u32),
    /// `repeat N { ... }`.
    Repeat(u32),
    /// `if visible SELECTOR { ... }`, `if hidden SELECTOR { ... }`.
    If(Asked, T),
}

impl<T> Block<T> {
    /// The words before its brace.
    pub(crate) fn head(&self, target: impl Fn(&T) -> String) -> String {
        match self {
            Self::Retry(times) => format!("retry {times}"),
            Self::Repeat(times) => format!("repeat {times}"),
            Self::If(asked, about) => format!("if {} {}", asked.word(), target(about)),
        }
    }

    /// With another thing that `if` asks about.
    pub(crate) fn map<U, E>(&self, other: impl FnOnce(Asked, &T) -> Result<U, E>) -> Result<Block<U>, E> {
        Ok(match self {
            Self::Retry(times) => Block::Retry(*times),
            Self::Repeat(times) => Block::Repeat(*times),
            Self::If(asked, about) => Block::If(*asked, other(*asked, about)?),
        })
    }
}

/// What `if` asks about an element: predicates of `is`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// Whether it can be seen.
    Visible,
    /// Whether it cannot, or is not there.
    Hidden,
}

impl Asked {
    /// Its word, in `if` and `is`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Visible => "visible",
            Self::Hidden => "hidden",
        }
    }
}
