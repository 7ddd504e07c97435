//! What is at a point.

use stickpin_device::{Error, ErrorCode};

/// What an app says that it has at a point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum There {
    /// The innermost object, by its path.
    Is(String),
    /// Nothing that it has a name for.
    Nothing,
    /// Nobody knows, and why.
    Unknown(String),
}

/// The error of an input of which nobody knows what it would reach.
pub(crate) fn unknown(target: &str, why: &str) -> Error {
    let message = format!("what an input at {target} would reach is not known: {why}");
    Error::new(ErrorCode::ElementCovered, message)
        .hint("it was looked at twice; stickpin snapshot -i shows what is there now")
}
