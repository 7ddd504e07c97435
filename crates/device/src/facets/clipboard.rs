//! Text that goes through the clipboard.

use crate::error::Result;
use async_trait::async_trait;

/// The clipboard, as text.
#[async_trait]
pub trait Clipboard: Send {
    /// The text on the clipboard; empty when there is none.
    ///
    /// # Errors
    /// `UNSUPPORTED` and as `capture`.
    async fn read_clipboard(&mut self) -> Result<String>;

    /// Puts a text onto the clipboard.
    ///
    /// # Errors
    /// As `read_clipboard`.
    async fn write_clipboard(&mut self, text: &str) -> Result<()>;
}
