//! Quotes and escapes an app's text for output.
//!
//! All text from an app is untrusted. Characters that could move a cursor, color a line, reorder or
//! hide text, or start a new line are written as escapes. The selector grammar reads the same
//! escapes, so a name can be copied from a snapshot into a selector.

use std::fmt::Write as _;

/// The number of characters after which a printed name or value is cut.
pub const MAX_CHARS: usize = 120;

/// Returns `s` escaped and in quotes, cut with `…` after [`MAX_CHARS`] characters.
///
/// ```
/// use stickpin_tree::quote;
/// assert_eq!(quote("say \"hi\"\u{1b}[31m"), r#""say \"hi\"\u{1b}[31m""#);
/// ```
#[must_use]
pub fn quote(s: &str) -> String {
    let mut out = String::with_capacity(s.len().min(4 * MAX_CHARS) + 2);
    quote_into(&mut out, s, MAX_CHARS);
    out
}

/// Returns the first `at_most` names, each quoted, and the number of the others.
///
/// ```
/// use stickpin_tree::quote_first;
/// assert_eq!(quote_first(["A", "B", "C"], 2), r#""A", "B" and 1 more"#);
/// assert_eq!(quote_first(["A", "B"], 2), r#""A", "B""#);
/// ```
#[must_use]
pub fn quote_first<'n>(names: impl IntoIterator<Item = &'n str>, at_most: usize) -> String {
    let mut names = names.into_iter();
    let first: Vec<String> = names.by_ref().take(at_most).map(quote).collect();
    match names.count() {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// Returns `s` escaped and in quotes, however long it is. Used for text that must not be cut: a
/// value in a selector must parse back to the original text.
#[must_use]
pub fn quote_whole(s: &str) -> String {
    let mut out = String::with_capacity(s.len() + 2);
    quote_into(&mut out, s, usize::MAX);
    out
}

/// Appends `s` as [`quote`] writes it, but cut after `max_chars` characters.
pub(crate) fn quote_into(out: &mut String, s: &str, max_chars: usize) {
    out.push('"');
    escape_into(out, s, max_chars, true);
    out.push('"');
}

/// Returns `s` escaped and cut after `max_chars` characters, without quotes.
#[must_use]
pub fn escape(s: &str, max_chars: usize) -> String {
    let mut out = String::with_capacity(s.len().min(max_chars));
    escape_into(&mut out, s, max_chars, false);
    out
}

/// The number of characters after which a printed URL is cut.
pub const MAX_URL: usize = 300;

/// Returns a URL as one word, cut after [`MAX_URL`] characters. Double quotes and ordinary white
/// space are percent-encoded; unsafe characters, such as line breaks, are escaped. Within a
/// sentence, [`quote_url`] marks where the URL ends.
///
/// ```
/// use stickpin_tree::bare_url;
/// assert_eq!(bare_url("data:text/html,run \"rm\" now"), "data:text/html,run%20%22rm%22%20now");
/// ```
#[must_use]
pub fn bare_url(url: &str) -> String {
    let mut word = String::with_capacity(url.len().min(4 * MAX_URL));
    // Take one character more than is printed, so that a cut shows.
    for c in url.chars().take(MAX_URL + 1) {
        if c == '"' || c.is_whitespace() && !is_unsafe(c) {
            percent_encode(&mut word, c);
        } else {
            word.push(c);
        }
    }
    escape(&word, MAX_URL)
}

/// Appends a character, percent-encoded.
pub(crate) fn percent_encode(out: &mut String, c: char) {
    for byte in c.encode_utf8(&mut [0; 4]).bytes() {
        write!(out, "%{byte:02X}").expect("writing to a String cannot fail");
    }
}

/// Returns a URL in quotes, cut after [`MAX_URL`] characters.
#[must_use]
pub fn quote_url(url: &str) -> String {
    let mut out = String::with_capacity(url.len().min(4 * MAX_URL) + 2);
    quote_into(&mut out, url, MAX_URL);
    out
}

fn escape_into(out: &mut String, s: &str, max_chars: usize, quoted: bool) {
    for (i, c) in s.chars().enumerate() {
        if i == max_chars {
            out.push('…');
            return;
        }
        match c {
            '"' | '\\' if quoted => {
                out.push('\\');
                out.push(c);
            }
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_unsafe(c) => {
                write!(out, "\\u{{{:x}}}", u32::from(c)).expect("writing to a String cannot fail");
            }
            c => out.push(c),
        }
    }
}

/// Returns whether a character is invisible or affects the text around it.
#[must_use]
pub fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' // soft hyphen
            | '\u{34f}' // combining grapheme joiner
            | '\u{61c}' // Arabic letter mark
            | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' // Hangul fillers
            | '\u{17b4}' | '\u{17b5}' // Khmer inherent vowels
            | '\u{180b}'..='\u{180f}' // Mongolian selectors and vowel separator
            | '\u{200b}'..='\u{200f}' // zero width, direction marks
            | '\u{2028}'..='\u{202e}' // line and paragraph separator, embeddings, overrides
            | '\u{2060}'..='\u{206f}' // word joiner, isolates, invisible operators
            | '\u{fe00}'..='\u{fe0e}' // variation selectors, except that of emoji
            | '\u{feff}' // byte order mark
            | '\u{fff0}'..='\u{fffb}' // interlinear annotations
            | '\u{fffe}' | '\u{ffff}'
            | '\u{1bca0}'..='\u{1bca3}' // shorthand format controls
            | '\u{1d173}'..='\u{1d17a}' // musical format controls
            | '\u{e0000}'..='\u{e0fff}' // tags, more variation selectors
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_removes_control_and_line_characters() {
        for (raw, shown) in [
            ("a\nb", r#""a\nb""#),
            ("a\r\tb", r#""a\r\tb""#),
            ("\u{0}", r#""\u{0}""#),
            ("\u{1b}[2J", r#""\u{1b}[2J""#),
            ("\u{9b}2J", r#""\u{9b}2J""#),
            ("\u{202e}txt", r#""\u{202e}txt""#),
            ("a\u{200b}b", r#""a\u{200b}b""#),
            ("a\u{2028}b", r#""a\u{2028}b""#),
            ("\u{e0041}", r#""\u{e0041}""#),
            (r"C:\x", r#""C:\\x""#),
            ("Grüße 日本 🙂", "\"Grüße 日本 🙂\""),
            ("", "\"\""),
        ] {
            assert_eq!(quote(raw), shown);
        }
    }

    #[test]
    fn long_name_is_cut_by_characters() {
        let exact = "é".repeat(MAX_CHARS);
        assert_eq!(quote(&exact), format!("\"{exact}\""));
        assert_eq!(quote(&format!("{exact}x")), format!("\"{exact}…\""));
    }

    #[test]
    fn url_keeps_quotes_and_loses_controls() {
        assert_eq!(escape("http://a/?q=\"x\"\u{7}", 200), "http://a/?q=\"x\"\\u{7}");
        assert_eq!(escape("abcdef", 3), "abc…");
        assert_eq!(bare_url("http://a/?q=b#c"), "http://a/?q=b#c");
        assert_eq!(bare_url("data:,a b\u{a0}c\n\"d\u{202e}"), "data:,a%20b%C2%A0c\\n%22d\\u{202e}");
        assert_eq!(bare_url(&"x ".repeat(400)).split('…').map(str::len).collect::<Vec<_>>(), [MAX_URL, 0]);
    }
}
