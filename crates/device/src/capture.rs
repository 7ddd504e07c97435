//! What reading an app gives: the whole of it, one element, a picture, a single fact.

use crate::ticket::Ticket;
use std::sync::Arc;
use stickpin_tree::{Handle, NodeId, Rect, Tree};

/// The address and title of the top document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    /// The address.
    pub url: String,
    /// The title; empty if it has none.
    pub title: String,
}

/// What a capture should take care of.
#[derive(Debug, Clone, Copy, Default)]
pub struct CaptureRequest<'a> {
    /// Handles that the session holds refs for: those that are connected but not captured come back in
    /// [`Tree::hidden`].
    pub watch: &'a [Handle],
    /// The tree that the caller has. Where the device can prove that a capture now would give this very tree, it may
    /// say `Unchanged`.
    pub stored: Option<&'a Arc<Tree>>,
}

/// What a capture gave.
#[derive(Debug)]
pub enum Captured {
    /// A tree.
    Tree(Arc<Tree>),
    /// A capture now would give the tree that the caller has, which is proven.
    Unchanged,
}

/// An element that was looked for.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Located {
    /// The tree around it.
    pub tree: Arc<Tree>,
    /// Which node of that tree it is.
    pub node: NodeId,
    /// For [`Device::prepare`](crate::Device::prepare).
    pub ticket: Ticket,
}

impl Located {
    /// An element in a tree.
    #[must_use]
    pub fn new(tree: Arc<Tree>, node: NodeId) -> Self {
        Self { tree, node, ticket: Ticket::default() }
    }
}

/// What to take a picture of.
#[derive(Debug, Clone, Default)]
pub struct ShotRequest {
    /// One element.
    pub of: Option<Handle>,
    /// The whole page, not only the viewport.
    pub full: bool,
}

/// A picture.
#[derive(Debug, Clone)]
pub struct Shot {
    /// PNG.
    pub png: Vec<u8>,
    /// Which part of the viewport it shows, in CSS pixels (a full page starts at negative scroll offsets).
    pub area: Rect,
    /// Pixels of the picture per CSS pixel.
    pub scale: f64,
}

/// Something about an element that is not in the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Query {
    /// All attributes, as an object.
    Attrs,
    /// Its outer HTML or the platform's equivalent.
    Html,
    /// The text that a person sees.
    Text,
}
