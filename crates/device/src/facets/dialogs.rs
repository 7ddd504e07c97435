//! Dialogs that stop the app until somebody answers them. Those in the tree of an app are none of these.

use crate::device::Device;
use crate::error::Result;
use crate::notice::{Dialog, DialogAnswer};
use async_trait::async_trait;

/// Dialogs outside the tree.
#[async_trait]
pub trait Dialogs: Send {
    /// Returns the dialog that waits for an answer. Known from events; nothing is asked for it.
    fn dialog(&self) -> Option<Dialog>;

    /// Answers the pending dialog.
    ///
    /// # Errors
    /// `ELEMENT_NOT_FOUND` when none is open.
    async fn answer_dialog(&mut self, answer: DialogAnswer) -> Result<()>;
}

impl dyn Device + '_ {
    /// Calls [`Dialogs::dialog`]; none is open where the device shows none.
    pub fn dialog(&mut self) -> Option<Dialog> {
        self.dialogs().and_then(|dialogs| dialogs.dialog())
    }
}
