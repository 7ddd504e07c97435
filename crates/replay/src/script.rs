//! Scripts as values: the `.ad` text format, read and written.
//!
//! A script has one command per line, `#` comments, `${KEY}` variables, a header of `context` and
//! `env` lines, and the few blocks that flows need. This module does not interpret commands: the
//! registry reads their words.

mod error;
mod parse;
mod template;
mod word;
mod write;

#[cfg(test)]
mod tests;

pub use error::ScriptError;
pub use parse::parse;
pub use template::{Template, TemplatePart, UnsetVariable};
pub(crate) use word::{NAME_HINT, RESERVED_HINT, is_name};
pub(crate) use write::words as line;
pub use write::write;

/// The maximum size of a script in bytes; a larger file is a mistake.
pub const MAX_BYTES: usize = 4 * 1024 * 1024;

/// The maximum nesting depth of blocks.
pub const MAX_DEPTH: usize = 16;

/// The maximum number of rounds of `repeat` and `retry`.
pub const MAX_TIMES: u32 = 1000;

/// A script.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Script {
    /// `context` keys in order, each at most once: `platform`, `device`, `timeout`, `retries`, and
    /// keys that other programs write.
    pub context: Vec<(String, String)>,
    /// `env KEY=VALUE` lines in order: defaults of variables.
    pub env: Vec<(String, Template)>,
    /// The lines after the header.
    pub body: Vec<Node>,
}

impl Script {
    /// Returns the value of a `context` key.
    #[must_use]
    pub fn context(&self, key: &str) -> Option<&str> {
        self.context.iter().find(|(k, _)| k == key).map(|(_, value)| value.as_str())
    }
}

/// A line, or a block with its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The number of the first line, from 1; 0 in a script that was not read from text.
    pub line: u32,
    /// The content of the line.
    pub kind: NodeKind,
}

/// The kind of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeKind {
    /// An empty line.
    Blank,
    /// `# ...`, without the `#` and one space after it. Comments right above a command may annotate
    /// it.
    Comment(String),
    /// The words of a command.
    Command(Vec<Template>),
    /// `include FILE [KEY=VALUE]...`: the lines of another script.
    Include {
        /// The file, relative to the folder of the including script.
        file: Template,
        /// The variables for the included script, in addition to this script's variables.
        env: Vec<(String, Template)>,
    },
    /// A block with its lines.
    Block(Block<Template>, Vec<Node>),
}

/// How often, or whether, the lines of a block run; `T` is the target of an `if`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block<T> {
    /// `retry N { ... }`: starts over when a line fails; runs at most N times in all.
    Retry(u32),
    /// `repeat N { ... }`: runs the lines N times.
    Repeat(u32),
    /// `if visible SELECTOR { ... }`, `if hidden SELECTOR { ... }`.
    If(Visibility, T),
}

impl<T> Block<T> {
    /// Returns the words before the block's brace.
    pub(crate) fn head(&self, target: impl Fn(&T) -> String) -> String {
        match self {
            Self::Retry(times) => format!("retry {times}"),
            Self::Repeat(times) => format!("repeat {times}"),
            Self::If(visibility, about) => format!("if {} {}", visibility.word(), target(about)),
        }
    }

    /// Replaces the target of an `if`.
    pub(crate) fn map<U, E>(
        &self,
        convert: impl FnOnce(Visibility, &T) -> Result<U, E>,
    ) -> Result<Block<U>, E> {
        Ok(match self {
            Self::Retry(times) => Block::Retry(*times),
            Self::Repeat(times) => Block::Repeat(*times),
            Self::If(asked, about) => Block::If(*asked, convert(*asked, about)?),
        })
    }
}

/// The condition of an `if`: a predicate of `is`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// The element is visible.
    Visible,
    /// The element is hidden or absent.
    Hidden,
}

impl Visibility {
    /// Returns the condition's word in `if` and `is`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Visible => "visible",
            Self::Hidden => "hidden",
        }
    }
}
