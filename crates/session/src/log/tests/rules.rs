//! The findings of `log verify`, and which turns may follow each other.

use super::samples::{begin, claim, end, every_kind, idle, owned, reserved, start};
use crate::log::{
    Finding, FoldFault, Illegal, Kind, LogRepaired, Record, RepairCause, SegmentEnd, StartReason, Summary,
    Verifier, legal_turn,
};
use crate::turn::{Grant, LeaseId, TurnState};

fn verified(records: &[Record], second: usize) -> (Summary, Vec<Finding>) {
    let mut verifier = Verifier::default();
    verifier.segment(1);
    for (at, record) in records.iter().enumerate() {
        if at == second {
            verifier.segment(2);
        }
        verifier.record(record);
    }
    verifier.finish()
}

#[test]
fn log_of_every_kind_keeps_all_rules() {
    let (records, second) = every_kind();
    let summary = Summary { segments: 2, records: records.len() as u64, open_commands: 0 };
    assert_eq!(verified(&records, second), (summary, Vec::new()));
}

/// Damages the log in one place and returns the first finding.
fn broken(change: impl FnOnce(&mut Vec<Record>)) -> Finding {
    let (mut records, second) = every_kind();
    change(&mut records);
    let (_, mut findings) = verified(&records, second);
    assert!(!findings.is_empty(), "nothing is found");
    findings.remove(0)
}

#[test]
fn every_broken_rule_is_found() {
    let found = broken(|r| r[9].seq = 11);
    assert_eq!(found, FoldFault::Sequence { expected: 10, found: 11 }.into());
    let found = broken(|r| r[3].lifetime = 2);
    assert_eq!(found, FoldFault::Lifetime { seq: 4, expected: 1, found: 2 }.into());
    let found = broken(|r| r[4].kind = begin(4));
    assert_eq!(found, Finding::CommandName { seq: 5, id: crate::log::CommandId::new(4) });
    let found = broken(|r| r[4].kind = end(5, false));
    assert_eq!(found, Finding::NotOpen { seq: 5, id: crate::log::CommandId::new(5) });
    let found = broken(|r| r[5].kind = end(4, false));
    assert_eq!(found, Finding::NotOpen { seq: 6, id: crate::log::CommandId::new(4) });
    let found = broken(|r| {
        r[5].kind = Kind::ContextCleared(crate::log::ContextCleared { context: "main".into(), upto_seq: 0 })
    });
    assert_eq!(found, Finding::NeverEnded { id: crate::log::CommandId::new(5) });
    // A command in a turn that does not exist, and a `command_end` in a turn other than that of its
    // `command_begin`.
    assert_eq!(broken(|r| r[4].turn_id = 2), Finding::Turn { seq: 5, expected: 1, found: 2 });
    assert_eq!(broken(|r| r[5].turn_id = 0), Finding::Turn { seq: 6, expected: 1, found: 0 });
    let late = broken(|r| {
        let at = r.iter().position(|r| matches!(&r.kind, Kind::CommandEnd(end) if end.late)).unwrap();
        r[at].kind = end(21, false);
    });
    assert_eq!(late, Finding::Turn { seq: 24, expected: 1, found: 1 });
    let found = broken(|r| {
        r[0].kind = Kind::ContextCleared(crate::log::ContextCleared { context: "main".into(), upto_seq: 0 })
    });
    assert_eq!(found, Finding::Boundary { segment: 1, seq: 1 });
    let found = broken(|r| r[7].kind = Kind::SegmentEnd(SegmentEnd {}));
    assert_eq!(found, Finding::Boundary { segment: 1, seq: 9 });
    let found = broken(|r| r[3].kind = claim(owned(2, "codex:1")));
    let illegal = Illegal::Number { kind: "turn_claimed", before: 0, after: 2 };
    assert_eq!(found, Finding::Illegal { seq: 4, illegal });
}

/// If a person discarded a line, its neighbors may refer to its content.
#[test]
fn stub_explains_what_its_line_said() {
    for lost in 1..38 {
        let (mut records, second) = every_kind();
        if lost == second {
            continue;
        }
        let before = records[lost - 1].turn_id;
        records[lost].turn_id = before;
        records[lost].kind = Kind::LogRepaired(Box::new(LogRepaired {
            cause: RepairCause::CorruptLine,
            segment: 1,
            dropped_bytes: 300,
            sha256: None,
            turn_after: None,
        }));
        let (_, findings) = verified(&records, second);
        // A `command_begin` whose end was lost is rightly reported.
        let unexplained: Vec<_> =
            findings.iter().filter(|f| !matches!(f, Finding::NeverEnded { .. })).collect();
        assert_eq!(unexplained, Vec::<&Finding>::new(), "without record {}", lost + 1);
    }
}

#[test]
fn turn_number_advances_with_a_grant_only() {
    assert_eq!(legal_turn(&claim(owned(5, "a")), &idle(4)), Ok(()));
    assert_eq!(legal_turn(&claim(owned(5, "a")), &reserved(4, "a")), Ok(()));
    let stays = Illegal::Number { kind: "turn_claimed", before: 4, after: 4 };
    assert_eq!(legal_turn(&claim(owned(4, "a")), &idle(4)), Err(stays));
    assert!(matches!(
        legal_turn(&claim(owned(5, "b")), &owned(4, "a")),
        Err(Illegal::Transition { kind: "turn_claimed", .. })
    ));
    let mut ownerless = owned(5, "a");
    ownerless.lease_id = None;
    assert!(matches!(legal_turn(&claim(ownerless), &idle(4)), Err(Illegal::Fields(_))));
}

/// A lease is renewed and a grant is delivered without a record.
#[test]
fn segment_keeps_the_turn_whose_lease_was_renewed() {
    let before = owned(4, "a");
    let mut renewed = TurnState { grant: Grant { delivered: true, ..before.grant }, ..before.clone() };
    renewed.lease.as_mut().unwrap().deadline_mono_ms += 60_000;
    let mut granted_anew = before.clone();
    granted_anew.lease_id = Some(LeaseId::new("another"));
    for reason in [StartReason::Open, StartReason::Restore, StartReason::Rotate] {
        assert_eq!(legal_turn(&start(reason, Some(1), renewed.clone()), &before), Ok(()), "{reason:?}");
        let other = legal_turn(&start(reason, Some(1), granted_anew.clone()), &before);
        assert!(matches!(other, Err(Illegal::Transition { .. })), "{reason:?}");
    }
}
