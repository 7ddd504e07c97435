//! Going somewhere else within an open app.

use crate::device::Device;
use crate::error::Result;
use crate::navigation::{Arrived, Leave, Navigation};
use async_trait::async_trait;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Addresses and the history of the active surface.
#[async_trait]
pub trait Navigator: Send {
    /// Returns the address, without waiting for a title as [`Device::page`] may; `None`: only that or a capture can tell.
    ///
    /// # Errors
    /// `BACKEND_LOST`.
    async fn url(&mut self) -> Result<Option<String>> {
        Ok(None)
    }

    /// Goes somewhere else and returns when the new document is ready. A page that asks before it is left is answered
    /// or not as `leave` says.
    ///
    /// # Errors
    /// `DIALOG_OPEN` when the page asks, `UNSUPPORTED`, `DEVICE_NOT_FOUND` for an address that cannot be reached,
    /// `INVALID_ARGS` for one that is none.
    async fn navigate(
        &mut self,
        to: &Navigation,
        leave: Leave,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Result<Arrived>;
}

impl dyn Device + '_ {
    /// Calls [`Navigator::url`]; that of [`Device::page`] where the navigator knows none.
    ///
    /// # Errors
    /// `BACKEND_LOST`.
    pub async fn url(&mut self) -> Result<Option<String>> {
        if let Some(navigator) = self.navigator()
            && let Some(url) = navigator.url().await?
        {
            return Ok(Some(url));
        }
        Ok(self.page().await?.map(|page| page.url))
    }
}
