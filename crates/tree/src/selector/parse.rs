//! Parses selectors from left to right. The grammar is unambiguous, so every error is final.

use super::error::SelectorError;
use super::{Alternative, Compare, Flag, Key, Selector, Term};
use crate::Role;
use crate::model::escape::{escape, quote};
use std::num::NonZeroU32;
use std::ops::Range;
use std::str::FromStr;

/// The maximum nesting of `in(`. Deeper nesting is a mistake or an attack on the stack.
const MAX_DEPTH: usize = 16;

const EXAMPLE: &str =
    "separate terms with spaces, as in `role=button \"Save\"` or `label~=name checked=false`";

type Parsed<T> = Result<T, SelectorError>;

impl FromStr for Selector {
    type Err = SelectorError;

    fn from_str(input: &str) -> Parsed<Self> {
        parse_selector(input).map(|(selector, _)| selector)
    }
}

/// Parses a selector. Also returns whether every alternative contains a term with `=` or an
/// `in(…)`; quoted text and bare flags could just as well be plain text.
pub(super) fn parse_selector(input: &str) -> Parsed<(Selector, bool)> {
    let mut reader = Parser { input, at: 0 };
    let found = reader.selector(0)?;
    if reader.rest().is_empty() {
        return Ok(found);
    }
    reader.unexpected("quote a value that contains parentheses, as in `text=\"(1)\"`")
}

/// The part of an alternative that one term adds.
enum ParsedTerm {
    Term(Term),
    Nth(NonZeroU32),
}

/// The input and the current position.
struct Parser<'i> {
    input: &'i str,
    at: usize,
}

fn fail<T>(span: Range<usize>, message: impl Into<String>, hint: impl Into<String>) -> Parsed<T> {
    Err(SelectorError { message: message.into(), span, hint: hint.into() })
}

impl<'i> Parser<'i> {
    fn rest(&self) -> &'i str {
        &self.input[self.at..]
    }

    /// Returns the span of the next character; empty at the end.
    fn next(&self) -> Range<usize> {
        self.at..self.at + self.rest().chars().next().map_or(0, char::len_utf8)
    }

    fn unexpected<T>(&self, hint: impl Into<String>) -> Parsed<T> {
        fail(self.next(), format!("unexpected {}", quote(&self.input[self.next()])), hint)
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.rest().starts_with(word);
        self.at += if found { word.len() } else { 0 };
        found
    }

    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> &'i str {
        let rest = self.rest();
        let taken = &rest[..rest.find(|c| !accept(c)).unwrap_or(rest.len())];
        self.at += taken.len();
        taken
    }

    fn take_space(&mut self) -> bool {
        !self.take_while(|c| matches!(c, ' ' | '\t' | '\r' | '\n')).is_empty()
    }

    /// Returns whether an alternative ends here.
    fn is_closed(&self) -> bool {
        let rest = self.rest();
        rest.is_empty() || rest.starts_with("||") || rest.starts_with(')')
    }

    /// Parses alternatives up to the end of the input or a closing parenthesis.
    fn selector(&mut self, depth: usize) -> Parsed<(Selector, bool)> {
        let mut alternatives = Vec::new();
        let mut all_keyed = true;
        loop {
            let (found, keyed) = self.alternative(depth)?;
            alternatives.push(found);
            all_keyed &= keyed;
            if !self.take("||") {
                return Ok((Selector { alternatives }, all_keyed));
            }
        }
    }

    fn alternative(&mut self, depth: usize) -> Parsed<(Alternative, bool)> {
        let mut found = Alternative::default();
        let mut keyed = false;
        self.take_space();
        while !self.is_closed() {
            let start = self.at;
            match self.term(depth)? {
                ParsedTerm::Term(term) => found.terms.push(term),
                ParsedTerm::Nth(_) if found.nth.is_some() => {
                    return fail(
                        start..self.at,
                        "`nth` is given twice",
                        "keep one, as in `role=listitem nth=2`",
                    );
                }
                ParsedTerm::Nth(n) => found.nth = Some(n),
            }
            let typed = &self.input[start..self.at];
            keyed |= typed.contains(['=', '(']) && !typed.starts_with('"');
            if !self.take_space() && !self.is_closed() {
                return self.unexpected(
                    "put spaces between terms, and quotes around values with special characters, as in `text=\"a (b)\"`",
                );
            }
        }
        if found.terms.is_empty() && found.nth.is_none() {
            return fail(self.next(), "a term is missing", EXAMPLE);
        }
        Ok((found, keyed))
    }

    fn term(&mut self, depth: usize) -> Parsed<ParsedTerm> {
        if self.rest().starts_with('"') {
            let value = self.quoted()?;
            return Ok(ParsedTerm::Term(Term::Has { key: Key::Text, compare: Compare::Equals, value }));
        }
        let start = self.at;
        let word = self.take_while(|c| is_bare_char(c) && !matches!(c, '=' | '~' | '^' | '$'));
        if word == "in" && self.take("(") {
            return self.inside(start, depth);
        }
        let Some(compare) = Compare::ALL.into_iter().find(|compare| self.take(compare.sign())) else {
            return match Flag::of(word) {
                Some(flag) => Ok(ParsedTerm::Term(Term::Is { flag, wanted: true })),
                None => self.bare_word(start, word),
            };
        };
        if let Some(key) = Key::of(word) {
            return self.has(start, key, compare).map(ParsedTerm::Term);
        }
        let flag = Flag::of(word);
        let example = match word {
            "css" => "css=\"main > a\"".to_owned(),
            "nth" => "nth=2".to_owned(),
            flag => format!("{flag}=false"),
        };
        if flag.is_none() && !matches!(word, "css" | "nth") {
            return self.unknown_key(start, word, compare);
        }
        if compare != Compare::Equals {
            let message = format!("`{word}` cannot be compared with `{}`", compare.sign());
            return fail(start..start + word.len() + 2, message, format!("use `=`, as in `{example}`"));
        }
        let before = self.at;
        let text = self.value(start, word)?;
        let found = before..self.at;
        let Some(flag) = flag else {
            return if word == "css" { Ok(ParsedTerm::Term(Term::Css(text))) } else { nth(found, &text) };
        };
        match text.parse() {
            Ok(wanted) => Ok(ParsedTerm::Term(Term::Is { flag, wanted })),
            Err(_) => {
                let message = format!("`{word}` is {}, not true or false", quote(&text));
                fail(found, message, format!("write `{word}` or `{word}=false`"))
            }
        }
    }

    /// Parses the content of an `in(` that begins at `start`, and the closing parenthesis.
    fn inside(&mut self, start: usize, depth: usize) -> Parsed<ParsedTerm> {
        if depth == MAX_DEPTH {
            let message = format!("`in(` is nested more than {MAX_DEPTH} levels deep");
            return fail(start..self.at, message, "name only the nearest container, as in `in(role=dialog)`");
        }
        let (found, _) = self.selector(depth + 1)?;
        if !self.take(")") {
            return fail(start..self.at, "`in(` is not closed", "close it, as in `in(role=dialog)`");
        }
        Ok(ParsedTerm::Term(Term::In(found)))
    }

    fn has(&mut self, start: usize, key: Key, compare: Compare) -> Parsed<Term> {
        let before = self.at;
        let value = self.value(start, key.word())?;
        if key != Key::Role || compare != Compare::Equals {
            return Ok(Term::Has { key, compare, value });
        }
        value.parse().map(Term::Role).or_else(|_| {
            let near = nearest_word(&value.to_lowercase(), Role::ALL.iter().map(|r| r.name()));
            let hint = near.map_or_else(
                || "use an ARIA role, such as `role=button`, `role=textbox` or `role=link`".to_owned(),
                |near| format!("did you mean `role={near}`?"),
            );
            fail(before..self.at, format!("{} is not a role", quote(&value)), hint)
        })
    }

    /// Parses the value of a term that begins at `start`.
    fn value(&mut self, start: usize, key: &str) -> Parsed<String> {
        match self.rest().chars().next() {
            Some('"') => self.quoted(),
            Some('\'') => self.unexpected(format!("use double quotes: `{key}=\"…\"`")),
            Some(c) if is_bare_char(c) => Ok(self.take_while(is_bare_char).to_owned()),
            _ => {
                let hint = format!("write `{key}=\"…\"`, or `{key}=\"\"` for an empty value");
                fail(start..self.at, format!("`{key}` has no value"), hint)
            }
        }
    }

    /// Parses a quoted value, including its opening quote.
    fn quoted(&mut self) -> Parsed<String> {
        let start = self.at;
        let mut value = String::new();
        self.take("\"");
        loop {
            value.push_str(self.take_while(|c| !matches!(c, '"' | '\\')));
            if self.take("\"") {
                return Ok(value);
            }
            if self.rest().is_empty() {
                let hint = "close it, as in `text=\"Save as\"`; write a quote in the value as `\\\"`";
                return fail(start..self.at, "a quote is not closed", hint);
            }
            value.push(self.escape()?);
        }
    }

    /// Parses an escape and returns its character.
    fn escape(&mut self) -> Parsed<char> {
        const ESCAPES: [(&str, char); 5] =
            [("\\\"", '"'), ("\\\\", '\\'), ("\\n", '\n'), ("\\r", '\r'), ("\\t", '\t')];
        if let Some((_, c)) = ESCAPES.into_iter().find(|(typed, _)| self.take(typed)) {
            return Ok(c);
        }
        let hex = self.rest().strip_prefix("\\u{").and_then(|rest| rest.split_once('}')).map(|(hex, _)| hex);
        let is_hex = |h: &&str| (1..=6).contains(&h.len()) && h.bytes().all(|b| b.is_ascii_hexdigit());
        let code = hex.filter(is_hex).and_then(|h| u32::from_str_radix(h, 16).ok());
        let Some((hex, c)) = hex.zip(code.and_then(char::from_u32)) else {
            let shown: String = self.rest().chars().take(2).collect();
            let hint =
                r#"the escapes are `\"`, `\\`, `\n`, `\r`, `\t` and `\u{1f600}`; write a backslash as `\\`"#;
            let message = format!("{} is not an escape", quote(&shown));
            return fail(self.at..self.at + shown.len(), message, hint);
        };
        self.at += hex.len() + 4;
        Ok(c)
    }

    fn bare_word<T>(&mut self, start: usize, word: &str) -> Parsed<T> {
        if word.is_empty() {
            return self.unexpected(EXAMPLE);
        }
        let hint = match nearest_word(word, Flag::ALL.iter().map(|f| f.word())) {
            Some(flag) => format!("did you mean `{flag}`? to search for text, use `text={}`", quote(word)),
            None => format!("to search for text, use `text={}`", quote(word)),
        };
        let message = format!("{} is neither a flag nor a term with a value", quote(word));
        fail(start..self.at, message, hint)
    }

    fn unknown_key<T>(&mut self, start: usize, word: &str, compare: Compare) -> Parsed<T> {
        const KEYS: &str = "role, id, text, label, value, placeholder, url, app, window, row, css, nth";
        // The names of the same properties in other tools and in HTML.
        let alias = match word.to_lowercase().as_str() {
            "name" | "aria-label" | "title" | "accessibilitylabel" => Some("label"),
            "testid" | "data-testid" | "test-id" | "resource-id" | "identifier" => Some("id"),
            "href" | "link" => Some("url"),
            "tag" | "type" => Some("role"),
            "content" | "innertext" => Some("text"),
            "selector" => Some("css"),
            _ => None,
        };
        let known = Key::ALL.iter().map(|k| k.word()).chain(Flag::ALL.iter().map(|f| f.word()));
        let near = || nearest_word(&word.to_lowercase(), known.chain(["nth", "css"]));
        let hint = match alias.or_else(near) {
            Some(key) if Flag::of(key).is_some() => format!("did you mean `{key}` or `{key}=false`?"),
            Some(key) => format!("did you mean `{key}{}{}`?", compare.sign(), self.as_typed()),
            None => format!("use one of the keys {KEYS}, as in `text=\"Save\"`"),
        };
        let message = format!("{} is not a selector key", quote(word));
        fail(start..start + word.len().max(1), message, hint)
    }

    /// Returns the following value as typed, for an example that can be copied.
    fn as_typed(&mut self) -> String {
        let start = self.at;
        if self.rest().starts_with('"')
            && let Ok(typed) = self.quoted()
        {
            return quote(&typed);
        }
        self.at = start;
        let typed = self.take_while(|c| !c.is_whitespace());
        if typed.is_empty() { "…".to_owned() } else { escape(typed, 60) }
    }
}

fn nth(span: Range<usize>, text: &str) -> Parsed<ParsedTerm> {
    match text.parse() {
        Ok(n) if text.bytes().all(|b| b.is_ascii_digit()) => Ok(ParsedTerm::Nth(n)),
        _ => {
            let message = format!("`nth` is {}; it must be 1 or greater", quote(text));
            fail(span, message, "count from 1: `role=listitem nth=2` is the second item")
        }
    }
}

/// Returns the known word that `word` most likely misspells; `None` if no word is close.
fn nearest_word(word: &str, known: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    if word.is_empty() || word.len() > 40 {
        return None;
    }
    let (distance, near) =
        known.map(|k| (strsim::damerau_levenshtein(word, k), k)).min_by_key(|&(distance, _)| distance)?;
    (distance <= (near.len() / 3).max(1)).then_some(near)
}

/// Returns whether a value needs no quotes.
pub(super) fn is_bare(value: &str) -> bool {
    !value.is_empty()
        && !value.starts_with('\'')
        && value.chars().all(is_bare_char)
        && escape(value, usize::MAX) == value
}

fn is_bare_char(c: char) -> bool {
    !c.is_whitespace() && !matches!(c, '"' | '(' | ')' | '|' | '\\')
}
