//! Hosts, sessions, commands, dispatch and the device traits.
//!
//! A [`Request`] names a command and its input; the kernel runs it against a session and its [`Device`] and answers
//! with a [`Response`]. Invariants: handlers return typed outputs, only `render` makes text, only dispatch builds
//! responses; pins are split off at the parse boundary; nothing here knows which backends exist, who calls, or a
//! socket.

pub mod device;
mod error;
mod request;

pub use device::{Device, Provider};
pub use error::{Dispatched, Error, ErrorCode, Result};
pub use request::{Caller, Detail, Format, RefDetail, RefsEnvelope, Render, Request, Response};
