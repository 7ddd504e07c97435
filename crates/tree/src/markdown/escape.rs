//! Escapes an app's text so that it stays text in Markdown. The text cannot form headings, links,
//! tables, code or HTML, nor imitate the lines of this module. Follows section 2.4 of CommonMark
//! 0.31, "Backslash escapes", and the GFM extensions.

use crate::model::escape::{escape, is_unsafe, percent_encode};

/// The number of characters after which a listed URL is cut.
const MAX_URL: usize = 2_000;

/// Escapes text within a line. Characters that matter only at the start of a line are left to
/// [`escape_line_start`].
pub(super) fn escape_text(said: &str) -> String {
    let mut out = String::with_capacity(said.len() + 8);
    let mut before = ' ';
    let mut rest = said.chars();
    while let Some(c) = rest.next() {
        let next = rest.clone().next();
        let special = match c {
            '\\' | '`' | '*' | '[' | ']' | '|' => true,
            '_' => !(before.is_alphanumeric() && next.is_some_and(char::is_alphanumeric)),
            '~' => before == '~' || next == Some('~'),
            // Escape it at the end as well, because another text may follow.
            '<' => next.is_none_or(|n| n.is_ascii_alphabetic() || matches!(n, '/' | '!' | '?')),
            '&' => is_entity(rest.as_str()),
            _ => false,
        };
        if special {
            out.push('\\');
        }
        out.push(c);
        before = c;
    }
    // Do this last: the escapes of terminal controls begin with a backslash.
    escape(&out, usize::MAX)
}

/// Returns whether an ampersand before a text may begin a character reference.
fn is_entity(rest: &str) -> bool {
    let word = rest.strip_prefix('#').unwrap_or(rest);
    let end = word.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(word.len());
    end > 0 && word[end..].starts_with(';')
}

/// Escapes the start of a line if it would otherwise make the line something other than a
/// paragraph.
pub(super) fn escape_line_start(line: &mut String) {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &line[digits..];
    let followed_by_space = rest.chars().nth(1).is_none_or(|c| c == ' ');
    let special = match rest.chars().next() {
        Some('.' | ')') => digits > 0 && digits < 10 && followed_by_space,
        Some('#') => digits == 0 && rest.trim_start_matches('#').chars().next().is_none_or(|c| c == ' '),
        Some('-') => digits == 0 && (followed_by_space || rest.starts_with("--")),
        Some('+' | ':') => digits == 0 && followed_by_space,
        Some('>' | '=') => digits == 0,
        _ => false,
    };
    if special {
        line.insert(digits, '\\');
    }
}

/// Writes text as a code span. Backticks cannot be escaped in a code span, so the fence is longer
/// than any run of backticks in the text.
pub(super) fn code_span(text: &str) -> String {
    let escaped = escape(text, usize::MAX);
    // GFM parses the pipes of a table before it parses code.
    let escaped = escaped.replace('|', "\\|");
    let fence = "`".repeat(longest_run(&escaped, '`') + 1);
    let pad = if escaped.starts_with('`') || escaped.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{escaped}{pad}{fence}")
}

/// Returns a fence for a code block that contains this text: at least three backticks, and longer
/// than any run of backticks in the text.
pub(super) fn fence(text: &str) -> String {
    "`".repeat(longest_run(text, '`').max(2) + 1)
}

/// Writes a line of a code block: unchanged, tabs included, except for unsafe characters.
pub(super) fn code_line(text: &str) -> String {
    let parts: Vec<String> = text.split('\t').map(|part| escape(part, usize::MAX)).collect();
    parts.join("\t")
}

/// Writes a URL for the list of links: cut after [`MAX_URL`] characters, and with percent-encoding
/// for the characters that could end the URL.
pub(super) fn address(url: &str) -> String {
    let mut out = String::with_capacity(url.len());
    for (n, c) in url.chars().enumerate() {
        if n == MAX_URL {
            out.push('…');
            break;
        }
        if c.is_whitespace() || matches!(c, '<' | '>' | '\\' | '`') || is_unsafe(c) {
            percent_encode(&mut out, c);
        } else {
            out.push(c);
        }
    }
    if out.is_empty() { "<>".to_owned() } else { out }
}

fn longest_run(text: &str, of: char) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == of { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn app_text_makes_no_markup() {
        for (said, shown) in [
            ("# not *a* `heading`", "# not \\*a\\* \\`heading\\`"),
            ("[1]: http://evil", "\\[1\\]: http://evil"),
            ("![x](y)", "!\\[x\\](y)"),
            ("a | b", "a \\| b"),
            ("snake_case _em_", "snake_case \\_em\\_"),
            ("~~gone~~ ~5", "\\~\\~gone\\~\\~ ~5"),
            ("<b> 1 < 2 <!-- x -->", "\\<b> 1 < 2 \\<!-- x -->"),
            ("&lt; A&B &#60; R&D;", "\\&lt; A&B \\&#60; R\\&D;"),
            ("C:\\x", "C:\\\\x"),
            ("a\u{202e}b\nc\u{1b}[2J", "a\\u{202e}b\\nc\\u{1b}\\[2J"),
            ("…", "…"),
        ] {
            assert_eq!(escape_text(said), shown);
        }
    }

    #[test]
    fn only_block_starts_are_escaped() {
        for (line, shown) in [
            ("# a", "\\# a"),
            ("###", "\\###"),
            ("#42 is open", "#42 is open"),
            ("- a", "\\- a"),
            ("-5 °C", "-5 °C"),
            ("---", "\\---"),
            ("+ a", "\\+ a"),
            ("+49 30", "+49 30"),
            ("> a", "\\> a"),
            ("===", "\\==="),
            (": a", "\\: a"),
            ("1. a", "1\\. a"),
            ("12) a", "12\\) a"),
            ("1.5 kg", "1.5 kg"),
            ("2026", "2026"),
            ("", ""),
        ] {
            let mut escaped = line.to_owned();
            escape_line_start(&mut escaped);
            assert_eq!(escaped, shown);
        }
    }

    #[test]
    fn code_fence_cannot_be_closed_by_the_app() {
        assert_eq!(code_span("a"), "`a`");
        assert_eq!(code_span("a`b"), "``a`b``");
        assert_eq!(code_span("`a"), "`` `a ``");
        assert_eq!(code_span("a|b\u{1b}"), "`a\\|b\\u{1b}`");
        assert_eq!(fence("a\n````\nb"), "`````");
        assert_eq!(code_line("\ta\u{7}"), "\ta\\u{7}");
    }

    #[test]
    fn url_cannot_leave_its_line() {
        assert_eq!(address("/a b?c=<d>\n# e"), "/a%20b?c=%3Cd%3E%0A#%20e");
        assert_eq!(address("/\u{202e}"), "/%E2%80%AE");
        assert_eq!(address(""), "<>");
    }
}
