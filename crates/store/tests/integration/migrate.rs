//! `log migrate`: from an earlier version to the current one, with the original kept.

use crate::support::Code as _;
use crate::support::memory::MemoryFiles;
use crate::support::{
    NAME, STATE, claim, command, done, message, origin, records, reopen, segment, start, store,
};
use std::path::Path;
use stickpin_session::log::{Converter, VERSION};
use stickpin_store::{Migrated, SessionLog, StoreError};

fn written() -> MemoryFiles {
    let files = MemoryFiles::default();
    let store = store(&files).unwrap();
    let mut log = SessionLog::create(&store, NAME, "6f1c", start(), &origin(0)).unwrap();
    log.append(&origin(1), claim(1, 1)).unwrap();
    log.append(&origin(1), message("Zoë ☃")).unwrap();
    let id = log.begin(&origin(1), command()).unwrap();
    log.end(&origin(1), id, done()).unwrap();
    log.sync().unwrap();
    files
}

/// Writes the lines of a segment as another version would.
fn rewrite(files: &MemoryFiles, version: u32, change: impl Fn(&str) -> String) {
    files.change(&segment(1), |data| {
        let text = String::from_utf8(data.clone()).unwrap();
        let lines = text.lines().map(|line| {
            let (_, rest) = line.split_once(r#"","v":1,"#).unwrap();
            let covered = format!(r#""v":{version},{}"#, change(rest));
            format!("{{\"crc\":\"{:08x}\",{covered}\n", crc32fast::hash(covered.as_bytes()))
        });
        *data = lines.collect::<String>().into_bytes();
    });
}

/// A fictitious version, which called the number of a turn `turn`.
const FROM_ZERO: Converter = Converter {
    from: 0,
    convert: |fields| {
        let turn = fields.remove("turn").ok_or("no number of the turn")?;
        fields.insert("turnId".to_owned(), turn);
        Ok(())
    },
};

#[test]
fn earlier_version_is_converted_and_its_segments_stay() {
    let files = written();
    let (before, bytes) = (records(&files), files.content(&segment(1)));
    rewrite(&files, VERSION - 1, |line| line.replacen("\"turnId\":", "\"turn\":", 1));
    let old = files.content(&segment(1));
    assert!(matches!(reopen(&files), Err(StoreError::Version { version: 0, .. })));
    let store = store(&files).unwrap();
    let migrated = store.migrate_by(NAME, &[FROM_ZERO]).unwrap();
    let original = Path::new(STATE).join(format!("sessions/{NAME}/log/v0/000001.jsonl"));
    let expected = Migrated { segments: 1, records: before.len() as u64, originals: vec![original.clone()] };
    assert_eq!(migrated, expected);
    assert_eq!(files.content(&original), old, "the original is unchanged");
    assert_eq!(files.content(&segment(1)), bytes);
    assert_eq!(records(&files), before);
    reopen(&files).unwrap();
    assert_eq!(store.migrate_by(NAME, &[FROM_ZERO]).unwrap(), Migrated::default(), "nothing is left to do");
}

#[test]
fn current_version_needs_no_migration() {
    let files = written();
    let before = files.content(&segment(1));
    assert_eq!(store(&files).unwrap().migrate(NAME).unwrap(), Migrated::default());
    assert_eq!(files.content(&segment(1)), before);
    assert!(matches!(store(&files).unwrap().migrate("none"), Err(StoreError::Missing(_))));
}

#[test]
fn version_without_a_converter_is_refused_and_nothing_changes() {
    for version in [VERSION - 1, VERSION + 1] {
        let files = written();
        rewrite(&files, version, str::to_owned);
        let before = files.content(&segment(1));
        let refused = store(&files).unwrap().migrate(NAME).unwrap_err();
        assert_eq!(refused.code(), "LOG_VERSION_UNSUPPORTED", "{version}: {refused}");
        assert_eq!(files.content(&segment(1)), before);
    }
    // A record that the converter cannot read.
    let files = written();
    rewrite(&files, VERSION - 1, str::to_owned);
    let paths = files.paths();
    let refused = store(&files).unwrap().migrate_by(NAME, &[FROM_ZERO]).unwrap_err();
    assert_eq!(refused.code(), "LOG_CORRUPT", "{refused}");
    assert_eq!(files.paths(), paths);
}
