//! Pictures of the screen.

use crate::display::Display;
use crate::error::{X11Error, X11Result};
use stickpin_device::{Result, ScreenshotImage, encode_png, rgb};
use stickpin_tree::Rect;
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{ConnectionExt, ImageFormat, ImageOrder};

/// The number of bytes per pixel on current servers.
const PIXEL: usize = 4;

/// Pixels of a part of the screen.
#[derive(Debug, Clone, PartialEq)]
pub struct ScreenPixels {
    /// The part of the screen that the picture shows, in whole pixels.
    pub(crate) area: Rect,
    /// Three bytes per pixel: red, green, blue.
    pub(crate) rgb: Vec<u8>,
}

impl ScreenPixels {
    /// Encodes the picture as a PNG.
    ///
    /// # Errors
    /// Returns the encoder's errors.
    pub(crate) fn encode(&self) -> Result<ScreenshotImage> {
        let png = encode_png(&self.rgb, self.area.width as u32, self.area.height as u32)?;
        Ok(ScreenshotImage::new(png, self.area, 1.0))
    }
}

/// Returns the pixels of the screen that a rectangle touches; `None` when there are no such pixels
/// or the rectangle is not finite.
fn pixels(area: Rect, screen: Rect) -> Option<Rect> {
    if ![area.x, area.y, area.width, area.height].iter().all(|n| n.is_finite()) {
        return None;
    }
    let (x, y) = (area.x.floor(), area.y.floor());
    let (right, bottom) = ((area.x + area.width).ceil(), (area.y + area.height).ceil());
    Rect { x, y, width: right - x, height: bottom - y }.intersection(screen)
}

/// Returns the byte offset of a color in a pixel; `None` if the mask of the color does not cover
/// exactly one byte.
fn byte_of(mask: u32, order: ImageOrder) -> Option<usize> {
    let byte = (0..PIXEL).find(|byte| mask == 0xff << (8 * byte))?;
    Some(if order == ImageOrder::LSB_FIRST { byte } else { PIXEL - 1 - byte })
}

/// Takes a picture of a part of the screen as displayed, including everything that covers it.
/// Returns `None` when the part is outside the screen.
///
/// # Errors
/// Returns `Unsupported` when the screen does not have 32 bits per pixel and 8 bits per color, and
/// `Lost` when the connection is lost.
pub fn take_screenshot(d: &mut Display, area: Rect) -> X11Result<Option<ScreenPixels>> {
    let Some(area) = pixels(area, d.area()) else { return Ok(None) };
    let places = layout(d).ok_or_else(|| {
        X11Error::Unsupported("screenshots need a screen with 32 bits per pixel and 8 bits per color".into())
    })?;
    // All of these are within the size of the screen.
    let (x, y, width, height) = (area.x as i16, area.y as i16, area.width as u16, area.height as u16);
    let asked = d.conn.get_image(ImageFormat::Z_PIXMAP, d.root, x, y, width, height, u32::MAX)?;
    Ok(Some(ScreenPixels { area, rgb: rgb(&asked.reply()?.data, places) }))
}

/// Returns the byte offsets of red, green and blue in a pixel; `None` if a pixel of the screen has
/// another format.
fn layout(d: &Display) -> Option<[usize; 3]> {
    let setup = d.conn.setup();
    let screen = setup.roots.iter().find(|s| s.root == d.root)?;
    let format = setup.pixmap_formats.iter().find(|f| f.depth == screen.root_depth)?;
    let mut visuals = screen.allowed_depths.iter().flat_map(|d| &d.visuals);
    let visual = visuals.find(|v| v.visual_id == screen.root_visual)?;
    let byte = |mask| byte_of(mask, setup.image_byte_order);
    let places = [byte(visual.red_mask)?, byte(visual.green_mask)?, byte(visual.blue_mask)?];
    (usize::from(format.bits_per_pixel) == 8 * PIXEL).then_some(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_cut_to_the_screen() {
        let rect = |(x, y, width, height)| Rect { x, y, width, height };
        let screen = rect((0.0, 0.0, 1280.0, 900.0));
        let part = |x, y, width, height| pixels(rect((x, y, width, height)), screen);
        assert_eq!(part(10.5, 20.0, 30.0, 40.2), Some(rect((10.0, 20.0, 31.0, 41.0))));
        assert_eq!(part(-10.0, -10.0, 5000.0, 5000.0), Some(screen));
        assert_eq!(part(1280.0, 0.0, 10.0, 10.0), None);
        assert_eq!(part(0.0, 0.0, 0.0, 10.0), None);
        assert_eq!(part(f64::NAN, 0.0, 1.0, 1.0), None);
    }

    #[test]
    fn colours_are_found_in_either_order_of_bytes() {
        assert_eq!(byte_of(0x00ff_0000, ImageOrder::LSB_FIRST), Some(2));
        assert_eq!(byte_of(0x00ff_0000, ImageOrder::MSB_FIRST), Some(1));
        assert_eq!(byte_of(0xf800, ImageOrder::LSB_FIRST), None);
    }

    #[test]
    fn a_picture_is_written_as_it_is() {
        let rgb = vec![1, 2, 3, 4, 5, 6];
        let area = Rect { x: 0.0, y: 0.0, width: 2.0, height: 1.0 };
        let png = ScreenPixels { area, rgb: rgb.clone() }.encode().unwrap().png;
        let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
        let mut read = vec![0; 6];
        reader.next_frame(&mut read).unwrap();
        assert_eq!(read, rgb);
    }
}
