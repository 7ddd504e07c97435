//! Opening a session that another process wrote, perhaps incompletely.

use super::append::gap;
use super::{Origin, SessionLog};
use crate::atomic::quarantine;
use crate::error::{Result, StoreError};
use crate::recover::{self, Diagnostic, Tail};
use crate::segment::SegmentWriter;
use crate::store::Store;
use stickpin_session::Timestamp;
use stickpin_session::log::{Kind, LogRepaired, Record, RepairCause, SessionMeta};
use stickpin_session::turn::TurnState;

/// An opened session, with its diagnostics.
#[derive(Debug)]
pub struct Opened {
    /// The log of the session.
    pub log: SessionLog,
    /// The problems that were found.
    pub diagnostics: Vec<Diagnostic>,
}

impl SessionLog {
    /// Opens a session from its metadata and the records after it. Repairs a torn tail after a
    /// crash, and marks the commands that were cut short as interrupted.
    ///
    /// # Errors
    /// Returns [`StoreError::Missing`], [`StoreError::Corrupt`] or [`StoreError::MetaCorrupt`],
    /// among others. The log is not changed in these cases.
    pub fn open(store: &Store, name: &str, now: Timestamp) -> Result<Opened> {
        let dir = store.dir(name)?;
        let (meta, mut diagnostics) = recover::meta(&*store.files, &dir)?;
        recover::remove_leftovers(&*store.files, &dir)?;
        if diagnostics.contains(&Diagnostic::MetaRecoveredFromPrevious) {
            recover::promote_previous(&*store.files, &dir)?;
        }
        let mut this = Self::over(store, dir, meta);
        diagnostics.extend(this.recover(now)?);
        if this.stored_seq < this.meta.applied_seq {
            this.meta_fault = this.store_meta().err();
        }
        Ok(Opened { log: this, diagnostics })
    }

    /// Folds the records that the metadata lacks, and repairs the effects of a crash.
    pub(super) fn recover(&mut self, now: Timestamp) -> Result<Vec<Diagnostic>> {
        let mut found = Vec::new();
        let first = self.meta.active.map_or(1, |active| active.segment);
        let mut segments = recover::segments(&*self.store.files, &self.dir)?;
        segments.retain(|number| *number >= first);
        if self.meta.active.is_some() && segments.first() != Some(&first) {
            return Ok(vec![Diagnostic::LogMissing]);
        }
        let known = self.meta.applied_seq;
        let mut ends: Vec<(u32, Tail)> = Vec::new();
        for number in segments {
            let path = self.dir.segment(number);
            let tail = recover::tail(&*self.store.files, &path, known)?;
            for located in &tail.records {
                self.meta.fold(number, &located.record).map_err(|fault| gap(&self.dir, fault))?;
            }
            ends.push((number, tail));
        }
        // The segment was created, but its first record was not committed.
        let mut torn = Vec::new();
        while let Some((number, tail)) = ends.pop_if(|(_, tail)| tail.last.is_none()) {
            torn.push((number, tail.torn));
        }
        let Some((number, tail)) = ends.pop() else {
            self.drop_segments(torn)?;
            return Ok(found);
        };
        let last = tail.last.as_ref().map(|located| &located.record);
        let ended = last.is_some_and(|record| matches!(record.kind, Kind::SegmentEnd(_)));
        let ahead = last
            .filter(|record| record.seq < known || (record.seq == known && contradicts(&self.meta, record)))
            .map(|record| (record.seq, record.lifetime, record.turn_id));
        let path = self.dir.segment(number);
        let writer = SegmentWriter::open(&*self.store.files, &path, number, tail.committed, ended)?;
        self.writer = Some(writer);
        self.drop_segments(torn)?;
        if let Some(ahead) = ahead {
            self.fall_back(ahead, now)?;
            found.push(Diagnostic::MetaAheadOfLog);
        }
        if !tail.torn.is_empty() {
            self.cut_tail(number, &tail.torn, now)?;
            found.push(Diagnostic::TailRepaired);
        }
        if !self.meta.open_commands.is_empty() {
            found.push(Diagnostic::CommandsInterrupted);
            if let Err(error) = self.interrupt_commands(&Origin::daemon(now)) {
                self.broken = Some(format!("the ends of interrupted commands could not be written: {error}"));
                found.push(Diagnostic::RepairNotPersisted);
            }
        }
        Ok(found)
    }

    /// Continues from the log, which lacks records that the metadata contains.
    fn fall_back(&mut self, (seq, lifetime, turn_id): (u64, u32, u64), now: Timestamp) -> Result<()> {
        recover::quarantine_meta(&*self.store.files, &self.dir)?;
        (self.meta.applied_seq, self.meta.lifetime) = (seq, lifetime);
        self.meta.open_commands.retain(|open| open.cmd_id.seq() <= seq);
        self.meta.recording = self.meta.recording.filter(|recording| recording.first_seq <= seq);
        self.meta.last_command = self.meta.last_command.filter(|command| command.seq() <= seq);
        self.stored_seq = seq;
        // Set no owner and the highest known number first, in case the record cannot be written.
        let turn_id = turn_id.max(self.meta.turn.turn_id);
        self.meta.turn = TurnState { turn_id, ..TurnState::default() };
        self.skip_turn(RepairCause::MetaAhead, now)?;
        self.store_meta()
    }

    /// Moves the bytes after the last newline to the quarantine.
    fn cut_tail(&mut self, segment: u32, torn: &[u8], now: Timestamp) -> Result<()> {
        let sha256 = self.keep(segment, torn)?;
        if let Some(writer) = &self.writer {
            writer.cut_tail()?;
        }
        if self.writer.as_ref().is_some_and(|writer| writer.ended) {
            // No record may follow `segment_end`, so the repair is not recorded.
            return Ok(());
        }
        let repair = LogRepaired {
            cause: RepairCause::TornTail,
            segment,
            dropped_bytes: torn.len() as u64,
            sha256: Some(sha256),
            turn_after: None,
        };
        self.commit(&Origin::daemon(now), Kind::LogRepaired(Box::new(repair))).map(drop)
    }

    /// Copies torn bytes to the quarantine. In an emergency, uses the reserve.
    fn keep(&self, segment: u32, torn: &[u8]) -> Result<String> {
        let what = format!("{}-{segment:06}", self.dir.name);
        let keep = || quarantine(&*self.store.files, &self.dir.quarantine, &what, torn);
        match keep() {
            Err(StoreError::Full { .. }) => {
                self.store.reserve.enter();
                keep()
            }
            kept => kept,
        }
    }

    fn drop_segments(&self, torn: Vec<(u32, Vec<u8>)>) -> Result<()> {
        for (number, bytes) in torn {
            if !bytes.is_empty() {
                self.keep(number, &bytes)?;
            }
            let path = self.dir.segment(number);
            self.store.files.remove(&path).map_err(|e| StoreError::io("remove", &path, e))?;
        }
        Ok(())
    }
}

/// Returns whether the turn in the metadata differs from the turn in a record that the metadata
/// claims to contain. This happens when an interrupted repair left the old metadata and wrote its
/// own record under the metadata's last `seq`.
fn contradicts(meta: &SessionMeta, record: &Record) -> bool {
    let turn = &meta.turn;
    record.kind.turn_after().is_some_and(|after| {
        (after.turn_id, after.state, &after.owner, &after.lease_id)
            != (turn.turn_id, turn.state, &turn.owner, &turn.lease_id)
    })
}
