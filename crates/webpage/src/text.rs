//! Shortens page text to the length that is kept.

/// The maximum length of page text in a notice, in bytes.
const MAX_TEXT: usize = 300;

/// Shortens page text to the length that a notice keeps.
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
