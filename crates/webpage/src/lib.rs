//! One web page that is read and acted on over the Chrome DevTools Protocol, whoever started its browser.
//!
//! Floors, lowest first; each uses those above it in this table only (`tests/floors.rs`):
//!
//! | module | |
//! |---|---|
//! | `text` | texts of pages, cut to what is kept of them |
//! | `agent` | the script of ours in every document, and what it answers |
//! | `state` | what is known from events: frames, dialogs, requests, notices |
//! | `events` | events of a page, written into the state; how a page is set up to send them |
//! | `tab` | a session of the browser that shows a page: commands, calls into its documents, frames in frames |
//! | `capture` | trees made of what the agent answers |
//! | `unseen` | what the agent cannot see: closed shadow roots, `ElementInternals`, listeners |
//! | `read` | a page as it is now: whether a walk can be spared, what the questions of one act share, guards |
//! | `wait` | quiet, and what an act set off |
//! | `act` | where a press would go; pointer, keys, files, clipboard, pictures |
//!
//! Invariants: nothing is asked of a page behind a dialog; a capture carries no coordinates; an input goes where a
//! hit test of the same moment says. It knows no browser, no launch, and no way to choose another tab.

pub mod act;
pub mod agent;
pub mod capture;
pub mod events;
pub mod read;
pub mod state;
pub mod tab;
pub mod text;
mod unseen;
pub mod wait;

pub use read::page::Page;
