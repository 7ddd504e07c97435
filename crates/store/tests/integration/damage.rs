//! Faults F9, F10, F27, F28 and acceptance test 10: torn tails, damaged lines, lost files.

use crate::support::Code as _;
use crate::support::memory::MemoryFiles;
use crate::support::{
    self, NAME, STATE, Script, at, claim, command, done, folded, idle, meta_path, origin, records, release,
    reopen, segment, start, store,
};
use stickpin_session::log::{Kind, RepairCause, StartReason};
use stickpin_session::turn::TurnPhase;
use stickpin_store::{Diagnostic, Opened, Phase, SessionLog, StoreError};

/// Writes a log that ends in an acknowledged command.
fn written() -> MemoryFiles {
    let files = MemoryFiles::default();
    let store = store(&files).unwrap();
    let mut log = SessionLog::create(&store, NAME, "6f1c", start(), &origin(0)).unwrap();
    log.append(&origin(1), claim(1, 1)).unwrap();
    log.append(&origin(1), support::message("Zoë ☃")).unwrap();
    let id = log.begin(&origin(1), command()).unwrap();
    log.end(&origin(1), id, done()).unwrap();
    log.sync().unwrap();
    files
}

fn copy(files: &MemoryFiles) -> MemoryFiles {
    let fresh = MemoryFiles::default();
    for path in files.paths() {
        let content = files.content(&path);
        let handle = stickpin_store::Files::open(&fresh, &path).unwrap();
        handle.write(&content).unwrap_or_default();
    }
    fresh
}

fn in_quarantine(files: &MemoryFiles) -> Vec<Vec<u8>> {
    let kept = |path: &std::path::PathBuf| path.starts_with(format!("{STATE}/quarantine"));
    files.paths().into_iter().filter(kept).map(|path| files.content(&path)).collect()
}

#[test]
fn tail_cut_at_every_byte_is_quarantined_and_the_log_goes_on() {
    let files = written();
    let whole = files.content(&segment(1));
    let before = records(&files);
    let last = whole[..whole.len() - 1].iter().rposition(|b| *b == b'\n').unwrap() + 1;
    for cut in last..whole.len() {
        let files = copy(&files);
        files.change(&segment(1), |data| data.truncate(cut));
        // Readers ignore the tail before the writer removes it.
        assert_eq!(records(&files), before[..before.len() - 1]);
        let Opened { mut log, diagnostics } = reopen(&files).unwrap();
        let torn = cut > last;
        assert_eq!(diagnostics.contains(&Diagnostic::TailRepaired), torn, "cut at {cut}");
        assert_eq!(in_quarantine(&files), if torn { vec![whole[last..cut].to_vec()] } else { Vec::new() });
        // The command whose end was cut off has ended.
        assert!(diagnostics.contains(&Diagnostic::CommandsInterrupted));
        log.append(&origin(1), release(1)).unwrap();
        let after = records(&files);
        assert_eq!(after[..before.len() - 1], before[..before.len() - 1]);
        let kinds: Vec<_> = after[before.len() - 1..].iter().map(|r| r.kind.name().as_str()).collect();
        let expected = ["log_repaired", "command_end", "turn_released"];
        assert_eq!(kinds, expected[usize::from(!torn)..], "cut at {cut}");
        let verified = store(&files).unwrap().verify(NAME).unwrap();
        assert_eq!(verified.findings, Vec::new());
    }
}

/// No flipped bit is replayed, and none goes unnoticed by reading, by `verify`, or by opening,
/// which reads the end of the log.
#[test]
fn flipped_bit_is_corruption_with_path_line_and_offset() {
    let files = written();
    let whole = files.content(&segment(1));
    let starts: Vec<usize> = std::iter::once(0)
        .chain(whole.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| at + 1))
        .collect();
    for at_byte in (0..whole.len()).step_by(3).chain([whole.len() - 1]) {
        let files = copy(&files);
        files.change(&segment(1), |data| data[at_byte] ^= 1 << (at_byte % 8));
        let line = starts.iter().rposition(|start| *start <= at_byte).unwrap();
        let store = store(&files).unwrap();
        let check = |error: StoreError, expected: Phase| {
            assert_eq!(error.code(), "LOG_CORRUPT");
            let StoreError::Corrupt { path, corruption, phase } = error else { panic!("{error:?}") };
            assert_eq!((path, phase), (segment(1), expected));
            assert_eq!((corruption.line, corruption.offset), (line as u64 + 1, starts[line] as u64));
        };
        check(store.verify(NAME).unwrap_err(), Phase::Verify);
        check(store.records_after(NAME, 0, usize::MAX, Phase::Replay).unwrap_err(), Phase::Replay);
        check(SessionLog::open(&store, NAME, at(50)).unwrap_err(), Phase::Restore);
        assert_eq!(in_quarantine(&files), Vec::<Vec<u8>>::new(), "nothing is repaired automatically");
        // Listing does not read logs.
        assert!(store.meta(NAME).is_ok() && store.names().unwrap() == [NAME]);
    }
}

#[test]
fn person_gives_up_a_damaged_line_and_the_log_goes_on() {
    let files = written();
    let before = records(&files);
    let whole = files.content(&segment(1));
    for lost in 0..before.len() {
        let files = copy(&files);
        let start = whole.split_inclusive(|b| *b == b'\n').take(lost).map(<[u8]>::len).sum::<usize>();
        files.change(&segment(1), |data| data[start + 20] ^= 1);
        let store = store(&files).unwrap();
        let line = lost as u64 + 1;
        assert!(matches!(store.repair(NAME, line + 1, at(60)), Err(StoreError::NotDamaged { .. })));
        let repaired = store.repair(NAME, line, at(60)).unwrap();
        assert_eq!(repaired.stubs, 1);
        assert_eq!(in_quarantine(&files).len(), 1);
        assert_eq!(in_quarantine(&files)[0].len() as u64, repaired.dropped_bytes);
        let after = records(&files);
        assert_eq!(after.len(), before.len());
        for (at, record) in after.iter().enumerate() {
            match &record.kind {
                Kind::LogRepaired(stub) if at == lost => assert_eq!(stub.cause, RepairCause::CorruptLine),
                _ => assert_eq!(record, &before[at]),
            }
        }
        assert_eq!(store.verify(NAME).unwrap().summary.records, before.len() as u64);
        let mut log = SessionLog::open(&store, NAME, at(70)).unwrap().log;
        log.append(&origin(1), support::message("on")).unwrap();
    }
}

/// A damaged newline joins two lines into one, so two records are lost.
#[test]
fn damaged_newline_is_repaired_as_two_records() {
    let files = written();
    let first = files.content(&segment(1)).iter().position(|b| *b == b'\n').unwrap();
    files.change(&segment(1), |data| data[first] = b' ');
    let store = store(&files).unwrap();
    assert_eq!(store.repair(NAME, 1, at(60)).unwrap().stubs, 2);
    let seqs: Vec<u64> = records(&files).iter().map(|record| record.seq).collect();
    assert_eq!(seqs, [1, 2, 3, 4, 5]);
    // The last newline: the metadata shows which records came after it.
    let last = files.content(&segment(1)).len() - 1;
    files.change(&segment(1), |data| data[last] = 0x0b);
    assert_eq!(store.repair(NAME, 5, at(60)).unwrap().stubs, 1);
    assert_eq!(store.verify(NAME).unwrap().torn_bytes, 0);
}

/// Only damage leaves a torn tail before another segment, since opening a log repairs the last one.
#[test]
fn torn_tail_of_an_earlier_segment_is_reported() {
    let files = written();
    let mut log = SessionLog::open(&store(&files).unwrap(), NAME, at(50)).unwrap().log;
    log.restart(StartReason::Restore, start(), &origin(9)).unwrap();
    log.sync().unwrap();
    drop(log);
    for (number, torn) in [(1, "{\"v\":1"), (2, "{\"")] {
        files.change(&segment(number), |data| data.extend_from_slice(torn.as_bytes()));
    }
    assert_eq!(store(&files).unwrap().verify(NAME).unwrap().torn_bytes, 8);
}

#[test]
fn metadata_ahead_of_the_log_gives_no_old_fence_a_turn() {
    let files = written();
    let whole = files.content(&segment(1));
    let first = whole.iter().position(|b| *b == b'\n').unwrap() + 1;
    files.change(&segment(1), |data| data.truncate(first));
    let claimed = store(&files).unwrap().meta(NAME).unwrap().0;
    assert_eq!((claimed.turn.state, claimed.applied_seq), (TurnPhase::Owned, 2));
    let Opened { log, diagnostics } = reopen(&files).unwrap();
    assert_eq!(diagnostics, [Diagnostic::MetaAheadOfLog]);
    assert_eq!(log.meta().turn, idle(2));
    assert_eq!(in_quarantine(&files).len(), 1);
    let found = records(&files);
    assert_eq!(found.len(), 2);
    assert_eq!(store(&files).unwrap().verify(NAME).unwrap().findings, Vec::new());
    assert_eq!(log.meta().turn, folded(&found, log.meta()).turn);
}

/// The process is killed at each operation of a repair: the earlier metadata and the record of the
/// repair then have equal numbers.
#[test]
fn metadata_ahead_stays_harmless_if_its_repair_is_cut_short() {
    for stop in 0..40 {
        let files = written();
        let first = files.content(&segment(1)).iter().position(|b| *b == b'\n').unwrap() + 1;
        files.change(&segment(1), |data| data.truncate(first));
        files.stop_after(stop, 0);
        let came_through = reopen(&files).is_ok() && !files.is_stopped();
        files.restart();
        let log = reopen(&files).unwrap().log;
        assert_eq!(log.meta().turn.state, TurnPhase::Idle, "killed at {stop}");
        assert!(log.meta().turn.turn_id >= 2, "killed at {stop}");
        assert_eq!(store(&files).unwrap().verify(NAME).unwrap().findings, Vec::new(), "killed at {stop}");
        if came_through {
            return;
        }
    }
    panic!("the repair never completed");
}

#[test]
fn damaged_metadata_is_recovered_from_the_version_before_and_the_log() {
    let files = written();
    let whole = store(&files).unwrap().meta(NAME).unwrap().0;
    files.change(&meta_path(), |data| data.truncate(100));
    let (_, listed) = store(&files).unwrap().meta(NAME).unwrap();
    assert_eq!(listed, [Diagnostic::MetaRecoveredFromPrevious]);
    let opened = reopen(&files).unwrap();
    assert_eq!(opened.diagnostics, [Diagnostic::MetaRecoveredFromPrevious]);
    assert_eq!(opened.log.meta().turn, whole.turn);
    assert_eq!(in_quarantine(&files).len(), 1);
    assert_eq!(reopen(&files).unwrap().diagnostics, []);
}

#[test]
fn removed_metadata_is_adopted_from_the_log_on_request() {
    let files = written();
    let store = store(&files).unwrap();
    let before = reopen(&files).unwrap().log.meta().clone();
    stickpin_store::Files::remove(&files, &meta_path()).unwrap();
    assert!(matches!(SessionLog::open(&store, NAME, at(60)), Err(StoreError::Missing(_))));
    let log = SessionLog::adopt(&store, NAME, at(60)).unwrap();
    assert_eq!(log.meta().turn, idle(before.turn.turn_id + 1));
    assert_eq!((&log.meta().session_uid, &log.meta().platform), (&before.session_uid, &before.platform));
    assert_eq!(log.meta().created_at, before.created_at);
    assert!(before.created_at < at(60));
    assert_eq!(store.verify(NAME).unwrap().findings, Vec::new());
    assert!(matches!(SessionLog::adopt(&store, NAME, at(60)), Err(StoreError::Exists(_))));
}

#[test]
fn missing_segment_is_told_and_a_new_lifetime_goes_on() {
    let files = written();
    stickpin_store::Files::remove(&files, &segment(1)).unwrap();
    let Opened { mut log, diagnostics } = reopen(&files).unwrap();
    assert_eq!(diagnostics, [Diagnostic::LogMissing]);
    let refused = log.begin(&origin(1), command()).unwrap_err();
    assert_eq!(refused.code(), "LOG_READONLY");
    log.restart(stickpin_session::log::StartReason::Restore, start(), &origin(1)).unwrap();
    assert_eq!((log.meta().lifetime, log.meta().turn.turn_id), (2, 1));
    log.begin(&origin(1), command()).unwrap();
}

#[test]
fn newer_metadata_and_logs_are_refused() {
    let files = written();
    files.change(&meta_path(), |data| {
        let newer = String::from_utf8(data.clone()).unwrap().replacen("{\"v\":1", "{\"v\":2,\"more\":0", 1);
        *data = newer.into_bytes();
    });
    let error = reopen(&files).unwrap_err();
    assert_eq!(error.code(), "LOG_VERSION_UNSUPPORTED");
    assert!(matches!(error, StoreError::Version { version: 2, .. }));
    assert_eq!(in_quarantine(&files), Vec::<Vec<u8>>::new());
}

#[test]
fn damaged_blob_is_told() {
    let files = MemoryFiles::default();
    let store = store(&files).unwrap();
    let log = Script::default().run(&store).unwrap();
    let blob = records(&files)
        .into_iter()
        .find_map(|record| match record.kind {
            Kind::Snapshot(snapshot) => Some(snapshot.blob),
            _ => None,
        })
        .unwrap();
    assert!(log.blob(&blob).is_ok());
    let path = files.paths().into_iter().find(|path| path.ends_with(blob.blob.hex())).unwrap();
    files.change(&path, |data| data[3] ^= 1);
    assert_eq!(log.blob(&blob).unwrap_err().code(), "BLOB_CORRUPT");
}

/// Damage in the middle of a log that is open for writing, which only a reader encounters.
#[test]
fn log_in_which_a_reader_finds_damage_accepts_nothing_until_it_is_repaired() {
    let files = written();
    let Opened { mut log, .. } = reopen(&files).unwrap();
    let id = log.begin(&origin(2), command()).unwrap();
    let second = files.content(&segment(1)).iter().position(|b| *b == b'\n').unwrap() + 1;
    files.change(&segment(1), |data| data[second] ^= 1);
    let before = files.content(&segment(1));
    let found = log.records_after(0, 10, Phase::Feed).unwrap_err();
    assert_eq!(found.code(), "LOG_CORRUPT");
    let is_stopped = |e: StoreError| match e {
        StoreError::Corrupt { corruption, phase, .. } => (corruption.line, phase) == (2, Phase::Feed),
        _ => false,
    };
    assert!(is_stopped(log.append(&origin(2), release(1)).unwrap_err()));
    assert!(is_stopped(log.end(&origin(2), id, done()).unwrap_err()));
    assert!(is_stopped(log.begin(&origin(2), command()).unwrap_err()), "even with an end pending");
    assert!(log.read_only().is_some_and(|reason| reason.contains("line 2")));
    assert_eq!(files.content(&segment(1)), before, "nothing is written after the damage");
    assert_eq!(log.meta().turn.state, TurnPhase::Owned);

    store(&files).unwrap().repair(NAME, 2, at(3)).unwrap();
    let Opened { mut log, diagnostics } = reopen(&files).unwrap();
    assert!(diagnostics.contains(&Diagnostic::CommandsInterrupted));
    log.append(&origin(4), release(1)).unwrap();
    assert_eq!(records(&files).len() as u64, log.meta().applied_seq);
}
