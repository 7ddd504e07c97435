//! The protocol between a front end and a daemon: newline-delimited JSON-RPC 2.0 over a Unix socket.
//!
//! [`rpc`] has the messages (`hello`, `call`, `cancel`, `status`, `stop`), [`Frames`] cuts a byte stream into them, and
//! [`Place`] knows where the daemon of a state directory listens. Nothing here knows what a command means, connects or
//! serves.

mod announcement;
mod frame;
mod place;
pub mod rpc;

pub use announcement::{Announcement, announce};
pub use frame::{Frame, Frames, MAX_FRAME, encode};
pub use place::{Place, fingerprint};
