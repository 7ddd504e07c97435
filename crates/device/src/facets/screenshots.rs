//! The screenshot facet.

use crate::capture::{ScreenshotImage, ScreenshotRequest};
use crate::error::Result;
use crate::live_picture::{LivePicture, PendingPicture};
use async_trait::async_trait;

/// Takes screenshots.
#[async_trait]
pub trait Screenshots: Send {
    /// Takes a screenshot of the viewport, the whole page, or one element.
    ///
    /// # Errors
    /// Returns `UNSUPPORTED`, `ELEMENT_OFFSCREEN` if the element or the app is not visible, and the
    /// errors of `capture`.
    async fn screenshot(&mut self, request: ScreenshotRequest) -> Result<ScreenshotImage>;

    /// Starts taking a picture of the viewport for a person who is watching.
    ///
    /// Others continue to drive the app while the picture is being taken, so taking it must not
    /// disturb an input that arrives meanwhile. By default, the picture is complete when this call
    /// returns.
    ///
    /// # Errors
    /// Returns the errors of [`Screenshots::screenshot`].
    async fn begin_live_picture(&mut self) -> Result<PendingPicture> {
        let image = self.screenshot(ScreenshotRequest::default()).await?;
        Ok(Box::pin(std::future::ready(LivePicture::try_from(image))))
    }
}
