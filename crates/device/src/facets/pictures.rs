//! The screenshot facet.

use crate::capture::{Shot, ShotRequest};
use crate::error::Result;
use async_trait::async_trait;

/// Takes screenshots.
#[async_trait]
pub trait Pictures: Send {
    /// Takes a screenshot of the viewport, the whole page, or one element.
    ///
    /// # Errors
    /// Returns `UNSUPPORTED` and the errors of `capture`.
    async fn screenshot(&mut self, request: ShotRequest) -> Result<Shot>;
}
