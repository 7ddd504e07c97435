//! Pictures of the screen.

use crate::display::Display;
use crate::error::{X11Error, X11Result};
use crate::window;
use stickpin_device::{Result, encode_png, rgb};
use stickpin_tree::Rect;
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{ConnectionExt, ImageFormat, ImageOrder};

/// The number of bytes per pixel on current servers.
const PIXEL: usize = 4;

/// Pixels of a part of the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreenPixels {
    pub(crate) x: i16,
    pub(crate) y: i16,
    pub(crate) width: u16,
    pub(crate) height: u16,
    /// Three bytes per pixel: red, green, blue.
    pub(crate) rgb: Vec<u8>,
}

impl ScreenPixels {
    /// Encodes the screenshot as a PNG.
    ///
    /// # Errors
    /// Returns the encoder's errors.
    pub(crate) fn png(&self) -> Result<Vec<u8>> {
        encode_png(&self.rgb, self.width.into(), self.height.into())
    }

    /// Returns the part of the screen that the picture shows.
    #[must_use]
    pub fn area(&self) -> Rect {
        window::pixels((self.x, self.y), (self.width, self.height))
    }
}

/// Returns the pixels of the screen that a rectangle touches; `None` when there are no such pixels
/// or the rectangle is not finite.
fn pixels(area: Rect, (width, height): (u16, u16)) -> Option<(i16, i16, u16, u16)> {
    if ![area.x, area.y, area.width, area.height].iter().all(|n| n.is_finite()) {
        return None;
    }
    let within = |from: f64, to: f64, size: u16| {
        let from = from.floor().max(0.0);
        let to = to.ceil().min(f64::from(size));
        // Both values are within the size of the screen here.
        (to > from).then_some((from as i16, (to - from) as u16))
    };
    let (x, w) = within(area.x, area.x + area.width, width)?;
    let (y, h) = within(area.y, area.y + area.height, height)?;
    Some((x, y, w, h))
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
    let Some((x, y, width, height)) = pixels(area, d.size) else { return Ok(None) };
    let places = layout(d)?;
    let asked = d.conn.get_image(ImageFormat::Z_PIXMAP, d.root, x, y, width, height, u32::MAX)?;
    let pixels = asked.reply()?.data;
    Ok(Some(ScreenPixels { x, y, width, height, rgb: rgb(&pixels, places) }))
}

/// Returns the byte offsets of red, green and blue in a pixel.
fn layout(d: &Display) -> X11Result<[usize; 3]> {
    let setup = d.conn.setup();
    let screen = setup.roots.iter().find(|s| s.root == d.root);
    let found = screen.and_then(|screen| {
        let format = setup.pixmap_formats.iter().find(|f| f.depth == screen.root_depth)?;
        let visuals = screen.allowed_depths.iter().flat_map(|d| &d.visuals);
        let visual = visuals.into_iter().find(|v| v.visual_id == screen.root_visual)?;
        let byte = |mask| byte_of(mask, setup.image_byte_order);
        let places = [byte(visual.red_mask)?, byte(visual.green_mask)?, byte(visual.blue_mask)?];
        (usize::from(format.bits_per_pixel) == 8 * PIXEL).then_some(places)
    });
    found.ok_or_else(|| {
        X11Error::Unsupported("screenshots need a screen with 32 bits per pixel and 8 bits per color".into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_cut_to_the_screen() {
        let part = |x, y, width, height| pixels(Rect { x, y, width, height }, (1280, 900));
        assert_eq!(part(10.5, 20.0, 30.0, 40.2), Some((10, 20, 31, 41)));
        assert_eq!(part(-10.0, -10.0, 5000.0, 5000.0), Some((0, 0, 1280, 900)));
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
        let picture = ScreenPixels { x: 0, y: 0, width: 2, height: 1, rgb: rgb.clone() };
        let png = picture.png().unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
        let mut read = vec![0; 6];
        reader.next_frame(&mut read).unwrap();
        assert_eq!(read, rgb);
    }
}
