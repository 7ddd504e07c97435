//! Errors: the reasons why a call has no usable answer.

use std::time::Duration;
use tokio::time::Instant;

/// Returns the time left until a deadline.
pub(crate) fn remaining(until: Instant) -> Duration {
    until.saturating_duration_since(Instant::now())
}

/// The reason why a call has no usable answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BusError {
    /// The app or the bus is gone.
    #[error("no connection: {0}")]
    Closed(String),
    /// There was no answer in time. The value is the timeout in milliseconds; 0 if it is unknown.
    #[error("no answer{}", within(*.0))]
    Silent(u128),
    /// The object does not exist, or no longer exists.
    #[error("the object does not exist")]
    Vanished,
    /// The object exists, but does not support this method.
    #[error("the app does not support this query")]
    Unknown,
    /// The app answered with any other error, in its own words.
    #[error("the app returned an error: {}", stickpin_tree::quote(.0))]
    Refused(String),
    /// The answer has the wrong type.
    #[error("the answer is invalid: {0}")]
    Corrupt(&'static str),
}

/// The answer to a call or the result of several calls, or the error.
pub(crate) type BusResult<T> = Result<T, BusError>;

/// Converts an error to `None` if it concerns only the object.
///
/// # Errors
/// Returns `Closed` or `Silent`, which concern the whole app.
pub(crate) fn unless_lost<T>(answer: BusResult<T>) -> BusResult<Option<T>> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(fault) if fault.is_lost() => Err(fault),
        Err(_) => Ok(None),
    }
}

impl BusError {
    /// Interprets the name and message of a D-Bus error.
    pub(crate) fn of(name: &str, message: &str) -> Self {
        match name.strip_prefix("org.freedesktop.DBus.Error.").unwrap_or(name) {
            "UnknownMethod" | "UnknownInterface" | "UnknownProperty" | "NotSupported" => Self::Unknown,
            "UnknownObject" => Self::Vanished,
            "ServiceUnknown" | "NameHasNoOwner" | "Disconnected" => Self::Closed("the app has closed".into()),
            // The bus answers with this when an app ends before answering.
            "NoReply" if message.contains("disconnected") => Self::Closed("the app has closed".into()),
            "NoReply" | "Timeout" | "TimedOut" => Self::Silent(0),
            other => Self::Refused(format!("{other}: {message}")),
        }
    }

    /// Returns whether the app is gone or silent, as opposed to an error that concerns one object.
    pub(crate) fn is_lost(&self) -> bool {
        matches!(self, Self::Closed(_) | Self::Silent(_))
    }

    /// Returns whether there will be no more answers.
    pub(crate) fn is_final(&self) -> bool {
        matches!(self, Self::Closed(_))
    }
}

/// Formats a timeout in milliseconds; empty for 0, which stands for an unknown timeout. The timeout
/// is unknown if the bus itself reports the missing answer.
pub(crate) fn within(ms: u128) -> String {
    if ms == 0 { String::new() } else { format!(" within {ms} ms") }
}
