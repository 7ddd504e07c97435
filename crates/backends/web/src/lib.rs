//! Implementation of the device traits over the Chrome DevTools Protocol.
//!
//! | module | |
//! |---|---|
//! | `find`, `launch` | which browser, how it starts and ends, what is swept after a crash |
//! | `events`, `state` | what is known from events: tabs, frames, dialogs, requests, notices |
//! | `tabs` | which tabs there are, and the one that is driven |
//! | `tab` | one tab as the rest drives it: commands and calls into documents that end when it does |
//! | `page`, `agent`, `capture` | the script of ours in every document, what it answers, trees made of that |
//! | `along` | what the questions of one act share |
//! | `unchanged` | whether a walk can be spared, because nothing changed since the last one |
//! | `unseen` | what the script cannot see: closed shadow roots, `ElementInternals`, listeners |
//! | `provider`, `device` | the device traits |
//! | `frames` | whose element shows which document, and how their pixels map |
//! | `aim`, `mouse`, `keyboard`, `keys`, `files` | where a press would go; input events; files for inputs and drops |
//! | `navigate`, `address`, `settle`, `screenshot`, `clipboard` | going somewhere, what an address is, quiet, pictures, copied text |
//! | `hang` | pages that do not answer, and how they are left |
//! | `traffic` | requests and downloads that are remembered, waits for them, expressions of the page |
//!
//! Invariants: nothing is asked of a page behind a dialog; a capture carries no coordinates; an input goes where a
//! hit test of the same moment says.

mod address;
mod agent;
mod ahead;
mod aim;
mod along;
pub mod capture;
mod clipboard;
mod code;
mod css;
mod device;
mod downloads;
mod evaluate;
mod events;
mod files;
mod find;
mod fold;
mod frames;
mod gate;
mod guard;
mod hang;
mod keyboard;
mod keys;
mod launch;
mod mouse;
mod navigate;
pub mod page;
mod provider;
mod screenshot;
mod settle;
mod state;
mod tab;
mod tabs;
mod traffic;
mod unchanged;
mod unseen;

pub use device::WebDevice;
pub use provider::{WebConfig, WebProvider};
pub use unchanged::Verified;
