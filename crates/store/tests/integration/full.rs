//! Faults F23, F24 and F25, acceptance test 9: the disk is full.

use crate::support::Code;
use crate::support::memory::MemoryFiles;
use crate::support::{
    NAME, at, claim, command, done, folded, join, message, meta_path, origin, records, release, reopen,
    segment, start, store, text,
};
use stickpin_session::log::{
    CommandEnd, Kind, NoteAdded, PolicyChanged, RecordedStep, Redacted, SessionMeta,
};
use stickpin_session::turn::{ScopeRule, TargetSelector, Verb};
use stickpin_store::{CommandOutcome, Opened, SessionLog, Store};

fn opened(files: &MemoryFiles) -> SessionLog {
    let store = store(files).unwrap();
    let mut log = SessionLog::create(&store, NAME, "6f1c", start(), &origin(0)).unwrap();
    log.append(&origin(1), claim(1, 1)).unwrap();
    log
}

/// Leaves space for `bytes` more bytes.
fn leave(files: &MemoryFiles, bytes: u64) {
    files.set_capacity(Some(files.used() + bytes));
}

#[test]
fn command_that_cannot_be_logged_does_not_begin() {
    for room in [0, 1, 100, 250] {
        let files = MemoryFiles::default();
        let mut log = opened(&files);
        let (before, meta) = (files.content(&segment(1)), log.meta().clone());
        leave(&files, room);
        let error = log.begin(&origin(1), command()).unwrap_err();
        assert_eq!(error.code(), "STORAGE_FULL");
        assert_eq!(files.content(&segment(1)), before, "the partial write was not rolled back");
        assert_eq!(log.meta(), &meta);
        // Nothing new can begin, but records that end something can use the reserve.
        for kind in [message("hello"), join(2)] {
            assert_eq!(log.append(&origin(1), kind).unwrap_err().code(), "STORAGE_FULL");
        }
        assert!(!files.paths().iter().any(|path| path.ends_with("reserve.bin")));
        log.append(&origin(1), release(1)).unwrap();
        // Once there is space again, the reserve is restored first.
        files.set_capacity(None);
        log.begin(&origin(1), command()).unwrap();
        assert!(files.paths().iter().any(|path| path.ends_with("reserve.bin")));
        assert_eq!(store(&files).unwrap().verify(NAME).unwrap().findings, Vec::new());
    }
}

#[test]
fn command_that_ended_uses_the_room_that_was_set_aside() {
    let files = MemoryFiles::default();
    let mut log = opened(&files);
    let id = log.begin(&origin(1), command()).unwrap();
    leave(&files, 5);
    log.end(&origin(1), id, done()).unwrap();
    assert_eq!(log.begin(&origin(1), command()).unwrap_err().code(), "STORAGE_FULL");
}

/// F24: even the reserve is used up.
#[test]
fn end_that_cannot_be_logged_stops_further_commands() {
    let files = MemoryFiles::default();
    let mut log = opened(&files);
    let id = log.begin(&origin(1), command()).unwrap();
    files.set_capacity(Some(10));
    let error = log.end(&origin(1), id, done()).unwrap_err();
    assert_eq!(error.code(), "STORAGE_FULL");
    assert!(log.read_only().is_some());
    assert_eq!(log.begin(&origin(1), command()).unwrap_err().code(), "LOG_READONLY");
    // The end is written as soon as there is space; only then does the session continue.
    let other = opened_copy(&files);
    files.set_capacity(None);
    log.maintain().unwrap();
    assert_eq!(log.read_only(), None);
    let next = log.begin(&origin(1), command()).unwrap();
    log.end(&origin(1), next, done()).unwrap();
    let ends = |files: &MemoryFiles| -> Vec<String> {
        let of = |kind: &Kind| match kind {
            Kind::CommandEnd(end) if end.cmd_id == id => Some(format!("{:?}", end.outcome)),
            _ => None,
        };
        records(files).iter().filter_map(|record| of(&record.kind)).collect()
    };
    assert_eq!(ends(&files), ["Ok"]);
    // If the daemon was restarted before that, the command counts as interrupted.
    assert_eq!(ends(&other), ["Interrupted"]);
}

/// A recorded step is not lost: it is written as soon as there is space.
#[test]
fn step_that_cannot_be_logged_is_written_with_the_next() {
    let files = MemoryFiles::default();
    let mut log = opened(&files);
    let steps = |files: &MemoryFiles| -> Vec<String> {
        let of = |kind: &Kind| match kind {
            Kind::CommandEnd(CommandEnd { recorded: Some(RecordedStep::Lines(lines)), .. }) => {
                lines.text().map(str::to_owned)
            }
            _ => None,
        };
        records(files).iter().filter_map(|record| of(&record.kind)).collect()
    };
    let recorded = |lines| CommandOutcome { recorded: Some(RecordedStep::Lines(text(lines))), ..done() };
    let id = log.begin(&origin(1), command()).unwrap();
    files.set_capacity(Some(10));
    log.end(&origin(1), id, recorded("a\n")).unwrap_err();
    assert_eq!(steps(&files), Vec::<String>::new());
    files.set_capacity(None);
    let id = log.begin(&origin(1), command()).unwrap();
    log.end(&origin(1), id, recorded("b\n")).unwrap();
    assert_eq!(steps(&files), ["a\n", "b\n"]);
}

/// Returns a copy of the files, opened as another process would find them.
fn opened_copy(files: &MemoryFiles) -> MemoryFiles {
    let copy = MemoryFiles::default();
    for path in files.paths() {
        let handle = stickpin_store::Files::open(&copy, &path).unwrap();
        let content = files.content(&path);
        let mut rest = &content[..];
        while !rest.is_empty() {
            rest = &rest[handle.write(rest).unwrap()..];
        }
    }
    reopen(&copy).unwrap();
    copy
}

#[test]
fn record_that_cannot_be_taken_back_closes_the_log() {
    let files = MemoryFiles::default();
    let mut log = opened(&files);
    leave(&files, 50);
    files.break_truncate(true);
    log.begin(&origin(1), command()).unwrap_err();
    files.set_capacity(None);
    let error = log.append(&origin(1), release(1)).unwrap_err();
    assert_eq!(error.code(), "LOG_READONLY");
    assert!(log.read_only().is_some());
    drop(log);
    // The partial record is a torn tail, which opening again repairs.
    files.break_truncate(false);
    let Opened { mut log, diagnostics } = reopen(&files).unwrap();
    assert_eq!(diagnostics, [stickpin_store::Diagnostic::TailRepaired]);
    log.append(&origin(1), release(1)).unwrap();
}

/// F25: the record is committed, the metadata keeps its old content, and the log compensates for
/// it.
#[test]
fn metadata_that_cannot_be_replaced_keeps_its_old_content() {
    let files = MemoryFiles::default();
    let mut log = opened(&files);
    let old = files.content(&meta_path());
    // Space for the record, but not for the metadata.
    leave(&files, 900);
    log.append(&origin(1), join(1)).unwrap();
    assert_eq!(log.meta_fault().map(Code::code), Some("STORAGE_FULL"));
    assert_eq!(files.content(&meta_path()), old);
    assert_eq!(log.meta().members.len(), 1);
    let copy = opened_copy(&files);
    let found = records(&copy);
    let stored = store(&copy).unwrap().meta(NAME).unwrap().0;
    assert_eq!(stored, folded(&found, &stored));
    assert_eq!(stored.members.len(), 1);
    files.set_capacity(None);
    log.maintain().unwrap();
    assert!(log.meta_fault().is_none());
    assert_ne!(files.content(&meta_path()), old);
}

#[test]
fn metadata_above_its_limit_is_refused_before_anything_is_written() {
    let files = MemoryFiles::default();
    let mut log = opened(&files);
    let mut refused = None;
    for n in 0..40 {
        let peer = format!("peer-{n}-{}", "x".repeat(20_000));
        let before = records(&files).len();
        let kind = Kind::PeerAdded(stickpin_session::log::PeerAdded { peer });
        if let Err(error) = log.append(&origin(1), kind) {
            assert_eq!(records(&files).len(), before);
            refused = Some(error);
            break;
        }
    }
    assert_eq!(refused.map(|error| error.code()), Some("META_TOO_LARGE"));
    // Records that end something are still accepted.
    log.append(&origin(1), release(1)).unwrap();
}

/// An address of more than 100 bytes.
const LONG: &str =
    "https://shop.test/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

#[test]
fn notes_scope_rules_and_addresses_count_as_metadata() {
    let files = MemoryFiles::default();
    let mut log = opened(&files);
    let size = |log: &SessionLog| serde_json::to_vec(log.meta()).unwrap().len();
    let rest = SessionMeta::MAX_BYTES - SessionMeta::SPARE_BYTES - size(&log);
    let peer = "x".repeat(rest - 10);
    log.append(&origin(1), Kind::PeerAdded(stickpin_session::log::PeerAdded { peer })).unwrap();
    let is_refused = |log: &mut SessionLog, kind: Kind| {
        log.append(&origin(1), kind).map_err(|e| e.code()).err() == Some("META_TOO_LARGE")
    };
    let rule = ScopeRule { verbs: [Verb::Act].into(), target: TargetSelector::Any, constraint: None };
    let rules = PolicyChanged { policy: log.meta().policy.clone(), deny: Some(vec![rule]) };
    assert!(is_refused(&mut log, Kind::PolicyChanged(Box::new(rules))));
    let mut noted = 0;
    let note = |note_id| NoteAdded { note_id, body: Redacted::literal("x"), scope_turn: None };
    while !is_refused(&mut log, Kind::NoteAdded(note(noted + 1))) {
        noted += 1;
        assert!(noted < 10, "the notes do not count");
    }
    // A command has ended, whatever address the app has then.
    let before = log.meta().targets.clone();
    let id = log.begin(&origin(1), command()).unwrap();
    let address = Some(Redacted::literal(LONG));
    log.end(&origin(1), id, CommandOutcome { address, ..done() }).unwrap();
    assert_eq!((&log.meta().targets, log.meta().open_commands.len()), (&before, 0));
    assert!(log.meta_fault().is_none() && size(&log) <= SessionMeta::MAX_BYTES);
}

#[test]
fn store_on_a_full_disk_opens_in_an_emergency() {
    let files = MemoryFiles::default();
    files.set_capacity(Some(4_000));
    let store = store(&files).unwrap();
    assert!(store.is_emergency());
    let error = SessionLog::create(&store, NAME, "6f1c", start(), &origin(0)).unwrap_err();
    assert_eq!(error.code(), "STORAGE_FULL");
}

/// The faults above, on a real file system.
#[test]
fn full_tmpfs_refuses_commands_and_keeps_the_log_whole() {
    let tmp = tempfile::tempdir().unwrap();
    let place = tmp.path().join("small");
    std::fs::create_dir(&place).unwrap();
    let run = |words: &[&str]| {
        let status = std::process::Command::new(words[0]).args(&words[1..]).arg(&place).output();
        status.is_ok_and(|output| output.status.success())
    };
    if !run(&["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs"]) {
        eprintln!("skipped: nothing may be mounted here");
        return;
    }
    let _unmount = Unmount(&place);
    let store = Store::open(&place.join("state")).unwrap();
    let mut log = SessionLog::create(&store, NAME, "6f1c", start(), &origin(0)).unwrap();
    log.append(&origin(1), claim(1, 1)).unwrap();
    let mut commands = 0;
    let error = loop {
        match log.append(&origin(1), message(&"x".repeat(60_000))) {
            Ok(_) => commands += 1,
            Err(error) => break error,
        }
    };
    assert!(commands > 10, "{commands} messages fit");
    assert_eq!(error.code(), "STORAGE_FULL", "{error}");
    assert!(store.is_emergency() && !place.join("state/reserve.bin").exists());
    assert_eq!(log.begin(&origin(1), command()).unwrap_err().code(), "STORAGE_FULL");
    log.append(&origin(1), release(1)).unwrap();
    let seq = log.meta().applied_seq;
    drop(log);
    let verified = store.verify(NAME).unwrap();
    assert_eq!((verified.findings, verified.summary.records, verified.torn_bytes), (Vec::new(), seq, 0));
    let log = SessionLog::open(&store, NAME, at(60)).unwrap().log;
    assert_eq!(log.meta().applied_seq, seq);
}

struct Unmount<'a>(&'a std::path::Path);

impl Drop for Unmount<'_> {
    fn drop(&mut self) {
        let done = std::process::Command::new("umount").arg(self.0).status();
        assert!(done.is_ok_and(|status| status.success()), "{} stays mounted", self.0.display());
    }
}
