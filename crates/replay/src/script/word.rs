//! One word of a line: bare, in double quotes (a JSON string), or in single quotes (as a shell has them).

use super::error::Fault;
use super::template::{Part, Template};
use nom::branch::alt;
use nom::bytes::complete::{tag, take_while_m_n};
use nom::character::complete::{char, none_of, one_of};
use nom::combinator::{map, map_opt, value};
use nom::multi::many0;
use nom::sequence::{delimited, preceded};
use nom::{IResult, Parser};

/// A character, and whether it was escaped: an escaped `$` begins no variable.
type Letter = (char, bool);

/// What separates words.
pub(super) fn is_space(c: char) -> bool {
    c == ' ' || c == '\t'
}

/// Reads the word at a place of the line that is not a space; says where it ends.
pub(super) fn read(line: &str, at: usize) -> Result<(Template, usize), Fault> {
    let rest = &line[at..];
    let (left, letters) = match rest.chars().next() {
        Some('"') => double(rest).map_err(|_| broken(line, at, '"'))?,
        Some('\'') => single(rest).map_err(|_| broken(line, at, '\''))?,
        _ => bare(rest).map_err(|_| {
            let quote = rest.find('"').map_or(at, |i| at + i);
            broken(line, quote, '"')
        })?,
    };
    let end = line.len() - left.len();
    if !left.is_empty() && !left.starts_with(is_space) {
        return Err(Fault::new(
            end,
            "a closing quote is followed by something that is no space",
            "words are separated by spaces: press \"role=button\" --settle",
        ));
    }
    template(&letters, at).map(|found| (found, end))
}

/// `"..."`: a JSON string in which `\$` is a dollar sign.
fn double(input: &str) -> IResult<&str, Vec<Letter>> {
    let plain = map(none_of("\"\\"), |c| (c, false));
    let plain = nom::combinator::verify(plain, |(c, _): &Letter| !c.is_control());
    delimited(char('"'), many0(alt((plain, escape))), char('"')).parse(input)
}

fn escape(input: &str) -> IResult<&str, Letter> {
    let simple = alt((
        one_of("\"\\/$"),
        value('\u{8}', char('b')),
        value('\u{c}', char('f')),
        value('\n', char('n')),
        value('\r', char('r')),
        value('\t', char('t')),
        preceded(char('u'), unicode),
    ));
    map(preceded(char('\\'), simple), |c| (c, true)).parse(input)
}

/// Four hexadecimal digits, or two times four for what lies beyond (RFC 8259, section 7).
fn unicode(input: &str) -> IResult<&str, char> {
    let pair = map_opt((hex, preceded(tag("\\u"), hex)), |(high, low)| {
        char::decode_utf16([high, low]).next()?.ok().filter(|_| (0xd800..0xdc00).contains(&high))
    });
    let single = map_opt(hex, |unit| char::from_u32(u32::from(unit)));
    alt((pair, single)).parse(input)
}

fn hex(input: &str) -> IResult<&str, u16> {
    let digits = take_while_m_n(4, 4, |c: char| c.is_ascii_hexdigit());
    map_opt(digits, |text| u16::from_str_radix(text, 16).ok()).parse(input)
}

/// `'...'`: as it is; `\'` is an apostrophe and `\$` a dollar sign.
fn single(input: &str) -> IResult<&str, Vec<Letter>> {
    let escaped = map(preceded(char('\\'), one_of("'$")), |c| (c, true));
    let plain = map(none_of("'"), |c| (c, false));
    delimited(char('\''), many0(alt((escaped, plain))), char('\'')).parse(input)
}

/// Up to a space that is neither in double quotes nor in a variable. Quotes inside the word stay in it:
/// `label="Sign in"` is a selector.
fn bare(input: &str) -> IResult<&str, Vec<Letter>> {
    let mut letters = Vec::new();
    let (mut rest, mut quoted, mut variable) = (input, false, false);
    while let Some(c) = rest.chars().next().filter(|&c| quoted || variable || !is_space(c)) {
        let width = c.len_utf8();
        let (taken, letter) = match c {
            '\\' if rest[width..].starts_with('$') => (2, ('$', true)),
            // An escaped quote inside a quoted value is the selector's business, and does not end it.
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
        return Err(nom::Err::Error(nom::error::Error::new(rest, nom::error::ErrorKind::Char)));
    }
    Ok((rest, letters))
}

/// Finds the variables.
fn template(letters: &[Letter], at: usize) -> Result<Template, Fault> {
    const FORM: &str = "variables are ${KEY} or ${KEY:-default}; \\${ is a literal";
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut rest = letters;
    while let Some((&(c, escaped), after)) = rest.split_first() {
        if c != '$' || escaped || after.first() != Some(&('{', false)) {
            text.push(c);
            rest = after;
            continue;
        }
        let Some(end) = after.iter().position(|letter| *letter == ('}', false)) else {
            return Err(Fault::new(at, "a variable is not closed", FORM));
        };
        if after[1..end].windows(2).any(|pair| pair == [('$', false), ('{', false)]) {
            return Err(Fault::new(at, "a variable stands inside another one", FORM));
        }
        let inside: String = after[1..end].iter().map(|(c, _)| *c).collect();
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default.to_owned())),
            None => (inside.as_str(), None),
        };
        if !is_name(name) {
            return Err(Fault::new(at, format!("{} is not the name of a variable", quoted(name)), FORM));
        }
        parts.push(Part::Text(std::mem::take(&mut text)));
        parts.push(Part::Variable { name: name.to_owned(), default });
        rest = &after[end + 1..];
    }
    parts.push(Part::Text(text));
    Ok(Template::new(parts))
}

/// Letters, digits and underscores, no digit first.
pub(crate) fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A text of the script in a message.
pub(super) fn quoted(text: &str) -> String {
    stickpin_tree::quote(text)
}

/// Why a quoted word could not be read: the first character that breaks it, or its end.
fn broken(line: &str, at: usize, quote: char) -> Fault {
    let mut escaped = false;
    for (i, c) in line[at..].char_indices().skip(1) {
        match c {
            _ if escaped => {
                let known = if quote == '"' { "\"\\/bfnrtu$" } else { "'$" };
                if quote == '"' && !known.contains(c) {
                    return Fault::new(
                        at + i - 1,
                        format!("{} is no escape", quoted(&format!("\\{c}"))),
                        "double quotes hold JSON strings: \\\" \\\\ \\n \\t \\uXXXX, and \\$",
                    );
                }
                escaped = false;
            }
            '\\' => escaped = true,
            c if c == quote => {
                return Fault::new(
                    at,
                    "a text in quotes cannot be read",
                    "\\uXXXX takes four hexadecimal digits",
                );
            }
            c if c.is_control() && quote == '"' => {
                return Fault::new(
                    at + i,
                    "a control character stands in double quotes",
                    "write it as an escape: \\t, \\n, \\u001b",
                );
            }
            _ => {}
        }
    }
    Fault::new(at, "a quote is not closed", "\"...\" or '...'; in double quotes write \\\" for a quote")
}
