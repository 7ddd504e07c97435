//! The fallback for each facet that a device lacks, in one place: a default if there is one,
//! otherwise `UNSUPPORTED`.

use crate::device::{Device, unsupported};
use crate::error::Result;
use crate::notice::Dialog;
use std::time::Duration;
use stickpin_tree::{Handle, Rect};
use tokio_util::sync::CancellationToken;

impl dyn Device + '_ {
    /// Calls [`Geometry::visible_rects`](crate::Geometry::visible_rects), or [`Device::rects`] if
    /// the device has no geometry facet.
    ///
    /// # Errors
    /// Returns the errors of `capture`.
    pub async fn visible_rects(&mut self, handles: &[Handle]) -> Result<Vec<Option<Rect>>> {
        match self.geometry() {
            Some(geometry) => geometry.visible_rects(handles).await,
            None => self.rects(handles).await,
        }
    }

    /// Calls [`Geometry::element_at`](crate::Geometry::element_at).
    ///
    /// # Errors
    /// Returns `UNSUPPORTED` if the device has no geometry facet, and the errors of the facet.
    pub async fn element_at(&mut self, x: f64, y: f64) -> Result<Option<Handle>> {
        match self.geometry() {
            Some(geometry) => geometry.element_at(x, y).await,
            None => Err(unsupported(self.info().kind, "determine what is at a point")),
        }
    }

    /// Calls [`Geometry::move_pointer`](crate::Geometry::move_pointer); does nothing if the device
    /// has no geometry facet.
    ///
    /// # Errors
    /// Returns the errors of `capture`.
    pub async fn move_pointer(&mut self, x: f64, y: f64) -> Result<()> {
        match self.geometry() {
            Some(geometry) => geometry.move_pointer(x, y).await,
            None => Ok(()),
        }
    }

    /// Calls [`Geometry::scroll_offset`](crate::Geometry::scroll_offset); returns zero if the
    /// device has no geometry facet.
    ///
    /// # Errors
    /// Returns the errors of `capture`.
    pub async fn scroll_offset(&mut self) -> Result<(f64, f64)> {
        match self.geometry() {
            Some(geometry) => geometry.scroll_offset().await,
            None => Ok((0.0, 0.0)),
        }
    }

    /// Calls [`Navigator::url`](crate::Navigator::url), and falls back to the address of
    /// [`Device::page`].
    ///
    /// # Errors
    /// Returns `BACKEND_LOST` when the app is gone.
    pub async fn url(&mut self) -> Result<Option<String>> {
        if let Some(navigator) = self.navigator()
            && let Some(url) = navigator.url().await?
        {
            return Ok(Some(url));
        }
        Ok(self.page().await?.map(|page| page.url))
    }

    /// Calls [`Dialogs::dialog`](crate::Dialogs::dialog); returns `None` if no dialog is pending or
    /// the device has no dialogs facet.
    pub fn dialog(&mut self) -> Option<Dialog> {
        self.dialogs().and_then(|dialogs| dialogs.dialog())
    }

    /// Calls [`Popups::close_popup`](crate::Popups::close_popup); returns false if the device has
    /// no popups facet.
    ///
    /// # Errors
    /// Returns the errors of `perform`.
    pub async fn close_popup(&mut self, opener: Handle, older: &[Handle]) -> Result<bool> {
        match self.popups() {
            Some(popups) => popups.close_popup(opener, older).await,
            None => Ok(false),
        }
    }

    /// Calls [`Events::wait_event`](crate::Events::wait_event), or [`Device::changed`] if the
    /// device has no events facet.
    ///
    /// # Errors
    /// Returns `BACKEND_LOST` when the app is gone.
    pub async fn wait_event(&mut self, timeout: Duration, cancel: &CancellationToken) -> Result<bool> {
        match self.events() {
            Some(events) => events.wait_event(timeout, cancel).await,
            None => self.changed(timeout, cancel).await,
        }
    }

    /// Calls [`Events::wait_effect`](crate::Events::wait_effect), or [`Device::changed`] if the
    /// device has no events facet.
    ///
    /// # Errors
    /// Returns `BACKEND_LOST` when the app is gone.
    pub async fn wait_effect(&mut self, at_most: Duration, cancel: &CancellationToken) -> Result<()> {
        match self.events() {
            Some(events) => events.wait_effect(at_most, cancel).await,
            None => self.changed(at_most, cancel).await.map(drop),
        }
    }
}
