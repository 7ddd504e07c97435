//! Hosts, sessions, commands and dispatch.
//!
//! A [`Request`] names a command and its input. The kernel runs it against a session and its
//! [`Device`](stickpin_device::Device) and returns a [`Response`].
//!
//! Invariants: handlers return typed outputs, only `render` makes text, and only `respond` builds
//! responses. Pins are split off at the parse boundary. The kernel knows no backends, no callers
//! and no sockets.

mod act;
mod api;
mod command;
mod commands;
mod dispatch;
mod host;
mod observe;
mod picture;
mod recording;
pub mod registry;
mod run;
pub mod targets;
#[cfg(test)]
mod tests;

pub use api::expectation::Expectation;
pub use api::journal::{Journal, NoJournal};
pub use api::render::{Cell, Show, Text, error as error_text};
pub use api::request::{Caller, Detail, Format, RefDetail, RefsEnvelope, Render, Request, Response};
pub use api::secret::{Secret, hide as hide_secrets};
pub use api::spec::{Effect, Lane, Scope, Spec};
pub use api::target::{RefTarget, Target};
pub use api::{files, paths, schema};
pub use command::context::Cx;
pub use command::definition::Command;
pub use host::recording::{Gap, Mending, NoScribe, Recorded, Recording, Scribe, Witness};
pub use host::{Host, HostConfig, Numbers};
pub use run::respond::answered;
pub use stickpin_device::{CancellationToken, Dispatched, Error, ErrorCode, Result, io_error};
