//! The parameters and results of captures, located elements, screenshots and queries.

use crate::error::{Error, Result};
use crate::live_picture::png_size;
use crate::setters::setters;
use crate::ticket::Ticket;
use std::sync::Arc;
use stickpin_tree::{Handle, NodeId, Rect, Tree};

/// The address and title of the top document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Page {
    /// The address.
    pub url: String,
    /// The title; empty if the document has none.
    pub title: String,
}

impl Page {
    /// Creates a page with an address and a title.
    #[must_use]
    pub fn new(url: impl Into<String>, title: impl Into<String>) -> Self {
        Self { url: url.into(), title: title.into() }
    }
}

/// The parameters of a capture.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct CaptureRequest<'a> {
    /// Handles for which the session has refs. Those whose elements are connected but not captured
    /// are returned in [`Tree::hidden`].
    pub watch: &'a [Handle],
    /// The caller's current tree. A device that can prove that a new capture would be identical may
    /// return [`CaptureResult::Unchanged`].
    pub stored: Option<&'a Arc<Tree>>,
}

setters!(CaptureRequest<'a> { watch: &'a [Handle], stored: Option<&'a Arc<Tree>> });

/// The result of a capture.
#[derive(Debug)]
#[non_exhaustive]
pub enum CaptureResult {
    /// A new tree.
    Tree(Arc<Tree>),
    /// A new capture would be identical to the caller's tree, and the device can prove it.
    Unchanged,
}

impl CaptureResult {
    /// Returns the tree, or `Unchanged` if the caller already has exactly that tree.
    #[must_use]
    pub fn of(tree: Arc<Tree>, stored: Option<&Arc<Tree>>) -> Self {
        if stored.is_some_and(|stored| Arc::ptr_eq(stored, &tree)) {
            Self::Unchanged
        } else {
            Self::Tree(tree)
        }
    }
}

/// An element that a device located by its handle.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LocatedElement {
    /// The tree that contains the element.
    pub tree: Arc<Tree>,
    /// The element's node in that tree.
    pub node: NodeId,
    /// The ticket to pass to [`Device::prepare`](crate::Device::prepare).
    pub ticket: Ticket,
}

impl LocatedElement {
    /// Creates a located element without a ticket.
    #[must_use]
    pub fn new(tree: Arc<Tree>, node: NodeId) -> Self {
        Self { tree, node, ticket: Ticket::default() }
    }

    /// Finds an element of a tree by its handle; `None` if the tree does not contain it.
    #[must_use]
    pub fn find(tree: Arc<Tree>, handle: Handle) -> Option<Self> {
        let node = tree.find_handle(handle)?.id();
        Some(Self::new(tree, node))
    }
}

/// The subject of a screenshot; the viewport by default.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ScreenshotRequest {
    /// The element to which the screenshot is limited, if any.
    pub of: Option<Handle>,
    /// Whether to show the whole page, or the whole screen of a desktop app, instead of the
    /// viewport. Ignored if `of` is set.
    pub full: bool,
}

setters!(ScreenshotRequest { of: Option<Handle>, full: bool });

/// A screenshot.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ScreenshotImage {
    /// The image, encoded as PNG.
    pub png: Vec<u8>,
    /// The area that the image shows, in CSS pixels of the viewport. For a full page, the area
    /// starts at the negated scroll offset.
    pub area: Rect,
    /// The number of image pixels per CSS pixel.
    pub scale: f64,
}

impl ScreenshotImage {
    /// Creates a screenshot.
    #[must_use]
    pub fn new(png: Vec<u8>, area: Rect, scale: f64) -> Self {
        Self { png, area, scale }
    }

    /// Creates a screenshot and computes its scale from the width in the image header.
    ///
    /// # Errors
    /// Returns `INTERNAL` if the image is not a PNG.
    pub fn from_png(png: Vec<u8>, area: Rect) -> Result<Self> {
        let (width, _) = png_size(&png).ok_or_else(|| Error::internal("the screenshot is not a PNG"))?;
        Ok(Self { scale: f64::from(width) / area.width.max(1.0), png, area })
    }
}

/// A query about one element, for information that the tree lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Query {
    /// All attributes, as an object.
    Attrs,
    /// The outer HTML or the platform's equivalent.
    Html,
    /// The visible text.
    Text,
}
