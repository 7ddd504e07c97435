//! A thin DevTools client: frames on a transport, requests, answers, events, and the ids of sessions.
//!
//! Requests are answered by id, events are handed to one [`Sink`] in the order in which they arrived, *before* any
//! later answer is delivered: so whoever awaits an answer finds in the state every event that the browser sent
//! before it. Sending never waits, so several commands can be written in one go. A lost browser answers everything
//! that is still open with [`CallError::Lost`], and no call waits for longer than its [limit](Method::LIMIT).
//!
//! The one transport is the pair of pipes of a browser that the caller started. It knows no page and no device.

mod client;
mod error;
mod json;
mod pipe;
pub mod protocol;

pub use client::{Client, Method, Reply, Sink};
pub use error::{CallError, Refusal};
pub use json::well_formed;
