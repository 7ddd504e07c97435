//! JSON text from pages. A page may contain a lone surrogate (`'🚀'.slice(0, 1)`), which JSON can
//! escape but a Rust string cannot contain. A lone surrogate is replaced by U+FFFD; the rest of the
//! text is kept.

use std::borrow::Cow;

/// The replacement for a lone surrogate, of the same length as the escape that it replaces.
const REPLACED: &[u8; 6] = br"\ufffd";

/// Returns the bytes of a frame as valid UTF-8 with lone surrogates replaced. Edits the frame in
/// place.
pub(crate) fn to_valid_utf8(frame: &mut [u8]) -> Cow<'_, str> {
    for at in lone_surrogates(frame) {
        frame[at..at + REPLACED.len()].copy_from_slice(REPLACED);
    }
    String::from_utf8_lossy(frame)
}

/// Returns a page's JSON text with lone surrogates replaced.
#[must_use]
pub fn well_formed(json: &str) -> Cow<'_, str> {
    if lone_surrogates(json.as_bytes()).is_empty() {
        return Cow::Borrowed(json);
    }
    // A replacement is as long as the escape, so offsets stay valid.
    Cow::Owned(to_valid_utf8(&mut json.as_bytes().to_vec()).into_owned())
}

/// Returns the offsets of escapes that encode lone surrogates.
fn lone_surrogates(json: &[u8]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = json[at..].iter().position(|&b| b == b'\\') {
        at += next;
        match escaped_unit(json, at) {
            Some(0xD800..=0xDBFF) if matches!(escaped_unit(json, at + 6), Some(0xDC00..=0xDFFF)) => at += 12,
            Some(0xD800..=0xDFFF) => {
                found.push(at);
                at += 6;
            }
            // An escape is a backslash and at least one byte, which may be another backslash.
            _ => at = (at + 2).min(json.len()),
        }
    }
    found
}

/// Returns the UTF-16 code unit that is escaped at an offset, or `None` when there is no such
/// escape.
fn escaped_unit(json: &[u8], at: usize) -> Option<u16> {
    let digits = json.get(at..at + 6)?.strip_prefix(br"\u")?;
    digits
        .iter()
        .try_fold(0, |unit, &digit| Some(unit << 4 | u16::try_from(char::from(digit).to_digit(16)?).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_pair_is_replaced_and_nothing_else() {
        for (json, read) in [
            (r#""plain \u00e9 \n""#, "plain \u{e9} \n"),
            (r#""whole \ud83d\ude80""#, "whole \u{1f680}"),
            (r#""first \ud83d""#, "first \u{fffd}"),
            (r#""second \uDE80.""#, "second \u{fffd}."),
            (r#""swapped \ude80\ud83d""#, "swapped \u{fffd}\u{fffd}"),
            (r#""twice \ud83d\ud83d\ude80""#, "twice \u{fffd}\u{1f680}"),
            (r#""no escape \\ud83d""#, r"no escape \ud83d"),
            (r#""behind one \\\ud83d""#, "behind one \\\u{fffd}"),
            (r#""other \ud83d\n""#, "other \u{fffd}\n"),
        ] {
            assert_eq!(serde_json::from_str::<String>(&well_formed(json)).unwrap(), read, "{json}");
            let mut bytes = json.as_bytes().to_vec();
            assert_eq!(serde_json::from_str::<String>(&to_valid_utf8(&mut bytes)).unwrap(), read, "{json}");
        }
    }

    #[test]
    fn what_is_no_json_stays_what_it_is() {
        for text in ["", "\\", "\\u", r"\ud8", r"\ud83", "\"\\ud83", r"\uzzzz", "é\\"] {
            assert_eq!(well_formed(text), text);
        }
        // A lone surrogate as raw bytes, which are not valid UTF-8.
        assert_eq!(to_valid_utf8(&mut b"\"\xed\xa0\xbd\"".to_vec()).matches('\u{fffd}').count(), 3);
    }
}
