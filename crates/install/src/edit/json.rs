//! JSON with comments: parsed by `jsonc-parser`, edited by the positions of its tokens.

use super::{EditError, line_break, splice};
use jsonc_parser::ast::{self, Object};
use jsonc_parser::common::Ranged;
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use serde_json::{Map, Value};

/// The indentation used for a file that has none.
const UNIT: &str = "  ";

pub(super) fn read(text: &str) -> Result<Value, EditError> {
    if text.trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    Document::parse(text).map(|document| object(&document.root))
}

pub(super) fn set(text: &str, pointer: &[&str], value: &Value) -> Result<String, EditError> {
    if text.trim().is_empty() {
        return Ok(pretty(&nest(pointer, value), "", UNIT, "\n") + "\n");
    }
    let document = Document::parse(text)?;
    let mut parent = &document.root;
    for (depth, key) in pointer.iter().enumerate() {
        let Some(at) = position(parent, &pointer[..=depth])? else {
            let value = nest(&pointer[depth + 1..], value);
            return Ok(splice(text, document.insertion(parent, key, &value)));
        };
        let found = &parent.properties[at];
        if depth + 1 == pointer.len() {
            let indent = indentation(text, found.start());
            let new = match document.lines {
                true => pretty(value, indent, document.unit, line_break(text)),
                false => value.to_string(),
            };
            return Ok(splice(text, vec![(found.value.start()..found.value.end(), new)]));
        }
        parent = table(&found.value, &pointer[..=depth])?;
    }
    Err(EditError::NotATable(String::new()))
}

pub(super) fn remove(text: &str, pointer: &[&str]) -> Result<String, EditError> {
    let document = Document::parse(text)?;
    let missing = || EditError::Form(pointer.join("."));
    let (_, parents) = pointer.split_last().ok_or_else(missing)?;
    let mut parent = &document.root;
    for depth in 0..parents.len() {
        let at = position(parent, &pointer[..=depth])?.ok_or_else(missing)?;
        parent = table(&parent.properties[at].value, &pointer[..=depth])?;
    }
    let at = position(parent, pointer)?.ok_or_else(missing)?;
    Ok(splice(text, document.removal(parent, at)))
}

struct Document<'a> {
    text: &'a str,
    root: Object<'a>,
    /// All tokens, including comments.
    tokens: Vec<TokenAndRange<'a>>,
    /// One level of indentation.
    unit: &'a str,
    /// Whether new members may be on separate lines: true if the root object spans several lines or
    /// is empty.
    lines: bool,
}

impl<'a> Document<'a> {
    fn parse(text: &'a str) -> Result<Self, EditError> {
        let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
        let options = ParseOptions {
            allow_comments: true,
            allow_trailing_commas: true,
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_extended_string_escapes: false,
            allow_non_finite_numbers: false,
        };
        let parsed = parse_to_ast(text, &collect, &options)
            .map_err(|error| EditError::Unparsable(error.to_string()))?;
        let Some(ast::Value::Object(root)) = parsed.value else {
            return Err(EditError::Unparsable("its top level must be an object".to_owned()));
        };
        let first = root.properties.first().map(|property| property.start());
        let unit = first.map(|at| indentation(text, at)).filter(|unit| !unit.is_empty()).unwrap_or(UNIT);
        let lines = root.properties.is_empty() || text[root.start()..root.end()].contains('\n');
        Ok(Self { text, root, tokens: parsed.tokens.unwrap_or_default(), unit, lines })
    }

    /// Returns the edits that append a member to an object.
    fn insertion(
        &self,
        parent: &Object<'_>,
        key: &str,
        value: &Value,
    ) -> Vec<(std::ops::Range<usize>, String)> {
        let newline = line_break(self.text);
        let name = Value::from(key);
        let (open, close) = (parent.start() + 1, parent.end() - 1);
        let Some(last) = parent.properties.last() else {
            let inside = &self.text[open..close];
            let outer = indentation(self.text, parent.start());
            let inner = format!("{outer}{}", self.unit);
            // If the object contains only white space, a removal could not restore it. The entry is
            // then inserted before the white space and adds none.
            if !self.lines || (!inside.is_empty() && inside.trim().is_empty()) {
                return vec![(open..open, format!("{name}: {value}"))];
            }
            let end = if inside.is_empty() { format!("{newline}{outer}") } else { String::new() };
            let value = pretty(value, &inner, self.unit, newline);
            return vec![(open..open, format!("{newline}{inner}{name}: {value}{end}"))];
        };
        let mut lead = match self.leading(last.start()).rfind('\n') {
            Some(_) => format!("{newline}{}", indentation(self.text, last.start())),
            None => " ".to_owned(),
        };
        let rest = self.tokens.iter().filter(|token| token.start() >= last.end() && token.end() <= close);
        let comma = rest.clone().find(|token| token.token == Token::Comma);
        // A comment on the line of the last member stays with it.
        let mut anchor = comma.map_or(last.end(), |comma| comma.end());
        for comment in rest.filter(|token| is_comment(token)) {
            if comment.start() < anchor {
                continue;
            }
            if self.text[anchor..comment.start()].contains('\n') {
                break;
            }
            anchor = self.end_of(comment);
            if matches!(comment.token, Token::CommentLine(_)) && !lead.contains('\n') {
                lead = format!("{newline}{}", self.unit);
            }
        }
        let value = match lead.strip_prefix(newline) {
            Some(indent) => pretty(value, indent, self.unit, newline),
            None => value.to_string(),
        };
        match comma {
            Some(_) => vec![(anchor..anchor, format!("{lead}{name}: {value},"))],
            None if anchor == last.end() => vec![(anchor..anchor, format!(",{lead}{name}: {value}"))],
            None => vec![
                (last.end()..last.end(), ",".to_owned()),
                (anchor..anchor, format!("{lead}{name}: {value}")),
            ],
        }
    }

    /// Returns the edits that remove a member: the inverse of [`Document::insertion`].
    fn removal(&self, parent: &Object<'_>, at: usize) -> Vec<(std::ops::Range<usize>, String)> {
        let (open, close) = (parent.start() + 1, parent.end() - 1);
        let found = &parent.properties[at];
        let start = self.previous_end(found.start());
        let mut after = self.tokens.iter().filter(|token| token.start() >= found.end() && !is_comment(token));
        let comma = after.next().filter(|token| token.token == Token::Comma);
        let end = comma.map_or(found.end(), |comma| comma.end());
        if parent.properties.len() == 1 {
            let rest = [&self.text[open..start], &self.text[end..close]].concat();
            let padded = start < found.start();
            let all = padded && rest.trim().is_empty();
            return vec![(if all { open..close } else { start..end }, String::new())];
        }
        let mut edits = vec![(start..end, String::new())];
        if comma.is_none()
            && let Some(before) =
                self.tokens.iter().rfind(|token| token.end() <= found.start() && token.token == Token::Comma)
        {
            edits.push((before.start()..before.end(), String::new()));
        }
        edits
    }

    /// Returns the end of the last token or comment before a position; 0 if there is neither.
    fn previous_end(&self, at: usize) -> usize {
        let before = self.tokens.iter().rfind(|token| token.end() <= at);
        before.map_or(0, |token| self.end_of(token))
    }

    /// Returns the white space before a position.
    fn leading(&self, at: usize) -> &'a str {
        &self.text[self.previous_end(at)..at]
    }

    /// Returns the end of a token. The carriage return of a line break belongs to no comment.
    fn end_of(&self, token: &TokenAndRange<'_>) -> usize {
        self.text[..token.end()].trim_end_matches('\r').len().max(token.start())
    }
}

fn is_comment(token: &TokenAndRange<'_>) -> bool {
    matches!(token.token, Token::CommentLine(_) | Token::CommentBlock(_))
}

/// Finds the member that the last key of a pointer names. Fails if the key occurs more than once.
fn position(parent: &Object<'_>, pointer: &[&str]) -> Result<Option<usize>, EditError> {
    let key = pointer.last().copied().unwrap_or_default();
    let mut found =
        parent.properties.iter().enumerate().filter(|(_, property)| property.name.as_str() == key);
    match (found.next(), found.next()) {
        (Some(_), Some(_)) => Err(EditError::Duplicate(pointer.join("."))),
        (first, _) => Ok(first.map(|(at, _)| at)),
    }
}

fn table<'b, 'a>(value: &'b ast::Value<'a>, pointer: &[&str]) -> Result<&'b Object<'a>, EditError> {
    match value {
        ast::Value::Object(object) => Ok(object),
        _ => Err(EditError::NotATable(pointer.join("."))),
    }
}

/// Returns the white space at the beginning of the line that contains a position.
fn indentation(text: &str, at: usize) -> &str {
    let line = &text[text[..at].rfind('\n').map_or(0, |newline| newline + 1)..at];
    &line[..line.len() - line.trim_start().len()]
}

/// Wraps a value in objects with these keys.
fn nest(keys: &[&str], value: &Value) -> Value {
    keys.iter().rev().fold(value.clone(), |value, key| {
        Value::Object(std::iter::once(((*key).to_owned(), value)).collect())
    })
}

/// Formats a value over several lines. Lines after the first begin with `indent`.
fn pretty(value: &Value, indent: &str, unit: &str, newline: &str) -> String {
    let mut text = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
    let mut serializer = serde_json::Serializer::with_formatter(&mut text, formatter);
    let written = serde::Serialize::serialize(value, &mut serializer);
    match written.map(|()| String::from_utf8(text)) {
        // A line break inside a string is escaped.
        Ok(Ok(text)) => text.replace('\n', &format!("{newline}{indent}")),
        _ => value.to_string(),
    }
}

fn object(object: &Object<'_>) -> Value {
    let members = object.properties.iter();
    Value::Object(members.map(|member| (member.name.as_str().to_owned(), json(&member.value))).collect())
}

fn json(value: &ast::Value<'_>) -> Value {
    match value {
        ast::Value::StringLit(text) => Value::from(&*text.value),
        // A number without a JSON equivalent stays distinct as text.
        ast::Value::NumberLit(number) => {
            serde_json::from_str(number.value).unwrap_or_else(|_| Value::from(number.value))
        }
        ast::Value::BooleanLit(literal) => Value::from(literal.value),
        ast::Value::NullKeyword(_) => Value::Null,
        ast::Value::Array(array) => Value::Array(array.elements.iter().map(json).collect()),
        ast::Value::Object(inner) => object(inner),
    }
}
