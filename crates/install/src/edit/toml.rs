//! TOML: parsed by `toml_edit`, edited by the positions of its tables.

use super::{EditError, line_break, splice};
use serde_json::{Map, Value, json};
use std::ops::Range;
use toml_edit::{Document, Item, Table, TableLike};

pub(super) fn read(text: &str) -> Result<Value, EditError> {
    parse(text).map(|document| table(document.as_table()))
}

pub(super) fn set(text: &str, pointer: &[&str], value: &Value) -> Result<String, EditError> {
    let document = parse(text)?;
    let newline = line_break(text);
    let entry = || block(pointer, value, newline);
    if let Some(regions) = regions(text, document.as_table(), pointer)? {
        let mut edits: Vec<(Range<usize>, String)> =
            regions.lines.into_iter().map(|lines| (lines, String::new())).collect();
        if let Some((lines, new)) = edits.first_mut() {
            let ended = text[lines.clone()].ends_with('\n');
            let written = match regions.is_header {
                true => entry(),
                false => format!(
                    "{} = {}{newline}",
                    key(pointer.last().copied().unwrap_or_default()),
                    inline(value)
                ),
            };
            *new = if ended { written } else { written.trim_end_matches(['\r', '\n']).to_owned() };
        }
        return Ok(splice(text, edits));
    }
    // A file that does not end with a line break stays that way, because removal depends on it.
    Ok(match text {
        "" => entry(),
        _ if text.ends_with('\n') => format!("{text}{newline}{}", entry()),
        _ => format!("{text}{newline}{newline}{}", entry().trim_end_matches(['\r', '\n'])),
    })
}

pub(super) fn remove(text: &str, pointer: &[&str]) -> Result<String, EditError> {
    let document = parse(text)?;
    let Some(mut regions) = regions(text, document.as_table(), pointer)? else {
        return Err(EditError::Form(pointer.join(".")));
    };
    if let Some(first) = regions.lines.first_mut().filter(|_| regions.is_header) {
        let before = &text[..first.start];
        let at_end = first.end == text.len() && !text.ends_with('\n');
        let shorter = strip_line_break(before);
        if at_end {
            first.start = strip_line_break(shorter).len();
        } else if shorter.ends_with('\n') {
            first.start = shorter.len();
        }
    }
    Ok(splice(text, regions.lines.into_iter().map(|lines| (lines, String::new())).collect()))
}

fn parse(text: &str) -> Result<Document<&str>, EditError> {
    Document::parse(text).map_err(|error| EditError::Unparsable(error.message().to_owned()))
}

/// The lines of an entry.
struct Regions {
    lines: Vec<Range<usize>>,
    /// Whether the entry is a table with a header, rather than a key with a value.
    is_header: bool,
}

/// Finds the lines of an entry; returns `None` if the entry does not exist.
fn regions(text: &str, root: &Table, pointer: &[&str]) -> Result<Option<Regions>, EditError> {
    let form = || EditError::Form(pointer.join("."));
    let Some((name, parents)) = pointer.split_last() else { return Ok(None) };
    let mut parent = root;
    for (depth, key) in parents.iter().enumerate() {
        let here = || pointer[..=depth].join(".");
        parent = match parent.get(key) {
            None => return Ok(None),
            Some(Item::Table(table)) => table,
            Some(Item::Value(toml_edit::Value::InlineTable(_))) => return Err(EditError::Form(here())),
            Some(_) => return Err(EditError::NotATable(here())),
        };
    }
    match parent.get_key_value(name) {
        None => Ok(None),
        Some((key, Item::Value(value))) => {
            let (key, value) = (key.span().ok_or_else(form)?, value.span().ok_or_else(form)?);
            Ok(Some(Regions { lines: vec![whole_lines(text, key.start..value.end)], is_header: false }))
        }
        Some((_, Item::Table(table))) => {
            let mut lines = Vec::new();
            header_lines(text, table, &mut lines).ok_or_else(form)?;
            lines.sort_by_key(|lines: &Range<usize>| lines.start);
            Ok(Some(Regions { lines, is_header: true }))
        }
        Some(_) => Err(form()),
    }
}

/// Adds the lines of a table with a header, and of the tables in it. Returns `None` if a table has
/// another form.
fn header_lines(text: &str, table: &Table, lines: &mut Vec<Range<usize>>) -> Option<()> {
    if table.is_dotted() || table.is_implicit() {
        return None;
    }
    let mut span = table.span()?;
    for (_, item) in table.iter() {
        match item {
            Item::Value(value) => span.end = span.end.max(value.span()?.end),
            Item::Table(inner) => header_lines(text, inner, lines)?,
            _ => return None,
        }
    }
    lines.push(whole_lines(text, span));
    Some(())
}

/// Extends a range to whole lines, including the line break of the last line.
fn whole_lines(text: &str, range: Range<usize>) -> Range<usize> {
    let start = text[..range.start].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[range.end..].find('\n').map_or(text.len(), |newline| range.end + newline + 1);
    start..end
}

fn strip_line_break(text: &str) -> &str {
    match text.strip_suffix('\n') {
        Some(text) => text.strip_suffix('\r').unwrap_or(text),
        None => text,
    }
}

/// Formats an entry as a table with a header.
fn block(pointer: &[&str], value: &Value, newline: &str) -> String {
    let name: Vec<String> = pointer.iter().map(|part| key(part)).collect();
    let members = value.as_object().into_iter().flatten();
    let members = members.map(|(name, value)| format!("{} = {}{newline}", key(name), inline(value)));
    format!("[{}]{newline}{}", name.join("."), members.collect::<String>())
}

fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match !name.is_empty() && name.chars().all(bare) {
        true => name.to_owned(),
        false => Value::from(name).to_string(),
    }
}

/// Formats a value on one line. JSON strings, numbers and booleans are also valid TOML.
fn inline(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| format!("{} = {}", key(name), inline(value)));
            format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        _ => value.to_string(),
    }
}

fn table(table: &dyn TableLike) -> Value {
    Value::Object(table.iter().map(|(name, item)| (name.to_owned(), item_value(item))).collect::<Map<_, _>>())
}

fn item_value(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => scalar(value),
        Item::Table(inner) => table(inner),
        Item::ArrayOfTables(tables) => Value::Array(tables.iter().map(|inner| table(inner)).collect()),
    }
}

fn scalar(value: &toml_edit::Value) -> Value {
    use toml_edit::Value as Toml;
    match value {
        Toml::String(text) => Value::from(text.value().as_str()),
        Toml::Integer(number) => Value::from(*number.value()),
        // This value has no JSON counterpart, so no string may equal it.
        Toml::Float(number) => json!({ "float": number.value().to_string() }),
        Toml::Datetime(time) => json!({ "datetime": time.value().to_string() }),
        Toml::Boolean(truth) => Value::from(*truth.value()),
        Toml::Array(items) => Value::Array(items.iter().map(scalar).collect()),
        Toml::InlineTable(inner) => table(inner),
    }
}
