//! What a device is asked apart from captures and acts: quiet, navigation, pictures, single facts.

use std::time::Duration;
use stickpin_tree::{Handle, Rect};

/// When an app counts as quiet.
#[derive(Debug, Clone, Copy)]
pub struct SettleRequest {
    /// How long nothing may move.
    pub quiet: Duration,
    /// When to give up.
    pub cap: Duration,
}

/// How waiting for quiet ended.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Settled {
    /// Whether it became quiet.
    pub settled: bool,
    /// What was still moving: `request GET /api`, `animation on div.spinner`, `mutations of ul#feed`.
    pub still: Vec<String>,
}

/// Where to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Navigation {
    /// An address, or another app of the same kind.
    To(String),
    /// One step back.
    Back,
    /// One step forward.
    Forward,
    /// The same again.
    Reload,
    /// The start screen of the device.
    Home,
}

/// How a navigation ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Arrived {
    /// Whether there was anywhere to go (history).
    pub moved: bool,
    /// The address now.
    pub url: String,
    /// The title now.
    pub title: String,
    /// Whether the document became ready and quiet in time.
    pub settled: bool,
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
pub enum Query {
    /// All attributes, as an object.
    Attrs,
    /// Its outer HTML or the platform's equivalent.
    Html,
    /// The text that a person sees.
    Text,
}
