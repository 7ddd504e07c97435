//! Dialogs that block the app until they are answered. Dialogs in the app's tree are ordinary
//! elements instead.

use crate::error::Result;
use crate::notice::{Dialog, DialogAnswer};
use async_trait::async_trait;

/// Reads and answers dialogs outside the tree.
#[async_trait]
pub trait Dialogs: Send {
    /// Returns the pending dialog, which the device knows from events without asking the app.
    fn dialog(&self) -> Option<Dialog>;

    /// Answers the pending dialog.
    ///
    /// # Errors
    /// Returns `ELEMENT_NOT_FOUND` when no dialog is open.
    async fn answer_dialog(&mut self, answer: DialogAnswer) -> Result<()>;
}
