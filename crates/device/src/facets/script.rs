//! Expressions in the app's own language, and CSS selectors.

use crate::error::Result;
use async_trait::async_trait;
use std::time::Duration;
use stickpin_tree::Handle;

/// The value of an expression in the app's own language.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScriptValue {
    /// Whether the language treats the value as true.
    pub truthy: bool,
    /// The value as text of limited length: JSON if the value can be serialized.
    pub text: String,
}

impl ScriptValue {
    /// Creates a value.
    #[must_use]
    pub fn new(truthy: bool, shown: String) -> Self {
        Self { truthy, text: shown }
    }
}

/// Evaluates expressions and CSS selectors in an app.
#[async_trait]
pub trait Script: Send {
    /// Evaluates an expression in the app's own world and, if the expression returns a promise,
    /// awaits it. Returns `None` if there is no value after `timeout`, or if the document went away
    /// first.
    ///
    /// # Errors
    /// Returns `UNSUPPORTED`, `INVALID_ARGS` with the exception that the expression threw, and the
    /// errors of `capture`.
    async fn evaluate(&mut self, expression: &str, timeout: Duration) -> Result<Option<ScriptValue>>;

    /// Returns the handles of all elements that a CSS selector matches, for `css=` terms. If the
    /// identity grade is `None`, the handles are those of the last capture.
    ///
    /// # Errors
    /// Returns `UNSUPPORTED` if there is no CSS, and `INVALID_ARGS` for a malformed selector.
    async fn css(&mut self, selector: &str) -> Result<Vec<Handle>>;
}
