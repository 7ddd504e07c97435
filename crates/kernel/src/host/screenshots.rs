//! The screenshots that clients were given, with the elements that they show.

use std::collections::VecDeque;
use stickpin_refs::Generation;
use stickpin_session::ClientId;
use stickpin_tree::{Handle, Meaning, NodeId, Rect, Tree};

/// The maximum number of remembered screenshots, one per client.
const MAX_SCREENSHOTS: usize = 16;

/// An element in a screenshot.
#[derive(Debug, Clone)]
pub(crate) struct ScreenshotMark {
    pub(crate) node: NodeId,
    pub(crate) handle: Handle,
    /// The bounding box in viewport pixels.
    pub(crate) rect: Rect,
    pub(crate) meaning: Meaning,
}

/// An element and its location.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PlacedElement {
    pub(crate) node: NodeId,
    pub(crate) handle: Handle,
    /// The bounding box in viewport pixels.
    pub(crate) rect: Rect,
}

/// The identity of a page: its document and its address without the fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PageIdentity(Option<(u64, String)>);

impl PageIdentity {
    pub(crate) fn of(tree: &Tree) -> Self {
        Self(
            tree.documents()
                .first()
                .map(|d| (d.scope, d.url.split('#').next().unwrap_or_default().to_owned())),
        )
    }

    /// Returns whether the page has this address, regardless of the fragment.
    fn is_at(&self, url: &str) -> bool {
        self.0.as_ref().is_some_and(|(_, page)| url.split('#').next() == Some(page))
    }
}

/// A screenshot that a client was given.
#[derive(Debug, Clone)]
pub(crate) struct ClientScreenshot {
    /// The number of the screenshot in its session, shown with a `p`: `p3`.
    pub(crate) id: u32,
    /// The captured area, in viewport pixels at that time.
    pub(crate) area: Rect,
    /// Image pixels per viewport pixel.
    pub(crate) scale: f64,
    /// The scroll offset of the page.
    pub(crate) scrolled: (f64, f64),
    /// The page, and the generation of its tree.
    pub(crate) page: (PageIdentity, Option<Generation>),
    /// A hash that is equal for equal images.
    pub(crate) image_hash: u64,
    pub(crate) marks: Vec<ScreenshotMark>,
}

impl ClientScreenshot {
    /// Converts a pixel of the image to a point of the viewport.
    pub(crate) fn to_viewport(&self, x: f64, y: f64) -> (f64, f64) {
        (self.area.x + x / self.scale, self.area.y + y / self.scale)
    }

    /// Returns the smallest element that contains a point of the viewport.
    pub(crate) fn mark_at(&self, (x, y): (f64, f64)) -> Option<&ScreenshotMark> {
        let size = |m: &&ScreenshotMark| m.rect.width * m.rect.height;
        self.marks.iter().filter(|m| m.rect.contains(x, y)).min_by(|a, b| size(a).total_cmp(&size(b)))
    }
}

/// The last screenshot of each client.
#[derive(Debug, Default)]
pub(crate) struct ClientScreenshots {
    last: u32,
    of: VecDeque<(ClientId, ClientScreenshot)>,
}

impl ClientScreenshots {
    /// Returns the number for the next screenshot.
    pub(crate) fn next_id(&mut self) -> u32 {
        self.last += 1;
        self.last
    }

    pub(crate) fn last_of(&self, client: &ClientId) -> Option<&ClientScreenshot> {
        self.of.iter().find(|(c, _)| c == client).map(|(_, p)| p)
    }

    /// Forgets the client's screenshot unless `url` is on the same page. Called when the client
    /// learns that the app went to `url`.
    pub(crate) fn forget_unless_at(&mut self, client: &ClientId, url: &str) {
        self.of.retain(|(c, picture)| c != client || picture.page.0.is_at(url));
    }

    /// Sets the client's last screenshot.
    pub(crate) fn set(&mut self, client: ClientId, picture: ClientScreenshot) {
        self.of.retain(|(c, _)| *c != client);
        self.of.push_back((client, picture));
        if self.of.len() > MAX_SCREENSHOTS {
            self.of.pop_front();
        }
    }
}
