//! Drives apps, web pages and anything else that has a [`Provider`](stickpin_device::Provider), and
//! never acts on the wrong element without saying so.
//!
//! A [`Host`] holds sessions, each with one open app. A [`Session`] runs commands on its app:
//!
//! ```
//! use stickpin_backend_sim::SimProvider;
//! use stickpin_kernel::{Host, Snapshot};
//!
//! # #[tokio::main]
//! # async fn main() -> stickpin_kernel::Result<()> {
//! # let folder = tempfile::tempdir().expect("a folder");
//! # let state_dir = folder.path();
//! let host = Host::builder(state_dir).provider(SimProvider::default()).build()?;
//! let shop = host.session("shop");
//! shop.open("sim:shop").await?;
//! let page = shop.snapshot(Snapshot::interactive()).await?;
//! shop.press(page.find("Cart")?).settle().await?;
//! # host.shutdown().await;
//! # Ok(())
//! # }
//! ```
//!
//! - Every command is a type in [`commands`]; [`Session::run`] runs it and returns an [`Answer`]
//!   with its typed output. A command is written by implementing [`Command`] and added with
//!   [`HostBuilder::command`].
//! - A ref from [`Answer::find`] carries the generation that it came from. If the ref no longer
//!   denotes the same element, a command fails with `STALE_REF` and nothing is sent.
//! - An [`Error`] has a code, a sentence and a hint, and states whether anything was sent.
//!
//! Front ends in other processes send the same commands as data: a [`Request`] names a command and
//! its input, and [`Host::call`] runs the command and returns a [`Response`].
//!
//! Invariants: handlers return typed outputs, only `render` makes text, and only `respond` builds
//! responses. Refs and their pins are separated at the parse boundary. The kernel depends on no
//! backend, no front end and no socket.

mod act;
mod api;
mod command;
pub mod commands;
mod dispatch;
mod embed;
mod host;
mod observe;
#[cfg(feature = "pictures")]
mod picture;
#[cfg_attr(not(feature = "recording"), allow(dead_code, reason = "only `record start` begins a recording"))]
mod recording;
pub mod registry;
mod run;
mod targets;
#[cfg(test)]
mod tests;

pub use api::expectation::Expectation;
pub use api::paths::{PathArg, ResolvedPath};
pub use api::render::{Show, Text};
pub use api::request::{
    Caller, Detail, Format, HeldTurn, LogStatus, RefDetail, RefsEnvelope, Render, Request, Response,
};
pub use api::secret::Secret;
pub use api::spec::{Effect, Follow, Lane, Scope, Spec};
pub use api::target::{RefTarget, Target};
pub use api::{files, schema};
pub use command::args::{ActOptions, Acting, OptionalValue, Receipt};
pub use command::context::Cx;
pub use command::definition::{Command, TimeLimits};
pub use commands::{
    check::{Check, Uncheck},
    close::Close,
    element::Wait,
    fill::Fill,
    find::Find,
    get::{Get, Property},
    open::Open,
    press::Press,
    select::Select,
    snapshot::Snapshot,
    type_text::Type,
};
pub use dispatch::{builder::HostBuilder, host::Host};
pub use embed::{
    answer::Answer,
    call::Call,
    page::Listing,
    session::{IntoTarget, Session},
};
pub use host::LIVE;
pub use host::identities::{Connected, Identities, IssuedCode};
#[cfg(feature = "recording")]
pub use host::recording::{
    RecordedCommand, RecordedTarget, Recording, RepairSite, ScriptRepair, ScriptWriter,
};
#[cfg(feature = "pictures")]
pub use picture::image::Image;
pub use stickpin_device::{CancellationToken, Dispatched, Error, ErrorCode, Result, io_error};
pub use stickpin_session::agent::{EnvAge, Evidence};
