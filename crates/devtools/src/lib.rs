//! A thin client of the DevTools protocol: frames, requests, answers, events, session ids.
//!
//! Answers are matched to requests by id. Events go to one [`Sink`] in the order in which they
//! arrive, *before* any later answer is delivered. When an answer arrives, the state therefore
//! already contains every event that the browser sent before it.
//!
//! Sending never waits, so several commands can be written in one go. When the browser is lost,
//! every pending call fails with [`CallError::Lost`]. No call waits longer than its
//! [timeout](Method::LIMIT).
//!
//! A transport is a [`FrameReader`] and a [`FrameWriter`]. The only transport is a pair of pipes
//! ([`PipeReader`], [`PipeWriter`]) to a browser that the caller started. Invariant: this crate
//! knows nothing about pages or devices.
//!
//! ```
//! // A page may contain half of a surrogate pair; the rest of the text is kept.
//! let text = stickpin_devtools::well_formed(r#""rocket \ud83d""#);
//! assert_eq!(text, r#""rocket \ufffd""#);
//! ```

mod client;
mod error;
mod json;
mod pipe;
pub mod protocol;
mod transport;

pub use client::{Client, Method, Reply, Sink};
pub use error::{CallError, Refusal};
pub use json::well_formed;
pub use pipe::{PipeReader, PipeWriter};
pub use transport::{FrameReader, FrameWriter};
