//! `log repair --at-line N --quarantine`: a person discards a damaged line.

use crate::atomic::{quarantine, replace};
use crate::error::{Result, StoreError};
use crate::recover;
use crate::store::Store;
use crate::verify::first_damage;
use memchr::memchr;
use std::path::PathBuf;
use stickpin_session::Timestamp;
use stickpin_session::log::{self, Kind, LogRepaired, Record, RepairCause, Via, decode};

/// What a repair replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repaired {
    /// The path of the segment.
    pub path: PathBuf,
    /// The number of placeholders for the lost records, one per `seq`.
    pub stubs: u64,
    /// The number of bytes that were moved to the quarantine.
    pub dropped_bytes: u64,
    /// The SHA-256 digest of the bytes moved to the quarantine, in hexadecimal.
    pub sha256: String,
}

impl Store {
    /// Replaces the damaged line `line` of the first damaged segment, and any damaged lines
    /// directly after it, with records that report the repair. Moves the bytes of the lines to the
    /// quarantine. No [`SessionLog`](crate::SessionLog) may be open for the session.
    ///
    /// # Errors
    /// Returns an error if the line is not the first damaged one, if the record after the damage is
    /// out of order, or if the segment cannot be written. The segment is then unchanged.
    pub fn repair(&self, name: &str, line: u64, now: Timestamp) -> Result<Repaired> {
        let dir = self.dir(name)?;
        let mut before: Option<Record> = None;
        let mut found = None;
        self.each_segment(&dir, |number, bytes| {
            let (last, damage) = first_damage(bytes);
            before = last.map(|located| located.record).or(before.take());
            found = damage.map(|damage| (number, damage, bytes.to_vec()));
            Ok(found.is_none())
        })?;
        let Some((number, damage, bytes)) = found.filter(|(_, damage, _)| damage.line == line) else {
            let path = dir.log();
            return Err(StoreError::NotDamaged { path, line });
        };
        let path = dir.segment(number);
        let from = usize::try_from(damage.offset).unwrap_or(bytes.len());
        let (to, next) = end_of_damage(&bytes, from);
        let lost = &bytes[from..to];
        let seq = before.as_ref().map_or(1, |record| record.seq + 1);
        // Damage may have joined or split lines: what counts is which records are missing.
        let until = match next {
            Some(next) if next.seq >= seq => next.seq,
            Some(_) => return Err(StoreError::NotDamaged { path, line }),
            None => {
                let applied = recover::meta(&*self.files, &dir).map_or(0, |(meta, _)| meta.applied_seq);
                (seq + 1).max(applied + 1)
            }
        };
        let sha256 = quarantine(&*self.files, &dir.quarantine, &format!("{name}-{number:06}"), lost)?;
        let repair = LogRepaired {
            cause: RepairCause::CorruptLine,
            segment: number,
            dropped_bytes: lost.len() as u64,
            sha256: Some(sha256.clone()),
            turn_after: None,
        };
        let mut whole = bytes[..from].to_vec();
        for seq in seq..until {
            let stub = Record {
                seq,
                ts: now,
                lifetime: before.as_ref().map_or(1, |record| record.lifetime),
                turn_id: before.as_ref().map_or(0, |record| record.turn_id),
                agent: None,
                to: None,
                bcast: false,
                via: Via::Daemon,
                kind: Kind::LogRepaired(Box::new(repair.clone())),
            };
            log::encode(&stub, &mut whole)?;
        }
        whole.extend_from_slice(&bytes[to..]);
        replace(&*self.files, &path, None, &whole)?;
        Ok(Repaired { path, stubs: until - seq, dropped_bytes: lost.len() as u64, sha256 })
    }
}

/// Returns the end of the damage that begins at `from`, and the record after the damage, if any.
fn end_of_damage(bytes: &[u8], from: usize) -> (usize, Option<Record>) {
    let mut at = from;
    while let Some(end) = memchr(b'\n', &bytes[at..]) {
        if let Ok(record) = decode(&bytes[at..at + end]) {
            return (at, Some(record));
        }
        at += end + 1;
    }
    // The rest is a torn tail, unless it is the damaged line itself.
    (if at == from { bytes.len() } else { at }, None)
}
