//! `diff screenshot`: compares the pixels of two images, or of an image and the app as it is now.

use crate::commands::prelude::*;
use crate::commands::read::screenshot::{self, DEFAULT_MAX_PX, capture_without_motion, write_image};
use crate::picture::image::{Format, Image};
use std::path::PathBuf;
use stickpin_device::ScreenshotRequest;

/// The default tolerance per color channel. The edges of letters are not always drawn identically.
const DEFAULT_TOLERANCE: u8 = 8;

/// Compare two pictures, or a picture with the app as it is now, pixel by pixel.
///
/// If they differ, writes a pale copy of the newer picture with all differences in red.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DiffScreenshot {
    /// The older picture: PNG or WebP.
    #[schemars(extend("x-positional" = 0, "x-placeholder" = "BEFORE"))]
    pub before: PathArg,
    /// The newer picture; by default the app as it is now.
    #[schemars(extend("x-positional" = 1, "x-placeholder" = "AFTER"))]
    pub after: Option<PathArg>,
    /// Compare only this element of the app.
    pub of: Option<Target>,
    /// Compare the whole page, not only the viewport.
    #[serde(default)]
    pub full: bool,
    /// Longest side of the app's picture in pixels; use the value of the older picture. 0 keeps the
    /// full size.
    #[schemars(extend("x-placeholder" = "PIXELS"))]
    pub max_px: Option<u32>,
    /// Largest difference per color channel that still counts as equal, 0 to 255 (default 8).
    #[schemars(extend("x-placeholder" = "N"))]
    pub tolerance: Option<u8>,
    /// Where to write the picture of the differences; by default a file of the session, which
    /// `close` removes.
    #[schemars(extend("x-path" = "written", "x-placeholder" = "FILE"))]
    pub out: Option<PathArg>,
}

/// The outcome of a comparison.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ComparisonOutput {
    /// The number of pixels that differ.
    pub pixels: u64,
    /// The share of pixels that differ, 0 to 1.
    pub ratio: f64,
    /// The path of the image of the differences; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// The width and height of the older image, in pixels.
    pub before: [u32; 2],
    /// The width and height of the newer image, in pixels.
    pub after: [u32; 2],
}

impl Command for DiffScreenshot {
    const SPEC: Spec = Spec {
        name: "diff screenshot",
        needs: &[Capability::Screenshot],
        makes_picture: true,
        examples: &[
            "stickpin diff screenshot before.png",
            "stickpin diff screenshot before.png after.png --out diff.png",
        ],
        ..Spec::SESSION
    };
    type Output = ComparisonOutput;

    async fn run(self, cx: &mut Cx) -> Result<ComparisonOutput> {
        let out = cx.resolve_optional_path(self.out.as_ref())?;
        let read = |cx: &Cx, path: &PathArg| {
            let path = cx.resolve_path(path)?;
            let bytes = std::fs::read(&*path).map_err(|e| path.io_error("read", &e))?;
            Image::read(&path, &bytes)
        };
        let before = read(cx, &self.before)?;
        let after = match &self.after {
            Some(path) => read(cx, path)?,
            None => {
                let of = screenshot::address_to_capture(cx, self.of.as_ref()).await?;
                let (_, shot, _) =
                    capture_without_motion(cx, ScreenshotRequest::default().of(of).full(self.full)).await?;
                Image::decode(&shot.png)?.shrink(self.max_px.unwrap_or(DEFAULT_MAX_PX))
            }
        };
        let (picture, pixels) = before.differences(&after, self.tolerance.unwrap_or(DEFAULT_TOLERANCE));
        let all = u64::from(picture.width) * u64::from(picture.height);
        #[allow(clippy::cast_precision_loss, reason = "a part of a picture, for people")]
        let ratio = pixels as f64 / all.max(1) as f64;
        let size = |image: &Image| [image.width, image.height];
        let mut compared =
            ComparisonOutput { pixels, ratio, path: None, before: size(&before), after: size(&after) };
        if pixels == 0 {
            return Ok(compared);
        }
        let bytes = picture.encode(out.as_deref().and_then(Format::from_extension).unwrap_or_default())?;
        let number = if out.is_none() { cx.open_session()?.screenshots.next_id() } else { 0 };
        compared.path = Some(write_image(cx, out, &format!("p{number}-differences.png"), &bytes)?);
        Ok(compared)
    }
}

impl Show for ComparisonOutput {
    fn show(&self, text: &mut Text) {
        let Some(path) = &self.path else { return text.line("no pixels differ") };
        let sizes = match self.before == self.after {
            true => String::new(),
            false => {
                format!(" · {}x{}, then {}x{}", self.before[0], self.before[1], self.after[0], self.after[1])
            }
        };
        let percent = self.ratio * 100.0;
        text.line(format_args!("{} pixels differ, {percent:.2} %{sizes} · {}", self.pixels, path.display()));
    }
}
