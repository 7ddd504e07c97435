//! Coordination of a session while a host is running: who may act, and what happened.
//!
//! A [`Coordinator`] contains the sessions of a state directory. Each [`SessionAuthority`] owns the
//! log of one session and is its only writer: members join and leave, the turn passes from one
//! agent to the next, and every command is recorded before the device is touched. The rules come
//! from `stickpin_session::turn`, and `stickpin_store` writes the files. This crate applies the
//! rules at run time: it keeps track of the time, of the agents that are waiting, and of those that
//! are connected.
//!
//! ```
//! use std::sync::Arc;
//! use stickpin_coordinator::{Coordinator, Environment, Participant, Start};
//! use stickpin_session::Timestamp;
//! use stickpin_session::log::{Arguments, StartReason, Via};
//! use stickpin_session::turn::{AgentId, BaseScope, Liveness, MemberKind, Now, Policy};
//!
//! # fn main() -> stickpin_device::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let state_dir = folder.path();
//! let environment = Environment {
//!     now: Arc::new(|| Now { mono_ms: 0, boot_id: "b1".into(), wall: Timestamp::from_millis(0) }),
//!     random: Arc::new(|| 7),
//!     liveness: Arc::new(|_| Liveness::Unknown),
//!     pid: std::process::id(),
//! };
//! let coordinator = Coordinator::open(state_dir, 1, environment)?;
//! let ada = Participant {
//!     agent: AgentId::new("claude:ada"),
//!     harness: "claude".into(),
//!     kind: MemberKind::Harness,
//!     anchor: None,
//!     ambiguous: Vec::new(),
//!     replaces: Vec::new(),
//!     via: Via::Cli,
//! };
//! let start = Start {
//!     platform: "sim".into(),
//!     manifest: Arguments::default(),
//!     policy: Policy::default(),
//!     targets: Vec::new(),
//!     base_scope: BaseScope::default(),
//! };
//! // The agent that opens a session holds its turn until another agent requests it.
//! let shop = coordinator.begin_lifetime("shop", start, StartReason::Open, Some(&ada))?;
//! assert_eq!(shop.state(None)?.owner, Some(ada.agent));
//! # Ok(())
//! # }
//! ```

mod coordinator;
mod delegation;
mod environment;
mod error;
mod evidence;
mod feed;
mod guardian;
mod listing;
mod participant;
mod peers;
mod recording;
mod replies;
mod resume;
mod retention;
mod rule;
mod session;
mod snapshots;
mod tree_queue;
mod upkeep;

pub use coordinator::{Coordinator, take_back_grants};
pub use delegation::{EndedLoan, Loans, ReturnedLoans, Spawn, Spawned};
pub use environment::Environment;
pub use evidence::{HostSummary, LogPosition, SessionEvidence};
pub use feed::{Audience, Breadth, Event, EventScope, Filter};
pub use guardian::connect;
pub use listing::{
    ListedChild, ListedChildren, ListedSession, ListedState, Listing, Restorability, Visibility,
};
pub use participant::{Connection, Participant};
pub use recording::{RecordingEvent, RecordingLog, RepairedLine};
pub use replies::{
    CurrentTurn, GrantReason, Granted, Guardian, NotYet, TakeoverAvailable, TurnReply, TurnSummary,
};
pub use resume::{Unfinished, drain_all, resume, store_deadlines};
pub use retention::Dormant;
pub use session::{
    Admission, Assigned, Closing, ContextEntry, ContextPage, Conversations, Delivery, EventQuery, Events,
    EventsOfAll, Joined, Kicked, MemberState, NewCommand, Note, Released, Sent, SessionAuthority,
    SessionState, TakeOptions, TakeoverState, Talk, Ticket, WaitOptions, WaitReply, Waiter, with_unread,
};
pub use snapshots::{StoredTree, stored_tree};
pub use stickpin_store::{DiskFiles, Files, Handle, Migrated, Start};
