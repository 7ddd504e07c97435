//! Arguments that several commands share.

use crate::api::paths::PathArg;
use crate::command::definition::{Command, TimeLimits};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::time::Duration;

/// The default timeout of a wait for a quiet app.
pub(crate) const DEFAULT_SETTLE_TIMEOUT: Duration = Duration::from_secs(10);

/// The value of `--flag[=VALUE]`: given without a value (`true`), absent (`false`), or given with a
/// value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected true, false or a value")]
pub enum OptionalValue<T> {
    /// True if the flag was given without a value, false if it is absent.
    Plain(bool),
    /// The flag was given with a value.
    Value(T),
}

impl OptionalValue<u64> {
    /// Returns the timeout of the wait that `--settle[=MS]` requests, or `None` for no wait.
    pub(crate) fn settle_timeout(self) -> Option<Duration> {
        self.requested().map(|ms| ms.map_or(DEFAULT_SETTLE_TIMEOUT, Duration::from_millis))
    }
}

impl<T> OptionalValue<T> {
    /// Returns `None` if the flag is absent, `Some(None)` if it was given without a value, and
    /// otherwise its value.
    pub(crate) fn requested(self) -> Option<Option<T>> {
        match self {
            Self::Plain(wanted) => wanted.then_some(None),
            Self::Value(value) => Some(Some(value)),
        }
    }
}

impl JsonSchema for OptionalValue<u64> {
    fn schema_name() -> Cow<'static, str> {
        "GivenMilliseconds".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["integer", "boolean"], "x-value": "optional", "minimum": 0, "x-placeholder": "MS"
        })
    }
}

impl JsonSchema for OptionalValue<PathArg> {
    fn schema_name() -> Cow<'static, str> {
        "GivenPath".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = PathArg::json_schema(generator);
        schema.insert("type".to_owned(), serde_json::json!(["string", "boolean"]));
        schema.insert("x-value".to_owned(), "optional".into());
        schema
    }
}

/// Whether a response reports what was observed since the action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Receipt {
    /// At most five lines.
    #[default]
    On,
    /// Nothing.
    Off,
}

/// The time that an action may take beyond `--timeout`: an actionable target must still be brought
/// into view, acted on and read again.
pub(crate) const ACTION_ALLOWANCE: Duration = Duration::from_secs(2);

/// The time allowed for typing one character.
const TYPING_TIME_PER_CHAR: Duration = Duration::from_millis(20);

/// Returns the time allowed for typing a text.
pub(crate) fn typing_time(text: &str) -> Duration {
    TYPING_TIME_PER_CHAR * u32::try_from(text.chars().count()).unwrap_or(u32::MAX)
}

/// Options that most actions share.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ActionOptions {
    /// Whether the command has `--timeout` and the flags that loosen its checks, so that hints may
    /// name them.
    pub(crate) has_overrides: bool,
    /// How long to wait for the target to become actionable.
    pub(crate) timeout: Duration,
    /// Whether the caller set a timeout.
    pub(crate) timed: bool,
    /// Act on the element regardless of its current meaning.
    pub(crate) allow_changed: bool,
    /// Send the input despite obstacles.
    pub(crate) force: bool,
    /// Send nothing if the device has no hit test.
    pub(crate) strict: bool,
    /// Wait up to this long for a quiet app after the action, and show what changed.
    pub(crate) settle: Option<Duration>,
    /// Report observations since the action.
    pub(crate) receipt: bool,
}

impl ActionOptions {
    /// Creates options without the flags that loosen or tighten the checks.
    pub(crate) fn new(
        settle: Option<OptionalValue<u64>>,
        timeout: Option<u64>,
        receipt: Option<Receipt>,
    ) -> Self {
        Self {
            timeout: Duration::from_millis(timeout.unwrap_or(0)),
            timed: timeout.is_some(),
            settle: settle.and_then(OptionalValue::settle_timeout),
            receipt: receipt.unwrap_or_default() == Receipt::On,
            ..Self::default()
        }
    }

    /// Returns how long the whole action may take: `deadline` plus the waits that the caller
    /// requested.
    ///
    /// If the caller set a timeout, the command must respond within these waits plus an allowance
    /// and `more`, which covers additional work such as typing.
    pub(crate) fn time_limits(self, deadline: Duration, more: Duration) -> TimeLimits {
        let waits = self.timeout + self.settle.unwrap_or_default();
        TimeLimits {
            deadline: deadline + waits,
            response_limit: self.timed.then(|| waits + ACTION_ALLOWANCE + more),
        }
    }
}

/// A command with the options that most actions share.
pub(crate) trait SharedOptions {
    /// Returns the shared options of this command.
    fn action_options(&self) -> ActionOptions;
}

/// A command that acts on the app, with the options that most actions share.
pub trait Acting: Command {
    /// Returns the options, to change them.
    fn options(&mut self) -> ActOptions<'_>;
}

/// The options that most actions share, borrowed from a command.
#[derive(Debug)]
#[non_exhaustive]
pub struct ActOptions<'c> {
    /// Wait until the app is quiet.
    pub settle: &'c mut Option<OptionalValue<u64>>,
    /// Act on the element of a ref regardless of its current meaning.
    pub allow_changed: &'c mut bool,
    /// Send the input despite obstacles.
    pub force: &'c mut bool,
    /// Send nothing if the device has no hit test.
    pub strict: &'c mut bool,
    /// How long to wait for the target to become actionable, in milliseconds.
    pub timeout: &'c mut Option<u64>,
    /// Whether the response reports observations since the action.
    pub receipt: &'c mut Option<Receipt>,
}

/// Declares a command that acts on the app: the struct gets the arguments that most actions share,
/// `new()` and `action_options()`.
///
/// The command's own fields come first, so that help lists them first. A field with a default
/// (`count: u8 = 1`) is not an argument of `new()`.
macro_rules! acting {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($(#[$field_meta:meta])* $field:ident: $type:ty $(= $default:expr)?,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $type,)*
            /// Wait until the app is quiet (at most 10 s, or MS milliseconds), then print what
            /// changed.
            #[schemars(extend("x-unrecorded" = true))]
            pub settle: Option<$crate::command::args::OptionalValue<u64>>,
            /// Act even if the ref's element now means something else.
            #[serde(default)]
            pub allow_changed: bool,
            /// Send the input even if the target is covered, disabled or off-screen, or if the
            /// screenshot showed something else at the point. The response says what was in the
            /// way.
            #[serde(default, skip_serializing_if = "std::ops::Not::not")]
            pub force: bool,
            /// Send nothing if the device has no hit test and cannot tell what covers the target.
            #[serde(default, skip_serializing_if = "std::ops::Not::not")]
            pub strict: bool,
            /// Milliseconds to wait for the target to become actionable; a refusal comes at most 2
            /// s later.
            pub timeout: Option<u64>,
            /// Whether to report the effects seen since the action.
            #[schemars(extend("x-unrecorded" = true))]
            pub receipt: Option<$crate::command::args::Receipt>,
        }

        impl $crate::command::args::SharedOptions for $name {
            fn action_options(&self) -> $crate::command::args::ActionOptions {
                $crate::command::args::ActionOptions {
                    has_overrides: true,
                    allow_changed: self.allow_changed,
                    force: self.force,
                    strict: self.strict,
                    ..$crate::command::args::ActionOptions::new(self.settle, self.timeout, self.receipt)
                }
            }
        }

        impl $crate::command::args::Acting for $name {
            fn options(&mut self) -> $crate::command::args::ActOptions<'_> {
                let Self { settle, allow_changed, force, strict, timeout, receipt, .. } = self;
                $crate::command::args::ActOptions { settle, allow_changed, force, strict, timeout, receipt }
            }
        }

        acting!(@new $name [] [] $($field: $type $(= $default)?,)*);
    };
    (@new $name:ident [$($arg:ident: $arg_type:ty,)*] [$($set:ident = $value:expr,)*]) => {
        impl $name {
            /// Creates the command from its required arguments. All others have their defaults.
            #[must_use]
            pub fn new($($arg: impl Into<$arg_type>),*) -> Self {
                Self {
                    $($arg: $arg.into(),)*
                    $($set: $value,)*
                    settle: None,
                    allow_changed: false,
                    force: false,
                    strict: false,
                    timeout: None,
                    receipt: None,
                }
            }
        }
    };
    (@new $name:ident [$($args:tt)*] [$($sets:tt)*] $field:ident: $type:ty = $default:expr, $($rest:tt)*) => {
        acting!(@new $name [$($args)*] [$($sets)* $field = $default,] $($rest)*);
    };
    (@new $name:ident [$($args:tt)*] [$($sets:tt)*] $field:ident: $type:ty, $($rest:tt)*) => {
        acting!(@new $name [$($args)* $field: $type,] [$($sets)*] $($rest)*);
    };
}
pub(crate) use acting;
