//! The protocol between a front end and a daemon: newline-delimited JSON-RPC 2.0 over a Unix
//! socket.
//!
//! [`rpc`] has the messages (`hello`, `call`, `cancel`, `status`, `stop`). [`Frames`] splits a byte
//! stream into them. [`Place`] finds the socket of a state directory's daemon. The crate does not
//! know what a command means; it neither connects nor serves.

mod announcement;
mod frame;
mod place;
pub mod rpc;

pub use announcement::{Announcement, announce};
pub use frame::{Frame, Frames, MAX_FRAME, encode};
pub use place::{Place, fingerprint};
