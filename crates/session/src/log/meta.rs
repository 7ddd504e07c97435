//! The metadata of a session: what its name refers to now. A projection of the log, thin, and the
//! only thing that listing and restoring read.

use super::kind::CommandId;
use super::redacted::Arguments;
use crate::timestamp::Timestamp;
use crate::turn::{BaseScope, Child, Loan, LoanId, Member, Policy, ReclaimedLoan, TargetRef, TurnState};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What is stored of a session's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Status {
    /// Nothing is committed yet.
    Pending,
    /// Open.
    Open,
    /// Closed.
    Closed,
    /// Its device was lost with the daemon.
    Interrupted,
}

/// The segment that is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ActiveSegment {
    /// Its number.
    pub segment: u32,
    /// The `seq` of its first record.
    pub first_seq: u64,
}

/// The session and the loan that a session lives on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Parent {
    /// The session that spawned it.
    pub session: String,
    /// The loan.
    pub loan_id: LoanId,
}

/// Notes that are not resolved; their text is in the log.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OpenNotes {
    /// Their numbers.
    pub ids: BTreeSet<u64>,
    /// The `seq` of the newest note, resolved or not; 0 if there never was one.
    pub max_note_seq: u64,
}

/// A command that began and did not end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OpenCommand {
    /// Which command.
    pub cmd_id: CommandId,
    /// Its name.
    pub verb: String,
    /// The turn in which it began.
    pub turn_id: u64,
    /// When it began.
    pub began_at: Timestamp,
}

/// The metadata of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionMeta {
    /// The version of this form; another one is refused.
    pub v: u32,
    /// The name, equal to that of the folder.
    pub name: String,
    /// The session, over all lifetimes.
    pub session_uid: String,
    /// The platform of its device.
    pub platform: String,
    /// The lifetime, from 1.
    pub lifetime: u32,
    /// Open, closed, interrupted.
    pub status: Status,
    /// The segment that is written to; `None` while nothing is committed.
    pub active: Option<ActiveSegment>,
    /// The last record that is folded into this metadata.
    pub applied_seq: u64,
    /// The resolved parameters of `open`; secrets by reference only.
    pub manifest: Arguments,
    /// What the session drives.
    pub targets: Vec<TargetRef>,
    /// What it may do by itself.
    pub base_scope: BaseScope,
    /// Who has the turn.
    pub turn: TurnState,
    /// Who joined.
    pub members: Vec<Member>,
    /// The effective policy.
    pub policy: Policy,
    /// What it lives on.
    pub parent: Option<Parent>,
    /// What it spawned.
    pub children: Vec<Child>,
    /// What it lent and did not get back.
    pub loans: Vec<Loan>,
    /// The last loans that came back, oldest first.
    pub reclaimed: Vec<ReclaimedLoan>,
    /// Sessions that see it, and that it sees.
    pub peers: BTreeSet<String>,
    /// Notes that are not resolved.
    pub open_notes: OpenNotes,
    /// Commands that began and did not end: after a crash they are interrupted.
    pub open_commands: Vec<OpenCommand>,
    /// When the session was first opened.
    pub created_at: Timestamp,
    /// When the last record was folded in.
    pub updated_at: Timestamp,
}

impl SessionMeta {
    /// The version of the form that this crate reads and writes.
    pub const VERSION: u32 = 1;

    /// The most bytes of metadata as JSON.
    pub const MAX_BYTES: usize = 256 * 1024;

    /// The most loans in `reclaimed`.
    pub const MAX_RECLAIMED: usize = 64;

    /// Creates the metadata of a session without records. It changes only by [`Self::fold`].
    #[must_use]
    pub fn pending(name: impl Into<String>, at: Timestamp) -> Self {
        Self {
            v: Self::VERSION,
            name: name.into(),
            session_uid: String::new(),
            platform: String::new(),
            lifetime: 0,
            status: Status::Pending,
            active: None,
            applied_seq: 0,
            manifest: Arguments::default(),
            targets: Vec::new(),
            base_scope: BaseScope::default(),
            turn: TurnState::default(),
            members: Vec::new(),
            policy: Policy::default(),
            parent: None,
            children: Vec::new(),
            loans: Vec::new(),
            reclaimed: Vec::new(),
            peers: BTreeSet::new(),
            open_notes: OpenNotes::default(),
            open_commands: Vec::new(),
            created_at: at,
            updated_at: at,
        }
    }

    /// The number of notes that are not resolved.
    #[must_use]
    pub fn open_note_count(&self) -> usize {
        self.open_notes.ids.len()
    }
}
