//! Parses YAML into a tree of values with positions.
//!
//! Features that flows do not need are refused: tags, duplicate keys, and anchors with aliases,
//! which can expand a small file into a huge one.

use crate::script::{MAX_BYTES, ScriptError};
use saphyr_parser::{Event, Marker, Parser, ScalarStyle};

/// The maximum nesting depth of lists and mappings.
const MAX_DEPTH: usize = 64;

/// A value and its position.
#[derive(Debug, Clone)]
pub(super) struct Yaml {
    pub(super) at: YamlPosition,
    pub(super) value: YamlValue,
}

/// A position; line and column count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct YamlPosition {
    pub(super) line: u32,
    pub(super) column: u32,
}

#[derive(Debug, Clone)]
pub(super) enum YamlValue {
    /// An absent value, or `null`.
    Null,
    /// Any scalar, as written. The reader of the value parses numbers and booleans.
    Text(String),
    List(Vec<Yaml>),
    /// The entries in the order of the file; keys are unique.
    Map(Vec<(YamlKey, Yaml)>),
}

#[derive(Debug, Clone)]
pub(super) struct YamlKey {
    pub(super) at: YamlPosition,
    pub(super) name: String,
}

impl YamlPosition {
    /// Creates an error at this position.
    pub(super) fn error_at(self, message: impl Into<String>, hint: impl Into<String>) -> ScriptError {
        ScriptError { line: self.line, column: self.column, message: message.into(), hint: hint.into() }
    }

    fn of(marker: &Marker) -> Self {
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Self { line: number(marker.line()).max(1), column: number(marker.col()).saturating_add(1) }
    }
}

impl YamlValue {
    /// Returns the text of a scalar, otherwise an empty string.
    pub(super) fn as_text(&self) -> &str {
        if let Self::Text(text) = self { text } else { "" }
    }

    /// Returns the kind of the value, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Map(_) => "a mapping",
        }
    }
}

/// An open collection: a list, or a mapping with the key whose value comes next.
enum OpenCollection {
    List(Vec<Yaml>),
    Map(Vec<(YamlKey, Yaml)>, Option<YamlKey>),
}

/// Parses all documents in a text.
pub(super) fn read(text: &str) -> Result<Vec<Yaml>, ScriptError> {
    if text.len() > MAX_BYTES {
        let message = format!("the file has more than {MAX_BYTES} bytes");
        return Err(YamlPosition { line: 1, column: 1 }.error_at(
            message,
            "move some of its commands to another file, and run that file: `runFlow: FILE`",
        ));
    }
    let mut documents = Vec::new();
    let mut open: Vec<(YamlPosition, OpenCollection)> = Vec::new();
    for event in Parser::new_from_str(text.trim_start_matches('\u{feff}')) {
        let (event, span) = event.map_err(|e| {
            let at = YamlPosition::of(e.marker());
            at.error_at(
                format!("this is not YAML: {}", e.info()),
                "put quotes around text that contains `: ` or `#`",
            )
        })?;
        let at = YamlPosition::of(&span.start);
        refuse_references(&event, at)?;
        let done = match event {
            Event::Scalar(text, style, ..) => {
                let null = style == ScalarStyle::Plain && matches!(&*text, "" | "~" | "null");
                Yaml { at, value: if null { YamlValue::Null } else { YamlValue::Text(text.into_owned()) } }
            }
            Event::SequenceStart(..) | Event::MappingStart(..) if open.len() == MAX_DEPTH => {
                return Err(at.error_at(format!("values are nested more than {MAX_DEPTH} deep"), ""));
            }
            Event::SequenceStart(..) => {
                open.push((at, OpenCollection::List(Vec::new())));
                continue;
            }
            Event::MappingStart(..) => {
                open.push((at, OpenCollection::Map(Vec::new(), None)));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some((at, OpenCollection::List(items))) => Yaml { at, value: YamlValue::List(items) },
                Some((at, OpenCollection::Map(pairs, _))) => Yaml { at, value: YamlValue::Map(pairs) },
                // The parser ends only what it began.
                None => continue,
            },
            _ => continue,
        };
        match open.last_mut() {
            None => documents.push(done),
            Some((_, OpenCollection::List(items))) => items.push(done),
            Some((_, OpenCollection::Map(pairs, key))) => match key.take() {
                Some(key) => pairs.push((key, done)),
                None => *key = Some(new_key(pairs, done)?),
            },
        }
    }
    Ok(documents)
}

/// Refuses anchors and aliases, which let one text stand for another, and tags.
fn refuse_references(event: &Event<'_>, at: YamlPosition) -> Result<(), ScriptError> {
    let (anchor, tag) = match event {
        Event::Alias(_) => (1, None),
        Event::Scalar(_, _, anchor, tag)
        | Event::SequenceStart(anchor, tag)
        | Event::MappingStart(anchor, tag) => (*anchor, tag.as_ref()),
        _ => (0, None),
    };
    if anchor != 0 {
        return Err(at.error_at(
            "anchors and aliases (`&`, `*`) are not supported",
            "write the value out; quote text that begins with `&` or `*`",
        ));
    }
    if tag.is_some() {
        return Err(at.error_at("tags (`!`) are not supported", "quote text that begins with `!`"));
    }
    Ok(())
}

fn new_key(pairs: &[(YamlKey, Yaml)], key: Yaml) -> Result<YamlKey, ScriptError> {
    let YamlValue::Text(name) = key.value else {
        return Err(key.at.error_at(format!("a key is {}, not text", key.value.kind()), ""));
    };
    if pairs.iter().any(|(k, _)| k.name == name) {
        return Err(key.at.error_at(
            format!("{} is given twice here", stickpin_tree::quote(&name)),
            "keep one of the two",
        ));
    }
    Ok(YamlKey { at: key.at, name })
}
