//! Escaping text for the page.

use chrono::{DateTime, SecondsFormat, Utc};
use stickpin_tree::is_unsafe;

/// The maximum number of characters of a text that are shown.
const MAX_CHARS: usize = 60_000;

/// Escapes text for elements and for attributes in double quotes: no content can begin or end
/// markup. Invisible characters and direction controls become visible escapes.
pub(super) fn text(s: &str) -> String {
    let mut out = String::with_capacity(s.len() + s.len() / 8);
    for (i, c) in s.chars().enumerate() {
        if i == MAX_CHARS {
            out.push('…');
            break;
        }
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if is_unsafe(c) => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

/// Escapes text and marks the refs in it, so that they can be highlighted.
pub(super) fn with_refs(s: &str) -> String {
    let mut out = String::new();
    let mut rest = s;
    while let Some(at) = rest.find("@e") {
        let digits = rest[at + 2..].bytes().take_while(u8::is_ascii_digit).count();
        let end = at + 2 + digits;
        let is_word_start = !rest[..at].ends_with(|c: char| c.is_alphanumeric() || c == '"');
        out.push_str(&text(&rest[..at]));
        let r#ref = &rest[at..end];
        out.push_str(&if digits > 0 && is_word_start {
            format!("<b data-ref=\"{0}\">{0}</b>", r#ref)
        } else {
            text(r#ref)
        });
        rest = &rest[end..];
    }
    out + &text(rest)
}

/// Formats milliseconds as `3.2 s`, `840 ms` or `1 min 4 s`.
pub(super) fn millis(ms: f64) -> String {
    match ms {
        ms if ms < 1.0 => format!("{ms:.1} ms"),
        ms if ms < 1000.0 => format!("{ms:.0} ms"),
        ms if ms < 60_000.0 => format!("{:.1} s", ms / 1000.0),
        ms => format!("{} min {:.0} s", (ms / 60_000.0).floor(), (ms % 60_000.0 / 1000.0).floor()),
    }
}

/// Formats milliseconds since 1970 as `2026-11-22T06:20:00Z`.
pub(super) fn utc(ms: u64) -> String {
    let at = i64::try_from(ms).ok().and_then(DateTime::from_timestamp_millis);
    at.unwrap_or(DateTime::<Utc>::MAX_UTC).to_rfc3339_opts(SecondsFormat::Secs, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn app_text_is_escaped_in_html() {
        assert_eq!(
            text("</script><b a='1' c=\"2\">&"),
            "&lt;/script&gt;&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;"
        );
        assert_eq!(text("a\u{202e}b\u{0}\nc"), "a\\u{202e}b\\u{0}\nc");
        assert_eq!(text(&"x".repeat(MAX_CHARS + 5)).chars().count(), MAX_CHARS + 1);
    }

    #[test]
    fn standalone_refs_are_marked() {
        assert_eq!(with_refs("@e1 link <a>"), "<b data-ref=\"@e1\">@e1</b> link &lt;a&gt;");
        assert_eq!(with_refs("me@e1.org \"@e2\" @e"), "me@e1.org &quot;@e2&quot; @e");
        assert_eq!(with_refs("+ @e12"), "+ <b data-ref=\"@e12\">@e12</b>");
    }

    #[test]
    fn durations_are_formatted_for_people() {
        assert_eq!([0.31, 840.2, 3210.0, 64_999.0].map(millis), ["0.3 ms", "840 ms", "3.2 s", "1 min 4 s"]);
        assert_eq!(utc(0), "1970-01-01T00:00:00Z");
        assert_eq!(utc(951_782_399_999), "2000-02-28T23:59:59Z");
        assert_eq!(utc(951_868_800_000), "2000-03-01T00:00:00Z");
        assert_eq!(utc(1_795_328_400_000), "2026-11-22T06:20:00Z");
    }
}
