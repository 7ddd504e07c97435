//! Implementation of the device traits over the Chrome DevTools Protocol.
//!
//! | module | |
//! |---|---|
//! | `cdp` | the DevTools client: frames on a pipe, requests, answers, events |
//! | `find`, `launch`, `process` | which browser, how it starts and ends, what is swept after a crash |
//! | `events`, `state` | what is known from events: tabs, frames, dialogs, requests, notices |
//! | `tab` | one tab as the rest drives it: commands and calls into documents that end when it does |
//! | `page`, `agent`, `capture` | the script of ours in every document, what it answers, trees made of that |
//! | `provider`, `device` | the device traits |
//!
//! Invariants: nothing is asked of a page behind a dialog; a capture carries no coordinates; an input goes where a
//! hit test of the same moment says.

mod agent;
pub mod capture;
pub mod cdp;
mod device;
mod events;
mod find;
mod launch;
pub mod page;
mod process;
mod provider;
mod state;
mod tab;

pub use device::WebDevice;
pub use provider::{WebConfig, WebProvider};
