//! Type-erased commands, for the registry and for execution.

use crate::api::command_definition::CommandDefinition;
use crate::api::render::{Show, Text};
use crate::api::spec::Effect;
use crate::command::context::Cx;
use crate::command::definition::{Command, TimeLimits};
use crate::command::table::CommandTable;
use serde::de::IntoDeserializer as _;
use serde_json::{Map, Value};
use std::ops::Deref;
use std::pin::Pin;
use stickpin_device::{Error, Result};

type Parse = fn(Map<String, Value>, &CommandTable) -> serde_json::Result<Prepared>;

/// The future of a running command.
type RunFuture<'a> = Pin<Box<dyn Future<Output = Result<Box<dyn ErasedOutput>>> + Send + 'a>>;

/// A command of the registry: its definition, and the functions that run it.
#[derive(Debug)]
pub struct Entry {
    definition: CommandDefinition,
    parse: Parse,
    effect: fn(&Map<String, Value>, &CommandTable) -> Effect,
}

/// Gives an entry the methods of its definition.
impl Deref for Entry {
    type Target = CommandDefinition;

    fn deref(&self) -> &CommandDefinition {
        &self.definition
    }
}

pub(crate) const fn entry<C: Command>() -> Entry {
    Entry { definition: CommandDefinition::of::<C>(C::SPEC), parse: Prepared::parse::<C>, effect: C::effect }
}

impl Entry {
    /// Returns whether the command changes the app when it is called with this input. `commands`
    /// are the commands that it may itself run.
    #[must_use]
    pub fn effect(&self, input: &Map<String, Value>, commands: &CommandTable) -> Effect {
        (self.effect)(input, commands)
    }

    /// Checks and parses an input, once for all later uses.
    ///
    /// # Errors
    /// Returns `INVALID_ARGS` with the reason.
    pub(crate) fn prepare(&self, input: Map<String, Value>, commands: &CommandTable) -> Result<Prepared> {
        self.check(&input)?;
        (self.parse)(input, commands).map_err(|e| self.unreadable(&e))
    }
}

/// A type-erased command with its arguments.
pub(crate) struct Prepared {
    command: Box<dyn ErasedCommand>,
    /// The input that the command was parsed from.
    pub(crate) input: Map<String, Value>,
    /// Whether the command changes the app when it runs with this input.
    pub(crate) effect: Effect,
    /// The time limits of the command with this input.
    pub(crate) time: TimeLimits,
}

impl Prepared {
    fn parse<C: Command>(input: Map<String, Value>, commands: &CommandTable) -> serde_json::Result<Self> {
        let command = C::deserialize((&input).into_deserializer())?;
        let (effect, time) = (C::effect(&input, commands), command.time_limits());
        Ok(Self { command: Box::new(command), input, effect, time })
    }

    pub(crate) fn run(self, cx: &mut Cx) -> RunFuture<'_> {
        self.command.start(cx)
    }
}

trait ErasedCommand: Send {
    fn start(self: Box<Self>, cx: &mut Cx) -> RunFuture<'_>;
}

impl<C: Command> ErasedCommand for C {
    fn start(self: Box<Self>, cx: &mut Cx) -> RunFuture<'_> {
        Box::pin(async move { self.run(cx).await.map(erase_output) })
    }
}

/// A type-erased output.
pub(crate) trait ErasedOutput: Send {
    fn json(&self) -> serde_json::Result<Value>;
    fn text(&self, text: &mut Text);
    fn exit(&self) -> u8;
    fn failure(&self) -> Option<Error>;
}

/// Erases the type of an output.
pub(crate) fn erase_output<T: serde::Serialize + Show + Send + 'static>(output: T) -> Box<dyn ErasedOutput> {
    Box::new(TypedOutput(output))
}

struct TypedOutput<T>(T);

impl<T: serde::Serialize + Show + Send> ErasedOutput for TypedOutput<T> {
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
