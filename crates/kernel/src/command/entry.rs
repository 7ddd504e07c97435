//! Commands with their types erased: what the registry lists, and what runs.

use crate::api::form::Form;
use crate::api::render::{Show, Text};
use crate::api::schema;
use crate::api::spec::Effect;
use crate::command::context::Cx;
use crate::command::definition::{Command, Time};
use serde::de::IntoDeserializer as _;
use serde_json::{Map, Value};
use std::fmt;
use std::ops::Deref;
use std::pin::Pin;
use stickpin_device::{Error, Result};

type Parse = fn(Map<String, Value>) -> serde_json::Result<Box<dyn Prepared>>;

/// The end of a command that runs.
pub(crate) type Running<'a> = Pin<Box<dyn Future<Output = Result<Box<dyn Produced>>> + Send + 'a>>;

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

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("name", &self.spec.name).finish_non_exhaustive()
    }
}

pub(crate) const fn entry<C: Command>() -> Entry {
    Entry {
        form: Form::of::<C>(C::SPEC),
        parse: |input| {
            let command = C::deserialize((&input).into_deserializer())?;
            Ok(Box::new(Parsed(command, input)))
        },
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

/// A command with its arguments, its type erased.
pub(crate) trait Prepared: Send {
    /// What it was given, handed over: nothing is left of it here.
    fn take_input(&mut self) -> Map<String, Value>;
    fn effect(&self) -> Effect;
    fn time(&self) -> Time;
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

    fn time(&self) -> Time {
        self.0.time()
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
