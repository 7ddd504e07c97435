//! Files beside the socket are hints: only the lock decides whether a daemon runs.

use crate::support::{World, eventually};
use serde_json::json;

/// F20: the process id in `daemon.json` now belongs to another program.
#[test]
fn process_id_of_another_program_is_no_daemon() {
    let world = World::new();
    world.ok("daemon start");
    let killed = world.pid().unwrap();
    world.signal("-KILL", killed);
    eventually("the process is gone", || world.pid().is_none());
    let hint = world.state_dir().join("daemon/daemon.json");
    let mut content: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&hint).unwrap()).expect("the hint of the killed daemon");
    // This process is running but is not a daemon.
    content["pid"] = json!(std::process::id());
    std::fs::write(&hint, content.to_string()).unwrap();
    assert_eq!(world.pid(), None);
    world.ok("session list");
    let next = world.pid().expect("another daemon");
    assert!(next != killed && next != std::process::id());
}
