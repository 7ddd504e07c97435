//! The metadata of a session: what its name refers to now. The metadata is small and derived from
//! the log. Sessions are listed and restored from the metadata alone.

use super::kind::CommandId;
use super::redacted::{Arguments, BlobId};
use crate::timestamp::Timestamp;
use crate::turn::{BaseScope, Child, Loan, LoanId, Member, Policy, ReclaimedLoan, TargetRef, TurnState};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The stored state of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Status {
    /// No record is committed yet.
    #[default]
    Pending,
    /// The session is open.
    Open,
    /// The session is closed.
    Closed,
    /// The session lost its device together with the daemon, or could not reopen the device. The
    /// session's members, turn and loans stay.
    Interrupted,
}

impl Status {
    /// Returns whether the session's members, turn and loans are in effect: the session has begun
    /// and has not been closed.
    #[must_use]
    pub fn is_current(self) -> bool {
        matches!(self, Self::Open | Self::Interrupted)
    }
}

/// The segment that is being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ActiveSegment {
    /// The number of the segment.
    pub segment: u32,
    /// The `seq` of the segment's first record.
    pub first_seq: u64,
}

/// The parent and the loan of a child session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Parent {
    /// The session that spawned the child.
    pub session: String,
    /// The loan.
    pub loan_id: LoanId,
}

/// The unresolved notes. Their text is in the log.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OpenNotes {
    /// The numbers of the notes.
    pub ids: BTreeSet<u64>,
    /// The `seq` of the newest note, resolved or not; 0 if there has never been a note.
    pub max_note_seq: u64,
}

/// A command that has begun but not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OpenCommand {
    /// The id of the command.
    pub cmd_id: CommandId,
    /// The name of the command.
    pub verb: String,
    /// The turn in which the command began.
    pub turn_id: u64,
    /// When the command began.
    pub began_at: Timestamp,
}

/// A recording in progress; its records are in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OpenRecording {
    /// The `seq` of the recording's `recording_started`.
    pub first_seq: u64,
}

/// The metadata of a session.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionMeta {
    /// The version of this format; other versions are refused.
    pub v: u32,
    /// The name of the session, which is also the name of the session's folder.
    pub name: String,
    /// The unique id of the session, which is the same in all its lifetimes.
    pub session_uid: String,
    /// The platform of the session's device.
    pub platform: String,
    /// The lifetime, from 1; 0 until a record is committed.
    pub lifetime: u32,
    /// The stored state of the session.
    pub status: Status,
    /// The segment that is being written; `None` until a record is committed.
    pub active: Option<ActiveSegment>,
    /// The `seq` of the last record that was folded into this metadata.
    pub applied_seq: u64,
    /// The resolved parameters of `open`, without secrets.
    pub manifest: Arguments,
    /// The targets that the session drives.
    pub targets: Vec<TargetRef>,
    /// The base scope of the session.
    pub base_scope: BaseScope,
    /// The state of the turn.
    pub turn: TurnState,
    /// The members.
    pub members: Vec<Member>,
    /// The effective policy.
    pub policy: Policy,
    /// The parent and the loan, for a child session.
    pub parent: Option<Parent>,
    /// The child sessions.
    pub children: Vec<Child>,
    /// The outstanding loans that the session made.
    pub loans: Vec<Loan>,
    /// The latest reclaimed loans, oldest first.
    pub reclaimed: Vec<ReclaimedLoan>,
    /// The peer sessions, which see this session and are seen by it.
    pub peers: BTreeSet<String>,
    /// The unresolved notes.
    pub open_notes: OpenNotes,
    /// Commands that have begun but not ended. After a crash, they count as interrupted.
    pub open_commands: Vec<OpenCommand>,
    /// The recording in progress, which can outlive the lifetime in which it began.
    pub recording: Option<OpenRecording>,
    /// The command that began last.
    pub last_command: Option<CommandId>,
    /// The generation of the last tree in the log.
    pub last_snapshot_generation: Option<u64>,
    /// The blob of the last tree in the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_snapshot_blob: Option<BlobId>,
    /// When the session was created. Metadata that was rebuilt from the log has the time of the
    /// first record.
    pub created_at: Timestamp,
    /// The time of the last record that was folded.
    pub updated_at: Timestamp,
}

impl SessionMeta {
    /// The version of the format that this crate reads and writes.
    pub const VERSION: u32 = 1;

    /// The maximum size of the metadata as JSON, in bytes.
    pub const MAX_BYTES: usize = 256 * 1024;

    /// The part of [`Self::MAX_BYTES`] that is reserved for records that are never refused, in
    /// bytes.
    pub const SPARE_BYTES: usize = 4 * 1024;

    /// The maximum number of loans in `reclaimed`.
    pub const MAX_RECLAIMED: usize = 64;

    /// Creates the metadata of a session without records. Records change the metadata only through
    /// [`Self::fold`].
    #[must_use]
    pub fn pending(name: impl Into<String>, at: Timestamp) -> Self {
        Self { v: Self::VERSION, name: name.into(), created_at: at, updated_at: at, ..Self::default() }
    }

    /// Returns the number of unresolved notes.
    #[must_use]
    pub fn open_note_count(&self) -> usize {
        self.open_notes.ids.len()
    }
}
