//! Why a call has no answer.

use std::time::Duration;
use tokio::time::Instant;

/// How long it is until then.
pub(crate) fn left(until: Instant) -> Duration {
    until.saturating_duration_since(Instant::now())
}

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum Fault {
    /// The app, or the bus, is not there any more.
    #[error("the connection is closed: {0}")]
    Closed(String),
    /// Nothing was answered in time.
    #[error("no answer{}", within(*.0))]
    Silent(u128),
    /// There is no such object (any more).
    #[error("the object is not there any more")]
    Vanished,
    /// The object is there, and does not know this method.
    #[error("the app does not know this question")]
    Unknown,
    /// Any other error that the app answered with, in its own words.
    #[error("the app answered with an error: {}", stickpin_tree::quote(.0))]
    Refused(String),
    /// What was answered makes no sense.
    #[error("the answer cannot be read: {0}")]
    Corrupt(&'static str),
}

/// What has no answer because of one object alone is none; that the app is gone or silent is an
/// error.
///
/// # Errors
/// `Closed` and `Silent`.
pub(crate) fn unless_lost<T>(answer: Result<T, Fault>) -> Result<Option<T>, Fault> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(fault) if fault.is_lost() => Err(fault),
        Err(_) => Ok(None),
    }
}

impl Fault {
    /// What a D-Bus error name means.
    pub(crate) fn of(name: &str, message: &str) -> Self {
        match name.strip_prefix("org.freedesktop.DBus.Error.").unwrap_or(name) {
            "UnknownMethod" | "UnknownInterface" | "UnknownProperty" | "NotSupported" => Self::Unknown,
            "UnknownObject" => Self::Vanished,
            "ServiceUnknown" | "NameHasNoOwner" | "Disconnected" => Self::Closed("the app has left".into()),
            // The bus answers so for an app that ends before it does.
            "NoReply" if message.contains("disconnected") => Self::Closed("the app has left".into()),
            "NoReply" | "Timeout" | "TimedOut" => Self::Silent(0),
            other => Self::Refused(format!("{other}: {message}")),
        }
    }

    /// Whether it says that the app is gone or silent, not something of one object.
    pub(crate) fn is_lost(&self) -> bool {
        matches!(self, Self::Closed(_) | Self::Silent(_))
    }

    /// Whether nothing more will be answered.
    pub(crate) fn is_final(&self) -> bool {
        matches!(self, Self::Closed(_))
    }
}

/// How long an answer was waited for, where that is known: the bus itself may say that none comes.
pub(crate) fn within(ms: u128) -> String {
    if ms == 0 { String::new() } else { format!(" within {ms} ms") }
}
