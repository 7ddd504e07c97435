//! The log of one session, open for writing. Only one process may write to a session's folder.

mod append;
mod commands;
mod lifetime;
mod open;

pub use commands::{CommandOutcome, NewCommand};
pub use lifetime::Start;
pub use open::Opened;

use crate::error::{Phase, Result, StoreError};
use crate::layout::SessionDir;
use crate::segment::SegmentWriter;
use crate::store::Store;
use crate::unsynced::Unsynced;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use stickpin_session::Timestamp;
use stickpin_session::log::{BlobRef, Corruption, Kind, Record, SessionMeta, Via};
use stickpin_session::turn::{AgentId, Anchor, Lease, TurnState, WaitMode};

/// The author, time, recipients and front end of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The wall time of the record.
    pub ts: Timestamp,
    /// The agent that caused the record; `None` for the daemon.
    pub agent: Option<AgentId>,
    /// The agent that the record concerns, if any.
    pub to: Option<AgentId>,
    /// Whether the record is meant for all members.
    pub bcast: bool,
    /// The front end through which the record was caused, or the daemon.
    pub via: Via,
}

impl Origin {
    /// Creates the origin of a record by the daemon itself.
    #[must_use]
    pub fn daemon(ts: Timestamp) -> Self {
        Self { ts, agent: None, to: None, bcast: false, via: Via::Daemon }
    }

    /// Creates the origin of a record by an agent or a person.
    #[must_use]
    pub fn agent(ts: Timestamp, agent: AgentId, via: Via) -> Self {
        Self { ts, agent: Some(agent), to: None, bcast: false, via }
    }
}

/// A change to the metadata that has no record.
#[derive(Debug, Clone, PartialEq)]
pub enum Amendment {
    /// A change to the turn that leaves its phase, owner and number as they are, such as a
    /// delivered grant, a handoff that was read, or a full lease.
    Turn(Box<TurnState>),
    /// A member began to wait.
    Waits {
        /// The member.
        agent: AgentId,
        /// How the member waits.
        mode: WaitMode,
        /// When the wait began.
        at: Timestamp,
    },
    /// A member no longer waits.
    WaitEnded {
        /// The member.
        agent: AgentId,
    },
    /// A new request from a member.
    Seen {
        /// The member.
        agent: AgentId,
        /// When the request was made.
        at: Timestamp,
    },
    /// A child that was pruned long ago is no longer shown.
    ChildForgotten {
        /// The name of the child session.
        session: String,
    },
    /// A change in the process from which a member makes requests.
    Anchor {
        /// The member.
        agent: AgentId,
        /// The root process of the member's harness.
        anchor: Anchor,
    },
}

/// The first damaged line that a reader found in a log, and the purpose of that read.
#[derive(Debug, Default)]
struct FoundDamage(OnceLock<(PathBuf, Corruption, Phase)>);

impl FoundDamage {
    fn error(&self) -> Option<StoreError> {
        let (path, corruption, phase) = self.0.get().cloned()?;
        Some(StoreError::Corrupt { path, corruption, phase })
    }

    fn note(&self, found: &StoreError) {
        if let StoreError::Corrupt { path, corruption, phase } = found {
            // A repair needs the first damage.
            self.0.get_or_init(|| (path.clone(), corruption.clone(), *phase));
        }
    }
}

/// The log of one session. A refused record changes nothing; an accepted record is folded into
/// [`Self::meta`] and survives a crash of the process.
#[derive(Debug)]
pub struct SessionLog {
    pub(crate) store: Store,
    pub(crate) dir: SessionDir,
    meta: SessionMeta,
    /// The writer; `None` while there is no segment to write to.
    writer: Option<SegmentWriter>,
    pub(crate) unsynced: Arc<Unsynced>,
    /// The `applied_seq` of the metadata on disk.
    stored_seq: u64,
    /// Whether a member makes requests from a process other than the one in the metadata on disk.
    is_anchor_due: bool,
    /// The reason why the metadata on disk lags behind, if writing it failed.
    meta_fault: Option<StoreError>,
    /// Ends of commands that could not be written yet, oldest first.
    pending_ends: Vec<(Origin, Kind)>,
    /// The reason why nothing may be written until the session is opened again.
    broken: Option<String>,
    /// The damaged line that a reader found. If there is one, no further record is accepted.
    damage: FoundDamage,
    /// The newest records that this process wrote, oldest first, for readers that follow the log.
    recent: VecDeque<Arc<Record>>,
}

impl SessionLog {
    /// Returns the current metadata.
    #[must_use]
    pub fn meta(&self) -> &SessionMeta {
        &self.meta
    }

    /// Returns the reason why the metadata on disk lags behind, if writing it failed. Nothing is
    /// lost: opening the session reads the missing records from the log.
    #[must_use]
    pub fn meta_fault(&self) -> Option<&StoreError> {
        self.meta_fault.as_ref()
    }

    /// Returns the reason why the log is read-only, if it is. No command may begin then.
    #[must_use]
    pub fn read_only(&self) -> Option<String> {
        let pending = self.pending_ends.first().map(|_| "the end of a command was not written".to_owned());
        let damaged = self.damage.error().map(|e| e.to_string());
        self.broken.clone().or_else(|| self.unsynced.failed()).or(damaged).or(pending)
    }

    /// Syncs all written data and returns once the data is on disk. A store with the thread of
    /// [`Store::open`] syncs by itself after a while.
    ///
    /// # Errors
    /// Returns an error if the sync fails; the log is then read-only.
    pub fn sync(&mut self) -> Result<()> {
        let path = self.dir.log();
        self.unsynced.sync().map_err(|e| StoreError::io("sync", &path, e))
    }

    /// Returns whether all written data is on disk. False while a sync is running, and after one
    /// that failed, because it is then unknown what is on disk.
    #[must_use]
    pub fn is_synced(&self) -> bool {
        self.unsynced.is_synced()
    }

    /// Reads a blob that a record of this session refers to, and verifies its digest.
    ///
    /// # Errors
    /// Returns an error if the blob is missing or damaged, or cannot be read.
    pub fn blob(&self, blob: &BlobRef) -> Result<Vec<u8>> {
        crate::blobs::get(&*self.store.files, &self.dir.blobs(), blob)
    }

    /// Writes what is due: metadata that lags behind the log, and ends of commands that could not
    /// be written. The caller should call this function within 5 s of the first record that the
    /// metadata lacks.
    ///
    /// # Errors
    /// Returns an error if the data cannot be written; it is then due again.
    pub fn maintain(&mut self) -> Result<()> {
        self.flush_ends()?;
        if lags(self) {
            self.store_meta()?;
        }
        Ok(())
    }

    /// Replaces the lease of the turn's owner. A renewal is not an event and has no record; it is
    /// stored with the metadata.
    ///
    /// # Errors
    /// Returns an error if the metadata cannot be written; the lease is renewed in memory
    /// nevertheless.
    pub fn renew_lease(&mut self, lease: Lease) -> Result<()> {
        if self.meta.turn.lease.is_some() {
            self.meta.turn.lease = Some(lease);
        }
        self.store_meta()
    }

    /// Changes metadata without a record. The change reaches the disk when the metadata is written
    /// next; after a change to an anchor, [`Self::maintain`] writes the metadata.
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
            Amendment::WaitEnded { agent } => {
                if let Some(member) = self.meta.members.iter_mut().find(|m| m.agent_id == agent) {
                    member.wait_mode = WaitMode::None;
                }
            }
            Amendment::Seen { agent, at } => {
                if let Some(member) = self.meta.members.iter_mut().find(|m| m.agent_id == agent) {
                    member.last_seen_at = at;
                }
            }
            Amendment::ChildForgotten { session } => {
                self.meta.children.retain(|child| child.session != session);
            }
            Amendment::Anchor { agent, anchor } => {
                if let Some(member) = self.meta.members.iter_mut().find(|m| m.agent_id == agent) {
                    self.is_anchor_due |= member.anchor.as_ref() != Some(&anchor);
                    member.anchor = Some(anchor);
                }
            }
        }
    }

    /// Returns at most `limit` records with a `seq` above `after`, oldest first: from memory if
    /// this process wrote them recently, otherwise from disk.
    ///
    /// # Errors
    /// Returns an error if the log cannot be read or is damaged.
    pub fn records_after(&self, after: u64, limit: usize, phase: Phase) -> Result<Vec<Arc<Record>>> {
        if after >= self.meta.applied_seq {
            return Ok(Vec::new());
        }
        if self.recent.front().is_some_and(|first| first.seq <= after + 1) {
            let skip = self.recent.partition_point(|record| record.seq <= after);
            return Ok(self.recent.iter().skip(skip).take(limit).map(Arc::clone).collect());
        }
        let records = self.store.records_after(&self.dir.name, after, limit, phase);
        let records = records.inspect_err(|e| self.damage.note(e))?;
        Ok(records.into_iter().map(Arc::new).collect())
    }
}

/// Returns whether [`SessionLog::maintain`] has something to write.
#[must_use]
pub fn lags(log: &SessionLog) -> bool {
    log.meta_fault.is_some()
        || log.is_anchor_due
        || log.stored_seq < log.meta.applied_seq
        || !log.pending_ends.is_empty()
}

/// Returns the damage that a reader found in a log, if any.
#[must_use]
pub fn found_damage(log: &SessionLog) -> Option<StoreError> {
    log.damage.error()
}

/// Stops a log if a reader's error reports damage in the log: no record is accepted until the log
/// is repaired and opened again.
pub fn note_damage(log: &SessionLog, found: &StoreError) {
    log.damage.note(found);
}

/// Visits records of an open log with a `seq` above `after`, oldest first, until `visit` breaks:
/// from memory if this process wrote them recently, otherwise from disk.
///
/// # Errors
/// Returns an error if the log cannot be read or is damaged.
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
    let scanned = log.store.scan(&log.dir.name, after, phase, &mut |record| visit(&record));
    scanned.inspect_err(|e| log.damage.note(e))
}
