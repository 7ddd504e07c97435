//! Metadata as a projection of the log.

use super::samples::{agent, every_kind};
use crate::log::{ActiveSegment, CommandId, FoldFault, Kind, Record, SessionMeta, Status};
use crate::timestamp::Timestamp;
use crate::turn::TurnPhase;

fn pending() -> SessionMeta {
    SessionMeta::pending("shop", Timestamp::default())
}

fn folded(mut meta: SessionMeta, records: &[Record], second: usize) -> SessionMeta {
    for record in records {
        let segment = if record.seq as usize > second { 2 } else { 1 };
        meta.fold(segment, record).unwrap();
    }
    meta
}

#[test]
fn metadata_says_what_the_log_said_last() {
    let (records, second) = every_kind();
    let meta = folded(pending(), &records[..second - 1], second);
    assert_eq!(meta.status, Status::Open);
    assert_eq!(meta.active, Some(ActiveSegment { segment: 1, first_seq: 1 }));
    let names: Vec<_> = meta.members.iter().map(|m| (m.agent_id.as_str(), m.last_held_turn)).collect();
    assert_eq!(names, [("codex:1", Some(1)), ("claude:2", Some(4))]);
    assert_eq!((meta.turn.state, meta.turn.turn_id), (TurnPhase::Idle, 4));
    assert_eq!((meta.open_note_count(), meta.open_notes.max_note_seq), (1, 10));
    assert_eq!(meta.peers.iter().collect::<Vec<_>>(), ["news"]);
    assert_eq!((meta.children.len(), meta.loans.len(), meta.reclaimed.len()), (1, 0, 1));
    assert_eq!((meta.policy.drain_ms, meta.open_commands.len()), (1, 0));
    assert_eq!(meta.last_command, Some(CommandId::new(21)));
    assert_eq!(meta.last_snapshot_generation, Some(482_912));

    let meta = folded(meta, &records[second - 1..], second);
    assert_eq!(meta.active, Some(ActiveSegment { segment: 2, first_seq: second as u64 + 1 }));
    assert_eq!((meta.status, meta.lifetime, meta.turn.turn_id), (Status::Closed, 2, 9));
    assert_eq!(meta.members, []);
    assert_eq!(meta.applied_seq, records.len() as u64);
}

/// A recording outlives the lifetime in which it began, and ends with its own record.
#[test]
fn metadata_names_the_first_record_of_a_recording() {
    let (records, second) = every_kind();
    let last = records.len() - 1;
    let meta = folded(pending(), &records[..last], second);
    let first_seq = meta.recording.expect("a recording is in progress").first_seq;
    assert!(matches!(records[first_seq as usize - 1].kind, Kind::RecordingStarted(_)));
    assert_eq!(folded(meta, &records[last..], second).recording, None);
}

/// An acknowledged step survives a power cut; other commands may not.
#[test]
fn recorded_commands_are_durable_at_once() {
    let (records, _) = every_kind();
    for record in &records {
        let recorded = match &record.kind {
            Kind::CommandEnd(end) => end.recorded.is_some(),
            Kind::RecordingStarted(_) | Kind::RepairStarted(_) | Kind::RecordingEnded(_) => true,
            other => other.name().group().is_durable_at_once(),
        };
        assert_eq!(record.kind.is_durable_at_once(), recorded, "{:?}", record.kind);
    }
    assert!(records.iter().any(|r| matches!(r.kind, Kind::CommandEnd(_)) && !r.kind.is_durable_at_once()));
}

/// The redo tail: metadata stored at any time, plus the records after it, agrees with the log.
#[test]
fn metadata_of_any_time_and_the_rest_of_the_log_agree() {
    let (records, second) = every_kind();
    let whole = folded(pending(), &records, second);
    for stored in 0..=records.len() {
        let meta = folded(pending(), &records[..stored], second);
        let json = serde_json::to_vec(&meta).unwrap();
        let meta: SessionMeta = serde_json::from_slice(&json).unwrap();
        assert_eq!(folded(meta, &records[stored..], second), whole, "stored after record {stored}");
    }
}

#[test]
fn record_out_of_order_changes_nothing() {
    let (records, second) = every_kind();
    let mut meta = folded(pending(), &records[..3], second);
    let before = meta.clone();
    for wrong in [&records[2], &records[4]] {
        let found = wrong.seq;
        assert_eq!(meta.fold(1, wrong), Err(FoldFault::Sequence { expected: 4, found }));
    }
    let mut other = records[3].clone();
    other.lifetime = 5;
    assert_eq!(meta.fold(1, &other), Err(FoldFault::Lifetime { seq: 4, expected: 1, found: 5 }));
    assert_eq!(meta, before);
}

#[test]
fn command_without_end_stays_open() {
    let (records, second) = every_kind();
    let meta = folded(pending(), &records[..5], second);
    assert_eq!(meta.open_commands.len(), 1);
    assert_eq!((meta.open_commands[0].cmd_id.seq(), meta.open_commands[0].turn_id), (5, 1));
    assert_eq!(meta.turn.owner, Some(agent("codex:1")));
}
