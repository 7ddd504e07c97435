//! The session log as values: records, their encoding, the metadata derived from them, and the
//! rules of a valid log. `stickpin-store` writes the records to disk.
//!
//! A log is a sequence of records, split into numbered segments. [`Record`] has one envelope and
//! one closed enum of [`Kind`]s. [`encode`] writes a record as a line whose newline commits it, and
//! [`Records`] reads lines back, distinguishing an uncommitted tail from a damaged line.
//! [`SessionMeta`] is a projection: [`SessionMeta::fold`] applies one record. [`Verifier`] checks a
//! whole log.
//!
//! ```
//! use stickpin_session::Timestamp;
//! use stickpin_session::log::{self, Kind, Message, MessageHint, Record, Records, Redacted, Via};
//!
//! let record = Record {
//!     seq: 1,
//!     ts: Timestamp::from_millis(1_785_500_000_123),
//!     lifetime: 1,
//!     turn_id: 0,
//!     agent: None,
//!     to: None,
//!     bcast: true,
//!     via: Via::Daemon,
//!     kind: Kind::Message(Message {
//!         body: Redacted::literal("the app is open"),
//!         hint: MessageHint::Normal,
//!         from_session: None,
//!     }),
//! };
//! let mut bytes = Vec::new();
//! log::encode(&record, &mut bytes).unwrap();
//!
//! // A crash cut the next record: what precedes it is committed, and the rest is a torn tail.
//! let committed = bytes.len();
//! bytes.extend_from_within(..40);
//! let mut records = Records::new(&bytes);
//! assert_eq!(records.next().unwrap().unwrap().record, record);
//! assert!(records.next().is_none());
//! assert_eq!(records.torn_tail(), Some(committed));
//! ```
//!
//! Text enters a record only as [`Redacted`], so that a secret cannot be logged by mistake.

mod check;
mod convert;
mod fold;
mod framing;
mod kind;
mod meta;
mod record;
mod redacted;
mod restorable;
mod segment;
#[cfg(test)]
mod tests;
mod verify;

pub use check::{Illegal, legal_turn};
pub use convert::{CONVERTERS, Converter, convert};
pub use fold::FoldFault;
pub use framing::{LineFault, MAX_RECORD, RecordTooLarge, decode, encode};
pub use kind::{
    AgentSuperseded, ChildSpawned, ChildStateChanged, CommandBegin, CommandEnd, CommandError, CommandId,
    ContextAdded, ContextCleared, DaemonStarted, Evidence, Group, Kind, KindName, LoanOpened, LoanReclaimed,
    LogRepaired, MemberJoined, MemberKicked, MemberLeft, Message, MessageHint, NoteAdded, NoteResolved,
    Outcome, PeerAdded, PeerRemoved, PolicyChanged, RecordedStep, RecordingEnded, RecordingStarted, RefPin,
    ReleaseReason, RepairCause, RepairStarted, RepairedTurn, ReservationExpired, SegmentEnd, SegmentStart,
    Snapshot, StartReason, SurrenderReason, TurnAssigned, TurnClaimed, TurnClosed, TurnLeaseStale,
    TurnReleased, TurnSurrendered, TurnTaken,
};
pub use meta::{ActiveSegment, OpenCommand, OpenNotes, OpenRecording, Parent, SessionMeta, Status};
pub use record::{Record, VERSION, Via};
pub use redacted::{
    Argument, Arguments, BlobId, BlobRef, InvalidBlobId, Offload, Redacted, RedactedHandoff, Redactor,
};
pub(crate) use redacted::{MASK, redact_strings};
pub use restorable::NotRestorable;
pub use segment::{Corruption, Located, Records, last_commit};
pub use verify::{Finding, Summary, Verifier};
