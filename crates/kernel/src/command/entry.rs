//! Type-erased commands, for the registry and for execution.

use crate::api::form::Form;
use crate::api::render::{Show, Text};
use crate::api::spec::Effect;
use crate::command::context::Cx;
use crate::command::definition::{Command, Time};
use serde::de::IntoDeserializer as _;
use serde_json::{Map, Value};
use std::ops::Deref;
use std::pin::Pin;
use stickpin_device::{Error, Result};

type Parse = fn(Map<String, Value>) -> serde_json::Result<Prepared>;

/// The future of a running command.
type Running<'a> = Pin<Box<dyn Future<Output = Result<Box<dyn Produced>>> + Send + 'a>>;

/// A command of the registry: its form, and the functions that run it.
#[derive(Debug)]
pub struct Entry {
    form: Form,
    parse: Parse,
    effect: fn(&Map<String, Value>) -> Effect,
}

/// Gives an entry the methods of its form.
impl Deref for Entry {
    type Target = Form;

    fn deref(&self) -> &Form {
        &self.form
    }
}

pub(crate) const fn entry<C: Command>() -> Entry {
    Entry { form: Form::of::<C>(C::SPEC), parse: Prepared::parse::<C>, effect: C::effect }
}

impl Entry {
    /// Returns whether the command changes the app, with this input.
    #[must_use]
    pub fn effect(&self, input: &Map<String, Value>) -> Effect {
        (self.effect)(input)
    }

    /// Parses an input once for all later uses.
    ///
    /// # Errors
    /// Returns `INVALID_ARGS` that names the argument.
    pub(crate) fn prepare(&self, input: Map<String, Value>) -> Result<Prepared> {
        self.check(&input)?;
        (self.parse)(input).map_err(|e| self.unreadable(&e))
    }
}

/// A type-erased command with its arguments.
pub(crate) struct Prepared {
    command: Box<dyn Runnable>,
    /// The input that it was parsed from.
    pub(crate) input: Map<String, Value>,
    /// Whether the command changes the app.
    pub(crate) effect: Effect,
    /// The time limits.
    pub(crate) time: Time,
}

impl Prepared {
    fn parse<C: Command>(input: Map<String, Value>) -> serde_json::Result<Self> {
        let command = C::deserialize((&input).into_deserializer())?;
        let (effect, time) = (C::effect(&input), command.time());
        Ok(Self { command: Box::new(command), input, effect, time })
    }

    pub(crate) fn run(self, cx: &mut Cx) -> Running<'_> {
        self.command.start(cx)
    }
}

trait Runnable: Send {
    fn start(self: Box<Self>, cx: &mut Cx) -> Running<'_>;
}

impl<C: Command> Runnable for C {
    fn start(self: Box<Self>, cx: &mut Cx) -> Running<'_> {
        Box::pin(async move { self.run(cx).await.map(produced) })
    }
}

/// A type-erased output.
pub(crate) trait Produced: Send {
    fn json(&self) -> serde_json::Result<Value>;
    fn text(&self, text: &mut Text);
    fn exit(&self) -> u8;
    fn failure(&self) -> Option<Error>;
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
