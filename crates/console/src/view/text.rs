//! Text in cells: its width, where it is cut, and how it is drawn.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;
use std::borrow::Cow;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Returns the number of columns that text occupies.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

fn char_width(c: char) -> usize {
    c.width().unwrap_or(0)
}

/// Returns text in which characters that could affect its surroundings are escaped.
pub(super) fn shown(text: &str) -> Cow<'_, str> {
    match text.chars().any(stickpin_tree::is_unsafe) {
        true => Cow::Owned(stickpin_tree::escape(text, usize::MAX)),
        false => Cow::Borrowed(text),
    }
}

/// Returns text of at most this many columns. Truncated text ends in `…`.
pub(super) fn cut(text: &str, columns: u16) -> Cow<'_, str> {
    let columns = usize::from(columns);
    let text = shown(text);
    if width(&text) <= columns {
        return text;
    }
    let end = fitting(&text, columns.saturating_sub(1));
    let mark = if columns == 0 { "" } else { "…" };
    Cow::Owned(format!("{}{mark}", &text[..end]))
}

/// Returns how many bytes of text fit into this many columns.
fn fitting(text: &str, columns: usize) -> usize {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += char_width(c);
        if used > columns {
            return at;
        }
    }
    text.len()
}

/// Returns how many bytes must be omitted at the beginning so that the rest fits into this many
/// columns.
pub(super) fn skip(text: &str, columns: usize) -> usize {
    let mut rest = width(text);
    for (at, c) in text.char_indices() {
        if rest <= columns {
            return at;
        }
        rest = rest.saturating_sub(char_width(c));
    }
    text.len()
}

/// Splits text into lines of at most this many columns, between words unless that would leave a
/// line half empty.
pub(super) fn wrap(text: &str, columns: u16) -> Vec<String> {
    let text = shown(text);
    let (mut rest, mut lines) = (&*text, Vec::new());
    loop {
        let end = fitting(rest, usize::from(columns));
        // A character wider than the line is not drawn; keeping it would cause an endless loop.
        let end = if end == 0 { rest.chars().next().map_or(0, char::len_utf8) } else { end };
        if end == rest.len() {
            lines.push(rest.to_owned());
            return lines;
        }
        let gap = rest[..end].rfind(' ').filter(|gap| *gap > end / 2 && !rest[end..].starts_with(' '));
        let (line, more) = rest.split_at(gap.unwrap_or(end));
        lines.push(line.to_owned());
        rest = more.strip_prefix(' ').unwrap_or(more);
    }
}

/// Draws text on the first row of an area.
pub(super) fn put(buffer: &mut Buffer, area: Rect, text: &str, style: Style) {
    let area = area.intersection(buffer.area);
    if area.width > 0 && area.height > 0 {
        buffer.set_stringn(area.x, area.y, shown(text), usize::from(area.width), style);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_and_wrapped_by_columns() {
        assert_eq!(cut("日本語", 6), "日本語");
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(cut("abc", 0), "");
        assert_eq!(cut("a\u{202e}b", 20), "a\\u{202e}b");
        assert_eq!(wrap("abcdef", 4), ["abcd", "ef"]);
        assert_eq!(wrap("日本語", 3), ["日", "本", "語"]);
        assert_eq!(wrap("日", 1), ["日"]);
        assert_eq!(wrap("", 4), [""]);
        assert_eq!(wrap("ab", 0), ["a", "b"]);
        assert_eq!(wrap("one two three", 9), ["one two", "three"]);
        assert_eq!(wrap("one two", 3), ["one", "two"]);
        assert_eq!(wrap("a longword", 6), ["a long", "word"]);
    }

    #[test]
    fn beginning_is_left_out_so_that_the_end_fits() {
        assert_eq!(&"abcdef"[skip("abcdef", 4)..], "cdef");
        assert_eq!(skip("abc", 4), 0);
        assert_eq!(&"日本語"[skip("日本語", 5)..], "本語");
    }
}
