//! Texts of pages as JSON. A page may hold half of a surrogate pair (`'🚀'.slice(0, 1)`), which JSON can write as an
//! escape and Rust's strings cannot hold: it reads as U+FFFD, and only that one character is lost.

use std::borrow::Cow;

/// What stands for half of a surrogate pair, as long as the escape that it replaces.
const REPLACED: &[u8; 6] = br"\ufffd";

/// The bytes of a frame as JSON that can be read: UTF-8, with whole surrogate pairs only.
pub(crate) fn readable(frame: &mut [u8]) -> Cow<'_, str> {
    for at in halves(frame) {
        frame[at..at + REPLACED.len()].copy_from_slice(REPLACED);
    }
    String::from_utf8_lossy(frame)
}

/// A JSON text that a page wrote, with whole surrogate pairs only.
#[must_use]
pub fn well_formed(json: &str) -> Cow<'_, str> {
    if halves(json.as_bytes()).is_empty() {
        return Cow::Borrowed(json);
    }
    // An escape is replaced by another one.
    Cow::Owned(readable(&mut json.as_bytes().to_vec()).into_owned())
}

/// Where escapes of halves of surrogate pairs begin that lack their other half.
fn halves(json: &[u8]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = json[at..].iter().position(|&b| b == b'\\') {
        at += next;
        match unit(json, at) {
            Some(0xD800..=0xDBFF) if matches!(unit(json, at + 6), Some(0xDC00..=0xDFFF)) => at += 12,
            Some(0xD800..=0xDFFF) => {
                found.push(at);
                at += 6;
            }
            // Whatever is escaped is one byte at least, a backslash included.
            _ => at = (at + 2).min(json.len()),
        }
    }
    found
}

/// The UTF-16 unit that is escaped at a place, if one is.
fn unit(json: &[u8], at: usize) -> Option<u16> {
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
            assert_eq!(serde_json::from_str::<String>(&readable(&mut bytes)).unwrap(), read, "{json}");
        }
    }

    #[test]
    fn what_is_no_json_stays_what_it_is() {
        for text in ["", "\\", "\\u", r"\ud8", r"\ud83", "\"\\ud83", r"\uzzzz", "é\\"] {
            assert_eq!(well_formed(text), text);
        }
        // Half of a pair as bytes, which is no UTF-8.
        assert_eq!(readable(&mut b"\"\xed\xa0\xbd\"".to_vec()).matches('\u{fffd}').count(), 3);
    }
}
