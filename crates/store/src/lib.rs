//! Sessions on disk: an append-only log, small metadata, and blobs. The records and their rules
//! come from `stickpin_session::log`; this crate determines the order in which bytes reach the
//! disk.
//!
//! ```text
//! <state>/sessions/<name>/meta.json            what the name refers to now
//!                         meta.prev.json       the previous version
//!                         log/000001.jsonl     what happened
//!                         blobs/<aa>/<sha256>  stored trees, and texts above 64 KiB
//!         quarantine/                          bytes that a repair removed
//!         reserve.bin                          space for when the disk is full
//! ```
//!
//! A newline commits a record. A refused record changes nothing; an accepted record survives a
//! crash of the process at any point. The metadata follows the log: opening a session folds in the
//! missing records.
//!
//! ```
//! use serde_json::json;
//! use stickpin_session::Timestamp;
//! use stickpin_session::log::{Arguments, Redacted, Redactor, Via};
//! use stickpin_session::turn::{AgentId, BaseScope, Policy};
//! use stickpin_store::{CommandOutcome, NewCommand, Origin, SessionLog, Start, Store};
//!
//! /// The kernel's secrets go here.
//! struct NoSecrets;
//! impl Redactor for NoSecrets {
//!     fn is_secret(&self, argument: &str) -> bool {
//!         argument == "password"
//!     }
//!     fn redact(&self, _text: &mut String) {}
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let state = tempfile::tempdir()?;
//! let store = Store::open(state.path())?;
//! let now = Timestamp::from_millis(1_785_500_000_123);
//! let start = Start {
//!     platform: "web".into(),
//!     manifest: Arguments::default(),
//!     policy: Policy::default(),
//!     targets: Vec::new(),
//!     base_scope: BaseScope::default(),
//! };
//! let mut log = SessionLog::create(&store, "shop", "6f1c", start, &Origin::daemon(now))?;
//!
//! // The beginning is in the log before the device is touched; the end is recorded afterwards.
//! let me = Origin::agent(now, AgentId::new("codex:d4bc2492"), Via::Cli);
//! let given = json!({"ref": "@e12", "text": "Zoë"});
//! let args = Arguments::new(given.as_object().unwrap(), &NoSecrets);
//! let command = NewCommand {
//!     verb: "fill".into(),
//!     args_raw: args.clone(),
//!     args_resolved: args,
//!     summary: Redacted::new("fill @e12".into(), &NoSecrets),
//!     ref_pins: Vec::new(),
//! };
//! let id = log.begin(&me, command.clone())?;
//! let outcome = CommandOutcome {
//!     error: None,
//!     duration_ms: 12,
//!     generation: Some(482_912),
//!     address: None,
//!     recorded: None,
//! };
//! assert_eq!(log.end(&me, id, outcome)?, 3);
//!
//! // The daemon dies in the middle of the next command.
//! log.begin(&me, command)?;
//! drop(log);
//! let opened = SessionLog::open(&store, "shop", now)?;
//! assert_eq!(opened.diagnostics[0].name(), "COMMANDS_INTERRUPTED");
//! assert_eq!(opened.log.meta().applied_seq, 5);
//! assert!(store.verify("shop")?.findings.is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! All file access goes through [`Files`], so that tests can fill the disk and crash between any
//! two operations.

mod atomic;
mod blobs;
mod cursors;
mod error;
mod files;
mod layout;
mod migrate;
mod read;
mod recover;
mod repair;
mod reserve;
mod segment;
mod session_log;
mod store;
mod unsynced;
mod verify;

pub use blobs::Blobs;
pub use error::{Phase, Result, StoreError};
pub use files::{DiskFiles, Files, Handle};
pub use migrate::Migrated;
pub use recover::Diagnostic;
pub use repair::Repaired;
pub use session_log::{
    Amendment, CommandOutcome, NewCommand, Opened, Origin, SessionLog, Start, found_damage, lags,
    note_damage, scan,
};
pub use store::{Stamp, Store};
pub use verify::Verified;
