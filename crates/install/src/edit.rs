//! Edits of one entry in a configuration file, as text in and text out.
//!
//! An edit replaces only the bytes of the entry. The result is read back: unless the result is the
//! old document with exactly that entry changed, the edit is refused.

mod json;
mod toml;

use serde_json::{Map, Value};

/// The syntax of a configuration file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// JSON, with comments and trailing commas if the file has them.
    Json,
    /// TOML.
    Toml,
}

/// Why a file cannot be edited. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EditError {
    /// The text cannot be parsed.
    #[error("the file cannot be parsed: {0}")]
    Unparsable(String),
    /// A parent of the entry is not a table.
    #[error("`{0}` is not a table of named values")]
    NotATable(String),
    /// A key on the path to the entry occurs more than once.
    #[error("`{0}` occurs more than once")]
    Duplicate(String),
    /// The entry, or a parent of it, is written in a form that cannot be edited safely.
    #[error("`{0}` is written in a form that cannot be edited safely")]
    Form(String),
}

impl Format {
    /// Parses a file. Empty text is an empty table.
    pub(crate) fn read(self, text: &str) -> Result<Value, EditError> {
        let (_, body) = split_bom(text);
        match self {
            Self::Json => json::read(body),
            Self::Toml => toml::read(body),
        }
    }

    /// Sets the entry at `pointer`, and adds it if it is missing.
    pub(crate) fn set(self, text: &str, pointer: &[&str], value: &Value) -> Result<String, EditError> {
        let (bom, body) = split_bom(text);
        let new = match self {
            Self::Json => json::set(body, pointer, value)?,
            Self::Toml => toml::set(body, pointer, value)?,
        };
        let mut expected = self.read(body)?;
        insert(&mut expected, pointer, value);
        self.verify(bom, new, &expected, pointer)
    }

    /// Removes the entry at `pointer`, which must exist. The parent of the entry stays, even if it
    /// is then empty, except for a parent in TOML that has no header of its own.
    pub(crate) fn remove(self, text: &str, pointer: &[&str]) -> Result<String, EditError> {
        let (bom, body) = split_bom(text);
        let new = match self {
            Self::Json => json::remove(body, pointer)?,
            Self::Toml => toml::remove(body, pointer)?,
        };
        let mut expected = self.read(body)?;
        take(&mut expected, pointer);
        self.verify(bom, new, &expected, pointer)
    }

    fn verify(self, bom: &str, new: String, expected: &Value, pointer: &[&str]) -> Result<String, EditError> {
        let read = self.read(&new)?;
        // In TOML, a header alone creates the parent; without the header, there is no parent.
        if read == *expected || (self == Self::Toml && prune(&read, pointer) == prune(expected, pointer)) {
            return Ok(bom.to_owned() + &new);
        }
        Err(EditError::Form(pointer.join(".")))
    }
}

/// Returns the value at a pointer.
pub(crate) fn lookup<'v>(root: &'v Value, pointer: &[&str]) -> Option<&'v Value> {
    pointer.iter().try_fold(root, |value, key| value.as_object()?.get(*key))
}

fn split_bom(text: &str) -> (&str, &str) {
    match text.strip_prefix('\u{feff}') {
        Some(body) => (&text[..'\u{feff}'.len_utf8()], body),
        None => ("", text),
    }
}

fn insert(root: &mut Value, pointer: &[&str], value: &Value) {
    let Some((last, parents)) = pointer.split_last() else { return };
    let mut table = root;
    for key in parents {
        let Some(map) = table.as_object_mut() else { return };
        table = map.entry(*key).or_insert_with(|| Value::Object(Map::new()));
    }
    if let Some(map) = table.as_object_mut() {
        map.insert((*last).to_owned(), value.clone());
    }
}

fn take(root: &mut Value, pointer: &[&str]) {
    let Some((last, parents)) = pointer.split_last() else { return };
    let parent = parents.iter().try_fold(root, |table, key| table.as_object_mut()?.get_mut(*key));
    if let Some(map) = parent.and_then(Value::as_object_mut) {
        map.shift_remove(*last);
    }
}

/// Returns the document without those parents of the entry at `pointer` that are empty.
fn prune(root: &Value, pointer: &[&str]) -> Value {
    let mut pruned = root.clone();
    for depth in (1..pointer.len()).rev() {
        let empty = |value: &Value| value.as_object().is_some_and(Map::is_empty);
        if lookup(&pruned, &pointer[..depth]).is_some_and(empty) {
            take(&mut pruned, &pointer[..depth]);
        }
    }
    pruned
}

/// Replaces byte ranges of the text. The ranges must not overlap.
fn splice(text: &str, mut edits: Vec<(std::ops::Range<usize>, String)>) -> String {
    edits.sort_by_key(|(range, _)| range.start);
    let mut out = String::with_capacity(text.len() + edits.iter().map(|(_, new)| new.len()).sum::<usize>());
    let mut at = 0;
    for (range, new) in edits {
        out.push_str(&text[at..range.start]);
        out.push_str(&new);
        at = range.end;
    }
    out.push_str(&text[at..]);
    out
}

/// Returns the first line break of the text; a newline if there is none.
fn line_break(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

#[cfg(test)]
mod tests;
