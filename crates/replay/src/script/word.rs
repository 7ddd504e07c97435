//! One word of a line: bare, in double quotes like a JSON string, or in single quotes like a word
//! in a shell.

use super::error::LineError;
use super::template::{Template, TemplatePart};
use std::iter::Peekable;
use std::str::CharIndices;
use stickpin_tree::quote;

/// A character, and whether it was escaped: an escaped `$` does not start a variable.
type WordChar = (char, bool);

/// Returns whether a character separates words.
pub(super) fn is_space(c: char) -> bool {
    c == ' ' || c == '\t'
}

/// Reads the word at a position that is not a space; also returns the end of the word.
pub(super) fn read(line: &str, at: usize) -> Result<(Template, usize), LineError> {
    let (chars, length) = match line[at..].chars().next() {
        Some(quote @ ('"' | '\'')) => in_quotes(line, at, quote)?,
        _ => read_bare_word(line, at)?,
    };
    let end = at + length;
    if end < line.len() && !line[end..].starts_with(is_space) {
        return Err(LineError::new(
            end,
            "a closing quote is not followed by a space",
            "separate words with spaces: `press \"role=button\" --settle`",
        ));
    }
    template(&chars, at).map(|found| (found, end))
}

/// Reads a quoted word; also returns its length with the quotes. `"..."` is a JSON string in which
/// `\$` is a dollar sign. `'...'` is literal, except that `\'` is an apostrophe and `\$` a dollar
/// sign.
fn in_quotes(line: &str, at: usize, quote: char) -> Result<(Vec<WordChar>, usize), LineError> {
    let mut letters = Vec::new();
    let mut chars = line[at..].char_indices().peekable();
    chars.next();
    while let Some((i, c)) = chars.next() {
        letters.push(match c {
            c if c == quote => return Ok((letters, i + 1)),
            '\\' if quote == '"' => (read_escape(&mut chars, at)?, true),
            '\\' => match chars.next_if(|(_, c)| matches!(c, '\'' | '$')) {
                Some((_, c)) => (c, true),
                None => ('\\', false),
            },
            c if c.is_control() && quote == '"' => {
                return Err(LineError::new(
                    at + i,
                    "the text in double quotes contains a control character",
                    "write the character as an escape, such as `\\t`, `\\n` or `\\u001b`",
                ));
            }
            c => (c, false),
        });
    }
    Err(unclosed_quote(at))
}

fn unclosed_quote(at: usize) -> LineError {
    LineError::new(
        at,
        "a quote is not closed",
        "close it with the same quote character; in double quotes, write `\\\"` for a quotation mark",
    )
}

/// Reads the escape after a backslash in double quotes. The word begins at `at`.
fn read_escape(chars: &mut Peekable<CharIndices<'_>>, at: usize) -> Result<char, LineError> {
    let (i, c) = chars.next().ok_or_else(|| unclosed_quote(at))?;
    Ok(match c {
        '"' | '\\' | '/' | '$' => c,
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'u' => unicode_escape(chars).ok_or_else(|| {
            LineError::new(
                at,
                "the quoted text contains an invalid `\\u` escape",
                "write `\\u` followed by four hexadecimal digits, or two such escapes for a surrogate pair",
            )
        })?,
        _ => {
            return Err(LineError::new(
                at + i - 1,
                format!("{} is not an escape", quote(&format!("\\{c}"))),
                "in double quotes, use JSON escapes such as `\\\"`, `\\\\`, `\\n`, `\\t` and `\\uXXXX`, or `\\$` for a dollar sign",
            ));
        }
    })
}

/// Reads four hexadecimal digits, or two groups of them for a surrogate pair, as in section 7 of
/// RFC 8259.
fn unicode_escape(chars: &mut Peekable<CharIndices<'_>>) -> Option<char> {
    fn hex(chars: &mut Peekable<CharIndices<'_>>) -> Option<u16> {
        let digits = (0..4).map(|_| chars.next_if(|(_, c)| c.is_ascii_hexdigit()).map(|(_, c)| c));
        u16::from_str_radix(&digits.collect::<Option<String>>()?, 16).ok()
    }
    let unit = hex(chars)?;
    if !(0xd800..0xdc00).contains(&unit) {
        return char::from_u32(unit.into());
    }
    chars.next_if(|(_, c)| *c == '\\').and_then(|_| chars.next_if(|(_, c)| *c == 'u'))?;
    char::decode_utf16([unit, hex(chars)?]).next()?.ok()
}

/// Reads up to a space that is neither in double quotes nor in a variable. Quotes inside the word
/// are part of it: `label="Sign in"` is a selector.
fn read_bare_word(line: &str, at: usize) -> Result<(Vec<WordChar>, usize), LineError> {
    let mut letters = Vec::new();
    let input = &line[at..];
    let (mut rest, mut quoted, mut variable) = (input, false, false);
    while let Some(c) = rest.chars().next().filter(|&c| quoted || variable || !is_space(c)) {
        let width = c.len_utf8();
        let (taken, letter) = match c {
            '\\' if rest[width..].starts_with('$') => (2, ('$', true)),
            // An escaped quote inside a quoted value belongs to the selector and does not end the
            // value.
            '\\' if quoted && rest[width..].starts_with(['"', '\\']) => {
                letters.push(('\\', false));
                (2, (rest.as_bytes()[1].into(), false))
            }
            '"' => {
                quoted = !quoted;
                (1, ('"', false))
            }
            c => (width, (c, false)),
        };
        variable = (variable && letter.0 != '}') || rest.starts_with("${");
        letters.push(letter);
        rest = &rest[taken..];
    }
    if quoted {
        return Err(unclosed_quote(at + input.find('"').unwrap_or(0)));
    }
    Ok((letters, input.len() - rest.len()))
}

/// Parses the variables in a word.
fn template(chars: &[WordChar], at: usize) -> Result<Template, LineError> {
    const FORM: &str = "write a variable as `${KEY}` or `${KEY:-default}`, and a literal `${` as `\\${`";
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut rest = chars;
    while let Some((&(c, escaped), after)) = rest.split_first() {
        if c != '$' || escaped || after.first() != Some(&('{', false)) {
            text.push(c);
            rest = after;
            continue;
        }
        let Some(end) = after.iter().position(|letter| *letter == ('}', false)) else {
            return Err(LineError::new(at, "a variable is not closed", FORM));
        };
        if after[1..end].windows(2).any(|pair| pair == [('$', false), ('{', false)]) {
            return Err(LineError::new(at, "a variable is inside another variable", FORM));
        }
        let inside: String = after[1..end].iter().map(|(c, _)| *c).collect();
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default.to_owned())),
            None => (inside.as_str(), None),
        };
        if !is_name(name) {
            return Err(LineError::new(at, format!("{} is not a variable name", quote(name)), NAME_HINT));
        }
        parts.push(TemplatePart::Text(std::mem::take(&mut text)));
        parts.push(TemplatePart::Variable { name: name.to_owned(), default });
        rest = &after[end + 1..];
    }
    parts.push(TemplatePart::Text(text));
    Ok(Template::new(parts))
}

/// The hint for a reserved variable name.
pub(crate) const RESERVED_HINT: &str = "use a name without the prefix `AD_`, which is for built-in variables";

/// The hint for an invalid variable name.
pub(crate) const NAME_HINT: &str =
    "a variable name consists of ASCII letters, digits and underscores, and does not begin with a digit";

/// Returns whether this is a variable name: ASCII letters, digits and underscores, not starting
/// with a digit.
pub(crate) fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
