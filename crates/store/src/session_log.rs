//! The log of one session, open for writing: the only writer of its folder.

mod append;
mod commands;
mod lifetime;
mod open;

pub use commands::{CommandOutcome, EndStatus, NewCommand};
pub use lifetime::Start;
pub use open::Opened;

use crate::error::{Phase, Result, StoreError};
use crate::layout::SessionDir;
use crate::segment::SegmentWriter;
use crate::store::Store;
use crate::unsynced::Unsynced;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;
use stickpin_session::Timestamp;
use stickpin_session::log::{BlobRef, Kind, Record, SessionMeta, Via};
use stickpin_session::turn::{AgentId, Lease, TurnState, WaitMode};

/// When, by whom and through which surface a record comes to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// When, in wall time.
    pub ts: Timestamp,
    /// Who; `None` for the daemon.
    pub agent: Option<AgentId>,
    /// Whom it concerns.
    pub to: Option<AgentId>,
    /// Meant for all members.
    pub bcast: bool,
    /// Through which surface.
    pub via: Via,
}

impl Origin {
    /// The daemon itself.
    #[must_use]
    pub fn daemon(ts: Timestamp) -> Self {
        Self { ts, agent: None, to: None, bcast: false, via: Via::Daemon }
    }

    /// An agent or a person.
    #[must_use]
    pub fn agent(ts: Timestamp, agent: AgentId, via: Via) -> Self {
        Self { ts, agent: Some(agent), to: None, bcast: false, via }
    }
}

/// A change of the metadata that has no record.
#[derive(Debug, Clone, PartialEq)]
pub enum Amendment {
    /// What a turn says beside its owner and its number: that its grant was delivered, or that its
    /// handoff was read.
    Turn(Box<TurnState>),
    /// How a member waits.
    Waits {
        /// The member.
        agent: AgentId,
        /// How.
        mode: WaitMode,
        /// Since when.
        at: Timestamp,
    },
}

/// The log of one session. A record that was refused changed nothing; one that was accepted is
/// folded into [`Self::meta`], and survives the death of the process.
#[derive(Debug)]
pub struct SessionLog {
    store: Store,
    dir: SessionDir,
    meta: SessionMeta,
    /// `None` while there is no segment to write to.
    writer: Option<SegmentWriter>,
    unsynced: Arc<Unsynced>,
    /// The `applied_seq` of the metadata on disk.
    stored_seq: u64,
    stored_at: Timestamp,
    /// Why the metadata on disk lags behind although it should not.
    meta_fault: Option<StoreError>,
    /// Ends of commands that could not be written, oldest first.
    pending_ends: Vec<(Origin, Kind)>,
    /// Why nothing may be written until the session is opened again.
    broken: Option<String>,
    /// The newest records that this process wrote, oldest first, for readers that follow the log.
    recent: VecDeque<Arc<Record>>,
}

impl SessionLog {
    /// What the session is now.
    #[must_use]
    pub fn meta(&self) -> &SessionMeta {
        &self.meta
    }

    /// Why the metadata on disk lags behind. Nothing is lost: opening reads the rest from the log.
    #[must_use]
    pub fn meta_fault(&self) -> Option<&StoreError> {
        self.meta_fault.as_ref()
    }

    /// Why no command may begin, if so.
    #[must_use]
    pub fn read_only(&self) -> Option<String> {
        let pending = self.pending_ends.first().map(|_| "the end of a command is not written".to_owned());
        self.broken.clone().or_else(|| self.unsynced.failed()).or(pending)
    }

    /// Returns once everything that was written is on disk. Needed only without the thread of
    /// [`Store::open`].
    ///
    /// # Errors
    /// If it cannot be; the log is then read-only.
    pub fn sync(&mut self) -> Result<()> {
        let path = self.dir.log();
        self.unsynced.sync().map_err(|e| StoreError::io("sync", &path, e))
    }

    /// Whether something that was written is not on disk yet.
    #[must_use]
    pub fn is_synced(&self) -> bool {
        self.unsynced.is_empty()
    }

    /// Reads a blob that a record of this session refers to, and proves that it is the one.
    ///
    /// # Errors
    /// If it is missing or damaged.
    pub fn blob(&self, blob: &BlobRef) -> Result<Vec<u8>> {
        crate::blobs::get(&*self.store.files, &self.dir.blobs(), blob)
    }

    /// Writes what is due: the metadata, 5 s after it changed, and the end of a command that could
    /// not be written. For the idle time of the daemon.
    ///
    /// # Errors
    /// If it cannot be written; it is then due again.
    pub fn maintain(&mut self, now: Timestamp) -> Result<()> {
        self.flush_ends()?;
        let age = now.millis().abs_diff(self.stored_at.millis());
        if self.meta_fault.is_some() || (self.stored_seq < self.meta.applied_seq && age >= 5_000) {
            self.store_meta()?;
        }
        Ok(())
    }

    /// Writes the metadata now.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn store(&mut self) -> Result<()> {
        self.store_meta()
    }

    /// Replaces the lease of the turn's owner. A renewal is no event and has no record; it is
    /// stored with the metadata.
    ///
    /// # Errors
    /// If the metadata cannot be written; the lease is renewed in memory all the same.
    pub fn renew_lease(&mut self, lease: Lease) -> Result<()> {
        if self.meta.turn.lease.is_some() {
            self.meta.turn.lease = Some(lease);
        }
        self.store_meta()
    }

    /// Changes what has no record, and is stored with the next one or by [`Self::renew_lease`].
    pub fn amend(&mut self, amendment: Amendment) {
        match amendment {
            Amendment::Turn(turn) => {
                let known = &self.meta.turn;
                if (turn.state, turn.turn_id, &turn.owner) == (known.state, known.turn_id, &known.owner) {
                    self.meta.turn = *turn;
                }
            }
            Amendment::Waits { agent, mode, at } => {
                if let Some(member) = self.meta.members.iter_mut().find(|m| m.agent_id == agent) {
                    (member.wait_mode, member.last_wait_at) = (mode, Some(at));
                }
            }
        }
    }

    /// Returns records with a `seq` above `after`, oldest first: from memory while this process
    /// wrote them recently, else from disk.
    ///
    /// # Errors
    /// If the log cannot be read or is damaged.
    pub fn records_after(&self, after: u64, limit: usize, phase: Phase) -> Result<Vec<Arc<Record>>> {
        if after >= self.meta.applied_seq {
            return Ok(Vec::new());
        }
        if self.recent.front().is_some_and(|first| first.seq <= after + 1) {
            let skip = self.recent.partition_point(|record| record.seq <= after);
            return Ok(self.recent.iter().skip(skip).take(limit).map(Arc::clone).collect());
        }
        let records = self.store.records_after(&self.dir.name, after, limit, phase)?;
        Ok(records.into_iter().map(Arc::new).collect())
    }
}

/// Visits records of an open log with a `seq` above `after`, oldest first, until `visit` breaks
/// off: from memory while this process wrote them recently, else from disk.
///
/// # Errors
/// If the log cannot be read or is damaged.
pub fn scan(
    log: &SessionLog,
    after: u64,
    phase: Phase,
    visit: &mut dyn FnMut(&Record) -> ControlFlow<()>,
) -> Result<()> {
    if after >= log.meta.applied_seq {
        return Ok(());
    }
    if log.recent.front().is_some_and(|first| first.seq <= after + 1) {
        let skip = log.recent.partition_point(|record| record.seq <= after);
        for record in log.recent.iter().skip(skip) {
            if visit(record).is_break() {
                break;
            }
        }
        return Ok(());
    }
    log.store.scan(&log.dir.name, after, phase, &mut |record| visit(&record))
}
