//! Frames between a front end and a daemon, and the client that finds or starts one.
//!
//! The protocol is newline-delimited JSON-RPC 2.0 over a Unix socket: `hello`, `call`, `cancel`, `status`, `stop`
//! ([`rpc`]). A front end holds a [`Client`]: an in-process host or a [`SocketClient`]; a command line that makes one
//! call uses the blocking [`Connection`] underneath and needs no runtime. Nothing here knows what a command means.

mod apart;
mod client;
mod connection;
mod frame;
mod place;
pub mod rpc;
mod start;

pub use apart::{Anything, Apart, Call, Policy, Progress};
pub use client::{Client, SocketClient};
pub use connection::{Connection, failed};
pub use frame::{Frame, Frames, MAX_FRAME, encode};
pub use place::{Place, fingerprint};
pub use start::{Announcement, Start, announce};
