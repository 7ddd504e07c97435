//! The clipboard facet.

use crate::error::Result;
use async_trait::async_trait;

/// Reads and writes the clipboard as text.
#[async_trait]
pub trait Clipboard: Send {
    /// Returns the text on the clipboard; empty if there is none.
    ///
    /// # Errors
    /// Returns `UNSUPPORTED` and the errors of `capture`.
    async fn read_clipboard(&mut self) -> Result<String>;

    /// Writes text to the clipboard.
    ///
    /// # Errors
    /// Returns the errors of `read_clipboard`.
    async fn write_clipboard(&mut self, text: &str) -> Result<()>;
}
