//! Pictures with refs drawn over them.

use super::ReadPicture;
use super::text::text;
use crate::report::model::{Picture, RefBox};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use stickpin_tree::format_count;

/// The pictures of a page. A repeated picture is embedded only once.
pub(super) struct Pictures<'r> {
    read: &'r ReadPicture<'r>,
    /// The ids of the embedded pictures, by the hash of their content.
    embedded: HashMap<[u8; 32], String>,
}

impl<'r> Pictures<'r> {
    pub(super) fn new(read: &'r ReadPicture<'r>) -> Self {
        Self { read, embedded: HashMap::new() }
    }

    /// Returns a picture with the refs of its actionable elements.
    pub(super) fn figure(&mut self, picture: &Picture, id: &str, caption: &str) -> String {
        let Some(png) = (self.read)(&picture.path) else {
            let path = text(&picture.path.display().to_string());
            return format!("<p class=\"gone\">The picture no longer exists: <code>{path}</code></p>\n");
        };
        let (width, height) = (picture.width, picture.height);
        let embedded_id = self.embedded.get(&<[u8; 32]>::from(Sha256::digest(&png))).cloned();
        let source = match embedded_id {
            Some(same) => format!("data-same=\"{same}\""),
            None => {
                self.embedded.insert(Sha256::digest(&png).into(), format!("{id}-img"));
                format!("id=\"{id}-img\" src=\"data:image/png;base64,{}\"", STANDARD.encode(&png))
            }
        };
        // Large enough to read when a wide picture is shown in a column; larger pictures are scaled
        // down more.
        let size = (f64::from(width) / 46.0).clamp(10.0, 40.0);
        let refs: String = picture.refs.iter().map(|r| ref_box(r, width, height, size)).collect();
        let count = match picture.refs.len() {
            0 => String::new(),
            n => format!(" · {}", format_count(n, "ref")),
        };
        format!(
            include_str!("figure.html"),
            what = text(caption),
            source = source,
            width = width,
            height = height,
            size = size,
            refs = refs,
            count = count,
        )
    }
}

/// Returns a box and its ref; empty if the box is not inside the picture.
fn ref_box(r: &RefBox, width: u32, height: u32, size: f64) -> String {
    let inside =
        r.x < f64::from(width) && r.y < f64::from(height) && r.x + r.width > 0.0 && r.y + r.height > 0.0;
    let numbers = [r.x, r.y, r.width, r.height];
    if !inside || numbers.iter().any(|n| !n.is_finite()) || r.width < 0.0 || r.height < 0.0 {
        return String::new();
    }
    let name = text(&r.r#ref);
    // The label starts at the upper left corner of its element, moved inside the picture if
    // necessary.
    let wide = (name.chars().count() as f64) * size * 0.62;
    let x = size.mul_add(0.3, r.x).clamp(size * 0.3, (f64::from(width) - wide).max(size * 0.3));
    let y = size.mul_add(0.3, r.y).clamp(size, (f64::from(height) - size * 0.3).max(size));
    format!(
        "<g data-ref=\"{name}\"><title>{name} {}</title>\
         <rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>\
         <text x=\"{x:.1}\" y=\"{y:.1}\">{name}</text></g>",
        text(&r.meaning),
        r.x,
        r.y,
        r.width,
        r.height,
    )
}
