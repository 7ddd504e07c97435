//! The screenshot facet.

use crate::capture::{ScreenshotImage, ScreenshotRequest};
use crate::error::Result;
use async_trait::async_trait;

/// Takes screenshots.
#[async_trait]
pub trait Screenshots: Send {
    /// Takes a screenshot of the viewport, the whole page, or one element.
    ///
    /// # Errors
    /// Returns `UNSUPPORTED` and the errors of `capture`.
    async fn screenshot(&mut self, request: ScreenshotRequest) -> Result<ScreenshotImage>;
}
