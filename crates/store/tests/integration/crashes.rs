//! Faults F7, F8, F9 and F25, acceptance test 8: the process is killed, or the power is cut, at
//! every file operation. Afterwards, what was acknowledged exists, and what was not committed does
//! not.

use crate::support::memory::MemoryFiles;
use crate::support::{Script, folded, records, reopen, store};
use proptest::prelude::*;
use stickpin_session::log::{Kind, Outcome, Record};

/// The size at which a segment ends: small, so that the script crosses segment boundaries.
const ROTATE_AT: u64 = 4_000;

/// Runs the script until it is stopped or complete.
fn run(files: &MemoryFiles) -> Script {
    let mut script = Script::default();
    let done = store(files).map(|store| store.rotate_at(ROTATE_AT)).and_then(|store| script.run(&store));
    assert!(done.is_ok() || files.is_stopped(), "the script failed by itself: {:?}", done.err());
    script
}

/// Returns the number of operations of the whole script.
fn operations() -> u64 {
    let files = MemoryFiles::default();
    run(&files);
    files.operations()
}

/// Checks what must hold after every crash.
fn assert_whole(files: &MemoryFiles, script: &Script, kept: u64, case: &str) -> Vec<Record> {
    let opened = reopen(files).unwrap_or_else(|e| panic!("{case}: {e}"));
    let found = records(files);
    assert_eq!(opened.log.meta(), &folded(&found, opened.log.meta()), "{case}: the metadata differs");
    assert_eq!(opened.log.read_only(), None, "{case}");
    let verified = store(files).unwrap().verify("shop").unwrap();
    assert_eq!((verified.findings, verified.torn_bytes), (Vec::new(), 0), "{case}");
    assert!(found.len() as u64 >= kept, "{case}: {} of {kept} records are left", found.len());
    for id in &script.begun {
        let ends: Vec<_> = found
            .iter()
            .filter_map(|record| match &record.kind {
                Kind::CommandEnd(end) if end.cmd_id == *id => Some(end.outcome),
                _ => None,
            })
            .collect();
        let began = found.iter().any(|r| r.seq == id.seq() && matches!(r.kind, Kind::CommandBegin(_)));
        match (began, &*ends) {
            (true, [Outcome::Ok]) => {}
            (true, [Outcome::Interrupted]) => {
                let lost = script.ended.iter().find(|(ended, seq)| ended == id && *seq <= kept);
                assert_eq!(lost, None, "{case}: {id} had ended");
            }
            // Only a power cut can lose a begin.
            (false, []) => assert!(kept < id.seq(), "{case}: {id} is lost"),
            other => panic!("{case}: {id} is {other:?}"),
        }
    }
    // A power cut may leave a record without its blob if neither was on disk. Reading reports that.
    for record in found.iter().filter(|record| record.seq <= kept) {
        if let Kind::Snapshot(snapshot) = &record.kind {
            let blob = opened.log.blob(&snapshot.blob);
            assert!(blob.is_ok(), "{case}: {blob:?}");
        }
        if let Kind::Message(message) = &record.kind
            && let Some(blob) = message.body.blob()
        {
            assert!(opened.log.blob(blob).is_ok(), "{case}: the body of a message is lost");
        }
    }
    found
}

/// Checks that every record found is one that the complete script writes.
fn assert_nothing_invented(found: &[Record], whole: &[Record], case: &str) {
    let by_agents = |records: &[Record]| -> Vec<Record> {
        records.iter().filter(|record| record.agent.is_some()).cloned().collect()
    };
    let (found, whole) = (by_agents(found), by_agents(whole));
    let mut of_script = whole.iter();
    for record in &found {
        // A repair adds records, which shifts the numbers.
        let like = |other: &Record| {
            std::mem::discriminant(&other.kind) == std::mem::discriminant(&record.kind)
                && other.agent == record.agent
        };
        assert!(of_script.any(like), "{case}: {record:?} was never written");
    }
}

#[test]
fn kill_at_every_operation_loses_nothing_that_was_committed() {
    let whole = {
        let files = MemoryFiles::default();
        run(&files);
        records(&files)
    };
    let operations = operations();
    assert!(operations > 100, "the script has too few operations: {operations}");
    for stop in 0..operations {
        for partial in [0, 150, usize::MAX] {
            let case = format!("killed at operation {stop} with {partial} bytes written");
            let files = MemoryFiles::default();
            files.stop_after(stop, partial);
            let script = run(&files);
            assert!(files.is_stopped(), "{case}");
            files.restart();
            let kept = script.acknowledged.last().copied().unwrap_or(0);
            let found = assert_whole(&files, &script, kept, &case);
            assert_nothing_invented(&found, &whole, &case);
            if partial == 0 {
                let again = assert_whole(&files, &script, kept, &case);
                assert_eq!(again, found, "{case}: opening again changes the log");
            }
            if !files.is_stopped_in_write() {
                break;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn crash_during_the_repair_of_a_crash_loses_nothing(
        first in 0_u64..400, second in 0_u64..40, partial in 0_usize..400, short in 1_usize..200,
    ) {
        let files = MemoryFiles::default();
        files.write_at_most(Some(short));
        files.stop_after(first, partial);
        let script = run(&files);
        files.restart();
        files.stop_after(second, partial);
        // The record may or may not survive.
        let _ = reopen(&files);
        files.restart();
        let kept = script.acknowledged.last().copied().unwrap_or(0);
        assert_whole(&files, &script, kept, &format!("killed at {first} and again at {second}"));
    }

    #[test]
    fn power_cut_takes_at_most_what_was_not_synced(
        first in 0_u64..400, partial in 0_usize..400, choices in prop::collection::vec(0_usize..1000, 16),
    ) {
        let files = MemoryFiles::default();
        files.stop_after(first, partial);
        let script = run(&files);
        let mut next = choices.iter().cycle();
        files.lose_power(|below| next.next().unwrap() % below);
        let found = assert_whole(&files, &script, script.durable, &format!("cut at {first}: {choices:?}"));
        let kept = found.iter().filter(|record| record.agent.is_some()).count();
        prop_assert!(kept <= script.acknowledged.len() + 1, "more records than were ever written");
    }
}
