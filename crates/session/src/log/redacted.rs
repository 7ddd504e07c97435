//! Text that may be logged. A caller's text becomes [`Redacted`] only through a [`Redactor`], so
//! that code without one does not compile.

use crate::turn::{Artifact, Handoff};
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Number, Value};
use std::collections::BTreeMap;
use std::fmt;

/// The replacement for a secret within a text.
pub(crate) const MASK: &str = "•••";

/// Decides what must not reach the log.
pub trait Redactor: Send + Sync {
    /// Returns whether the whole value of this argument is a secret, such as the text for a
    /// password field.
    fn is_secret(&self, argument: &str) -> bool;

    /// Replaces known secrets within a text.
    fn redact(&self, text: &mut String);
}

/// The error for a blob id that is not `sha256:` and 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a blob id: `{0}`")]
pub struct InvalidBlobId(String);

/// The id of a blob: `sha256:` and the digest of its bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct BlobId(String);

impl BlobId {
    /// Creates the id from the SHA-256 digest of the blob.
    #[must_use]
    pub fn new(digest: [u8; 32]) -> Self {
        use fmt::Write as _;
        let mut id = String::from("sha256:");
        for byte in digest {
            write!(id, "{byte:02x}").expect("writing to a string cannot fail");
        }
        Self(id)
    }

    /// Parses `sha256:` and 64 lower-case hexadecimal digits.
    ///
    /// # Errors
    /// Returns [`InvalidBlobId`] for anything else.
    pub fn parse(text: &str) -> Result<Self, InvalidBlobId> {
        let is_digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        match text.strip_prefix("sha256:") {
            Some(hex) if hex.len() == 64 && hex.bytes().all(is_digit) => Ok(Self(text.to_owned())),
            _ => Err(InvalidBlobId(text.to_owned())),
        }
    }

    /// Returns the digest in hexadecimal.
    #[must_use]
    pub fn hex(&self) -> &str {
        &self.0["sha256:".len()..]
    }
}

impl fmt::Display for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for BlobId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

/// A reference to bytes outside the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BlobRef {
    /// The id of the blob.
    pub blob: BlobId,
    /// The size of the blob in bytes.
    pub bytes: u64,
}

/// A callback that moves text into a blob.
pub type Offload<'a, E> = &'a mut dyn FnMut(&str) -> Result<BlobRef, E>;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Content {
    Text(String),
    Blob(BlobRef),
    /// A secret, of which only the number of characters is kept.
    Secret(u64),
}

/// Text without secrets. Written as a string, as `{"blob":"sha256:...","bytes":n}` if it was moved
/// out of the log, or as `{"secret":true,"len":n}` in place of a secret.
///
/// Text from outside the program must pass through a [`Redactor`]:
///
/// ```compile_fail
/// # use stickpin_session::log::Redacted;
/// let text = Redacted::from(String::from("hunter2"));
/// ```
///
/// ```compile_fail
/// # use stickpin_session::log::Redacted;
/// let typed = String::from("hunter2");
/// let text = Redacted::literal(&typed);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted(Content);

impl Redacted {
    /// Redacts a text.
    #[must_use]
    pub fn new(mut text: String, redactor: &dyn Redactor) -> Self {
        redactor.redact(&mut text);
        Self(Content::Text(text))
    }

    /// Wraps a text of the program itself.
    #[must_use]
    pub fn literal(text: &'static str) -> Self {
        Self(Content::Text(text.to_owned()))
    }

    /// Creates the replacement for a secret of `len` characters.
    #[must_use]
    pub fn secret(len: u64) -> Self {
        Self(Content::Secret(len))
    }

    /// Returns the text, if it is neither a secret nor in a blob.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match &self.0 {
            Content::Text(text) => Some(text),
            Content::Blob(_) | Content::Secret(_) => None,
        }
    }

    /// Returns the blob that contains the text, if the text was moved into one.
    #[must_use]
    pub fn blob(&self) -> Option<&BlobRef> {
        match &self.0 {
            Content::Blob(blob) => Some(blob),
            Content::Text(_) | Content::Secret(_) => None,
        }
    }

    /// Moves the text into a blob if it is longer than `limit` bytes.
    ///
    /// # Errors
    /// Returns the errors of `offload`; the text is then unchanged.
    pub fn offload<E>(&mut self, limit: usize, offload: Offload<'_, E>) -> Result<(), E> {
        if let Content::Text(text) = &self.0
            && text.len() > limit
        {
            self.0 = Content::Blob(offload(text)?);
        }
        Ok(())
    }
}

impl Serialize for Redacted {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Content::Text(text) => serializer.serialize_str(text),
            Content::Blob(blob) => blob.serialize(serializer),
            Content::Secret(len) => {
                let mut map = serializer.serialize_map(Some(2))?;
                map.serialize_entry("secret", &true)?;
                map.serialize_entry("len", len)?;
                map.end()
            }
        }
    }
}

/// The keys of the objects that stand for a blob, for a secret, or for the JSON text of an object.
#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Key {
    Blob,
    Bytes,
    Secret,
    Len,
    Json,
}

/// Checks that an object has no further entry.
fn last<'de, A: MapAccess<'de>>(mut map: A) -> Result<(), A::Error> {
    match map.next_key::<Key>()? {
        None => Ok(()),
        Some(_) => Err(de::Error::custom("unexpected additional entry")),
    }
}

/// Reads the second and last entry of an object.
fn second<'de, A: MapAccess<'de>, T: Deserialize<'de>>(mut map: A, key: Key) -> Result<T, A::Error> {
    match map.next_key::<Key>()? {
        Some(found) if found == key => {
            let value = map.next_value()?;
            last(map)?;
            Ok(value)
        }
        _ => Err(de::Error::custom("the second entry must be `bytes` for a blob or `len` for a secret")),
    }
}

/// Reads an object that represents a text, after its first key.
fn content<'de, A: MapAccess<'de>>(key: Option<Key>, mut map: A) -> Result<Content, A::Error> {
    match key {
        Some(Key::Blob) => {
            let blob = map.next_value()?;
            Ok(Content::Blob(BlobRef { blob, bytes: second(map, Key::Bytes)? }))
        }
        Some(Key::Secret) if map.next_value()? => second(map, Key::Len).map(Content::Secret),
        _ => Err(de::Error::custom("expected a text, a blob or a secret")),
    }
}

impl<'de> Deserialize<'de> for Redacted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Redacted;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, a blob or a secret")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Redacted, E> {
                Ok(Redacted(Content::Text(text.to_owned())))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Redacted, A::Error> {
                let key = map.next_key::<Key>()?;
                content(key, map).map(Redacted)
            }
        }
        deserializer.deserialize_any(Text)
    }
}

/// The value of an argument. An object from the caller is kept as its JSON text, `{"json":"..."}`,
/// so that it cannot be mistaken for a blob or a secret.
#[derive(Debug, Clone, PartialEq)]
pub enum Argument {
    /// Null.
    Null,
    /// True or false.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    Text(Redacted),
    /// An array.
    List(Vec<Argument>),
    /// The JSON text of an object.
    Json(Redacted),
}

impl Argument {
    fn new(name: &str, value: &Value, redactor: &dyn Redactor) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            _ if redactor.is_secret(name) => {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                Self::Text(Redacted::secret(text.chars().count() as u64))
            }
            Value::Number(value) => Self::Number(value.clone()),
            Value::String(text) => Self::Text(Redacted::new(text.clone(), redactor)),
            Value::Array(items) => {
                Self::List(items.iter().map(|item| Self::new(name, item, redactor)).collect())
            }
            // Redact before converting to JSON, because the escapes could hide a secret.
            Value::Object(_) => {
                let json = redact_strings(value.clone(), redactor).to_string();
                Self::Json(Redacted(Content::Text(json)))
            }
        }
    }

    fn offload<E>(&mut self, limit: usize, offload: Offload<'_, E>) -> Result<(), E> {
        match self {
            Self::Text(text) | Self::Json(text) => text.offload(limit, offload),
            Self::List(items) => items.iter_mut().try_for_each(|item| item.offload(limit, offload)),
            Self::Null | Self::Bool(_) | Self::Number(_) => Ok(()),
        }
    }
}

/// Redacts every string of a value, including its keys, and masks the values of secret keys, except
/// for null, true and false.
pub(crate) fn redact_strings(value: Value, redactor: &dyn Redactor) -> Value {
    match value {
        Value::String(mut text) => {
            redactor.redact(&mut text);
            Value::String(text)
        }
        Value::Array(items) => items.into_iter().map(|item| redact_strings(item, redactor)).collect(),
        Value::Object(fields) => Value::Object(
            fields
                .into_iter()
                .map(|(mut key, value)| {
                    let value = match value {
                        Value::Null | Value::Bool(_) => value,
                        _ if redactor.is_secret(&key) => Value::String(MASK.to_owned()),
                        _ => redact_strings(value, redactor),
                    };
                    redactor.redact(&mut key);
                    (key, value)
                })
                .collect(),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

impl Serialize for Argument {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(value) => value.serialize(serializer),
            Self::Text(text) => text.serialize(serializer),
            Self::List(items) => items.serialize(serializer),
            Self::Json(text) => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("json", text)?;
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Argument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Argument;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an argument")
            }

            fn visit_unit<E: de::Error>(self) -> Result<Argument, E> {
                Ok(Argument::Null)
            }

            fn visit_bool<E: de::Error>(self, value: bool) -> Result<Argument, E> {
                Ok(Argument::Bool(value))
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Argument, E> {
                Ok(Argument::Number(value.into()))
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Argument, E> {
                Ok(Argument::Number(value.into()))
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Argument, E> {
                let number = Number::from_f64(value);
                number.map(Argument::Number).ok_or_else(|| E::custom("not a finite number"))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Argument, E> {
                Ok(Argument::Text(Redacted(Content::Text(text.to_owned()))))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Argument, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element()? {
                    items.push(item);
                }
                Ok(Argument::List(items))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Argument, A::Error> {
                let key = map.next_key::<Key>()?;
                if key != Some(Key::Json) {
                    return content(key, map).map(|text| Argument::Text(Redacted(text)));
                }
                let json = map.next_value()?;
                last(map)?;
                Ok(Argument::Json(json))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

/// The arguments of a command, or the parameters of a session, without secrets.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Arguments(BTreeMap<String, Argument>);

impl Arguments {
    /// Redacts arguments. The names of arguments come from the program and are kept.
    #[must_use]
    pub fn new(arguments: &Map<String, Value>, redactor: &dyn Redactor) -> Self {
        let redacted =
            |(name, value): (&String, &Value)| (name.clone(), Argument::new(name, value, redactor));
        Self(arguments.iter().map(redacted).collect())
    }

    /// Returns an argument by name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Argument> {
        self.0.get(name)
    }

    /// Returns all arguments by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Argument)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Moves texts longer than `limit` bytes into blobs.
    ///
    /// # Errors
    /// Returns the errors of `offload`; the remaining texts are then unchanged.
    pub fn offload<E>(&mut self, limit: usize, offload: Offload<'_, E>) -> Result<(), E> {
        self.0.values_mut().try_for_each(|value| value.offload(limit, offload))
    }
}

/// A handoff without secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RedactedHandoff(Handoff);

impl RedactedHandoff {
    /// Redacts the texts of a handoff. The ids of blobs and of the focused element are kept: a
    /// digest could contain a short secret by chance. Any other text in place of a blob id is
    /// redacted.
    #[must_use]
    pub fn new(mut handoff: Handoff, redactor: &dyn Redactor) -> Self {
        let Handoff { status, next_action, artifacts, open_questions, do_not, ui } = &mut handoff;
        let texts = [status, next_action].into_iter().chain(open_questions).chain(do_not);
        let of_artifacts = artifacts.iter_mut().flat_map(|artifact| {
            let Artifact { path, element, blob, lines, note, seq: _, role: _ } = artifact;
            let blob = blob.as_mut().filter(|blob| BlobId::parse(blob).is_err());
            [path.as_mut(), element.as_mut(), blob, lines.as_mut(), note.as_mut()]
        });
        let of_ui = ui.iter_mut().map(|ui| &mut ui.url_or_activity);
        texts.chain(of_artifacts.flatten()).chain(of_ui).for_each(|text| redactor.redact(text));
        Self(handoff)
    }

    /// Returns the handoff.
    #[must_use]
    pub fn get(&self) -> &Handoff {
        &self.0
    }
}
