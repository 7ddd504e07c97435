//! Arguments that several commands share, written down once.

use crate::command::definition::Time;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::time::Duration;

/// When waiting for quiet is given up, unless the caller says otherwise.
pub(crate) const CAP: Duration = Duration::from_secs(10);

/// `--flag[=VALUE]`: given without a value (`true`), not given (`false`), or with one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected true, false or a value")]
pub(crate) enum Given<T> {
    /// Whether it is wanted, without a value.
    Plain(bool),
    /// With a value.
    Value(T),
}

/// `--settle[=MS]`: wait for quiet, by default at most ten seconds.
pub(crate) type Settle = Given<u64>;

impl Settle {
    /// When to give up; `None` to not wait at all.
    pub(crate) fn cap(self) -> Option<Duration> {
        self.wanted().map(|ms| ms.map_or(CAP, Duration::from_millis))
    }
}

impl<T> Given<T> {
    /// `None` when it is not wanted; the value, if there is one.
    pub(crate) fn wanted(self) -> Option<Option<T>> {
        match self {
            Self::Plain(wanted) => wanted.then_some(None),
            Self::Value(value) => Some(Some(value)),
        }
    }
}

impl JsonSchema for Given<u64> {
    fn schema_name() -> Cow<'static, str> {
        "GivenMilliseconds".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["integer", "boolean"], "x-value": "optional", "minimum": 0, "x-placeholder": "MS"
        })
    }
}

impl JsonSchema for Given<String> {
    fn schema_name() -> Cow<'static, str> {
        "GivenText".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "boolean"], "x-value": "optional" })
    }
}

/// Whether a response says what was seen since the act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Receipt {
    /// At most five lines.
    #[default]
    On,
    /// Nothing.
    Off,
}

/// How much longer than its `--timeout` a command may take: the target is waited for that long, and then has to be
/// brought into view, hit, and read again.
pub(crate) const ALLOWANCE: Duration = Duration::from_secs(2);

/// What typing one character may take.
const CHARACTER: Duration = Duration::from_millis(20);

/// What typing a text may take.
pub(crate) fn typing(text: &str) -> Duration {
    CHARACTER * u32::try_from(text.chars().count()).unwrap_or(u32::MAX)
}

/// How to act, from the arguments that all acts share.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct How {
    /// Wait so long for the target to become actionable.
    pub(crate) timeout: Duration,
    /// Whether the caller gave a time.
    pub(crate) timed: bool,
    /// Act on the element whatever it means now.
    pub(crate) allow_changed: bool,
    /// Send the input whatever is in its way.
    pub(crate) force: bool,
    /// Send nothing where the device cannot tell what is in the way.
    pub(crate) strict: bool,
    /// Wait for quiet after the act, at most so long, and show what changed.
    pub(crate) settle: Option<Duration>,
    /// Report what was seen since the act.
    pub(crate) receipt: bool,
}

impl How {
    /// How to act with these arguments, without the flags that loosen or tighten the checks.
    pub(crate) fn new(settle: Option<Settle>, timeout: Option<u64>, receipt: Option<Receipt>) -> Self {
        Self {
            timeout: Duration::from_millis(timeout.unwrap_or(0)),
            timed: timeout.is_some(),
            settle: settle.and_then(Settle::cap),
            receipt: receipt.unwrap_or_default() == Receipt::On,
            ..Self::default()
        }
    }

    /// How long the whole act may take: its usual `deadline` plus what the caller asked it to wait, and where the caller
    /// gave a time, that plus `more`, which is for what the act does besides, like typing.
    pub(crate) fn time(self, deadline: Duration, more: Duration) -> Time {
        let waits = self.timeout + self.settle.unwrap_or_default();
        Time { deadline: deadline + waits, bound: self.timed.then(|| waits + ALLOWANCE + more) }
    }
}

/// Declares a command that acts on the app: the struct gets the arguments that all acts have, and `how()`.
///
/// The fields that are written come first, so that help shows them first.
macro_rules! acting {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $($(#[$field_meta:meta])* $field:ident: $type:ty,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        $vis struct $name {
            $($(#[$field_meta])* $field: $type,)*
            /// Wait until the app is quiet (at most 10 s, or MS milliseconds), then print what changed.
            #[schemars(extend("x-unrecorded" = true))]
            settle: Option<$crate::command::args::Settle>,
            /// Act on the element of a ref whatever it means now.
            #[serde(default)]
            allow_changed: bool,
            /// Send the input even where the target is covered, disabled or out of view, or a picture showed something
            /// else at the point; the answer says what was in the way.
            #[serde(default, skip_serializing_if = "std::ops::Not::not")]
            force: bool,
            /// Send nothing where the device has no hit test and cannot tell whether something lies over the target.
            #[serde(default, skip_serializing_if = "std::ops::Not::not")]
            strict: bool,
            /// Wait so many milliseconds for the target to become actionable; the command ends 2 s later at most.
            #[schemars(extend("x-placeholder" = "MS"))]
            timeout: Option<u64>,
            /// Say what was seen since the act.
            #[schemars(extend("x-unrecorded" = true))]
            receipt: Option<$crate::command::args::Receipt>,
        }

        impl $name {
            fn how(&self) -> $crate::command::args::How {
                $crate::command::args::How {
                    allow_changed: self.allow_changed,
                    force: self.force,
                    strict: self.strict,
                    ..$crate::command::args::How::new(self.settle, self.timeout, self.receipt)
                }
            }
        }
    };
}
pub(crate) use acting;
