//! Lists and menus that a press opens.

use crate::device::Device;
use crate::error::Result;
use async_trait::async_trait;
use stickpin_tree::Handle;

/// Closing what a press opened.
#[async_trait]
pub trait Popups: Send {
    /// Closes the list, menu or other pop-up that a press on `opener` opened, by what nothing else can feel; false where
    /// none is open, or the device does not know how. `older`: the lists that were there before.
    ///
    /// # Errors
    /// As `perform`.
    async fn close_popup(&mut self, opener: Handle, older: &[Handle]) -> Result<bool>;
}

impl dyn Device + '_ {
    /// Calls [`Popups::close_popup`]; false where the device closes none.
    ///
    /// # Errors
    /// As `perform`.
    pub async fn close_popup(&mut self, opener: Handle, older: &[Handle]) -> Result<bool> {
        match self.popups() {
            Some(popups) => popups.close_popup(opener, older).await,
            None => Ok(false),
        }
    }
}
