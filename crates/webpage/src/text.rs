//! Texts of pages, cut to what is kept of them.

/// Bytes of a text of the page that a notice keeps.
const MAX_TEXT: usize = 300;

/// Cuts a text of the page to what a notice keeps.
#[must_use]
pub fn clip(text: &str) -> String {
    clip_to(text, MAX_TEXT)
}

pub(crate) fn clip_to(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let mut cut = text[..text.floor_char_boundary(bytes)].to_owned();
    cut.push('…');
    cut
}
