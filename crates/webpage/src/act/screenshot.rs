//! Takes screenshots.

use crate::act::aim;
use crate::read::page::Page;
use crate::tab::{Tab, frames};
use base64::Engine;
use stickpin_device::{
    AimOptions, Error, ErrorCode, LivePicture, PendingPicture, Result, ScreenshotImage, ScreenshotRequest,
};
use stickpin_devtools::protocol as cdp;
use stickpin_tree::Rect;

/// The longest page side that fits into one screenshot, in CSS pixels. Limited by the browser's
/// graphics process.
const MAX_SIDE: f64 = 16_000.0;

/// The JPEG quality of live pictures, out of 100, at which letters stay sharp.
const LIVE_QUALITY: u8 = 80;

/// Takes a screenshot of the page, its viewport or one element.
///
/// # Errors
/// Returns `ELEMENT_OFFSCREEN` for an element that has no box, or whose box is less than a pixel
/// wide or high. Otherwise, returns the errors of [`aim::aim_at`] or an error from the tab.
pub async fn take_screenshot(page: &mut Page, request: ScreenshotRequest) -> Result<ScreenshotImage> {
    let (area, clip) = match request.of {
        Some(handle) => {
            aim::aim_at(page, handle, AimOptions::default()).await?;
            let area = frames::bounding_box(&page.tab, handle).await?;
            let area = area.filter(|r| r.width >= 1.0 && r.height >= 1.0);
            let area = area.ok_or_else(|| {
                Error::new(
                    ErrorCode::ElementOffscreen,
                    "the element has no box, or its box is less than a pixel wide or high",
                )
            })?;
            let page =
                page.tab.query(&page.tab.session, &cdp::GetLayoutMetrics {}).await?.css_layout_viewport;
            (area, Some(clip_at(area, page.page_x, page.page_y)))
        }
        None if request.full => {
            let metrics = page.tab.query(&page.tab.session, &cdp::GetLayoutMetrics {}).await?;
            let (page, size) = (metrics.css_layout_viewport, metrics.css_content_size);
            let page_rect = Rect {
                x: -page.page_x,
                y: -page.page_y,
                width: size.width.min(MAX_SIDE),
                height: size.height.min(MAX_SIDE),
            };
            (page_rect, Some(clip_at(page_rect, page.page_x, page.page_y)))
        }
        None => (viewport(&page.tab).await?, None),
    };
    let method = cdp::CaptureScreenshot {
        format: "png",
        capture_beyond_viewport: clip.is_some().then_some(true),
        clip,
        ..cdp::CaptureScreenshot::default()
    };
    let picture = page.tab.query(&page.tab.session, &method).await?;
    ScreenshotImage::from_png(decode(&picture)?, area)
}

/// Prepares a picture of the viewport. The returned future takes the picture, possibly in parallel
/// with other calls.
///
/// The browser draws its next frame for the picture and encodes that frame outside the page.
/// Neither the layout of the page nor the coordinates of an input change while this happens.
///
/// # Errors
/// Returns `DIALOG_OPEN` or an error from the tab.
pub async fn begin_live_picture(page: &Page) -> Result<PendingPicture> {
    let tab = page.tab.clone();
    let area = viewport(&tab).await?;
    Ok(Box::pin(async move {
        let method = cdp::CaptureScreenshot {
            format: "jpeg",
            quality: Some(LIVE_QUALITY),
            optimize_for_speed: Some(true),
            ..cdp::CaptureScreenshot::default()
        };
        LivePicture::new(decode(&tab.query(&tab.session, &method).await?)?, area)
    }))
}

/// Returns the viewport in its own coordinates.
async fn viewport(tab: &Tab) -> Result<Rect> {
    let world = tab.top_world().await?;
    let (width, height) = tab.evaluate(&world, "[innerWidth,innerHeight]".to_owned()).await?;
    Ok(Rect { x: 0.0, y: 0.0, width, height })
}

fn decode(picture: &cdp::Picture) -> Result<Vec<u8>> {
    base64::engine::general_purpose::STANDARD
        .decode(&picture.data)
        .map_err(|e| Error::new(ErrorCode::Internal, format!("the screenshot cannot be decoded: {e}")))
}

/// Converts an area of the viewport to an area of the page, given the scroll offset `x` and `y`.
fn clip_at(area: Rect, x: f64, y: f64) -> cdp::Clip {
    cdp::Clip { x: area.x + x, y: area.y + y, width: area.width, height: area.height, scale: 1.0 }
}
