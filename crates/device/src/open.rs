//! The request to open an app, and the options that a provider declares for it.

use crate::error::{Error, Result};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The default maximum time until an app is ready.
const READY: Duration = Duration::from_secs(10);

/// A request to open an app.
///
/// `O` contains the options that only some providers read. A provider receives the options that it
/// declares ([`Provider::open_options`](crate::Provider::open_options)) as JSON, and reads them
/// with [`OpenRequest::read_options`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OpenRequest<O = Map<String, Value>> {
    /// The text that the user typed, such as a URL or `sim:shop`.
    pub what: String,
    /// The name of the session that will drive the device.
    pub session: String,
    /// The session's private folder for profiles and downloads, which already exists and is removed
    /// when the session closes.
    pub dir: PathBuf,
    /// The caller's home folder.
    pub home: Option<PathBuf>,
    /// The caller's working directory.
    pub cwd: PathBuf,
    /// The provider's own options.
    pub options: O,
    /// The folders whose files the app may show; `None` for no restriction.
    pub file_roots: Option<Vec<PathBuf>>,
    /// The maximum time until the app is ready.
    pub ready_timeout: Duration,
    /// Cancels the opening.
    pub cancel: CancellationToken,
}

impl OpenRequest {
    /// Creates a request without options, whose working directory is `dir`.
    #[must_use]
    pub fn new(what: impl Into<String>, session: impl Into<String>, dir: impl Into<PathBuf>) -> Self {
        let dir = dir.into();
        Self {
            what: what.into(),
            session: session.into(),
            cwd: dir.clone(),
            dir,
            home: None,
            options: Map::new(),
            file_roots: None,
            ready_timeout: READY,
            cancel: CancellationToken::new(),
        }
    }

    /// Reads the options into the struct that declares them.
    ///
    /// # Errors
    /// Returns `INVALID_ARGS` for an option that is missing or has an invalid value.
    pub fn read_options<O: DeserializeOwned>(mut self) -> Result<OpenRequest<O>> {
        let options = serde_json::from_value(Value::Object(std::mem::take(&mut self.options)));
        let options = options.map_err(|e| {
            Error::invalid_args(format!("an option of `open` cannot be read: {e}; nothing was opened"))
                .hint("run `stickpin capabilities` to list the options")
        })?;
        Ok(self.with_options(options))
    }
}

impl<O> OpenRequest<O> {
    /// Replaces the options.
    #[must_use]
    pub fn with_options<P>(self, options: P) -> OpenRequest<P> {
        let Self { what, session, dir, home, cwd, options: _, file_roots, ready_timeout, cancel } = self;
        OpenRequest { what, session, dir, home, cwd, options, file_roots, ready_timeout, cancel }
    }
}

/// The documented fields of a struct as a flat JSON schema, created on first use.
#[derive(Debug)]
pub struct FieldSchema {
    make: fn() -> Value,
    schema: OnceLock<Value>,
}

impl FieldSchema {
    /// Creates the schema of a struct. The doc comments are the descriptions.
    #[must_use]
    pub const fn of<T: JsonSchema>() -> Self {
        Self { make: make_schema::<T>, schema: OnceLock::new() }
    }

    /// Returns the schema.
    pub fn json(&self) -> &Value {
        self.schema.get_or_init(self.make)
    }
}

fn make_schema<T: JsonSchema>() -> Value {
    let mut settings = schemars::generate::SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(schema) = schema.as_object_mut() {
        schema.shift_remove("title");
    }
    schema
}

/// A viewport size in CSS pixels, written `WIDTHxHEIGHT`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Viewport(pub u32, pub u32);

impl TryFrom<String> for Viewport {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let size = text.split_once(['x', 'X']).and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
        match size {
            Some((w @ 1..=16_384, h @ 1..=16_384)) => Ok(Self(w, h)),
            _ => Err(format!("a viewport is two numbers from 1 to 16384, such as 1280x800, not {text:?}")),
        }
    }
}

impl From<Viewport> for String {
    fn from(v: Viewport) -> Self {
        format!("{}x{}", v.0, v.1)
    }
}

impl From<Viewport> for (u32, u32) {
    fn from(v: Viewport) -> Self {
        (v.0, v.1)
    }
}

impl JsonSchema for Viewport {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Viewport".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string" })
    }
}
