//! The pictures that clients were given, with what they showed.

use std::collections::VecDeque;
use stickpin_refs::Generation;
use stickpin_session::ClientId;
use stickpin_tree::{Handle, Meaning, NodeId, Rect, Tree};

/// How many pictures are remembered: one for each of the last clients.
const KEPT: usize = 16;

/// An element that a picture shows.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    pub(crate) node: NodeId,
    pub(crate) handle: Handle,
    /// In pixels of the viewport.
    pub(crate) rect: Rect,
    pub(crate) meaning: Meaning,
}

/// Where an element is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Placed {
    pub(crate) node: NodeId,
    pub(crate) handle: Handle,
    /// In pixels of the viewport.
    pub(crate) rect: Rect,
}

/// The page that a tree is of: its document, and where in it an app of one page is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PageShown(Option<(u64, String)>);

impl PageShown {
    pub(crate) fn of(tree: &Tree) -> Self {
        Self(
            tree.documents()
                .first()
                .map(|d| (d.scope, d.url.split('#').next().unwrap_or_default().to_owned())),
        )
    }

    /// Whether it is a page of this address, whatever place in it.
    fn is_at(&self, url: &str) -> bool {
        self.0.as_ref().is_some_and(|(_, page)| url.split('#').next() == Some(page))
    }
}

/// A picture that a client was given.
#[derive(Debug, Clone)]
pub(crate) struct Picture {
    /// Its number in this session; `p3` to people.
    pub(crate) id: u32,
    /// What it shows, in pixels of the viewport at that time.
    pub(crate) area: Rect,
    /// Its pixels per pixel of the viewport.
    pub(crate) scale: f64,
    /// How far the page was scrolled.
    pub(crate) scrolled: (f64, f64),
    /// The page that it shows, and the generation of its tree.
    pub(crate) of: (PageShown, Option<Generation>),
    /// Tells a picture that reads the same.
    pub(crate) print: u64,
    pub(crate) marks: Vec<Mark>,
}

impl Picture {
    /// The point of the viewport under a pixel of the picture.
    pub(crate) fn viewport(&self, x: f64, y: f64) -> (f64, f64) {
        (self.area.x + x / self.scale, self.area.y + y / self.scale)
    }

    /// The innermost element that it shows at a point of the viewport.
    pub(crate) fn at(&self, (x, y): (f64, f64)) -> Option<&Mark> {
        let size = |m: &&Mark| m.rect.width * m.rect.height;
        self.marks.iter().filter(|m| m.rect.contains(x, y)).min_by(|a, b| size(a).total_cmp(&size(b)))
    }
}

/// The last picture of each client.
#[derive(Debug, Default)]
pub(crate) struct Pictures {
    last: u32,
    of: VecDeque<(ClientId, Picture)>,
}

impl Pictures {
    /// The number of the next picture.
    pub(crate) fn number(&mut self) -> u32 {
        self.last += 1;
        self.last
    }

    pub(crate) fn of(&self, client: &ClientId) -> Option<&Picture> {
        self.of.iter().find(|(c, _)| c == client).map(|(_, p)| p)
    }

    /// The client knows that the app has left the page of its picture, and went to `url`: a point is none of the picture any
    /// more.
    pub(crate) fn leave(&mut self, client: &ClientId, url: &str) {
        self.of.retain(|(c, picture)| c != client || picture.of.0.is_at(url));
    }

    /// The client has this picture now.
    pub(crate) fn give(&mut self, client: ClientId, picture: Picture) {
        self.of.retain(|(c, _)| *c != client);
        self.of.push_back((client, picture));
        if self.of.len() > KEPT {
            self.of.pop_front();
        }
    }
}
