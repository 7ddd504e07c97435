//! Checks of the command list.

use super::*;
use crate::api::schema::Kind;
use std::collections::BTreeSet;
use stickpin_device::ErrorCode;

#[test]
fn names_and_aliases_are_unique_and_plain() {
    let mut seen = BTreeSet::new();
    for entry in COMMANDS.iter().chain(INTERNAL) {
        for name in std::iter::once(&entry.spec.name).chain(entry.spec.aliases) {
            assert!(seen.insert(*name), "`{name}` twice");
            assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b == b' '), "`{name}`");
            assert!(name.split(' ').count() <= 2, "`{name}` has more than two words");
        }
    }
}

#[test]
fn every_command_and_field_is_documented() {
    for entry in COMMANDS.iter().chain(INTERNAL) {
        let name = entry.spec.name;
        assert!(entry.summary().ends_with('.'), "{name}: the first line is a sentence");
        assert!(!entry.spec.examples.is_empty(), "{name} has no example");
        for field in entry.fields() {
            assert!(!field.doc.is_empty(), "{name}: `{}` has no doc comment", field.name);
        }
    }
}

#[test]
fn schemas_are_flat_and_closed() {
    for entry in COMMANDS.iter().chain(INTERNAL) {
        let schema = entry.schema();
        assert_eq!(schema["additionalProperties"], false, "{}", entry.spec.name);
        assert!(schema.get("$defs").is_none(), "{}: {schema}", entry.spec.name);
    }
}

/// Free-text arguments that contain no file path or address, each reviewed once. A new argument is
/// either annotated or listed here.
const PLAIN: &[&str] = &[
    "open viewport",
    // A path among them is annotated by its provider, and confined where `open` collects them.
    "open option",
    "read section",
    "press modifiers",
    "fill text",
    "fill secret",
    "fill recordAs",
    "type text",
    "key chord",
    "select options",
    "find query",
    "is value",
    "wait text text",
    "wait url part",
    "wait request pattern",
    "wait request status",
    "wait download name",
    "wait fn expression",
    "clipboard write text",
    "tab switch id",
    "tab close id",
    "tab show id",
    "alert accept text",
    "record start pass",
    "session show name",
    "session restore name",
    "session spawn parent",
    "session spawn child",
    "session spawn lend",
    "session spawn agent",
    "session stop child",
    "session reclaim loan",
    "session prune parent",
    "session peer session",
    "session peer peer",
    "session unpeer session",
    "session unpeer peer",
    "session policy name",
    "session policy set",
    "session adopt name",
    "log verify name",
    "log repair name",
    "log migrate name",
    "turn release status",
    "turn release nextAction",
    "turn release openQuestion",
    "turn release doNot",
    "turn release handoff",
    "turn assign to",
    "turn assign status",
    "turn assign nextAction",
    "turn assign handoff",
    "turn take reason",
    "turn join as",
    "turn leave status",
    "turn leave nextAction",
    "turn kick member",
    "turn kick reason",
    "events target",
    "events from",
    "events event",
    "events cursor",
    "msg send to",
    "msg send body",
    "msg recv from",
    "notes add body",
    "context read context",
    "context add context",
    "context add body",
    "context add result",
    "context add target",
    "context add pins",
    "context clear context",
    "identity link code",
];

/// The checks for a client that is confined to folders are exactly those that the annotations
/// require.
#[test]
fn an_argument_that_leads_to_a_file_or_an_address_is_annotated() {
    let texts = |kind: &Kind| match kind {
        Kind::String | Kind::Any => true,
        Kind::List(of) => matches!(**of, Kind::String | Kind::Any),
        _ => false,
    };
    let mut bare = Vec::new();
    for entry in COMMANDS.iter().chain(INTERNAL) {
        for field in entry.fields().iter().filter(|field| texts(&field.kind)) {
            let named = format!("{} {}", entry.spec.name, field.name);
            let annotated = field.is_path || field.is_openable || field.nested_targets.is_some();
            if annotated == PLAIN.contains(&named.as_str()) {
                bare.push(named);
            }
        }
    }
    assert!(bare.is_empty(), "x-path, x-opens, or a line in PLAIN, and not both: {bare:?}");
}

#[test]
fn positionals_count_from_zero_and_only_the_last_trails() {
    for entry in COMMANDS.iter().chain(INTERNAL) {
        let name = entry.spec.name;
        let mut places: Vec<_> = entry.fields().iter().filter_map(|f| Some((f.positional?, f))).collect();
        places.sort_by_key(|(n, _)| *n);
        for (i, (n, field)) in places.iter().enumerate() {
            assert_eq!(i, *n, "{name}: `{}`", field.name);
            assert!(!field.trailing || i + 1 == places.len(), "{name}: `{}` is not the last", field.name);
            assert!(
                !field.trailing || matches!(field.kind, Kind::List(_)),
                "{name}: `{}` is no list",
                field.name
            );
        }
        let mut shorts = BTreeSet::new();
        for short in entry.fields().iter().filter_map(|f| f.short) {
            assert!(shorts.insert(short), "{name}: -{short} twice");
        }
    }
}

#[test]
fn an_unknown_command_is_told_the_nearest() {
    let e = lookup("opne").unwrap_err();
    assert_eq!(e.code, ErrorCode::InvalidArgs);
    assert!(e.hint.contains("`open`"), "{}", e.hint);
}
