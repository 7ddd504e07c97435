//! What an app's own script says.

use crate::error::Result;
use async_trait::async_trait;
use std::time::Duration;
use stickpin_tree::Handle;

/// What an expression of the app's own language is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evaluated {
    /// Whether the language takes it for true.
    pub truthy: bool,
    /// It in words, bounded: JSON where it has one.
    pub shown: String,
}

/// Asking an app in its own language.
#[async_trait]
pub trait Script: Send {
    /// What an expression in the app's own language is, in the app's own world; what it promises is awaited. None
    /// when that is not known after `timeout`.
    ///
    /// # Errors
    /// `UNSUPPORTED`, `INVALID_ARGS` with what it threw, and as `capture`.
    async fn evaluate(&mut self, expression: &str, timeout: Duration) -> Result<Option<Evaluated>>;

    /// The addresses of all elements that a CSS selector matches, for `css=` terms. They are those of the last
    /// capture.
    ///
    /// # Errors
    /// `UNSUPPORTED` where there is no CSS, `INVALID_ARGS` for a selector that cannot be read.
    async fn css(&mut self, selector: &str) -> Result<Vec<Handle>>;
}
