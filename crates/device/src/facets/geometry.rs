//! Bounding boxes, hit tests, the pointer and the viewport.

use crate::error::{Error, Result};
use async_trait::async_trait;
use stickpin_tree::{Handle, Rect};

/// Points and sizes of the viewport, in CSS pixels.
#[async_trait]
pub trait Geometry: Send {
    /// Returns the bounding boxes of elements for a screenshot: like
    /// [`Device::rects`](crate::Device::rects), but also `None` for an element that is known to be
    /// behind another window.
    ///
    /// # Errors
    /// Returns the errors of `capture`.
    async fn visible_rects(&mut self, handles: &[Handle]) -> Result<Vec<Option<Rect>>>;

    /// Returns the innermost element at a point of the viewport; `None` outside the viewport or if
    /// there is no element.
    ///
    /// # Errors
    /// Returns the errors of `capture`. On a desktop, also returns `ELEMENT_COVERED` if the app
    /// does not name the element at the point, `ELEMENT_OFFSCREEN` if the app has no visible
    /// window, and `UNSUPPORTED` for a window that the device cannot see.
    async fn element_at(&mut self, x: f64, y: f64) -> Result<Option<Handle>>;

    /// Moves the pointer to a point of the viewport and lets the app react for one frame. Does
    /// nothing on a device without a pointer.
    ///
    /// # Errors
    /// Returns the errors of `capture`.
    async fn move_pointer(&mut self, _x: f64, _y: f64) -> Result<()> {
        Ok(())
    }

    /// Returns the scroll offset of the whole surface, to the right and down.
    ///
    /// # Errors
    /// Returns the errors of `capture`.
    async fn scroll_offset(&mut self) -> Result<(f64, f64)> {
        Ok((0.0, 0.0))
    }

    /// Resizes the viewport.
    ///
    /// # Errors
    /// Returns `UNSUPPORTED` if the size is fixed, `ELEMENT_OFFSCREEN` if the app has no visible
    /// window, and the errors of `capture`.
    async fn resize(&mut self, _width: u32, _height: u32) -> Result<()> {
        Err(Error::unsupported("the size of this viewport is fixed"))
    }
}
