//! Pictures: boxes and text in a bitmap font, enough to show where elements are.

use crate::app::dom::{Dom, Node};
use crate::layout::{CHAR, LINE, Layout, intersect};
use font8x8::legacy::{BASIC_LEGACY, LATIN_LEGACY};
use stickpin_device::{Result, encode_png};
use stickpin_tree::{Rect, Role, States};

const WHITE: [u8; 3] = [255, 255, 255];
const INK: [u8; 3] = [28, 30, 34];
const GREY: [u8; 3] = [150, 154, 160];
const LIGHT_GREY: [u8; 3] = [240, 241, 244];
const BLUE: [u8; 3] = [24, 90, 188];
const SHADE: [u8; 3] = [200, 202, 206];

struct Canvas {
    area: Rect,
    width: u32,
    height: u32,
    pixels: Vec<u8>,
}

/// Draws an area of the page as a PNG, one pixel per CSS pixel.
pub(crate) fn draw(dom: &Dom, layout: &Layout, area: Rect) -> Result<Vec<u8>> {
    let (width, height) = (pixels(area.width).max(1), pixels(area.height).max(1));
    let mut canvas = Canvas { area, width, height, pixels: vec![255; width as usize * height as usize * 3] };
    canvas.subtree(dom, layout, 0);
    for &(root, backdrop) in &layout.layers {
        if backdrop {
            canvas.fill(area, SHADE);
        }
        canvas.subtree(dom, layout, root);
    }
    encode_png(&canvas.pixels, width, height)
}

/// Converts a length to whole pixels, at most 16,384 per side of a picture.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
fn pixels(length: f64) -> u32 {
    length.clamp(0.0, 16_384.0) as u32
}

impl Canvas {
    fn subtree(&mut self, dom: &Dom, layout: &Layout, root: usize) {
        for at in layout.layer(dom, root) {
            if let (Some(rect), Some(seen)) = (layout.rects[at], layout.visible_rect_in(at, self.area))
                && !dom.nodes[at].states.contains(States::HIDDEN)
            {
                self.node(dom, at, rect, seen);
            }
        }
    }

    fn node(&mut self, dom: &Dom, at: usize, rect: Rect, seen: Rect) {
        let node = &dom.nodes[at];
        let ink = if node.states.contains(States::DISABLED) { GREY } else { INK };
        if node.is_text() {
            let parent = &dom.nodes[node.parent];
            let ink = match parent.role {
                Role::Link => BLUE,
                _ if parent.states.contains(States::DISABLED) => GREY,
                _ => INK,
            };
            return self.text(&node.name, rect, seen, ink);
        }
        let floats = node.style.fixed.is_some() || node.states.contains(States::MODAL);
        if floats && !node.style.clear {
            self.fill(seen, WHITE);
            self.frame(rect, seen, GREY);
        }
        match node.role {
            Role::Button | Role::Tab | Role::MenuItem | Role::Option => {
                let on = node.states.intersects(States::SELECTED | States::PRESSED);
                self.fill(seen, if on { SHADE } else { LIGHT_GREY });
                self.frame(rect, seen, ink);
            }
            Role::TextBox | Role::SearchBox | Role::SpinButton | Role::Combobox | Role::Slider => {
                self.fill(seen, WHITE);
                self.frame(rect, seen, if node.states.contains(States::FOCUSED) { BLUE } else { ink });
                let (text, ink) = field_text(node, ink);
                self.text(&text, inset(rect, 6.0), seen, ink);
            }
            Role::Checkbox | Role::Radio | Role::Switch => {
                let mark = Rect { width: 16.0, height: 16.0, ..inset(rect, 6.0) };
                self.frame(mark, intersect(mark, seen), ink);
                if node.states.contains(States::CHECKED) {
                    self.fill(intersect(inset(mark, 4.0), seen), ink);
                }
                let label = Rect { x: rect.x + 26.0, ..inset(rect, 6.0) };
                self.text(&node.name, label, seen, ink);
            }
            Role::Image => self.frame(rect, seen, GREY),
            Role::Separator => self.fill(seen, GREY),
            _ => {}
        }
    }

    fn fill(&mut self, rect: Rect, ink: [u8; 3]) {
        let rect = intersect(rect, self.area);
        let (x, y) = (pixels(rect.x - self.area.x), pixels(rect.y - self.area.y));
        let width = pixels(rect.width).min(self.width.saturating_sub(x)) as usize;
        for row in y..(y + pixels(rect.height)).min(self.height) {
            let at = (row as usize * self.width as usize + x as usize) * 3;
            for pixel in self.pixels[at..at + width * 3].chunks_exact_mut(3) {
                pixel.copy_from_slice(&ink);
            }
        }
    }

    fn frame(&mut self, rect: Rect, seen: Rect, ink: [u8; 3]) {
        let (right, bottom) = (rect.x + rect.width - 1.0, rect.y + rect.height - 1.0);
        for side in [
            Rect { height: 1.0, ..rect },
            Rect { y: bottom, height: 1.0, ..rect },
            Rect { width: 1.0, ..rect },
            Rect { x: right, width: 1.0, ..rect },
        ] {
            self.fill(intersect(side, seen), ink);
        }
    }

    /// Draws text in cells of 8 by 16 pixels: glyphs are drawn at double height.
    fn text(&mut self, text: &str, rect: Rect, seen: Rect, ink: [u8; 3]) {
        let mut x = rect.x;
        for c in text.chars() {
            if x >= seen.x + seen.width {
                break;
            }
            for (row, bits) in (0u32..).zip(glyph(c)) {
                for column in (0u32..8).filter(|column| bits & (1 << column) != 0) {
                    let (x, y) = (x + f64::from(column), rect.y + f64::from(row * 2));
                    self.fill(intersect(Rect { x, y, width: 1.0, height: 2.0 }, seen), ink);
                }
            }
            x += CHAR;
        }
    }
}

/// Returns the rows of a character, with the leftmost pixel in the lowest bit.
fn glyph(c: char) -> [u8; 8] {
    let code = u32::from(c) as usize;
    let latin = code.checked_sub(0xA0).and_then(|i| LATIN_LEGACY.get(i));
    *BASIC_LEGACY.get(code).or(latin).unwrap_or(&BASIC_LEGACY[usize::from(b'?')])
}

fn inset(rect: Rect, by: f64) -> Rect {
    Rect {
        x: rect.x + by,
        y: rect.y + by,
        width: (rect.width - 2.0 * by).max(0.0),
        height: (rect.height - 2.0 * by).max(LINE.min(rect.height)),
    }
}

/// Returns the text that a field shows and its color: its value, asterisks for a secret, or its
/// name in grey if it is empty.
fn field_text(node: &Node, ink: [u8; 3]) -> (String, [u8; 3]) {
    if node.value.is_empty() {
        (node.name.clone(), GREY)
    } else if node.states.contains(States::PROTECTED) {
        ("*".repeat(node.value.chars().count()), ink)
    } else {
        (node.value.clone(), ink)
    }
}
