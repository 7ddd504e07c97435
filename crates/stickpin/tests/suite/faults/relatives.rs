//! Acceptance tests 16 and 17: children and peers of a session whose daemon is killed. Daemon,
//! harnesses and agents are separate processes.

use super::agents::{ADA, BOB, ok, run};
use super::killing_files::{Moment, Orders, Point};
use crate::mcp::Harness;
use crate::support::{Ran, World, eventually};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::Child;

/// Starts a daemon that is killed after the `nth` write of a kind of record.
fn daemon_killed_behind(world: &World, test: &str, record: &str, nth: usize) -> Child {
    let point = Point { operation: format!("write log {record}"), nth, moment: Moment::After };
    let orders = Orders { state_dir: world.state_dir(), kill_at: Some(point), ..Orders::default() };
    orders.start(&format!("faults::relatives::{test}"), world.path())
}

/// Waits until a daemon is dead, and checks that it did not answer a command.
#[track_caller]
fn is_killed(mut daemon: Child, unanswered: &Ran) {
    assert_eq!(unanswered.code, 8, "{unanswered:?}");
    assert!(!daemon.wait().expect("it ends").success());
}

/// Maps one property of each item of a list to another one.
fn by(list: &Value, key: &str, of: &str) -> BTreeMap<String, String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    list.as_array().into_iter().flatten().map(|item| (text(&item[key]), text(&item[of]))).collect()
}

fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect()
}

#[test]
fn restored_parent_knows_each_child_whatever_became_of_it() {
    Orders::obey();
    let world = World::new();
    let test = "restored_parent_knows_each_child_whatever_became_of_it";
    // The fifth spawn is cut short: the loan is pending, and there is no child.
    let daemon = daemon_killed_behind(&world, test, "child_spawned", 4);
    let mut codex = Harness::start(&world, &["codex"], "CODEX_THREAD_ID=t1", "");
    let in_harness = |line: &str| assert_eq!(codex.shell(&format!("{line} --json"))["ok"], true, "{line}");
    ok(&world, ADA, "--session shop open sim:shop");
    let spawn = |name: &str| {
        run(&world, ADA, &format!("session spawn shop {name} --lend act:*,origins=https://{name}.test"))
    };
    for name in ["live", "stopped", "dead", "gone"] {
        let spawned = spawn(name);
        assert_eq!(spawned.code, 0, "{spawned:?}");
    }
    ok(&world, BOB, "--session live turn join");
    ok(&world, ADA, "session stop stopped");
    in_harness("--session dead turn join");
    in_harness("--session dead session policy dead goneGraceMs=1000");
    is_killed(daemon, &spawn("pending"));
    codex.kill();
    std::fs::remove_dir_all(world.state_dir().join("sessions/gone")).expect("its metadata");

    let restored = ok(&world, ADA, "session restore shop");
    let actions = by(&restored["children"], "session", "action");
    assert_eq!(actions.len(), 5, "{restored}");
    let shop = || ok(&world, ADA, "session show shop");
    eventually("the child of the dead agent has stopped", || {
        by(&shop()["children"]["sessions"], "session", "state")["dead"] == "stopped"
    });
    let shop = shop();
    let states = [
        ("dead", "stopped"),
        ("gone", "pruned"),
        ("live", "active"),
        ("pending", "pruned"),
        ("stopped", "stopped"),
    ];
    assert_eq!(by(&shop["children"]["sessions"], "session", "state"), map(&states), "{shop}");
    assert_eq!(by(&shop["meta"]["loans"], "borrower", "state"), map(&[("live", "active")]), "{shop}");
    let reclaimed = shop["meta"]["reclaimed"].as_array().expect("a list");
    let mut reasons: Vec<&str> = reclaimed.iter().filter_map(|loan| loan["reason"].as_str()).collect();
    reasons.sort_unstable();
    assert_eq!(reasons, ["child_closed", "child_missing", "spawn_incomplete", "stopped"], "{shop}");
    let listed = by(&ok(&world, ADA, "session list --all")["sessions"], "name", "visibility");
    for (child, _) in states {
        assert_eq!(listed.get(child).map(String::as_str), Some("child"), "{child} is visible: {listed:?}");
    }
    assert_eq!(ok(&world, ADA, "log verify shop")["findings"], json!([]));
}

/// Returns the records of the log of a session.
fn records(world: &World, session: &str) -> Vec<Value> {
    let log = world.state_dir().join(format!("sessions/{session}/log"));
    let mut segments: Vec<_> =
        std::fs::read_dir(log).expect("a log").map(|file| file.expect("a file").path()).collect();
    segments.sort();
    let texts = segments.into_iter().map(|segment| std::fs::read_to_string(segment).expect("a segment"));
    texts
        .flat_map(|text| {
            text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn peer_gets_no_cursor_and_no_notice_and_loses_no_message() {
    Orders::obey();
    let world = World::new();
    let test = "peer_gets_no_cursor_and_no_notice_and_loses_no_message";
    // The daemon is killed after it wrote the record, but before it answers.
    let daemon = daemon_killed_behind(&world, test, "message", 1);
    ok(&world, ADA, "--session shop open sim:shop");
    ok(&world, BOB, "--session mail open sim:feed");
    ok(&world, ADA, "session peer shop mail");
    ok(&world, ADA, "--session mail msg send codex:bob filled");
    // Only members have a position in the feed.
    ok(&world, ADA, "--session mail msg recv");
    let waited = ok(&world, BOB, "--session mail turn wait");
    assert!(waited["events"].to_string().contains("filled"), "{waited}");
    let mail = waited["events"][0]["sessionUid"].as_str().expect("an id");
    let cursors = |file: &str| std::fs::read_to_string(world.state_dir().join("cursors").join(file));
    eventually("the member has a cursor", || {
        cursors("codex_bob.json").is_ok_and(|cursors| cursors.contains(mail))
    });
    assert!(cursors("claude_ada.json").map_or(true, |cursors| !cursors.contains(mail)));

    is_killed(daemon, &run(&world, ADA, "--session mail msg send room paid"));
    let received = ok(&world, BOB, "--session mail msg recv --after 0");
    let message = &received["events"][1];
    assert_eq!((&message["body"], &message["from"]), (&json!("paid"), &json!(ADA)), "{received}");
    let sent = |record: &Value| record["kind"] == "message" && record["body"] == "paid";
    let record = records(&world, "mail").into_iter().find(sent).expect("a record");
    assert_eq!(record["fromSession"], "shop", "it says where it comes from");
    ok(&world, BOB, "session restore mail");

    // Messages and ends in one session are not events of the other one.
    ok(&world, BOB, "session spawn mail sort --lend act:* --agent codex:eve");
    let before = records(&world, "shop");
    ok(&world, BOB, "--session mail msg send room 'are you there'");
    ok(&world, BOB, "session stop sort");
    ok(&world, BOB, "--session mail close");
    assert_eq!(records(&world, "shop"), before, "no notice in the log of the peer");
    let feed = ok(&world, ADA, "--session shop events --after 0 --target any");
    let heard = feed["events"].as_array().expect("a list").iter().filter(|event| event["session"] != "shop");
    assert_eq!(heard.count(), 0, "{feed}");
    let stopped = |record: &Value| record["kind"] == "child_state" && record["child"]["state"] == "stopped";
    assert!(records(&world, "mail").iter().any(stopped), "the child of the other session ended");
    let members = ok(&world, BOB, "session show mail")["meta"]["members"].clone();
    assert_eq!(by(&members, "agentId", "role"), map(&[(BOB, "driver")]), "the sender is not a member");
}

#[test]
fn half_a_handshake_of_peers_gives_nothing() {
    Orders::obey();
    let world = World::new();
    let daemon = daemon_killed_behind(&world, "half_a_handshake_of_peers_gives_nothing", "peer_added", 0);
    ok(&world, ADA, "--session shop open sim:shop");
    ok(&world, BOB, "--session mail open sim:feed");
    is_killed(daemon, &run(&world, ADA, "session peer shop mail"));
    let has = |session: &str| records(&world, session).iter().any(|record| record["kind"] == "peer_added");
    assert_eq!((has("shop"), has("mail")), (true, false), "only one half is written");
    let seen = || by(&ok(&world, ADA, "session list")["sessions"], "name", "visibility");
    assert_eq!(seen(), map(&[("shop", "self")]));
    assert_eq!(run(&world, ADA, "--session mail msg send room paid").code, 6);
    // The same command completes it.
    ok(&world, ADA, "session peer shop mail");
    assert_eq!(seen(), map(&[("mail", "peer"), ("shop", "self")]));
    ok(&world, ADA, "--session mail msg send room paid");
}
