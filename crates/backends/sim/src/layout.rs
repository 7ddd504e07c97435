//! A small deterministic flow layout, which gives rects, scrolling, hit tests and pictures a
//! meaning.
//!
//! Block elements are stacked at full width; inline ones are placed side by side and wrap. Elements
//! with `x` and `y` are above the flow, in document order. A modal dialog without them is centered
//! on a backdrop.

use crate::app::dom::Dom;
use crate::roles::Flow;
use std::collections::HashMap;
use stickpin_tree::{Rect, Role, States};

/// The width of a character.
pub(crate) const CHAR: f64 = 8.0;
/// The height of a line of text.
pub(crate) const LINE: f64 = 16.0;
/// The minimum height of a control.
const CONTROL: f64 = 28.0;
const GAP: f64 = 6.0;
const FIELD_WIDTH: f64 = 240.0;
/// The key of the page's own scroll offset.
pub(crate) const PAGE: &str = "page";

/// The positions of all nodes at one moment.
#[derive(Debug)]
pub(crate) struct Layout {
    /// The box of each node in viewport coordinates; `None` if it is hidden.
    pub(crate) rects: Vec<Option<Rect>>,
    /// The area of the viewport to which each node is clipped.
    clips: Vec<Rect>,
    /// The roots of layers above the flow, lowest first. The flag states whether a backdrop covers
    /// everything below the layer.
    pub(crate) layers: Vec<(usize, bool)>,
    /// The content height and the window height of each scroller, by mark.
    pub(crate) scrollers: HashMap<String, (f64, f64)>,
    pub(crate) viewport: Rect,
}

struct LayoutPass<'a> {
    dom: &'a Dom,
    scroll: &'a HashMap<String, f64>,
    out: Layout,
    /// The roots of layers that are not laid out yet.
    pending: Vec<usize>,
}

/// Lays out a document.
pub(crate) fn layout(dom: &Dom, scroll: &HashMap<String, f64>, viewport: (u32, u32)) -> Layout {
    let viewport = Rect { x: 0.0, y: 0.0, width: viewport.0.into(), height: viewport.1.into() };
    let n = dom.nodes.len();
    let out = Layout {
        rects: vec![None; n],
        clips: vec![viewport; n],
        layers: Vec::new(),
        scrollers: HashMap::new(),
        viewport,
    };
    let mut pass = LayoutPass { dom, scroll, out, pending: Vec::new() };
    if n > 0 {
        let offset = scroll.get(PAGE).copied().unwrap_or(0.0);
        let (_, height) = pass.layout_node(0, 0.0, -offset, viewport.width, viewport);
        pass.out.scrollers.insert(PAGE.into(), (height, viewport.height));
        while !pass.pending.is_empty() {
            for root in std::mem::take(&mut pass.pending) {
                pass.layer(root);
            }
        }
        pass.out.layers.sort_unstable();
    }
    pass.out
}

fn chars(text: &str) -> f64 {
    u32::try_from(text.chars().count()).map_or(0.0, |n| f64::from(n) * CHAR)
}

#[allow(clippy::cast_precision_loss, reason = "pixels of a made-up screen")]
fn pixels(n: i64) -> f64 {
    n as f64
}

impl LayoutPass<'_> {
    fn layer(&mut self, root: usize) {
        let node = &self.dom.nodes[root];
        let view = self.out.viewport;
        let width = node.style.width.map_or(480.0, pixels);
        let (x, y) = match node.style.fixed {
            Some((x, y)) => (pixels(x), pixels(y)),
            None => (((view.width - width) / 2.0).max(0.0), 96.0),
        };
        self.out.layers.push((root, node.style.fixed.is_none()));
        let (_, height) = self.layout_node(root, x, y, width, view);
        if let Some(rect) = &mut self.out.rects[root] {
            rect.height = node.style.height.map_or(height, pixels);
            rect.width = width;
        }
    }

    /// Returns whether a node is outside the flow.
    fn floats(&self, at: usize) -> bool {
        let node = &self.dom.nodes[at];
        node.style.fixed.is_some() || node.states.contains(States::MODAL)
    }

    /// Places a node; returns the size that it takes up.
    fn layout_node(&mut self, at: usize, x: f64, y: f64, available_width: f64, clip: Rect) -> (f64, f64) {
        let dom = self.dom;
        let node = &dom.nodes[at];
        if node.style.hidden {
            return (0.0, 0.0);
        }
        self.out.clips[at] = clip;
        if node.is_text() {
            let size = (chars(&node.name), LINE);
            self.out.rects[at] = Some(Rect { x, y, width: size.0, height: size.1 });
            return size;
        }
        let block = node.style.flow == Flow::Block;
        let (least_w, least_h, pad) = natural_size(dom, at);
        let width = node.style.width.map_or(available_width, pixels);
        let mut inner_clip = clip;
        let mut offset = 0.0;
        if node.style.scroll {
            let height = node.style.height.map_or(600.0, pixels);
            inner_clip = intersect(clip, Rect { x, y, width, height });
            offset = self.scroll.get(&node.mark).copied().unwrap_or(0.0);
        }
        let (content_w, content_h) =
            self.layout_children(at, x + pad, y + pad - offset, (width - 2.0 * pad).max(CHAR), inner_clip);
        let natural_h = (content_h + 2.0 * pad).max(least_h);
        let height = node.style.height.map_or(natural_h, pixels);
        let width = match node.style.width {
            Some(w) => pixels(w),
            None if block => available_width,
            None => (content_w + 2.0 * pad).max(least_w),
        };
        if node.style.scroll {
            self.out.scrollers.insert(node.mark.clone(), (natural_h, height));
        }
        self.out.rects[at] = Some(Rect { x, y, width, height });
        (width, height)
    }

    /// Lays out the children; returns the size that they take up.
    fn layout_children(&mut self, of: usize, x: f64, y: f64, available_width: f64, clip: Rect) -> (f64, f64) {
        let (mut cx, mut cy, mut line, mut widest) = (x, y, 0.0_f64, 0.0_f64);
        let children: Vec<usize> = self.dom.children(of).collect();
        for child in children {
            let style = &self.dom.nodes[child].style;
            if style.hidden {
                continue;
            }
            if self.floats(child) {
                if !self.pending.contains(&child) {
                    self.pending.push(child);
                }
                continue;
            }
            if let Some(top) = style.top {
                self.layout_node(child, x, y + pixels(top), available_width, clip);
                continue;
            }
            if style.flow == Flow::Block {
                if line > 0.0 {
                    cy += line + GAP;
                    (cx, line) = (x, 0.0);
                }
                let (w, h) = self.layout_node(child, x, cy, available_width, clip);
                widest = widest.max(w);
                cy += h + GAP;
                continue;
            }
            let (mut w, mut h) = self.layout_node(child, cx, cy, (x + available_width - cx).max(CHAR), clip);
            if cx > x && cx + w > x + available_width {
                cy += line + GAP;
                (cx, line) = (x, 0.0);
                (w, h) = self.layout_node(child, cx, cy, available_width, clip);
            }
            cx += w + GAP;
            line = line.max(h);
            widest = widest.max(cx - GAP - x);
        }
        let bottom = if line > 0.0 {
            cy + line
        } else if cy > y {
            cy - GAP
        } else {
            cy
        };
        (widest, bottom - y)
    }
}

/// Returns the minimum width and height of a box, and its padding.
fn natural_size(dom: &Dom, at: usize) -> (f64, f64, f64) {
    let node = &dom.nodes[at];
    match node.role {
        Role::TextBox if node.states.contains(States::MULTILINE) => (FIELD_WIDTH, 72.0, 6.0),
        Role::TextBox | Role::SearchBox | Role::SpinButton | Role::Combobox | Role::Slider => {
            (FIELD_WIDTH, CONTROL, 6.0)
        }
        Role::Checkbox | Role::Radio | Role::Switch => (24.0 + chars(&node.name), CONTROL, 6.0),
        Role::Button | Role::Tab | Role::Link => (2.0 * CHAR, CONTROL, 6.0),
        Role::Image => (32.0, 32.0, 0.0),
        Role::ProgressBar => (160.0, LINE, 0.0),
        Role::Separator => (0.0, 2.0, 0.0),
        Role::Heading => (0.0, 24.0, 2.0),
        Role::Document => (0.0, 0.0, 8.0),
        Role::Generic | Role::Paragraph | Role::Main | Role::List | Role::Iframe => (0.0, 0.0, 0.0),
        _ => (0.0, 0.0, 4.0),
    }
}

/// Returns the intersection of two rectangles; empty if they do not overlap.
pub(crate) fn intersect(a: Rect, b: Rect) -> Rect {
    a.intersection(b).unwrap_or_default()
}

impl Layout {
    /// Returns the visible part of a node in an area of the page. Includes parts outside the
    /// viewport unless something else clips them.
    pub(crate) fn visible_rect_in(&self, at: usize, area: Rect) -> Option<Rect> {
        let clip = if self.clips[at] == self.viewport { area } else { self.clips[at] };
        self.rects[at]?.intersection(clip)?.intersection(area)
    }

    /// Returns the visible part of a node, ignoring occlusion; `None` if no part is visible.
    pub(crate) fn visible_rect(&self, at: usize) -> Option<Rect> {
        self.rects[at]?.intersection(self.clips[at])
    }

    /// Returns the element that a press at a point would reach; `None` if there is no such element.
    pub(crate) fn hit_test(&self, dom: &Dom, x: f64, y: f64) -> Option<usize> {
        if !self.viewport.contains(x, y) {
            return None;
        }
        for &(root, backdrop) in self.layers.iter().rev() {
            let found = self.topmost(dom, root, x, y);
            if found.is_some() || (backdrop && !dom.nodes[root].style.ghost) {
                return found.or(Some(root));
            }
        }
        self.topmost(dom, 0, x, y)
    }

    /// Returns the nodes of a subtree, without other layers in it.
    pub(crate) fn layer<'l>(&'l self, dom: &'l Dom, root: usize) -> impl Iterator<Item = usize> + 'l {
        let is_other = move |at: usize| at != root && self.layers.iter().any(|&(layer, _)| layer == at);
        let mut next = root;
        std::iter::from_fn(move || {
            while next < dom.nodes[root].end && is_other(next) {
                next = dom.nodes[next].end;
            }
            next += 1;
            (next <= dom.nodes[root].end).then(|| next - 1)
        })
    }

    /// Returns the last node of a layer that accepts the pointer at a point.
    fn topmost(&self, dom: &Dom, root: usize, x: f64, y: f64) -> Option<usize> {
        let is_hit = |at: &usize| {
            let node = &dom.nodes[*at];
            !node.style.ghost
                && !node.states.contains(States::HIDDEN)
                && !node.is_text()
                && self.visible_rect(*at).is_some_and(|r| r.contains(x, y))
        };
        self.layer(dom, root).filter(is_hit).last()
    }

    /// Returns the maximum scroll offset of a scroller.
    pub(crate) fn max_scroll_offset(&self, mark: &str) -> f64 {
        self.scrollers.get(mark).map_or(0.0, |(content, window)| (content - window).max(0.0))
    }
}
