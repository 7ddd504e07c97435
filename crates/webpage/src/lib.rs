//! Reads and acts on one web page over the Chrome DevTools Protocol. The browser may be started by
//! any program.
//!
//! Layers, lowest first; each uses only those above it in this table
//! (`tests/integration/floors.rs`):
//!
//! | module | |
//! |---|---|
//! | `text` | page text, shortened for notices |
//! | `agent` | our script in every document, and its answers |
//! | `state` | what is known from events: frames, dialogs, requests, notices |
//! | `events` | writes a page's events into the state; sets a page up to send them |
//! | `tab` | a session that shows a page: commands, calls into its documents, nested frames |
//! | `capture` | builds trees from the agent's answers |
//! | `debugger_probes` | closed shadow roots, `ElementInternals`, listeners |
//! | `read` | the page as it is now: skipped walks, shared requests of one action, guards |
//! | `wait` | quiet, and the effects of an action |
//! | `act` | aiming, pointer, keys, files, clipboard, screenshots |
//!
//! ```
//! // Long page text is shortened in notices.
//! assert_eq!(stickpin_webpage::text::clip("short"), "short");
//! assert!(stickpin_webpage::text::clip(&"long ".repeat(100)).ends_with('…'));
//! ```
//!
//! Invariants: no request is sent to a page while a dialog is open. A capture contains no
//! coordinates. An input goes to the element that a hit test finds at the same moment. This crate
//! does not start browsers and cannot switch tabs.

pub mod act;
pub mod agent;
pub mod capture;
mod debugger_probes;
pub mod events;
pub mod read;
pub mod state;
pub mod tab;
pub mod text;
pub mod wait;

pub use read::page::Page;
