//! The state of one session: lifetime, generations, the ref table, standing.
//!
//! Captured trees go in and refs come out. [`Session::replace_tree`] is the only function that
//! stores a tree: it advances the generation, finds the elements of the ref table in the new tree,
//! and records which refs ended. [`Session::resolve`] determines the standing of a ref, once for
//! every consumer.
//!
//! ```
//! use stickpin_refs::{Generation, RefToken};
//! use stickpin_session::{ClientId, InMemoryNumbers, Ladder, Origin, Session, SessionConfig};
//! use stickpin_tree::{Document, IdentityGrade, NodeSpec, Role, Tree, TreeBuilder};
//!
//! fn capture(names: &[(&str, u64)]) -> Tree {
//!     let mut b = TreeBuilder::new(IdentityGrade::NeverReused);
//!     let doc = Document { scope: 1, frame: String::new(), url: "/".into(), title: String::new()
//! };
//!     b.document(0, doc, 1).unwrap();
//!     for &(name, id) in names {
//!         b.node(1, NodeSpec { role: Some(Role::Button), name, id, ..Default::default()
//! }).unwrap();
//!     }
//!     b.finish().unwrap()
//! }
//!
//! let mut session = Session::new(SessionConfig {
//!     lifetime: "a".into(),
//!     seed: Generation::new(482_913),
//!     ladder: Ladder::Warn,
//!     numbers: Box::new(InMemoryNumbers::new()),
//! });
//! let me = ClientId::new("me");
//! session.replace_tree(capture(&[("Save", 10)]), Origin::Snapshot);
//! let save = session.tree().unwrap().root().children().next().unwrap().id();
//! let refs = session.issue(&me, &[save]).unwrap();
//!
//! // A button appears before Save: `@e1` still stands for Save, with a warning.
//! session.replace_tree(capture(&[("Undo", 11), ("Save", 10)]), Origin::Internal);
//! let resolved = session.resolve(&me, RefToken::plain(refs[0])).unwrap();
//! assert_eq!(session.tree().unwrap().node(resolved.node.unwrap()).name(), "Save");
//! assert!(resolved.warning.unwrap().contains("The tree changed since @e1 was issued"));
//! ```
//!
//! Invariants: no other module can build or change this state. A ref never denotes two elements or
//! two meanings, except that its client's own action may change numbers, which the receipt reports.
//! This crate uses no device, clock, file or source of randomness.

pub mod agent;
mod align;
mod client;
mod client_views;
mod count_changes;
pub mod log;
mod name;
mod numbers;
mod renewal;
mod retained;
mod session;
mod standing;
mod summary;
mod table;
#[cfg(test)]
mod tests;
mod tickers;
mod timestamp;
pub mod turn;

pub use client::ClientId;
pub use name::{MAX_SESSION_NAME, RESERVED_SESSION_NAMES, is_session_name};
pub use numbers::{BLOCK, InMemoryNumbers, NumberError, NumberSource, block};
pub use renewal::BaseTree;
pub use session::{Origin, Session, SessionConfig, StoreOutcome};
pub use standing::{ContextPolicy, EndReason, Ladder, RefFault, Resolved, Standing, UnknownLadder};
pub use summary::{summarize, summarize_text};
pub use timestamp::{InvalidTimestamp, Timestamp};
