//! F10 and F27: somebody edits the files of a session, or removes them. The daemon and the agents
//! are processes of their own.

use super::agents::{ADA, BOB, PAT, ok, refused};
use crate::support::{World, kill_daemon};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

/// Returns a session as `session list` describes it.
#[track_caller]
fn listed(world: &World, name: &str) -> Value {
    let list = ok(world, PAT, "session list --all");
    let sessions = list["sessions"].as_array().expect("a list");
    sessions.iter().find(|session| session["name"] == name).unwrap_or_else(|| panic!("{list}")).clone()
}

fn file(world: &World, path: &str) -> PathBuf {
    world.state_dir().join("sessions/shop").join(path)
}

/// F10.
#[test]
fn session_with_a_damaged_line_is_named_and_repaired_by_a_person() {
    let world = World::new();
    ok(&world, ADA, "open sim:shop");
    ok(&world, ADA, "scroll down");
    ok(&world, BOB, "--session books open sim:shop");
    kill_daemon(&world);
    let log = file(&world, "log/000001.jsonl");
    let mut bytes = fs::read(&log).expect("a log");
    let second = bytes.iter().position(|byte| *byte == b'\n').expect("a line") + 1;
    bytes[second] = b'?';
    fs::write(&log, &bytes).expect("a file");

    let error = refused(&world, ADA, "log verify shop");
    assert_eq!(error["code"], "LOG_CORRUPT", "{error}");
    let details = json!({"path": log, "line": 2, "byteOffset": second, "phase": "verify"});
    assert_eq!(error["details"], details, "{error}");
    assert!(
        error["hint"].as_str().is_some_and(|hint| hint.contains("log repair shop --at-line 2")),
        "{error}"
    );
    assert_eq!(refused(&world, ADA, "session log --after 0")["code"], "LOG_CORRUPT", "no line is skipped");
    let shop = listed(&world, "shop");
    assert_eq!(
        (&shop["state"], &shop["diagnostics"]),
        (&json!("corrupt"), &json!(["LOG_CORRUPT"])),
        "{shop}"
    );
    assert_eq!(fs::read(&log).expect("a log"), bytes, "nobody repaired it");

    // Other sessions are not affected.
    assert_ne!(listed(&world, "books")["state"], "corrupt");
    ok(&world, BOB, "--session books session restore books");
    ok(&world, BOB, "--session books scroll down");

    let repair = "log repair shop --at-line 2 --quarantine";
    assert_eq!(refused(&world, ADA, repair)["code"], "SCOPE_DENIED");
    assert_eq!(ok(&world, PAT, repair)["lostRecords"], 1);
    assert_eq!(ok(&world, ADA, "log verify shop")["findings"], json!([]));
    ok(&world, ADA, "session restore shop");
    ok(&world, ADA, "scroll down");
    assert_eq!(listed(&world, "shop")["diagnostics"], Value::Null);
}

/// Removes the metadata, and its previous version if there is one.
fn remove_metadata(world: &World) {
    fs::remove_file(file(world, "meta.json")).expect("a file");
    let previous = file(world, "meta.prev.json");
    if previous.exists() {
        fs::remove_file(previous).expect("a file");
    }
}

/// F27.
#[test]
fn session_without_metadata_goes_on_and_is_adopted_by_a_person() {
    let world = World::new();
    ok(&world, ADA, "open sim:shop");
    let turn = ok(&world, ADA, "turn wait")["turnId"].as_u64().expect("a number");
    // Its app and its daemon run.
    remove_metadata(&world);
    ok(&world, ADA, "scroll down");
    assert_eq!(refused(&world, ADA, "session adopt shop")["code"], "SCOPE_DENIED");
    ok(&world, PAT, "session adopt shop");
    let state = ok(&world, ADA, "turn state");
    assert_eq!((&state["state"], &state["turnId"]), (&json!("owned"), &json!(turn)), "{state}");
    assert_eq!(refused(&world, PAT, "session adopt shop")["code"], "SESSION_EXISTS");

    // Nothing runs any more.
    kill_daemon(&world);
    remove_metadata(&world);
    assert_eq!(listed(&world, "shop")["state"], "missing");
    for line in ["session restore shop", "turn wait", "session adopt shop"] {
        refused(&world, ADA, line);
    }
    assert!(!file(&world, "meta.json").exists(), "nobody adopted it");
    ok(&world, PAT, "session adopt shop");
    ok(&world, ADA, "session restore shop");
    let state = ok(&world, ADA, "turn state");
    assert_eq!((&state["state"], &state["turnId"]), (&json!("idle"), &json!(turn + 1)), "{state}");
    ok(&world, ADA, "scroll down");
    assert_eq!(ok(&world, ADA, "log verify shop")["findings"], json!([]));
}
