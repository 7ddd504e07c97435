//! `session show --evidence`: where the activity of a session is recorded, and what is unfinished.

use crate::coordinator::Coordinator;
use crate::session::SessionAuthority;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use stickpin_session::log::{CommandId, OpenCommand};
use stickpin_session::turn::{Loan, LoanState, TurnPhase};

/// Where the activity of a session is recorded, and what is unfinished.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionEvidence {
    /// The end of the session's log.
    pub log: LogPosition,
    /// The command that began last: the `seq` of its `command_begin`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_command: Option<CommandId>,
    /// The generation of the last tree in the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_snapshot_generation: Option<u64>,
    /// Commands that have begun but not ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_commands: Vec<OpenCommand>,
    /// The numbers of the unresolved notes.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub open_notes: BTreeSet<u64>,
    /// The session's loans that are between two states: reserved for a child that is not open yet,
    /// or being reclaimed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dirty_loans: Vec<Loan>,
}

/// A position in a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LogPosition {
    /// The segment; `None` if nothing has been committed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segment: Option<u32>,
    /// The `seq` of the last record.
    pub last_seq: u64,
}

impl SessionEvidence {
    /// Returns the evidence of a session, up to and including its last record.
    #[must_use]
    pub fn of(session: &SessionAuthority) -> Self {
        let meta = session.meta();
        let is_dirty = |loan: &Loan| match loan.state {
            LoanState::Pending | LoanState::Reclaiming => true,
            LoanState::Active | LoanState::Reclaimed => false,
        };
        Self {
            log: LogPosition {
                segment: meta.active.map(|active| active.segment),
                last_seq: meta.applied_seq,
            },
            last_command: meta.last_command,
            last_snapshot_generation: meta.last_snapshot_generation,
            open_commands: meta.open_commands,
            open_notes: meta.open_notes.ids,
            dirty_loans: meta.loans.into_iter().filter(is_dirty).collect(),
        }
    }
}

/// A summary of the host of a state directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostSummary {
    /// The number of times that a host has been started in the state directory.
    pub epoch: u64,
    /// The number of sessions whose turn is owned, according to their metadata.
    pub owned_turns: usize,
}

impl HostSummary {
    /// Summarizes the host of a coordinator. Reads no log.
    #[must_use]
    pub fn of(coordinator: &Coordinator) -> Self {
        // A folder that cannot be read has no turns that anyone could use.
        let names = coordinator.names().unwrap_or_default();
        let metas = names.iter().filter_map(|name| coordinator.cached_meta(name).ok());
        let owned_turns = metas.filter(|(meta, _)| meta.turn.state == TurnPhase::Owned).count();
        Self { epoch: coordinator.shared.epoch, owned_turns }
    }
}
