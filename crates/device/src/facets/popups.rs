//! Lists and menus that a press opens.

use crate::error::Result;
use async_trait::async_trait;
use stickpin_tree::Handle;

/// Closes popups that a press opened.
#[async_trait]
pub trait Popups: Send {
    /// Closes the list, menu or other popup that a press on `opener` opened, by means that affect
    /// nothing else.
    ///
    /// `older` contains the lists that existed before the press. Returns false if no popup is open
    /// or the device cannot close it.
    ///
    /// # Errors
    /// Returns the errors of `perform`.
    async fn close_popup(&mut self, opener: Handle, older: &[Handle]) -> Result<bool>;
}
