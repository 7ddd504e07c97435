//! Screenshots of the app's window with its popups, of the whole screen, or of one element.

use crate::aim::{position, window};
use crate::app::{AppView, LinuxDevice, lifecycle};
use async_trait::async_trait;
use stickpin_device::{
    Error, LivePicture, PendingPicture, Result, ScreenshotImage, ScreenshotRequest, Screenshots,
};
use stickpin_tree::Rect;
use stickpin_x11desk::{Window, X11};

/// Returns the area of a window and the popups of its process, which may extend beyond the window.
fn area_with_popups(window: &Window, windows: &[Window]) -> Rect {
    let popups = windows.iter().filter(|w| w.popup && w.pid == window.pid).map(|w| w.area);
    popups.fold(window.area_with_decoration(), Rect::union)
}

#[async_trait]
impl Screenshots for LinuxDevice {
    async fn screenshot(&mut self, request: ScreenshotRequest) -> Result<ScreenshotImage> {
        lifecycle::alive(&self.app).await?;
        let (x11, area) = area(self.view(), &request).await?;
        x11.screenshot(area).await
    }

    /// Starts a screenshot of the app's window. The display takes it while the next calls are
    /// running.
    async fn begin_live_picture(&mut self) -> Result<PendingPicture> {
        lifecycle::alive(&self.app).await?;
        let (x11, area) = area(self.view(), &ScreenshotRequest::default()).await?;
        Ok(Box::pin(async move { LivePicture::try_from(x11.screenshot(area).await?) }))
    }
}

/// Returns the display, and the area of its screen that a request names.
async fn area(view: AppView<'_>, request: &ScreenshotRequest) -> Result<(X11, Rect)> {
    let x11 = view.app.screen.x11("take screenshots").await?;
    let area = if let Some(handle) = request.of {
        position::boxes(view, &[handle], false).await?.pop().flatten().ok_or_else(not_visible)?
    } else if request.full {
        x11.run(|d| Ok(d.area())).await?
    } else {
        let Some((sight, window)) = window::active_window(view.app).await? else {
            return Err(view.app.screen.unseen("take a screenshot of the app"));
        };
        view.app.screen.check_visible(&window).await?;
        area_with_popups(&window, &sight.windows)
    };
    Ok((x11, area))
}

/// Returns the error for a screenshot of an element that is not visible.
pub(crate) fn not_visible() -> Error {
    Error::element_offscreen("the element has no position on the screen").hint(
        "run `stickpin scroll down` to bring it into view, or open the menu, list or page that contains it",
    )
}
