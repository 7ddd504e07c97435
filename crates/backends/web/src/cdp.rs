//! A thin DevTools client over the pipes of a browser that we started.
//!
//! Requests are answered by id, events are handed to one [`Sink`] in the order in which they arrived, *before* any
//! later answer is delivered: so whoever awaits an answer finds in the state every event that the browser sent
//! before it. Sending never waits, so several commands can be written in one go. A lost browser answers everything
//! that is still open with [`CallError::Lost`].

mod client;
pub(crate) mod json;
mod pipe;
pub mod protocol;

pub use client::{CallError, Client, Method, Reply, Sink};
