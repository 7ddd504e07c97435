//! Pictures with refs drawn over them.

use super::ReadPicture;
use super::text::text;
use crate::report::model::{Picture, RefBox};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// The pictures of a page. One that is shown again is not written again.
pub(super) struct Pictures<'r> {
    read: &'r ReadPicture<'r>,
    /// The ids of those that were written, by what is in them.
    written: HashMap<[u8; 32], String>,
}

impl<'r> Pictures<'r> {
    pub(super) fn new(read: &'r ReadPicture<'r>) -> Self {
        Self { read, written: HashMap::new() }
    }

    /// A picture and what could be acted on in it.
    pub(super) fn figure(&mut self, picture: &Picture, id: &str, what: &str) -> String {
        let Some(png) = (self.read)(&picture.path) else {
            let path = text(&picture.path.display().to_string());
            return format!("<p class=\"gone\">The picture is not there any more: <code>{path}</code></p>\n");
        };
        let (width, height) = (picture.width, picture.height);
        let known = self.written.get(&<[u8; 32]>::from(Sha256::digest(&png))).cloned();
        let source = match known {
            Some(same) => format!("data-same=\"{same}\""),
            None => {
                self.written.insert(Sha256::digest(&png).into(), format!("{id}-img"));
                format!("id=\"{id}-img\" src=\"data:image/png;base64,{}\"", STANDARD.encode(&png))
            }
        };
        // As large as can be read when a wide picture is shown in a column.
        let size = (f64::from(width) / 72.0).clamp(9.0, 22.0);
        let refs: String = picture.refs.iter().map(|r| drawn(r, width, height, size)).collect();
        format!(
            "<figure class=\"shot\"><button type=\"button\" class=\"zoom\" aria-pressed=\"false\" aria-label=\"Larger: {0}\">\
             <img {source} width=\"{width}\" height=\"{height}\" alt=\"{0}\">\
             <svg class=\"refs\" viewBox=\"0 0 {width} {height}\" aria-hidden=\"true\">{refs}</svg></button>\
             <figcaption>{0}{1}</figcaption></figure>\n",
            text(what),
            match picture.refs.len() {
                0 => String::new(),
                1 => " · 1 ref".to_owned(),
                n => format!(" · {n} refs"),
            }
        )
    }
}

/// A frame and its ref.
fn drawn(r: &RefBox, width: u32, height: u32, size: f64) -> String {
    let inside =
        r.x < f64::from(width) && r.y < f64::from(height) && r.x + r.width > 0.0 && r.y + r.height > 0.0;
    let numbers = [r.x, r.y, r.width, r.height];
    if !inside || numbers.iter().any(|n| !n.is_finite()) || r.width < 0.0 || r.height < 0.0 {
        return String::new();
    }
    let name = text(&r.r#ref);
    // Characters of the name, a little air on both sides.
    let tag = (name.chars().count() as f64).mul_add(size * 0.58, size * 0.5);
    let high = size * 1.25;
    // Above its element where there is room, else in its corner.
    let x = r.x.clamp(0.0, (f64::from(width) - tag).max(0.0));
    let y = if r.y >= high { r.y - high } else { r.y.max(0.0) };
    format!(
        "<g data-ref=\"{name}\"><title>{name} {}</title>\
         <rect class=\"box\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>\
         <rect class=\"tag\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{tag:.1}\" height=\"{high:.1}\" rx=\"2\"/>\
         <text x=\"{:.1}\" y=\"{:.1}\" font-size=\"{size:.1}\">{name}</text></g>",
        text(&r.meaning),
        r.x,
        r.y,
        r.width,
        r.height,
        size.mul_add(0.25, x),
        size.mul_add(0.95, y),
    )
}
