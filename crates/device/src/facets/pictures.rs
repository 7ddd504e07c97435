//! Pictures of the app.

use crate::capture::{Shot, ShotRequest};
use crate::error::Result;
use async_trait::async_trait;

/// Taking pictures.
#[async_trait]
pub trait Pictures: Send {
    /// Takes a picture of the viewport, the whole page, or one element.
    ///
    /// # Errors
    /// `UNSUPPORTED` and as `capture`.
    async fn screenshot(&mut self, request: ShotRequest) -> Result<Shot>;
}
