//! The definition of a command: its name, arguments and help as data.

use crate::api::schema::{self, Field};
use crate::api::spec::{Scope, Spec};
use schemars::JsonSchema;
use serde::de::{DeserializeOwned, IntoDeserializer as _};
use serde_json::{Map, Value};
use std::sync::OnceLock;
use stickpin_device::{Error, FieldSchema, Result};

/// The definition of a command, from which help, docs, command lines and tool lists are generated.
/// Commands outside the kernel can have one too.
#[derive(Debug)]
pub struct CommandDefinition {
    /// The properties of the command that every front end needs.
    pub spec: Spec,
    schema: FieldSchema,
    fields: OnceLock<Vec<Field>>,
}

impl CommandDefinition {
    /// Creates the definition of a command whose arguments are the fields of `T`, annotated as
    /// [`Command`](crate::Command) describes.
    #[must_use]
    pub const fn of<T: JsonSchema>(spec: Spec) -> Self {
        Self { spec, schema: FieldSchema::of::<T>(), fields: OnceLock::new() }
    }

    /// Returns the JSON schema of the input: flat, with every field documented.
    pub fn schema(&self) -> &Value {
        self.schema.json()
    }

    /// Returns the arguments of the command, in the order of the struct.
    pub fn fields(&self) -> &[Field] {
        self.fields.get_or_init(|| schema::fields(self.schema()))
    }

    /// Returns whether the command can begin a session: it opens something and requires no open
    /// session.
    pub fn begins_session(&self) -> bool {
        self.spec.scope == Scope::Host && self.fields().iter().any(|field| field.is_openable)
    }

    /// Returns the doc comment; its first line is the summary.
    pub fn doc(&self) -> &str {
        self.schema()["description"].as_str().unwrap_or("")
    }

    /// Returns the first line of the doc comment.
    pub fn summary(&self) -> &str {
        self.doc().lines().next().unwrap_or("")
    }

    /// Checks the names of an input's arguments and the types of their values. A host checks every
    /// request; a caller needs this only to refuse an input before sending anything.
    ///
    /// # Errors
    /// Returns `INVALID_ARGS`, which names the argument.
    pub fn check(&self, input: &Map<String, Value>) -> Result<()> {
        schema::check(self.spec.name, self.fields(), input)
    }

    /// Deserializes an input into the struct that the definition was made from.
    ///
    /// # Errors
    /// Returns `INVALID_ARGS` with the reason.
    pub fn read<T: DeserializeOwned>(&self, input: Map<String, Value>) -> Result<T> {
        self.check(&input)?;
        T::deserialize(Value::Object(input).into_deserializer()).map_err(|e| self.unreadable(&e))
    }

    /// Converts an error from the struct's own deserialization, which checks what the fields alone
    /// cannot express.
    pub(crate) fn unreadable(&self, e: &serde_json::Error) -> Error {
        Error::invalid_args(format!("`{}`: {e}", self.spec.name))
            .hint(format!("run `stickpin help {}`", self.spec.name))
    }
}
