//! The overlay: refs drawn on a screenshot, with a frame around each element.

use crate::picture::image::{CELL, Image};
use stickpin_refs::Ref;
use stickpin_tree::Rect;

const INK: [u8; 3] = [208, 0, 80];
const PAPER: [u8; 3] = [255, 255, 255];

/// Draws each ref at its box, which is in image pixels.
pub(crate) fn draw(image: &mut Image, marks: &[(Ref, Rect)]) {
    for (_, rect) in marks {
        let (x, y, width, height) = pixels(*rect);
        image.frame(x, y, width, height, INK);
    }
    // Draw labels after all frames, so that no line crosses a number.
    for (r, rect) in marks {
        let label = format!("e{}", r.get());
        let width = CELL * u32::try_from(label.len()).unwrap_or(u32::MAX) + 2;
        let (x, y, ..) = pixels(*rect);
        let x = x.clamp(0, i64::from(image.width.saturating_sub(width)));
        // Draw the label above the element if there is room, so that the element's text stays
        // readable.
        let above = y - i64::from(CELL) - 2;
        let y = if above >= 0 { above } else { y.max(0) };
        image.fill(x, y, width, CELL + 2, INK);
        image.text(x + 1, y + 1, &label, PAPER);
    }
}

fn pixels(rect: Rect) -> (i64, i64, u32, u32) {
    let size = |v: f64| v.round().clamp(1.0, 1e6) as u32;
    (rect.x.round() as i64, rect.y.round() as i64, size(rect.width), size(rect.height))
}
