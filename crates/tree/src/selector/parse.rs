//! The grammar in nom. Every fault is final (`Err::Failure`): there is one way to read a selector.

use super::error::{SelectorError, SelectorErrorKind as Kind};
use super::{Alternative, Compare, Flag, Key, Selector, Term};
use crate::Role;
use crate::model::escape::quote;
use nom::bytes::complete::{tag, take_while, take_while1};
use nom::character::complete::{char, multispace0};
use nom::combinator::opt;
use nom::error::{ErrorKind, ParseError};
use nom::{IResult, Parser};
use std::num::NonZeroU32;
use std::str::FromStr;

/// How deep `in(` may be nested: more is a mistake or an attack on the stack.
const MAX_DEPTH: usize = 16;

/// A fault at a suffix of the input.
#[derive(Debug)]
struct Fault<'i> {
    at: &'i str,
    len: usize,
    kind: Kind,
    hint: String,
}

impl<'i> ParseError<&'i str> for Fault<'i> {
    fn from_error_kind(at: &'i str, _: ErrorKind) -> Self {
        let kind =
            at.chars().next().map_or(Kind::Empty, |c| Kind::Unexpected(quote(c.encode_utf8(&mut [0; 4]))));
        Self { at, len: at.chars().next().map_or(0, char::len_utf8), kind, hint: EXAMPLE.into() }
    }

    fn append(_: &'i str, _: ErrorKind, other: Self) -> Self {
        other
    }
}

const EXAMPLE: &str =
    "terms are separated by spaces: role=button \"Save\", id=email, label~=name checked=false";

type Parsed<'i, T> = IResult<&'i str, T, Fault<'i>>;

fn fail<'i, T>(at: &'i str, len: usize, kind: Kind, hint: impl Into<String>) -> Parsed<'i, T> {
    Err(nom::Err::Failure(Fault { at, len, kind, hint: hint.into() }))
}

impl FromStr for Selector {
    type Err = SelectorError;

    fn from_str(input: &str) -> Result<Self, SelectorError> {
        read(input).map(|(selector, _)| selector)
    }
}

/// The selector, and whether every alternative has a term with a key: text in quotes and the bare words of flags
/// could as well be plain text.
pub(super) fn read(input: &str) -> Result<(Selector, bool), SelectorError> {
    let parsed = selector(input, 0).and_then(|(rest, found)| match rest.chars().next() {
        None => Ok(found),
        Some(c) => fail(
            rest,
            c.len_utf8(),
            Kind::Unexpected(quote(c.encode_utf8(&mut [0; 4]))),
            "a parenthesis belongs to in(...); inside a value it needs quotes: text=\"(1)\"",
        )
        .map(|(_, never)| never),
    });
    parsed.map_err(|e| match e {
        nom::Err::Error(f) | nom::Err::Failure(f) => {
            let start = input.len() - f.at.len();
            SelectorError { kind: f.kind, span: start..(start + f.len).min(input.len()), hint: f.hint }
        }
        nom::Err::Incomplete(_) => unreachable!("only complete parsers are used"),
    })
}

/// Alternatives up to the end of the input or a closing parenthesis.
fn selector(input: &str, depth: usize) -> Parsed<'_, (Selector, bool)> {
    let mut alternatives = Vec::new();
    let mut all_keyed = true;
    let mut rest = input;
    loop {
        let (after, (found, keyed)) = alternative(rest, depth)?;
        alternatives.push(found);
        all_keyed &= keyed;
        match tag::<_, _, Fault<'_>>("||").parse(after) {
            Ok((after, _)) => rest = after,
            Err(_) => return Ok((after, (Selector { alternatives }, all_keyed))),
        }
    }
}

fn alternative(input: &str, depth: usize) -> Parsed<'_, (Alternative, bool)> {
    let mut found = Alternative::default();
    let mut keyed = false;
    let (mut rest, _) = multispace0(input)?;
    while !(rest.is_empty() || rest.starts_with("||") || rest.starts_with(')')) {
        let (after, term) = term(rest, depth)?;
        keyed |= rest[..rest.len() - after.len()].contains(['=', '(']) && !rest.starts_with('"');
        match term {
            Piece::Term(term) => found.terms.push(term),
            Piece::Nth(_) if found.nth.is_some() => {
                return fail(
                    rest,
                    rest.len() - after.len(),
                    Kind::NthTwice,
                    "leave one: role=listitem nth=2",
                );
            }
            Piece::Nth(n) => found.nth = Some(n),
        }
        let (next, space) = multispace0(after)?;
        let closed = next.is_empty() || next.starts_with("||") || next.starts_with(')');
        if space.is_empty() && !closed {
            let c = next.chars().next().unwrap_or(' ');
            return fail(
                next,
                c.len_utf8(),
                Kind::Unexpected(quote(c.encode_utf8(&mut [0; 4]))),
                "put spaces between terms, and quotes around values with other characters: text=\"a (b)\"",
            );
        }
        rest = next;
    }
    if found.terms.is_empty() && found.nth.is_none() {
        let len = rest.chars().next().map_or(0, char::len_utf8);
        return fail(rest, len, Kind::Empty, EXAMPLE);
    }
    Ok((rest, (found, keyed)))
}

/// What one term adds to an alternative.
enum Piece {
    Term(Term),
    Nth(NonZeroU32),
}

fn term(input: &str, depth: usize) -> Parsed<'_, Piece> {
    if input.starts_with('"') {
        let (rest, value) = quoted(input)?;
        return Ok((rest, Piece::Term(Term::Has { key: Key::Text, compare: Compare::Whole, value })));
    }
    let (rest, word) =
        take_while(|c: char| is_bare_char(c) && !matches!(c, '=' | '~' | '^' | '$')).parse(input)?;
    if word == "in" && rest.starts_with('(') {
        return inside(input, &rest[1..], depth);
    }
    let (rest, sign) = opt(sign).parse(rest)?;
    let Some(compare) = sign else {
        return match Flag::of(word) {
            Some(flag) => Ok((rest, Piece::Term(Term::Is { flag, wanted: true }))),
            None => bare_word(input, word),
        };
    };
    let whole = |name: &'static str| match compare {
        Compare::Whole => Ok(()),
        other => {
            let example = match name {
                "css" => "css=\"main > a\"".to_owned(),
                "nth" => "nth=2".to_owned(),
                flag => format!("{flag}=false"),
            };
            let kind = Kind::OnlyWhole { name: name.into(), sign: other.sign() };
            fail(input, word.len() + 2, kind, format!("use `=`: {example}"))
                .map(|(_, never): (&str, ())| never)
        }
    };
    let term = if word == "nth" {
        whole("nth")?;
        return nth(input, rest);
    } else if word == "css" {
        whole("css")?;
        let (rest, css) = value(input, word, rest)?;
        return Ok((rest, Piece::Term(Term::Css(css))));
    } else if let Some(key) = Key::of(word) {
        return has(input, key, compare, rest);
    } else if let Some(flag) = Flag::of(word) {
        whole(flag.word())?;
        let (after, text) = value(input, word, rest)?;
        let wanted = match text.as_str() {
            "true" => true,
            "false" => false,
            _ => {
                let kind = Kind::FlagValue { flag: word.into(), found: quote(&text) };
                return fail(rest, rest.len() - after.len(), kind, format!("{word} or {word}=false"));
            }
        };
        (after, Piece::Term(Term::Is { flag, wanted }))
    } else {
        return unknown_key(input, word, compare, rest);
    };
    Ok(term)
}

fn sign(input: &str) -> Parsed<'_, Compare> {
    let found = Compare::ALL.into_iter().find(|compare| input.starts_with(compare.sign()));
    let sign = tag(found.unwrap_or(Compare::Whole).sign());
    sign.map(|_| found.unwrap_or(Compare::Whole)).parse(input)
}

fn inside<'i>(input: &'i str, rest: &'i str, depth: usize) -> Parsed<'i, Piece> {
    if depth == MAX_DEPTH {
        return fail(input, 3, Kind::TooDeep(MAX_DEPTH), "name the nearest container only: in(role=dialog)");
    }
    let (rest, (found, _)) = selector(rest, depth + 1)?;
    match char::<_, Fault<'_>>(')').parse(rest) {
        Ok((rest, _)) => Ok((rest, Piece::Term(Term::In(found)))),
        Err(_) => fail(input, input.len() - rest.len(), Kind::UnclosedIn, "close it: in(role=dialog)"),
    }
}

fn has<'i>(input: &'i str, key: Key, compare: Compare, rest: &'i str) -> Parsed<'i, Piece> {
    let (after, value) = value(input, key.word(), rest)?;
    if key == Key::Role && compare == Compare::Whole {
        let Ok(role) = value.parse::<Role>() else {
            let near = nearest_word(&value.to_lowercase(), Role::ALL.iter().map(|r| r.name()));
            let hint = near.map_or_else(
                || "roles are ARIA's: role=button, role=textbox, role=link".to_owned(),
                |near| format!("did you mean role={near}?"),
            );
            return fail(rest, rest.len() - after.len(), Kind::UnknownRole(quote(&value)), hint);
        };
        return Ok((after, Piece::Term(Term::Role(role))));
    }
    Ok((after, Piece::Term(Term::Has { key, compare, value })))
}

fn nth<'i>(input: &'i str, rest: &'i str) -> Parsed<'i, Piece> {
    let (after, text) = value(input, "nth", rest)?;
    match text.parse::<NonZeroU32>() {
        Ok(n) if text.bytes().all(|b| b.is_ascii_digit()) => Ok((after, Piece::Nth(n))),
        _ => fail(
            rest,
            rest.len() - after.len(),
            Kind::Nth(quote(&text)),
            "it counts from 1: role=listitem nth=2 is the second",
        ),
    }
}

fn value<'i>(input: &'i str, key: &str, rest: &'i str) -> Parsed<'i, String> {
    match rest.chars().next() {
        Some('"') => quoted(rest),
        Some('\'') => fail(rest, 1, Kind::Unexpected(quote("'")), format!("use double quotes: {key}=\"…\"")),
        Some(c) if is_bare_char(c) => {
            let (rest, value) = take_while1(is_bare_char).parse(rest)?;
            Ok((rest, value.to_owned()))
        }
        _ => {
            let hint = format!("write {key}=\"…\"; quotes also hold an empty value");
            fail(input, input.len() - rest.len(), Kind::NoValue(key.into()), hint)
        }
    }
}

/// A quoted value, from its first quote on.
fn quoted(input: &str) -> Parsed<'_, String> {
    let mut value = String::new();
    let mut chars = input.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((&input[at + 1..], value)),
            '\\' => {
                let (len, c) = escape(&input[at..])?;
                value.push(c);
                // The backslash itself is already taken.
                chars.nth(len - 2);
            }
            c => value.push(c),
        }
    }
    fail(
        input,
        input.len(),
        Kind::UnclosedQuote,
        "close it: text=\"Save as\"; a quote inside is written \\\"",
    )
}

/// The escape at the start of `input`: how many characters (all of one byte) it takes, and what it stands for.
fn escape(input: &str) -> Result<(usize, char), nom::Err<Fault<'_>>> {
    let simple = match input.as_bytes().get(1) {
        Some(b'"') => Some('"'),
        Some(b'\\') => Some('\\'),
        Some(b'n') => Some('\n'),
        Some(b'r') => Some('\r'),
        Some(b't') => Some('\t'),
        _ => None,
    };
    if let Some(c) = simple {
        return Ok((2, c));
    }
    let hex = input.strip_prefix("\\u{").and_then(|rest| rest.split_once('}')).map(|(hex, _)| hex);
    let c = hex
        .filter(|h| (1..=6).contains(&h.len()) && h.bytes().all(|b| b.is_ascii_hexdigit()))
        .and_then(|h| u32::from_str_radix(h, 16).ok())
        .and_then(char::from_u32);
    match (hex, c) {
        (Some(hex), Some(c)) => Ok((hex.len() + 4, c)),
        _ => {
            let shown: String = input.chars().take(2).collect();
            fail(
                input,
                shown.len(),
                Kind::Escape(quote(&shown)),
                r#"the escapes are \" \\ \n \r \t \u{1f600}; a backslash itself is \\"#,
            )
            .map(|(_, never): (&str, (usize, char))| never)
        }
    }
}

fn bare_word<'i, T>(input: &'i str, word: &str) -> Parsed<'i, T> {
    if word.is_empty() {
        return Err(nom::Err::Failure(Fault::from_error_kind(input, ErrorKind::Char)));
    }
    let hint = match nearest_word(word, Flag::ALL.iter().map(|f| f.word())) {
        Some(flag) => format!("did you mean {flag}? To look for text: text={}", quote(word)),
        None => format!("to look for text: text={}", quote(word)),
    };
    fail(input, word.len(), Kind::BareWord(quote(word)), hint)
}

fn unknown_key<'i, T>(input: &'i str, word: &str, compare: Compare, rest: &'i str) -> Parsed<'i, T> {
    const KEYS: &str = "role, id, text, label, value, placeholder, url, app, window, row, css, nth";
    let sign = compare.sign();
    // The value as it was typed, for an example that can be copied.
    let shown = match quoted(rest) {
        Ok((_, typed)) if rest.starts_with('"') => quote(&typed),
        _ => {
            let (_, typed) = take_while::<_, _, Fault<'_>>(|c: char| !c.is_whitespace()).parse(rest)?;
            if typed.is_empty() { "…".to_owned() } else { crate::model::escape::escape(typed, 60) }
        }
    };
    let known =
        Key::ALL.iter().map(|k| k.word()).chain(Flag::ALL.iter().map(|f| f.word())).chain(["nth", "css"]);
    // What other tools and HTML call the same thing.
    let alias = match word.to_lowercase().as_str() {
        "name" | "aria-label" | "title" | "accessibilitylabel" => Some("label"),
        "testid" | "data-testid" | "test-id" | "resource-id" | "identifier" => Some("id"),
        "href" | "link" => Some("url"),
        "tag" | "type" => Some("role"),
        "content" | "innertext" => Some("text"),
        "selector" => Some("css"),
        _ => None,
    };
    let hint = match alias.or_else(|| nearest_word(&word.to_lowercase(), known)) {
        Some(key) if Flag::of(key).is_some() => format!("did you mean {key} or {key}=false?"),
        Some(key) => format!("did you mean {key}{sign}{shown}?"),
        None => format!("the keys are {KEYS}: text=\"Save\""),
    };
    fail(input, word.len().max(1), Kind::UnknownKey(quote(word)), hint)
}

/// The known word that `word` most likely is a slip of.
fn nearest_word(word: &str, known: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    if word.is_empty() || word.len() > 40 {
        return None;
    }
    let (distance, near) =
        known.map(|k| (strsim::damerau_levenshtein(word, k), k)).min_by_key(|&(distance, _)| distance)?;
    (distance <= (near.len() / 3).max(1)).then_some(near)
}

/// Whether a value can stand without quotes.
pub(super) fn is_bare(value: &str) -> bool {
    !value.is_empty()
        && !value.starts_with('\'')
        && value.chars().all(is_bare_char)
        && crate::model::escape::escape(value, usize::MAX) == value
}

fn is_bare_char(c: char) -> bool {
    !c.is_whitespace() && !matches!(c, '"' | '(' | ')' | '|' | '\\')
}
