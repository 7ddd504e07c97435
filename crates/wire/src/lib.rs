//! The protocol between a front end and a daemon: newline-delimited JSON-RPC 2.0 over a Unix
//! socket.
//!
//! [`rpc`] defines the messages (`hello`, `call`, `cancel` and others). [`Frames`] splits a byte
//! stream into them. [`StateDir`] finds the socket of a state directory's daemon. The crate does
//! not interpret commands; it neither connects nor serves.
//!
//! ```
//! use stickpin_wire::{Frame, Frames, encode, rpc::Message};
//!
//! let mut frames = Frames::default();
//! frames.push(&encode(&Message::new(1, "status", serde_json::json!({}))));
//! let Some(Frame::Line(line)) = frames.next_frame() else { panic!("one whole line") };
//! let message: Message = serde_json::from_slice(&line).unwrap();
//! assert_eq!(message.method, "status");
//! ```

mod announcement;
mod frame;
pub mod rpc;
mod state_dir;

pub use announcement::{Announcement, announce};
pub use frame::{Frame, Frames, MAX_FRAME, encode};
pub use state_dir::{StateDir, fingerprint};
