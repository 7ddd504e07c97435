//! Bytes of records: written, read, cut and damaged.

use super::samples::{Log, begin, every_kind, idle, start};
use crate::log::{
    Corruption, KindName, LineFault, Located, MAX_RECORD, Message, MessageHint, Record, Records, Redacted,
    StartReason, decode, encode, last_commit,
};
use crate::log::{Kind, Via};
use std::collections::BTreeSet;

/// Writes records and returns the offset of each.
fn written(records: &[Record]) -> (Vec<u8>, Vec<usize>) {
    let (mut bytes, mut starts) = (Vec::new(), Vec::new());
    for record in records {
        starts.push(bytes.len());
        encode(record, &mut bytes).unwrap();
    }
    (bytes, starts)
}

fn read(bytes: &[u8]) -> (Vec<Record>, Option<Corruption>, Option<usize>) {
    let (mut records, mut found) = (Vec::new(), Vec::new());
    let mut reader = Records::new(bytes);
    for next in reader.by_ref() {
        match next {
            Ok(Located { record, .. }) => found.push(record),
            Err(corruption) => records.push(corruption),
        }
    }
    (found, records.pop(), reader.torn_tail())
}

#[test]
fn every_kind_reads_back() {
    let (records, _) = every_kind();
    let kinds: BTreeSet<KindName> = records.iter().map(|record| record.kind.name()).collect();
    assert_eq!(kinds.len(), KindName::ALL.len(), "a kind has no sample");
    let (bytes, _) = written(&records);
    assert_eq!(read(&bytes), (records, None, None));
}

#[test]
fn keys_are_camel_case_and_lines_are_lines() {
    fn keys(value: &serde_json::Value, found: &mut BTreeSet<String>) {
        match value {
            serde_json::Value::Object(fields) => fields.iter().for_each(|(key, value)| {
                found.insert(key.clone());
                keys(value, found);
            }),
            serde_json::Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
            _ => {}
        }
    }
    let (records, _) = every_kind();
    let (bytes, _) = written(&records);
    let text = String::from_utf8(bytes).unwrap();
    assert_eq!(text.lines().count(), records.len());
    let mut found = BTreeSet::new();
    text.lines().for_each(|line| keys(&serde_json::from_str(line).unwrap(), &mut found));
    assert!(found.contains("turnAfter") && found.contains("cmdId"), "{found:?}");
    assert_eq!(found.iter().filter(|key| key.contains('_')).collect::<Vec<_>>(), Vec::<&String>::new());
}

/// The format on disk: a change to this line makes existing logs unreadable.
#[test]
fn form_of_a_line_is_fixed() {
    let mut log = Log::default();
    let message = Message { body: Redacted::literal("hi"), hint: MessageHint::Normal, from_session: None };
    log.add(7, Kind::Message(message));
    let (bytes, _) = written(&log.records);
    assert_eq!(
        String::from_utf8(bytes).unwrap(),
        "{\"crc\":\"da9e2ca8\",\"v\":1,\"seq\":1,\"ts\":\"2026-07-31T12:13:20.001Z\",\"lifetime\":0,\"turnId\":7,\
         \"agent\":null,\"to\":null,\"bcast\":false,\"via\":\"mcp\",\"kind\":\"message\",\"body\":\"hi\",\
         \"hint\":\"normal\"}\n"
    );
}

/// Acceptance test 10, first half: a log cut at every byte of its last record.
#[test]
fn log_cut_at_every_byte_keeps_all_committed_records() {
    let (records, _) = every_kind();
    for last in 1..records.len() {
        let pair = &records[last - 1..=last];
        let (bytes, starts) = written(pair);
        let committed = starts[1];
        for cut in committed..bytes.len() {
            let (found, corruption, torn) = read(&bytes[..cut]);
            assert_eq!(corruption, None, "cut at {cut}");
            assert_eq!(found, pair[..1], "cut at {cut}");
            assert_eq!(torn, (cut > committed).then_some(committed), "cut at {cut}");
            assert_eq!(last_commit(&bytes[..cut]), committed);
        }
    }
}

/// Acceptance test 10, second half: no flipped bit is ever read as a different record.
#[test]
fn every_flipped_bit_is_found_at_its_line() {
    let mut log = Log::default();
    log.add(0, start(StartReason::Open, None, idle(0))).add(0, begin(2)).add(0, begin(3));
    let (clean, starts) = written(&log.records);
    for at in 0..clean.len() {
        let line = starts.iter().rposition(|start| *start <= at).unwrap();
        for bit in 0..8 {
            let mut bytes = clean.clone();
            bytes[at] ^= 1 << bit;
            let (found, corruption, torn) = read(&bytes);
            let corruption = corruption.unwrap_or_else(|| panic!("bit {bit} of byte {at} is not detected"));
            assert_eq!((corruption.line, corruption.offset), (line as u64 + 1, starts[line] as u64));
            assert_eq!((found.len(), torn), (line, None));
            assert_eq!(found, log.records[..line]);
        }
    }
}

#[test]
fn other_versions_are_refused_not_guessed() {
    let mut log = Log::default();
    log.add(0, begin(1));
    let (bytes, _) = written(&log.records);
    let line = std::str::from_utf8(&bytes[..bytes.len() - 1]).unwrap();
    for version in ["0", "2", "17"] {
        let covered = line[18..].replacen("\"v\":1", &format!("\"v\":{version}"), 1);
        let newer = format!("{{\"crc\":\"{:08x}\",{covered}", crc32fast::hash(covered.as_bytes()));
        assert_eq!(decode(newer.as_bytes()), Err(LineFault::Version(version.parse().unwrap())));
    }
}

/// Lines that have valid checksums but that this version cannot read are not records.
#[test]
fn unknown_kinds_and_fields_are_refused() {
    let mut log = Log::default();
    log.add(0, begin(1));
    let (bytes, _) = written(&log.records);
    let line = std::str::from_utf8(&bytes[..bytes.len() - 1]).unwrap();
    for (from, to) in [
        ("command_begin", "command_started"),
        ("\"verb\"", "\"more\":1,\"verb\""),
        ("\"verb\":\"fill\",", ""),
        ("\"lifetime\":0,", ""),
        ("\"seq\":1,\"ts\"", "\"ts\""),
        ("\"via\":\"mcp\"", "\"via\":\"fax\""),
        ("{\"secret\":true,\"len\":7}", "{\"secret\":false,\"len\":7}"),
        ("{\"secret\":true,\"len\":7}", "{\"secret\":true}"),
        ("{\"secret\":true,\"len\":7}", "{\"plain\":1}"),
    ] {
        let covered = line[18..].replacen(from, to, 1);
        assert_ne!(covered, line[18..], "{from} is not there");
        let other = format!("{{\"crc\":\"{:08x}\",{covered}", crc32fast::hash(covered.as_bytes()));
        let read = decode(other.as_bytes());
        assert!(matches!(read, Err(LineFault::Content(_))), "{to}: {read:?}");
    }
}

#[test]
fn record_above_the_limit_is_not_written() {
    let mut log = Log::default();
    let body = Redacted::new("x".repeat(MAX_RECORD), &super::samples::Words);
    log.add(0, Kind::Message(Message { body, hint: MessageHint::Normal, from_session: None }));
    let mut out = b"before".to_vec();
    let error = encode(&log.records[0], &mut out).unwrap_err();
    assert!(error.bytes > MAX_RECORD);
    assert_eq!(out, b"before");
    assert_eq!(log.records[0].via, Via::Mcp);
}
