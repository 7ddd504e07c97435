//! Navigation within an open app.

use crate::error::Result;
use crate::navigation::{LeavePolicy, Navigation, NavigationResult};
use async_trait::async_trait;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The address and the history of the active surface.
#[async_trait]
pub trait Navigator: Send {
    /// Returns the address without waiting for a title, unlike `Device::page`, which may wait.
    /// `None` means that `Device::page` or a capture is needed to find out.
    ///
    /// # Errors
    /// Returns `BACKEND_LOST` when the app is gone.
    async fn url(&mut self) -> Result<Option<String>> {
        Ok(None)
    }

    /// Navigates and returns when the new document is ready. `leave` decides what happens when the
    /// page asks for confirmation before it is left.
    ///
    /// # Errors
    /// Returns `DIALOG_OPEN` when the page asks for confirmation and `leave` is
    /// [`LeavePolicy::Ask`], `UNSUPPORTED`, `DEVICE_NOT_FOUND` for an unreachable address,
    /// `INVALID_ARGS` for text that is not an address, `POLICY_DENIED` for a file that the app may
    /// not show, `TIMEOUT`, and `BACKEND_LOST`.
    async fn navigate(
        &mut self,
        to: &Navigation,
        leave: LeavePolicy,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Result<NavigationResult>;
}
