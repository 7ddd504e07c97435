//! The list of commands, in the order of help and docs. Nothing else lists them.

use crate::command::{Command, Effect, Scope, Spec};
use crate::commands;
use crate::cx::Cx;
use crate::render::{Show, Text};
use crate::schema::{self, Field};
use schemars::JsonSchema;
use serde::de::{DeserializeOwned, IntoDeserializer as _};
use serde_json::{Map, Value};
use std::fmt;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::OnceLock;
use std::time::Duration;
use stickpin_device::{Error, ErrorCode, Result};

/// All commands.
pub static COMMANDS: &[Entry] = &LIST;

macro_rules! list {
    ($($command:path,)*) => {
        static LIST: [Entry; [$(stringify!($command)),*].len()] = [$(entry::<$command>()),*];
    };
}

list! {
    commands::open::Open,
    commands::close::Close,
    commands::snapshot::Snapshot,
    commands::read::Read,
    commands::diff::DiffSnapshot,
    commands::diff_screenshot::DiffScreenshot,
    commands::press::Press,
    commands::longpress::LongPress,
    commands::hover::Hover,
    commands::drag::Drag,
    commands::fill::Fill,
    commands::type_text::Type,
    commands::key::Key,
    commands::form::Form,
    commands::select::Select,
    commands::check::Check,
    commands::check::Uncheck,
    commands::upload::Upload,
    commands::scroll::Scroll,
    commands::get::Get,
    commands::get::GetTitle,
    commands::get::GetUrl,
    commands::count::Count,
    commands::find::Find,
    commands::is::Is,
    commands::wait::Wait,
    commands::wait::WaitAbsent,
    commands::wait_for::WaitMs,
    commands::wait_for::WaitText,
    commands::wait_for::WaitUrl,
    commands::wait_for::WaitStable,
    commands::wait_traffic::WaitRequest,
    commands::wait_traffic::WaitDownload,
    commands::wait_traffic::WaitFn,
    commands::screenshot::Screenshot,
    commands::clipboard::ClipboardRead,
    commands::clipboard::ClipboardWrite,
    commands::history::Back,
    commands::history::Forward,
    commands::history::Reload,
    commands::history::Home,
    commands::tab::TabList,
    commands::tab::TabNew,
    commands::tab::TabSwitch,
    commands::tab::TabClose,
    commands::tab::TabShow,
    commands::alert::AlertStatus,
    commands::alert::AlertAccept,
    commands::alert::AlertDismiss,
    commands::batch::Batch,
    commands::record::RecordStart,
    commands::record::RecordStop,
    commands::devices::Devices,
    commands::capabilities::Capabilities,
    commands::doctor::Doctor,
    commands::session::SessionList,
    commands::session::SessionShow,
}

type Parse = fn(Map<String, Value>) -> serde_json::Result<Box<dyn Prepared>>;

/// The end of a command that runs.
pub(crate) type Running<'a> = Pin<Box<dyn Future<Output = Result<Box<dyn Produced>>> + Send + 'a>>;

/// The documented form of a command: all that help, docs, a command line and a list of tools are made from. A command
/// need not be one of the kernel's to have one.
pub struct Form {
    /// What every surface has to know about it.
    pub spec: Spec,
    make_schema: fn() -> Value,
    schema: OnceLock<Value>,
    fields: OnceLock<Vec<Field>>,
}

/// A command of the list: its form, and what runs it.
pub struct Entry {
    form: Form,
    parse: Parse,
}

/// What is said of a command is said of its form.
impl Deref for Entry {
    type Target = Form;

    fn deref(&self) -> &Form {
        &self.form
    }
}

impl fmt::Debug for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Form").field("name", &self.spec.name).finish_non_exhaustive()
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("name", &self.spec.name).finish_non_exhaustive()
    }
}

const fn entry<C: Command>() -> Entry {
    Entry {
        form: Form::of::<C>(C::SPEC),
        parse: |input| {
            let command = C::deserialize((&input).into_deserializer())?;
            Ok(Box::new(Parsed(command, input)))
        },
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

impl Form {
    /// The form of a command whose arguments are the fields of `T`, annotated as [`Command`] says.
    #[must_use]
    pub const fn of<T: JsonSchema>(spec: Spec) -> Self {
        Self { spec, make_schema: make_schema::<T>, schema: OnceLock::new(), fields: OnceLock::new() }
    }

    /// The JSON schema of its input: flat, every field documented.
    pub fn schema(&self) -> &Value {
        self.schema.get_or_init(self.make_schema)
    }

    /// The same as a list.
    pub fn fields(&self) -> &[Field] {
        self.fields.get_or_init(|| schema::fields(self.schema()))
    }

    /// Whether it can begin a session: it opens something, and needs none that is open.
    pub fn begins_session(&self) -> bool {
        self.spec.scope == Scope::Host && self.fields().iter().any(|field| field.opens)
    }

    /// Its doc comment: the first line is the summary.
    pub fn doc(&self) -> &str {
        self.schema()["description"].as_str().unwrap_or("")
    }

    /// The first line of its doc comment.
    pub fn summary(&self) -> &str {
        self.doc().lines().next().unwrap_or("")
    }

    /// Reads an input into the struct that the form was made of.
    ///
    /// # Errors
    /// `INVALID_ARGS` that names the argument.
    pub fn read<T: DeserializeOwned>(&self, input: Map<String, Value>) -> Result<T> {
        schema::check(self.spec.name, self.fields(), &input)?;
        T::deserialize(Value::Object(input).into_deserializer()).map_err(|e| self.unreadable(&e))
    }

    /// What the fields alone cannot say comes from the struct's own conversion, in its own words.
    fn unreadable(&self, e: &serde_json::Error) -> Error {
        Error::new(ErrorCode::InvalidArgs, format!("`{}`: {e}", self.spec.name))
            .hint(format!("stickpin help {}", self.spec.name))
    }
}

impl Entry {
    /// Whether it changes the app, with this input.
    ///
    /// # Errors
    /// `INVALID_ARGS` that names the argument.
    pub fn effect(&self, input: Map<String, Value>) -> Result<Effect> {
        Ok(self.prepare(input)?.effect())
    }

    /// Reads an input.
    ///
    /// # Errors
    /// `INVALID_ARGS` that names the argument.
    pub(crate) fn prepare(&self, input: Map<String, Value>) -> Result<Box<dyn Prepared>> {
        schema::check(self.spec.name, self.fields(), &input)?;
        (self.parse)(input).map_err(|e| self.unreadable(&e))
    }
}

/// The command of a name or alias.
#[must_use]
pub fn find(name: &str) -> Option<&'static Entry> {
    COMMANDS.iter().find(|e| e.spec.name == name || e.spec.aliases.contains(&name))
}

/// The command of a name.
///
/// # Errors
/// `INVALID_ARGS` with the nearest name.
pub fn lookup(name: &str) -> Result<&'static Entry> {
    find(name).ok_or_else(|| {
        let names = COMMANDS.iter().flat_map(|e| std::iter::once(&e.spec.name).chain(e.spec.aliases));
        let hint = match schema::nearest(name, names.copied()) {
            Some(near) => format!("did you mean `{near}`? stickpin help lists the commands"),
            None => "stickpin help lists the commands".to_owned(),
        };
        Error::new(ErrorCode::InvalidArgs, format!("there is no command {}", stickpin_tree::quote(name)))
            .hint(hint)
    })
}

/// A command with its arguments, its type erased.
pub(crate) trait Prepared: Send {
    /// What it was given, handed over: nothing is left of it here.
    fn take_input(&mut self) -> Map<String, Value>;
    fn effect(&self) -> Effect;
    fn deadline(&self) -> Duration;
    fn bound(&self) -> Option<Duration>;
    fn run<'a>(self: Box<Self>, cx: &'a mut Cx) -> Running<'a>;
}

/// An output, its type erased.
pub(crate) trait Produced: Send {
    fn json(&self) -> serde_json::Result<Value>;
    fn text(&self, text: &mut Text);
    fn exit(&self) -> u8;
    fn failure(&self) -> Option<Error>;
}

struct Parsed<C>(C, Map<String, Value>);

impl<C: Command> Prepared for Parsed<C> {
    fn take_input(&mut self) -> Map<String, Value> {
        std::mem::take(&mut self.1)
    }

    fn effect(&self) -> Effect {
        self.0.effect()
    }

    fn deadline(&self) -> Duration {
        self.0.deadline()
    }

    fn bound(&self) -> Option<Duration> {
        self.0.bound()
    }

    fn run<'a>(self: Box<Self>, cx: &'a mut Cx) -> Running<'a> {
        Box::pin(async move { self.0.run(cx).await.map(produced) })
    }
}

/// Erases the type of an output.
pub(crate) fn produced<T: serde::Serialize + Show + Send + 'static>(output: T) -> Box<dyn Produced> {
    Box::new(Output(output))
}

struct Output<T>(T);

impl<T: serde::Serialize + Show + Send> Produced for Output<T> {
    fn json(&self) -> serde_json::Result<Value> {
        serde_json::to_value(&self.0)
    }

    fn text(&self, text: &mut Text) {
        self.0.show(text);
    }

    fn exit(&self) -> u8 {
        self.0.exit()
    }

    fn failure(&self) -> Option<Error> {
        self.0.failure()
    }
}

#[cfg(test)]
mod tests;
