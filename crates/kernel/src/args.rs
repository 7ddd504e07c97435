//! Arguments that several commands share, written down once.

use crate::act::How;
use crate::after::CAP;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::time::Duration;

/// `--settle[=MS]`: wait for quiet, by default at most ten seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Settle {
    /// Whether to wait.
    Wait(bool),
    /// Wait at most so many milliseconds.
    AtMost(u64),
}

impl Settle {
    /// When to give up; `None` to not wait at all.
    pub(crate) fn cap(self) -> Option<Duration> {
        match self {
            Self::Wait(wait) => wait.then_some(CAP),
            Self::AtMost(ms) => Some(Duration::from_millis(ms)),
        }
    }
}

impl<'de> Deserialize<'de> for Settle {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "true, false or a number of milliseconds")]
        enum Either {
            Wait(bool),
            AtMost(u64),
        }
        Ok(match Either::deserialize(deserializer)? {
            Either::Wait(wait) => Self::Wait(wait),
            Either::AtMost(ms) => Self::AtMost(ms),
        })
    }
}

impl JsonSchema for Settle {
    fn schema_name() -> Cow<'static, str> {
        "Settle".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["integer", "boolean"], "minimum": 0, "x-value": "optional", "x-placeholder": "MS" })
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

impl How {
    /// From the arguments that `acting!` adds.
    pub(crate) fn new(
        settle: Option<Settle>,
        allow_changed: bool,
        timeout: Option<u64>,
        receipt: Option<Receipt>,
    ) -> Self {
        Self {
            timeout: Duration::from_millis(timeout.unwrap_or(0)),
            allow_changed,
            settle: settle.and_then(Settle::cap),
            receipt: receipt.unwrap_or_default() == Receipt::On,
        }
    }

    /// How much longer than usual an act may take with these arguments.
    pub(crate) fn extra(self) -> Duration {
        self.timeout + self.settle.unwrap_or_default()
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
            #[serde(default, skip_serializing_if = "Option::is_none")]
            settle: Option<$crate::args::Settle>,
            /// Act on the element of a ref whatever it means now.
            #[serde(default)]
            allow_changed: bool,
            /// Wait so many milliseconds for the target to become actionable.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[schemars(extend("x-placeholder" = "MS"))]
            timeout: Option<u64>,
            /// Say what was seen since the act.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            receipt: Option<$crate::args::Receipt>,
        }

        impl $name {
            fn how(&self) -> $crate::act::How {
                $crate::act::How::new(self.settle, self.allow_changed, self.timeout, self.receipt)
            }
        }
    };
}
pub(crate) use acting;
