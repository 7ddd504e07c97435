//! Waiting for tree changes, requests, downloads and navigations, and for the effect of an action.

use crate::error::Result;
use async_trait::async_trait;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Waiting on a device that observes more than [`Device::changed`](crate::Device::changed)
/// reports.
#[async_trait]
pub trait Events: Send {
    /// Waits until something has happened since the previous call returned: a change, a request, a
    /// download or a navigation. Returns false when `timeout` elapses or `cancel` is cancelled
    /// first.
    ///
    /// # Errors
    /// Returns `BACKEND_LOST` when the app is gone.
    async fn wait_event(&mut self, timeout: Duration, cancel: &CancellationToken) -> Result<bool>;

    /// Waits up to `at_most` until the action that was just performed shows an effect. Waits
    /// longer, within reason, while something that the action started is still in progress.
    ///
    /// # Errors
    /// Returns `BACKEND_LOST` when the app is gone.
    async fn wait_effect(&mut self, at_most: Duration, cancel: &CancellationToken) -> Result<()>;
}
