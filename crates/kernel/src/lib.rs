//! Hosts, sessions, commands, dispatch and the device traits.
//!
//! A [`Request`] names a command and its input; the kernel runs it against a session and its [`Device`] and answers
//! with a [`Response`]. Invariants: handlers return typed outputs, only `render` makes text, only dispatch builds
//! responses; pins are split off at the parse boundary; nothing here knows which backends exist, who calls, or a
//! socket.

mod act;
mod after;
mod args;
mod changes;
mod choice;
mod command;
mod commands;
mod context;
mod cx;
mod dispatch;
mod facets;
#[cfg(test)]
mod fake;
mod fields;
pub mod files;
mod going;
mod host;
mod image;
mod journal;
mod keys;
mod live;
mod look;
mod mailbox;
mod name;
mod overlay;
pub mod paths;
mod pattern;
mod picture;
mod question;
mod receipt;
mod recording;
pub mod registry;
mod render;
mod request;
mod resolve;
pub mod schema;
mod secret;
mod step;
mod target;
pub mod targets;
#[cfg(test)]
mod tests;
mod waiting;

pub use command::{Command, Effect, Lane, Scope, Spec};
pub use cx::Cx;
pub use dispatch::answered;
pub use host::{Host, HostConfig, Numbers};
pub use journal::{Journal, NoJournal};
pub use receipt::is_error as receipt_is_error;
pub use recording::{Expectation, Gap, Mending, NoScribe, Recorded, Recording, Scribe, Witness};
pub use render::{Cell, Show, Text};
pub use request::{Caller, Detail, Format, RefDetail, RefsEnvelope, Render, Request, Response};
pub use secret::{Secret, hide as hide_secrets};
pub use stickpin_device::{CancellationToken, Dispatched, Error, ErrorCode, Result, io_error};
pub use target::{RefTarget, Target};
