//! Images as pixels: decode, shrink, compare, draw, encode.

use font8x8::legacy::BASIC_LEGACY;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::io::Cursor;
use std::path::Path;
use stickpin_device::{Error, Result, encode_png};

/// The width and height of a character, in pixels.
pub(crate) const CELL: u32 = 8;

/// The maximum number of pixels in a file: a small file can claim to be a large image.
const MAX_PIXELS: u64 = 100_000_000;

/// The JPEG quality, out of 100, at which letters stay sharp.
const QUALITY: u8 = 85;

/// The file format of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Lossless.
    #[default]
    Png,
    /// Small, but lossy.
    Jpeg,
    /// Lossless, and smaller than PNG.
    Webp,
}

impl Format {
    /// Returns the format for the extension of a path; `None` for any other extension.
    pub(crate) fn from_extension(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "png" => Some(Self::Png),
            "jpg" | "jpeg" => Some(Self::Jpeg),
            "webp" => Some(Self::Webp),
            _ => None,
        }
    }

    /// Returns the file extension.
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpeg",
            Self::Webp => "webp",
        }
    }
}

fn bad(e: &dyn std::fmt::Display) -> Error {
    Error::internal(format!("the device's screenshot cannot be decoded: {e}"))
}

/// Returns the size of an image after shrinking, and the scale factor, which is at most 1. No side
/// is longer than `longest`; 0 means no limit.
pub(crate) fn fit_size((width, height): (u32, u32), longest: u32) -> ((u32, u32), f64) {
    let side = width.max(height);
    if side <= longest || longest == 0 {
        return ((width, height), 1.0);
    }
    let factor = f64::from(longest) / f64::from(side);
    let scaled = |n: u32| ((f64::from(n) * factor).round() as u32).max(1);
    ((scaled(width), scaled(height)), factor)
}

/// Allocates a buffer of `bytes` bytes for an image. Fails if the image has more than `most`
/// pixels, or if `bytes` is `None`.
fn buffer((width, height): (u32, u32), bytes: Option<usize>, most: u64) -> Result<Vec<u8>, &'static str> {
    let size = bytes.filter(|_| u64::from(width) * u64::from(height) <= most);
    Ok(vec![0; size.ok_or("it is too large")?])
}

/// Converts pixels with the given number of samples each to red, green and blue. Drops
/// transparency.
fn rgb(raw: Vec<u8>, samples: usize) -> Vec<u8> {
    match samples {
        1 | 2 => raw.chunks_exact(samples).flat_map(|p| [p[0]; 3]).collect(),
        4 => raw.chunks_exact(4).flat_map(|p| [p[0], p[1], p[2]]).collect(),
        _ => raw,
    }
}

/// An image in memory, with 8 bits each of red, green and blue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    pub(crate) width: u32,
    pub(crate) height: u32,
    rgb: Vec<u8>,
}

impl Image {
    /// Decodes the bytes of a PNG or WebP file.
    ///
    /// # Errors
    /// Returns `INVALID_ARGS` for any other format, a damaged file, and an image that is too large.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::from_file(bytes).map_err(|why| {
            Error::invalid_args(format!("the file cannot be decoded as PNG or WebP: {why}"))
                .hint("use `--format png`, or a smaller size such as `--max-px 8000`")
        })
    }

    /// Returns the width and height in pixels.
    #[must_use]
    pub fn dimensions(&self) -> (u32, u32) {
        (self.width, self.height)
    }

    /// Returns the pixels in rows from the top, three bytes each: red, green and blue.
    #[must_use]
    pub fn rgb(&self) -> &[u8] {
        &self.rgb
    }

    /// Shrinks the image, if necessary, to at most `width` pixels per row; 0 means no limit. Keeps
    /// its proportions.
    #[must_use]
    pub fn fit_width(self, width: u32) -> Self {
        if self.width <= width || width == 0 {
            return self;
        }
        let longest = u64::from(self.width.max(self.height)) * u64::from(width) / u64::from(self.width);
        self.shrink(u32::try_from(longest.max(1)).unwrap_or(u32::MAX))
    }

    /// Encodes the image as PNG.
    ///
    /// # Errors
    /// Returns `INTERNAL` if the encoder fails.
    pub fn to_png(&self) -> Result<Vec<u8>> {
        encode_png(&self.rgb, self.width, self.height)
    }

    /// Creates an image of one color.
    #[cfg(test)]
    pub(crate) fn filled(width: u32, height: u32, color: [u8; 3]) -> Self {
        Self { width, height, rgb: color.repeat((width * height) as usize) }
    }

    /// Returns the width and height of a PNG from its header, without decoding pixels.
    ///
    /// # Errors
    /// Returns the errors of [`Image::decode`].
    pub(crate) fn size(png: &[u8]) -> Result<(u32, u32)> {
        let reader = png::Decoder::new(Cursor::new(png)).read_info().map_err(|e| bad(&e))?;
        Ok(reader.info().size())
    }

    /// Decodes a PNG from a device.
    ///
    /// # Errors
    /// Returns `INTERNAL` for invalid data, which a device must not send.
    pub(crate) fn decode(png: &[u8]) -> Result<Self> {
        Self::from_png(png, u64::MAX).map_err(|e| bad(&e))
    }

    fn from_png(png: &[u8], most: u64) -> Result<Self, Box<dyn std::error::Error>> {
        let mut decoder = png::Decoder::new(Cursor::new(png));
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let mut reader = decoder.read_info()?;
        let (width, height) = reader.info().size();
        let mut raw = buffer((width, height), reader.output_buffer_size(), most)?;
        let frame = reader.next_frame(&mut raw)?;
        raw.truncate(frame.buffer_size());
        Ok(Self { width, height, rgb: rgb(raw, frame.color_type.samples()) })
    }

    fn from_webp(webp: &[u8], most: u64) -> Result<Self, Box<dyn std::error::Error>> {
        let mut decoder = image_webp::WebPDecoder::new(Cursor::new(webp))?;
        let (width, height) = decoder.dimensions();
        let mut raw = buffer((width, height), decoder.output_buffer_size(), most)?;
        decoder.read_image(&mut raw)?;
        Ok(Self { width, height, rgb: rgb(raw, if decoder.has_alpha() { 4 } else { 3 }) })
    }

    /// Decodes a PNG or WebP file from the caller.
    ///
    /// # Errors
    /// Returns `INVALID_ARGS` for any other format, a damaged file, and an image that is too large.
    pub(crate) fn read(path: &Path, bytes: &[u8]) -> Result<Self> {
        Self::from_file(bytes).map_err(|why| {
            Error::invalid_args(format!("{} cannot be compared: {why}", path.display()))
                .hint("compare screenshots saved as PNG or WebP, for example by `stickpin screenshot before.png`; if they are too large, save them with `--max-px 8000`")
        })
    }

    fn from_file(bytes: &[u8]) -> Result<Self, Box<dyn std::error::Error>> {
        let decode = if bytes.starts_with(b"RIFF") { Self::from_webp } else { Self::from_png };
        decode(bytes, MAX_PIXELS)
    }

    /// Encodes the image.
    ///
    /// # Errors
    /// Returns `INTERNAL` if the PNG encoder fails, and `INVALID_ARGS` if the image cannot be
    /// written as WebP or JPEG, for example because it is too large.
    pub(crate) fn encode(&self, format: Format) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        match format {
            Format::Png => return self.to_png(),
            Format::Webp => image_webp::WebPEncoder::new(&mut out)
                .encode(&self.rgb, self.width, self.height, image_webp::ColorType::Rgb8)
                .map_err(|e| self.no_place(format, &e))?,
            Format::Jpeg => {
                let size = u16::try_from(self.width).ok().zip(u16::try_from(self.height).ok());
                let (width, height) = size.ok_or_else(|| self.no_place(format, &"it is too large"))?;
                jpeg_encoder::Encoder::new(&mut out, QUALITY)
                    .encode(&self.rgb, width, height, jpeg_encoder::ColorType::Rgb)
                    .map_err(|e| self.no_place(format, &e))?;
            }
        }
        Ok(out)
    }

    fn no_place(&self, format: Format, why: &dyn std::fmt::Display) -> Error {
        let (width, height, name) = (self.width, self.height, format.extension());
        Error::invalid_args(format!("a {width}x{height} picture cannot be written as {name}: {why}"))
            .hint("write a PNG file, or use a smaller size such as `--max-px 8000`")
    }

    /// Shrinks the image to the size from [`fit_size`]. Every pixel is the mean of the pixels that
    /// it replaces.
    pub(crate) fn shrink(self, longest: u32) -> Self {
        let (width, height) = fit_size((self.width, self.height), longest).0;
        if (width, height) == (self.width, self.height) {
            return self;
        }
        // The original pixels that become pixel `i`; at least one.
        let span = |i: u32, from: u32, to: u32| {
            let a = u64::from(i) * u64::from(from) / u64::from(to);
            let b = (u64::from(i) + 1) * u64::from(from) / u64::from(to);
            a as usize..(b.max(a + 1)) as usize
        };
        let mut rgb = Vec::with_capacity(3 * width as usize * height as usize);
        for y in 0..height {
            let rows = span(y, self.height, height);
            for x in 0..width {
                let columns = span(x, self.width, width);
                let count = (rows.len() * columns.len()) as u32;
                let mut sum = [0u32; 3];
                for row in rows.clone() {
                    let at = 3 * row * self.width as usize;
                    for pixel in self.rgb[at + 3 * columns.start..at + 3 * columns.end].chunks_exact(3) {
                        for (sum, &c) in sum.iter_mut().zip(pixel) {
                            *sum += u32::from(c);
                        }
                    }
                }
                rgb.extend(sum.map(|s| (s / count) as u8));
            }
        }
        Self { width, height, rgb }
    }

    /// Compares two images. Returns a pale copy of `now` with the differences in red, and the
    /// number of differing pixels.
    ///
    /// Channels may differ by up to `tolerance`. Pixels that only one image has count as
    /// differences.
    pub(crate) fn differences(&self, now: &Self, tolerance: u8) -> (Self, u64) {
        let (width, height) = (self.width.max(now.width), self.height.max(now.height));
        let mut rgb = Vec::with_capacity(3 * width as usize * height as usize);
        let mut count = 0;
        for y in 0..height {
            for x in 0..width {
                let (then, here) = (self.pixel(x, y), now.pixel(x, y));
                let same = match (then, here) {
                    (Some(a), Some(b)) => a.iter().zip(b).all(|(&a, &b)| a.abs_diff(b) <= tolerance),
                    (None, None) => true,
                    _ => false,
                };
                if same {
                    let pale = |c: u8| 255 - (255 - c) / 4;
                    rgb.extend(here.map_or([255; 3], |p| [pale(p[0]), pale(p[1]), pale(p[2])]));
                } else {
                    count += 1;
                    rgb.extend([220, 0, 0]);
                }
            }
        }
        (Self { width, height, rgb }, count)
    }

    fn pixel(&self, x: u32, y: u32) -> Option<&[u8]> {
        let inside = x < self.width && y < self.height;
        let at = 3 * (y as usize * self.width as usize + x as usize);
        if inside { self.rgb.get(at..at + 3) } else { None }
    }

    fn set_pixel(&mut self, x: i64, y: i64, color: [u8; 3]) {
        if (0..i64::from(self.width)).contains(&x) && (0..i64::from(self.height)).contains(&y) {
            let at = 3 * (y as usize * self.width as usize + x as usize);
            self.rgb[at..at + 3].copy_from_slice(&color);
        }
    }

    /// Draws a filled rectangle, clipped to the image.
    pub(crate) fn fill(&mut self, x: i64, y: i64, width: u32, height: u32, color: [u8; 3]) {
        for dy in 0..i64::from(height) {
            for dx in 0..i64::from(width) {
                self.set_pixel(x + dx, y + dy, color);
            }
        }
    }

    /// Draws the outline of a rectangle, one pixel wide.
    pub(crate) fn frame(&mut self, x: i64, y: i64, width: u32, height: u32, color: [u8; 3]) {
        let (w, h) = (i64::from(width), i64::from(height));
        self.fill(x, y, width, 1, color);
        self.fill(x, y + h - 1, width, 1, color);
        self.fill(x, y, 1, height, color);
        self.fill(x + w - 1, y, 1, height, color);
    }

    /// Draws ASCII text in cells of [`CELL`] pixels.
    pub(crate) fn text(&mut self, x: i64, y: i64, text: &str, color: [u8; 3]) {
        for (i, c) in (0i64..).zip(text.chars()) {
            let glyph = BASIC_LEGACY.get(c as usize).copied().unwrap_or_default();
            for (dy, row) in (0i64..).zip(glyph) {
                for dx in (0i64..8).filter(|dx| row & (1 << dx) != 0) {
                    self.set_pixel(x + i * i64::from(CELL) + dx, y + dy, color);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stickpin_device::ErrorCode;

    #[test]
    fn the_size_is_read_without_the_pixels() {
        let mut png = Image::filled(20, 10, [1, 2, 3]).encode(Format::Png).unwrap();
        let end = png.len() - 20;
        png[end..].fill(0);
        assert_eq!(Image::size(&png).unwrap(), (20, 10));
        assert_eq!(Image::size(b"no png").unwrap_err().code, ErrorCode::Internal);
    }

    #[test]
    fn what_is_written_is_read_back() {
        let mut image = Image::filled(20, 10, [1, 2, 3]);
        image.frame(2, 2, 5, 5, [255, 0, 0]);
        image.text(-3, 4, "e1", [0, 255, 0]);
        assert_eq!(Image::decode(&image.encode(Format::Png).unwrap()).unwrap(), image);
        for format in [Format::Png, Format::Webp] {
            let written = image.encode(format).unwrap();
            assert_eq!(Image::read(Path::new("a"), &written).unwrap(), image);
            assert_eq!(Image::from_bytes(&written).unwrap(), image);
        }
        let jpeg = image.encode(Format::Jpeg).unwrap();
        assert!(jpeg.starts_with(&[0xff, 0xd8, 0xff]) && jpeg.ends_with(&[0xff, 0xd9]));
        assert_eq!(Image::read(Path::new("a.jpg"), &jpeg).unwrap_err().code, ErrorCode::InvalidArgs);
        let wide = Image::filled(70_000, 1, [0; 3]);
        assert_eq!(wide.encode(Format::Jpeg).unwrap_err().code, ErrorCode::InvalidArgs);
    }

    #[test]
    fn a_file_that_claims_to_be_huge_is_not_read() {
        let mut png = Image::filled(1, 1, [0; 3]).encode(Format::Png).unwrap();
        png[16..24].copy_from_slice(&[0, 1, 0, 0, 0, 1, 0, 0]);
        assert_eq!(Image::read(Path::new("a.png"), &png).unwrap_err().code, ErrorCode::InvalidArgs);
    }

    #[test]
    fn differences_are_counted_and_shown_in_red() {
        let then = Image::filled(10, 4, [100; 3]);
        let mut now = then.clone();
        now.fill(2, 1, 3, 1, [105; 3]);
        assert_eq!(then.differences(&now, 8).1, 0);
        let (picture, count) = then.differences(&now, 4);
        assert_eq!((count, picture.pixel(2, 1)), (3, Some(&[220, 0, 0][..])));
        assert_eq!(picture.pixel(0, 0), Some(&[217, 217, 217][..]));
        // A column and a row that only one image has: 4 and 9 pixels, without the corner that
        // neither has.
        let other = Image::filled(9, 5, [100; 3]);
        assert_eq!(then.differences(&other, 0).1, 4 + 9);
    }

    #[test]
    fn shrinking_keeps_proportions_and_mean() {
        let mut image = Image::filled(200, 100, [0, 0, 0]);
        image.fill(0, 0, 200, 100, [10, 20, 30]);
        let small = image.clone().shrink(50);
        assert_eq!((small.width, small.height), (50, 25));
        assert_eq!(fit_size((200, 100), 50), ((50, 25), 0.25));
        assert_eq!(fit_size((1, 1000), 10).0, (1, 10));
        assert_eq!(small.rgb[..3], [10, 20, 30]);
        assert_eq!(image.clone().fit_width(50).dimensions(), (50, 25));
        assert_eq!(Image::filled(40, 400, [0; 3]).fit_width(20).dimensions(), (20, 200));
        assert_eq!(image.clone().fit_width(200), image);
        assert_eq!(image.clone().shrink(200), image);
        assert_eq!(image.clone().shrink(0), image);
    }

    #[test]
    fn what_is_drawn_outside_is_cut() {
        let mut image = Image::filled(4, 4, [9, 9, 9]);
        image.fill(2, 2, 100, 100, [1, 1, 1]);
        image.fill(-5, -5, 2, 2, [0, 0, 0]);
        assert_eq!(image.rgb.iter().filter(|&&c| c == 1).count(), 12);
        assert!(Image::decode(b"no png").is_err());
    }
}
