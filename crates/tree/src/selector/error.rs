//! What is wrong with a selector, where, and what it could have been.

use std::ops::Range;

/// A selector that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct SelectorError {
    /// What is wrong.
    pub kind: SelectorErrorKind,
    /// Where, in bytes of the text that was parsed.
    pub span: Range<usize>,
    /// What to type instead, with an example.
    pub hint: String,
}

/// What is wrong with a selector. The words of the app or user in it are quoted and cut.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectorErrorKind {
    /// Nothing, or nothing on one side of `||` or inside `in()`.
    #[error("the selector is empty where a term is expected")]
    Empty,
    /// A word before `=` that is no key.
    #[error("{0} is not a selector key")]
    UnknownKey(String),
    /// A word that is neither a flag nor has a value.
    #[error("{0} stands alone, and is neither a flag nor a term with a value")]
    BareWord(String),
    /// A role that does not exist.
    #[error("{0} is not a role")]
    UnknownRole(String),
    /// A key without a value.
    #[error("`{0}` has no value")]
    NoValue(String),
    /// A flag with something else than true or false.
    #[error("`{flag}` is {found}, not true or false")]
    FlagValue {
        /// The flag.
        flag: String,
        /// What it was set to.
        found: String,
    },
    /// `nth` that is not a number from 1.
    #[error("`nth` is {0}, not a number from 1")]
    Nth(String),
    /// `nth` twice in one alternative.
    #[error("`nth` stands twice")]
    NthTwice,
    /// Another operator where only `=` means something.
    #[error("`{name}` cannot be compared with `{sign}`")]
    OnlyWhole {
        /// The key or flag.
        name: String,
        /// The operator.
        sign: &'static str,
    },
    /// A quote that is opened and not closed.
    #[error("a quote is not closed")]
    UnclosedQuote,
    /// `in(` that is not closed.
    #[error("`in(` is not closed")]
    UnclosedIn,
    /// A backslash before something that is no escape.
    #[error("{0} is not an escape")]
    Escape(String),
    /// A character that cannot stand there without quotes.
    #[error("{0} cannot stand here")]
    Unexpected(String),
    /// `in(` nested too deep.
    #[error("`in(` is nested more than {0} deep")]
    TooDeep(usize),
}
