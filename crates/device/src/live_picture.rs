//! Pictures for a person who is watching the app while others drive it.

use crate::capture::ScreenshotImage;
use crate::error::{Error, Result};
use std::pin::Pin;
use stickpin_tree::Rect;

/// The first bytes of a PNG.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

/// The first bytes of a JPEG.
const JPEG: &[u8] = b"\xff\xd8";

/// A picture that is being taken. Does not borrow the device, so commands can run meanwhile.
pub type PendingPicture = Pin<Box<dyn Future<Output = Result<LivePicture>> + Send>>;

/// A picture of the viewport for a person who is watching, small rather than exact to the pixel.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LivePicture {
    /// The image, encoded as PNG or JPEG.
    pub bytes: Vec<u8>,
    /// The width of the image in pixels.
    pub width: u32,
    /// The height of the image in pixels.
    pub height: u32,
    /// The part of the viewport that the image shows, in CSS pixels.
    pub area: Rect,
    /// The number of image pixels per CSS pixel.
    pub scale: f64,
}

impl LivePicture {
    /// Creates a picture of an area from an encoded image, whose size is read from its header.
    ///
    /// # Errors
    /// Returns `INTERNAL` if the image is neither a PNG nor a JPEG.
    pub fn new(bytes: Vec<u8>, area: Rect) -> Result<Self> {
        let size = png_size(&bytes).or_else(|| jpeg_size(&bytes));
        let (width, height) =
            size.ok_or_else(|| Error::internal("the picture is neither a PNG nor a JPEG"))?;
        Ok(Self { bytes, width, height, area, scale: f64::from(width) / area.width.max(1.0) })
    }
}

impl TryFrom<ScreenshotImage> for LivePicture {
    type Error = Error;

    fn try_from(image: ScreenshotImage) -> Result<Self> {
        Ok(Self { scale: image.scale, ..Self::new(image.png, image.area)? })
    }
}

/// Returns the width and height in the header (IHDR chunk) of a PNG.
pub(crate) fn png_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let header = bytes.strip_prefix(PNG)?.get(8..16)?;
    let number = |at: usize| Some(u32::from_be_bytes(header.get(at..at + 4)?.try_into().ok()?));
    Some((number(0)?, number(4)?))
}

/// Returns the width and height in the frame header (SOF segment) of a JPEG.
fn jpeg_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut rest = bytes.strip_prefix(JPEG)?;
    loop {
        let (&[0xff, marker], after) = rest.split_first_chunk()? else { return None };
        let number = |at: usize| Some(u16::from_be_bytes(after.get(at..at + 2)?.try_into().ok()?));
        match marker {
            // Fill bytes precede a marker.
            0xff => rest = rest.get(1..)?,
            // These codes are in the range of frame markers, but belong to tables and an extension.
            0xc4 | 0xc8 | 0xcc => rest = after.get(usize::from(number(0)?)..)?,
            0xc0..=0xcf => return Some((number(5)?.into(), number(3)?.into())),
            _ => rest = after.get(usize::from(number(0)?)..)?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AREA: Rect = Rect { x: 0.0, y: 0.0, width: 320.0, height: 200.0 };

    #[test]
    fn size_of_a_png_is_read_from_its_header() {
        let mut png = [PNG, b"\0\0\0\x0dIHDR"].concat();
        png.extend([640_u32, 400].map(u32::to_be_bytes).concat());
        let picture = LivePicture::new(png.clone(), AREA).unwrap();
        assert_eq!((picture.width, picture.height), (640, 400));
        assert!((picture.scale - 2.0).abs() < f64::EPSILON);
        let screenshot = ScreenshotImage::from_png(png.clone(), AREA).unwrap();
        assert!((screenshot.scale - 2.0).abs() < f64::EPSILON);
        for end in 0..png.len() {
            assert!(LivePicture::new(png[..end].to_vec(), AREA).is_err(), "{end}");
            assert!(ScreenshotImage::from_png(png[..end].to_vec(), AREA).is_err(), "{end}");
        }
    }

    #[test]
    fn size_of_a_jpeg_is_read_behind_its_other_segments() {
        let app = [&[0xff, 0xe0, 0, 16][..], &[0; 14]].concat();
        let tables = [&[0xff, 0xc4, 0, 4][..], &[0; 2]].concat();
        let frame = [0xff, 0xc2, 0, 17, 8, 1, 0x90, 2, 0x80];
        let jpeg = [JPEG, &app, &tables, &[0xff], &frame].concat();
        let picture = LivePicture::new(jpeg.clone(), AREA).unwrap();
        assert_eq!((picture.width, picture.height), (640, 400));
        for end in 0..jpeg.len() {
            assert!(LivePicture::new(jpeg[..end].to_vec(), AREA).is_err(), "{end}");
        }
    }

    #[test]
    fn other_bytes_are_no_picture() {
        for bytes in [&b""[..], b"GIF89a______________", b"\xff\xd8\0\0", b"\xff\xd8\xff\xe0\0\0"] {
            assert!(LivePicture::new(bytes.to_vec(), AREA).is_err(), "{bytes:?}");
            assert!(ScreenshotImage::from_png(bytes.to_vec(), AREA).is_err(), "{bytes:?}");
        }
    }
}
