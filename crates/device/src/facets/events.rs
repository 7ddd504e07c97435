//! Waiting for more than a change of the tree.

use crate::device::Device;
use crate::error::Result;
use async_trait::async_trait;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Waits of a device that sees more than [`Device::changed`] tells. Each method may be left out.
#[async_trait]
pub trait Events: Send {
    /// Waits until anything was seen since this last returned: a change, a request, a download, a navigation. False
    /// when `timeout` was over first.
    ///
    /// # Errors
    /// `BACKEND_LOST`.
    async fn wait_event(&mut self, timeout: Duration, cancel: &CancellationToken) -> Result<bool>;

    /// Waits until an act that was just performed shows an effect, at most so long; longer, within reason, while
    /// something that it set off is still under way.
    ///
    /// # Errors
    /// `BACKEND_LOST`.
    async fn wait_effect(&mut self, at_most: Duration, cancel: &CancellationToken) -> Result<()>;
}

impl dyn Device + '_ {
    /// Calls [`Events::wait_event`]; [`Device::changed`] where the device has no events.
    ///
    /// # Errors
    /// `BACKEND_LOST`.
    pub async fn wait_event(&mut self, timeout: Duration, cancel: &CancellationToken) -> Result<bool> {
        match self.events() {
            Some(events) => events.wait_event(timeout, cancel).await,
            None => self.changed(timeout, cancel).await,
        }
    }

    /// Calls [`Events::wait_effect`]; [`Device::changed`] where the device has no events.
    ///
    /// # Errors
    /// `BACKEND_LOST`.
    pub async fn wait_effect(&mut self, at_most: Duration, cancel: &CancellationToken) -> Result<()> {
        match self.events() {
            Some(events) => events.wait_effect(at_most, cancel).await,
            None => self.changed(at_most, cancel).await.map(drop),
        }
    }
}
