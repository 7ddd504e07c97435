//! Appending a record: first to disk, then to memory.

use super::{Origin, SessionLog};
use crate::atomic;
use crate::blobs;
use crate::error::{Result, StoreError};
use crate::layout::SessionDir;
use crate::segment::{Refused, SegmentWriter};
use std::sync::Arc;
use stickpin_session::log::{FoldFault, Kind, Record, SegmentEnd, SessionMeta, StartReason, legal_turn};

/// The number of records by which the metadata on disk may lag behind before it is written again.
const META_EVERY: u64 = 256;

/// The maximum number of records kept in memory.
const RECENT: usize = 1_024;

impl SessionLog {
    /// Appends a record and returns its `seq`. The record is on disk when this function returns,
    /// with exceptions that a power failure within 200 ms can still lose. These are the beginnings
    /// of commands, the ends of commands that added nothing to a recording, snapshots, console
    /// entries, messages and notes.
    ///
    /// # Errors
    /// Returns an error if the record cannot or must not be written. Nothing is then changed, on
    /// disk or in memory. [`StoreError::Full`] begins an emergency, in which only records that end
    /// something are accepted.
    pub fn append(&mut self, origin: &Origin, kind: Kind) -> Result<u64> {
        self.flush_ends()?;
        self.commit(origin, kind)
    }

    /// Returns the `seq` of the next record. Begins a new segment first if the current one is full,
    /// so that the number is reliable.
    ///
    /// # Errors
    /// Returns an error if the next segment cannot be created.
    pub fn next_seq(&mut self, origin: &Origin) -> Result<u64> {
        self.flush_ends()?;
        self.rotate(origin)?;
        Ok(self.meta.applied_seq + 1)
    }

    pub(super) fn commit(&mut self, origin: &Origin, mut kind: Kind) -> Result<u64> {
        legal_turn(&kind, &self.meta.turn)?;
        if !kind.ends_something() && !self.store.reserve.is_over() {
            return Err(StoreError::Full { doing: "write", path: self.dir.log() });
        }
        self.rotate(origin)?;
        let (store, dir, unsynced) = (&self.store, &self.dir, &self.unsynced);
        kind.offload(blobs::LIMIT, &mut |text| {
            blobs::put(&*store.files, &dir.blobs(), unsynced, text.as_bytes())
        })?;
        let record = self.record(origin, kind);
        self.fits(&record)?;
        self.write(record)
    }

    /// Creates a record of this kind, with the fields that all records have.
    pub(super) fn record(&self, origin: &Origin, kind: Kind) -> Record {
        let began_in = match &kind {
            Kind::CommandEnd(end) => self.meta.open_commands.iter().find(|open| open.cmd_id == end.cmd_id),
            _ => None,
        };
        let turn = kind.turn_after().unwrap_or(&self.meta.turn).turn_id;
        Record {
            seq: self.meta.applied_seq + 1,
            ts: origin.ts,
            lifetime: self.meta.lifetime,
            turn_id: began_in.map_or(turn, |open| open.turn_id),
            agent: origin.agent.clone(),
            to: origin.to.clone(),
            bcast: origin.bcast,
            via: origin.via,
            kind,
        }
    }

    /// Refuses a record that would make the metadata too large. Records that end something are not
    /// refused, except for the end of a command with a new address of the app.
    fn fits(&self, record: &Record) -> Result<()> {
        if !record.kind.grows_metadata() {
            return Ok(());
        }
        let mut after = self.meta.clone();
        let segment = self.writer.as_ref().map_or(1, |writer| writer.number);
        after.fold(segment, record).map_err(|fault| gap(&self.dir, fault))?;
        // Leave room for what is never refused: the turn, the open commands, and times.
        let bytes = meta_bytes(&self.dir, &after)?.len() + SessionMeta::SPARE_BYTES;
        match bytes > SessionMeta::MAX_BYTES {
            true => Err(StoreError::MetaTooLarge { session: self.dir.name.clone(), bytes }),
            false => Ok(()),
        }
    }

    /// Writes a record to the segment, folds it, and stores the metadata if necessary.
    pub(super) fn write(&mut self, record: Record) -> Result<u64> {
        if let Some(damage) = self.damage.error() {
            return Err(damage);
        }
        if let Some(reason) = self.broken.clone().or_else(|| self.unsynced.failed()) {
            return Err(StoreError::ReadOnly { session: self.dir.name.clone(), reason });
        }
        let group = record.kind.name().group();
        let durable = record.kind.is_durable_at_once();
        let Some(writer) = &mut self.writer else {
            let reason = "it has no segment".to_owned();
            return Err(StoreError::ReadOnly { session: self.dir.name.clone(), reason });
        };
        let mut written = writer.append(&record, &self.unsynced, durable);
        if let Err(Refused { error: StoreError::Full { .. }, broken: false }) = &written {
            self.store.reserve.enter();
            if record.kind.ends_something() {
                written = writer.append(&record, &self.unsynced, durable);
            }
        }
        if let Err(Refused { error, broken }) = written {
            if broken {
                self.broken = Some(format!("a record could not be rolled back: {error}"));
            }
            return Err(error);
        }
        if !durable {
            self.unsynced.file(writer.handle());
            if let Some(syncer) = &self.store.syncer
                && self.unsynced.claim_schedule()
            {
                syncer.schedule(&self.unsynced);
            }
        }
        writer.ended = matches!(record.kind, Kind::SegmentEnd(_));
        let segment = writer.number;
        self.meta.fold(segment, &record).map_err(|fault| gap(&self.dir, fault))?;
        let seq = record.seq;
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(Arc::new(record));
        let due = group.changes_metadata() || self.meta.applied_seq - self.stored_seq >= META_EVERY;
        if due {
            // The record is committed. Metadata that lags behind is normal, and is written again
            // later.
            self.meta_fault = self.store_meta().err();
        }
        Ok(seq)
    }

    /// Begins the next segment after one that has ended. Ends a full segment first, but not while
    /// the disk is full, and only between two commands, so that each command is in one segment.
    pub(super) fn rotate(&mut self, origin: &Origin) -> Result<()> {
        let Some(writer) = &self.writer else { return Ok(()) };
        let full = writer.len() >= self.store.rotate_at && self.meta.open_commands.is_empty();
        if !writer.ended && (!full || self.store.is_emergency()) {
            return Ok(());
        }
        let origin = Origin::daemon(origin.ts);
        if !writer.ended {
            self.write(self.record(&origin, Kind::SegmentEnd(SegmentEnd {})))?;
        }
        let start = self.start_of_meta(StartReason::Rotate);
        self.begin_segment(&origin, start)
    }

    /// Syncs all records that are folded into the metadata, then stores the metadata.
    ///
    /// # Errors
    /// Returns an error if the records cannot be synced or the metadata cannot be written.
    pub fn store_meta(&mut self) -> Result<()> {
        let bytes = meta_bytes(&self.dir, &self.meta)?;
        self.sync()?;
        atomic::replace(&*self.store.files, &self.dir.meta(), Some(&self.dir.previous_meta()), &bytes)?;
        self.stored_seq = self.meta.applied_seq;
        (self.is_anchor_due, self.meta_fault) = (false, None);
        Ok(())
    }

    /// Begins the next segment with its first record. If that fails, there is no new segment.
    pub(super) fn begin_segment(
        &mut self,
        origin: &Origin,
        start: stickpin_session::log::SegmentStart,
    ) -> Result<()> {
        let files = Arc::clone(&self.store.files);
        let lifetime = self.meta.lifetime + u32::from(start.reason.begins_lifetime());
        let mut record = self.record(origin, Kind::SegmentStart(Box::new(start)));
        record.lifetime = lifetime;
        self.fits(&record)?;
        let number = self.meta.active.map_or(0, |active| active.segment).max(self.last_segment()?) + 1;
        let path = self.dir.segment(number);
        let (log, io) = (self.dir.log(), |e| StoreError::io("create", &path, e));
        files.make_dir(&log).map_err(io)?;
        let writer = SegmentWriter::open(&*files, &path, number, 0, false)?;
        // Sync the name first: a record must not be lost together with the name of its file.
        let named = files.sync_dir(&log).map_err(io);
        let before = self.writer.replace(writer);
        if let Err(e) = named.and_then(|()| self.write(record).map(drop)) {
            self.writer = before;
            // An empty file is not a segment; the next attempt uses the file name again.
            let _ = files.remove(&path);
            return Err(e);
        }
        Ok(())
    }

    fn last_segment(&self) -> Result<u32> {
        Ok(crate::recover::segments(&*self.store.files, &self.dir)?.last().copied().unwrap_or(0))
    }
}

/// Creates the error for a record that does not follow the previous one.
pub(super) fn gap(dir: &SessionDir, fault: FoldFault) -> StoreError {
    StoreError::Gap { session: dir.name.clone(), fault }
}

/// Encodes metadata as JSON, unless it is too large.
fn meta_bytes(dir: &SessionDir, meta: &SessionMeta) -> Result<Vec<u8>> {
    let bytes = serde_json::to_vec(meta)
        .map_err(|e| StoreError::io("write", &dir.meta(), std::io::Error::from(e)))?;
    if bytes.len() > SessionMeta::MAX_BYTES {
        return Err(StoreError::MetaTooLarge { session: dir.name.clone(), bytes: bytes.len() });
    }
    Ok(bytes)
}
