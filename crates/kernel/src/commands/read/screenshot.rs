//! `screenshot`: takes a screenshot, optionally with refs drawn on it.

use crate::act::points;
use crate::commands::prelude::*;
use crate::host::private_dir;
use crate::host::screenshots::{ClientScreenshot, PageIdentity, PlacedElement, ScreenshotMark};
pub use crate::picture::image::Format;
use crate::picture::image::{Image, fit_size};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;
use stickpin_device::{ScreenshotImage, ScreenshotRequest, io_error};
use stickpin_refs::Ref;
use stickpin_tree::{Handle, Rect, Tree};

/// The maximum number of attempts to take a screenshot while nothing moves.
const MAX_ATTEMPTS: usize = 3;

/// The default maximum length of the longest side, in pixels. Models accept an image of this size
/// without shrinking it.
pub(super) const DEFAULT_MAX_PX: u32 = 1568;

/// Take a picture of the app.
///
/// Points (`x,y`) in later commands are pixel coordinates in your last picture. What the picture
/// shows at a point is checked before any input is sent there.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Screenshot {
    /// Where to write the picture; by default a file of the session, which `close` removes.
    #[schemars(extend("x-positional" = 0, "x-path" = "written"))]
    pub path: Option<PathArg>,
    /// Draw a frame with its ref around every element that can be acted on.
    pub overlay: bool,
    /// List the boxes of the elements that can be acted on, by ref, without drawing them.
    pub boxes: bool,
    /// Only this element.
    pub of: Option<Target>,
    /// The whole page, not only the viewport.
    pub full: bool,
    /// Longest side in pixels; a larger picture is scaled down. 0 keeps the full size.
    #[schemars(extend("x-placeholder" = "PIXELS"))]
    pub max_px: Option<u32>,
    /// The image format; by default that of the file name, else PNG.
    pub format: Option<Format>,
    /// Write nothing if the picture equals your last one.
    pub if_changed: bool,
}

/// The outcome of a screenshot.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScreenshotOutput {
    /// The id of the picture, such as `p3`, by which messages about points name it.
    pub id: String,
    /// The path of the image; absent when `--if-changed` was given and nothing changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// The width of the image in pixels.
    pub width: u32,
    /// The height of the image in pixels.
    pub height: u32,
    /// Image pixels per viewport pixel.
    pub scale: f64,
    /// Whether the image differs from the client's last one.
    pub changed: bool,
    /// The boxes of everything that can be acted on, if `--boxes` was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boxes: Option<Vec<ElementBox>>,
}

/// The box of an element, in image pixels.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ElementBox {
    /// The ref of the element.
    pub r#ref: String,
    /// The description of the element.
    pub meaning: String,
    /// The distance of the element from the left edge of the image.
    pub x: f64,
    /// The distance of the element from the top edge of the image.
    pub y: f64,
    /// The width of the element in pixels.
    pub width: f64,
    /// The height of the element in pixels.
    pub height: f64,
}

impl Command for Screenshot {
    const SPEC: Spec = Spec {
        name: "screenshot",
        needs: &[Capability::Screenshot],
        makes_picture: true,
        examples: &[
            "stickpin screenshot --overlay",
            "stickpin screenshot ~/shop.png --full",
            "stickpin screenshot --of @e3",
        ],
        ..Spec::SESSION
    };
    type Output = ScreenshotOutput;

    async fn run(self, cx: &mut Cx) -> Result<ScreenshotOutput> {
        let named = cx.resolve_optional_path(self.path.as_ref())?;
        let request =
            ScreenshotRequest::default().of(address_to_capture(cx, self.of.as_ref()).await?).full(self.full);
        let (tree, shot, boxes) = capture_without_motion(cx, request).await?;
        let scrolled = cx.device()?.scroll_offset().await?;
        let longest = self.max_px.unwrap_or(DEFAULT_MAX_PX);
        let taken_at = Image::size(&shot.png)?;
        let (size, shrunk) = fit_size(taken_at, longest);
        let scale = shot.scale * shrunk;
        let marks = points::screenshot_marks(cx, &tree, &boxes, shot.area).await?;
        let print = print(&shot.png, size);

        let client = cx.client_id();
        let pictures = &mut cx.open_session()?.screenshots;
        let changed = pictures.last_of(&client).is_none_or(|last| last.image_hash != print);
        let id = match pictures.last_of(&client) {
            Some(last) if !changed && self.if_changed => last.id,
            _ => pictures.next_id(),
        };
        let taken = |path| ScreenshotOutput {
            id: format!("p{id}"),
            path,
            width: size.0,
            height: size.1,
            scale,
            changed,
            boxes: None,
        };
        let of = (PageIdentity::of(&tree), cx.open_session()?.session.generation());
        let picture =
            ClientScreenshot { id, page: of, area: shot.area, scale, scrolled, image_hash: print, marks };
        if !changed && self.if_changed {
            let taken = taken(None);
            cx.open_session()?.screenshots.set(client, picture);
            return Ok(taken);
        }
        let format = self.format.or(named.as_deref().and_then(Format::from_extension)).unwrap_or_default();
        let mut boxes = None;
        let mut drawn = Vec::new();
        if self.overlay || self.boxes {
            let nodes: Vec<_> = picture.marks.iter().map(|m| m.node).collect();
            let refs = capture::issue(cx, &nodes)?;
            let area = shot.area;
            let place = |r: Rect| Rect {
                x: (r.x - area.x) * scale,
                y: (r.y - area.y) * scale,
                width: r.width * scale,
                height: r.height * scale,
            };
            drawn = refs.into_iter().zip(&picture.marks).map(|(r, m)| (r, place(m.rect))).collect();
            if self.boxes {
                let boxed = |((r, place), mark): (&(Ref, Rect), &ScreenshotMark)| ElementBox {
                    r#ref: r.to_string(),
                    meaning: mark.meaning.to_string(),
                    x: place.x,
                    y: place.y,
                    width: place.width,
                    height: place.height,
                };
                boxes = Some(drawn.iter().zip(&picture.marks).map(boxed).collect());
            }
        }
        // Keep the device's bytes unless the pixels or the format must change.
        let bytes = if size == taken_at && !self.overlay && format == Format::Png {
            shot.png
        } else {
            let mut image = Image::decode(&shot.png)?.shrink(longest);
            if self.overlay {
                crate::picture::overlay::draw(&mut image, &drawn);
            }
            image.encode(format)?
        };
        let path = write_image(cx, named, &format!("p{id}.{}", format.extension()), &bytes)?;
        cx.open_session()?.screenshots.set(client, picture);
        Ok(ScreenshotOutput { boxes, ..taken(Some(path)) })
    }
}

/// Returns the address of the element to capture, if one was named.
///
/// # Errors
/// Returns errors from resolving the target, and `UNSUPPORTED` for a node that is not backed by an
/// element in the app.
pub(super) async fn address_to_capture(cx: &mut Cx, target: Option<&Target>) -> Result<Option<Handle>> {
    let Some(target) = target else { return Ok(None) };
    let (tree, node) = resolve::resolve_element(cx, target).await?;
    let made_up = || Error::unsupported(format!("{target} is not backed by an element in the app"));
    tree.node(node).address().map(Some).ok_or_else(made_up)
}

/// Writes an image to the caller's path, or under `name` in a folder of the session.
///
/// # Errors
/// Returns `POLICY_DENIED` for a path outside the caller's folders, and `IO` or `STORAGE_FULL` if
/// writing fails.
pub(super) fn write_image(cx: &mut Cx, path: Option<PathBuf>, name: &str, bytes: &[u8]) -> Result<PathBuf> {
    let path = match path {
        Some(path) => {
            cx.write(&path, bytes)?;
            path
        }
        None => {
            let dir = cx.open_session()?.dir.path().join("pictures");
            private_dir(&dir)?;
            let path = dir.join(name);
            // Not synced to the disk: the folder does not outlive the session.
            std::fs::write(&path, bytes).map_err(|e| io_error("write", &path, &e))?;
            path
        }
    };
    cx.envelope.image = Some(path.clone());
    Ok(path)
}

/// Takes a screenshot together with the boxes of the actionable elements.
///
/// The screenshot is repeated if elements moved while it was being taken, because their boxes are
/// then wrong. Elements that moved during the last attempt are omitted.
pub(super) async fn capture_without_motion(
    cx: &mut Cx,
    request: ScreenshotRequest,
) -> Result<(Arc<Tree>, ScreenshotImage, Vec<PlacedElement>)> {
    let mut round = 1;
    loop {
        let tree = capture::capture_app(cx, Origin::Internal).await?;
        let before = points::actionable_boxes(cx, &tree).await?;
        let shot = facets::screenshots(cx.device()?, "take screenshots")?.screenshot(request.clone()).await?;
        let mut after = points::actionable_boxes(cx, &tree).await?;
        if before == after || round == MAX_ATTEMPTS {
            let stood: BTreeMap<_, _> = before.iter().map(|b| (b.node, b.rect)).collect();
            after.retain(|b| stood.get(&b.node) == Some(&b.rect));
            return Ok((tree, shot, after));
        }
        round += 1;
    }
}

/// Hashes an image together with the size to which it is scaled. Equal images have equal hashes,
/// because a device encodes the same pixels as the same bytes.
fn print(png: &[u8], size: (u32, u32)) -> u64 {
    let mut hasher = DefaultHasher::new();
    (png, size).hash(&mut hasher);
    hasher.finish()
}

impl Show for ScreenshotOutput {
    fn show(&self, text: &mut Text) {
        let size = format!("{} {}x{} scale {:.3}", self.id, self.width, self.height, self.scale);
        match &self.path {
            Some(path) => text.line(format_args!("{} · {size}", path.display())),
            None => text.line(format_args!("unchanged · {size}")),
        }
        for b in self.boxes.iter().flatten() {
            text.line(format_args!(
                "{} {} at {:.0},{:.0} {:.0}x{:.0}",
                b.r#ref, b.meaning, b.x, b.y, b.width, b.height
            ));
        }
    }
}
