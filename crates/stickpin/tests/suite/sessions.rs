//! Sessions of a daemon, through the real binary, on the simulated device.

use crate::support::{self, World, eventually, kill_daemon, request};
use serde_json::json;

fn opened() -> World {
    let world = World::new();
    world.ok("open sim:shop");
    world
}

#[test]
fn a_session_outlives_the_command_that_opened_it() {
    let world = opened();
    assert_eq!(world.ok("get title").trim(), "Nordic Shop");
    world.ok("close");
    assert_eq!(world.run(&["get", "title"]).code, 6);
}

#[test]
fn a_daemon_with_sessions_is_stopped_only_by_force() {
    let world = opened();
    let pid = world.pid();
    let ran = world.run(&["daemon", "stop"]);
    assert_eq!(ran.code, 5, "{ran:?}");
    assert!(ran.err.starts_with("SESSION_EXISTS: ") && ran.err.contains("--force"), "{}", ran.err);
    assert_eq!(world.pid(), pid);
    assert!(world.ok("daemon stop --force").contains("closed shop-"));
    assert!(std::fs::read_dir(world.state_dir().join("live")).unwrap().next().is_none());
}

#[test]
fn a_newer_client_never_ends_sessions() {
    let world = opened();
    let pid = world.pid();
    let welcome = world.raw().hello(1, "999.0.0");
    assert_eq!(welcome["verdict"], "serve");
    let welcome = world.raw().hello(2, "999.0.0");
    assert_eq!(welcome["verdict"], "refuse");
    assert_eq!(world.pid(), pid);
    assert_eq!(world.ok("get title").trim(), "Nordic Shop");
}

#[test]
fn after_kill_9_sessions_are_gone_and_can_be_opened_again() {
    let world = opened();
    kill_daemon(&world);
    let ran = world.run(&["get", "title"]);
    assert_eq!(ran.code, 6, "{ran:?}");
    world.ok("open sim:shop");
    assert_eq!(world.ok("get title").trim(), "Nordic Shop");
}

#[test]
fn a_daemon_stays_as_long_as_a_session_does() {
    let world = World::new();
    let mut daemon = world.command(&["daemon", "run", "--idle-exit", "1"]).spawn().unwrap();
    eventually("it listens", || world.socket().exists());
    world.ok("open sim:shop");
    // Longer than the daemon's idle limit.
    std::thread::sleep(std::time::Duration::from_millis(1500));
    assert_eq!(world.ok("get title").trim(), "Nordic Shop");
    world.ok("close");
    assert!(daemon.wait().unwrap().success());
}

#[test]
fn a_name_that_leads_out_of_the_state_dir_is_none() {
    let world = World::new();
    let ran = world.run(&["--session", "../../x", "open", "sim:shop"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.starts_with("INVALID_ARGS: \"../../x\" is not a valid session name"), "{}", ran.err);
}

#[test]
fn two_projects_do_not_share_a_session() {
    let world = opened();
    let other = world.path().join("other");
    std::fs::create_dir(&other).unwrap();
    let output = world.command(&["get", "title"]).current_dir(other).output().unwrap();
    assert_eq!(support::Ran::from(output).code, 6);
}

#[test]
fn ten_megabytes_typed_into_a_field_do_not_disturb_the_daemon() {
    let world = opened();
    let session = world.run(&["get", "title", "--json"]).json()["session"].clone();
    let mut raw = world.raw().welcome();
    let mut fill =
        request("fill", json!({"target": "label=\"Search\"", "text": "ab\u{202e}\"\\\n".repeat(1 << 20)}));
    fill["session"] = session;
    let answer = raw.ask("call", fill);
    assert_eq!(answer["result"]["command"], "fill", "{:.300}", answer.to_string());
    assert_eq!(world.ok("get title").trim(), "Nordic Shop");
}

#[test]
fn a_client_that_goes_in_the_middle_ends_its_command() {
    let world = opened();
    let session = world.run(&["get", "title", "--json"]).json()["session"].clone();
    let running = || world.run(&["daemon", "status", "--json"]).json()["output"]["commands"].clone();
    let mut raw = world.raw().welcome();
    let mut wait = request("wait", json!({"target": "text=\"never there\""}));
    wait["session"] = session;
    wait["timeoutMs"] = json!(60_000);
    raw.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "call", "params": wait}));
    eventually("it runs", || running() == 1);
    drop(raw);
    eventually("it ended", || running() == 0);
    assert_eq!(world.ok("get title").trim(), "Nordic Shop");
}

#[test]
fn a_cancelled_command_still_answers() {
    let world = opened();
    let session = world.run(&["get", "title", "--json"]).json()["session"].clone();
    let mut raw = world.raw().welcome();
    let mut wait = request("wait", json!({"target": "text=\"never there\""}));
    wait["session"] = session;
    wait["timeoutMs"] = json!(60_000);
    raw.send(&json!({"jsonrpc": "2.0", "id": 7, "method": "call", "params": wait}));
    raw.send(&json!({"jsonrpc": "2.0", "method": "cancel", "params": {"id": 7}}));
    let answer = raw.answer();
    assert_eq!(answer["id"], 7);
    assert_eq!(
        (&answer["result"]["command"], &answer["result"]["ok"]),
        (&json!("wait"), &json!(false)),
        "{answer}"
    );
    assert_ne!(answer["result"]["error"]["code"], "INVALID_ARGS", "{answer}");
}

/// Concurrent connections are served by their own threads, and share the same sessions.
#[test]
fn a_session_can_be_used_from_every_connection() {
    let world = World::new();
    let ask = |raw: &mut support::Raw, command: &str, input: serde_json::Value| {
        let mut asked = request(command, input);
        asked["session"] = json!("shared");
        let answer = raw.ask("call", asked);
        assert_eq!(answer["result"]["ok"], true, "{answer}");
        answer["result"].clone()
    };
    world.ok("daemon start");
    let mut connections: Vec<_> = (0..4).map(|_| world.raw().welcome()).collect();
    let opened = &mut connections[1];
    ask(opened, "open", json!({ "what": "sim:shop?clock=virtual" }));
    for (n, raw) in connections.iter_mut().enumerate() {
        ask(raw, "press", json!({ "target": "role=button label=\"Add to cart\" row=\"Oak lamp\"" }));
        let count = ask(raw, "find", json!({ "query": "role=link text~=Cart" }));
        assert!(count["text"].as_str().unwrap().contains(&format!("Cart ({})", n + 1)), "{count}");
    }
    #[cfg(target_os = "linux")]
    {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", world.pid().unwrap())).unwrap();
        let names = tasks.map(|task| std::fs::read_to_string(task.unwrap().path().join("comm")).unwrap());
        let lanes = names.filter(|name| name.starts_with("lane ")).count();
        let cores = std::thread::available_parallelism().unwrap().get();
        // The four connections, and the command that queried the process.
        assert_eq!(lanes, cores.min(5) - 1, "besides the first thread");
    }
    // The client that opened it may be gone.
    connections.remove(1);
    ask(&mut connections[2], "close", json!({}));
    assert!(world.ok("daemon stop").starts_with("stopped process"));
}

/// The script contains exactly the commands that a recorded session executed before it was lost.
#[test]
fn recording_survives_a_killed_daemon() {
    let world = World::new();
    world.ok("open sim:shop?clock=virtual --record=buy.ad -i");
    world.ok("press @e8");
    world.ok("press @e10");
    kill_daemon(&world);
    let saved = world.ok("record stop");
    assert!(saved.contains("wrote 3 steps to "), "{saved}");
    let script = std::fs::read_to_string(world.path().join("shop/buy.ad")).unwrap();
    assert_eq!(script.lines().filter(|line| line.starts_with("press ")).count(), 2, "{script}");
    let ran = world.run(&["record", "stop"]);
    assert_ne!(ran.code, 0, "it was written already: {ran:?}");
    // Also with `close`, after the session was opened again.
    world.ok("open sim:shop?clock=virtual --record -i");
    world.ok("press 'role=button label=\"Add to cart\" row=\"Oak lamp\"'");
    kill_daemon(&world);
    let opened = world.run(&["open", "sim:shop?clock=virtual"]);
    assert!(opened.err.contains("lost with an unsaved recording of 2 steps"), "{opened:?}");
    let closed = world.ok("close --save=again.ad");
    assert!(closed.contains("wrote 3 steps to "), "{closed}");
    let script = std::fs::read_to_string(world.path().join("shop/again.ad")).unwrap();
    assert_eq!(script.lines().filter(|line| line.starts_with("press ")).count(), 1, "{script}");
    assert!(script.ends_with("close\n"), "{script}");
}

#[test]
fn new_recording_puts_a_lost_one_aside() {
    let world = World::new();
    world.ok("open sim:shop?clock=virtual --record -i");
    world.ok("press @e8");
    kill_daemon(&world);
    let opened = world.run(&["open", "sim:shop?clock=virtual", "--record"]);
    let aside = opened.err.split("was saved to ").nth(1).and_then(|rest| rest.lines().next());
    let aside = aside.unwrap_or_else(|| panic!("{opened:?}")).trim_end_matches('.').to_owned();
    let script = std::fs::read_to_string(&aside).unwrap();
    assert!(script.contains("\npress "), "{script}");
    let stopped = world.ok("record stop now.ad");
    assert!(stopped.contains("wrote 1 step to "), "{stopped}");
    assert!(
        std::fs::read_dir(world.state_dir().join("recordings")).unwrap().count() == 1,
        "only {aside} is left"
    );
}

/// Returns the files below a folder.
fn files_below(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// Returns the log of the only session.
fn session_log(world: &World) -> String {
    let logs: Vec<_> = files_below(&world.state_dir().join("sessions"))
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    let [log] = logs.as_slice() else { panic!("{logs:?}") };
    std::fs::read_to_string(log).unwrap()
}

/// Text for a password field is never on disk, not even while it is recorded.
#[test]
fn recording_log_holds_no_password() {
    let world = World::new();
    world.ok("open sim:signin?clock=virtual --record");
    world.ok("fill label=Password hunter2hunter2");
    world.ok("snapshot");
    let text = session_log(&world);
    assert!(text.contains("${PASSWORD}") && !text.contains("hunter2"), "{text}");
    world.ok("daemon stop --force");
    for file in files_below(&world.state_dir()) {
        let bytes = std::fs::read(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("hunter2"), "{}", file.display());
    }
}

/// Recorded steps are in the records of the commands and nowhere else.
#[test]
fn the_recorder_reads_the_session_log() {
    let world = World::new();
    world.ok("open sim:shop?clock=virtual --record=buy.ad -i");
    world.ok("press @e8");
    world.ok("get title");
    let log = session_log(&world);
    let ends: Vec<serde_json::Value> = log
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter(|record| record["kind"] == "command_end")
        .collect();
    let steps: Vec<&str> = ends.iter().filter_map(|end| end["recorded"]["lines"].as_str()).collect();
    assert_eq!((ends.len(), steps.len()), (3, 2), "open and press are steps: {log}");
    assert!(!world.state_dir().join("recordings").exists(), "there is a second record");
    world.ok("record stop");
    let script = std::fs::read_to_string(world.path().join("shop/buy.ad")).unwrap();
    assert!(script.ends_with(&steps.concat()), "{script}");
}

#[test]
fn evidence_names_the_end_of_the_log() {
    let world = World::new();
    let session = "--session shop";
    world.ok(&format!("{session} open sim:shop?clock=virtual -i"));
    world.ok(&format!("{session} get title"));
    let shown = |line: &str| world.run(&crate::support::words(line)).json()["output"]["evidence"].clone();
    eventually("the tree is in the log", || {
        shown("session show shop --evidence --json")["lastSnapshotGeneration"].is_u64()
    });
    let evidence = shown("session show shop --evidence --json");
    assert_eq!(evidence["log"]["segment"], 1);
    assert!(evidence["lastCommand"].as_u64() <= evidence["log"]["lastSeq"].as_u64(), "{evidence}");
    assert!(evidence["lastCommand"].is_u64(), "{evidence}");
    assert!(shown("session show shop --json").is_null(), "only on request");
    let text = world.ok("session show shop --evidence");
    assert!(text.contains("\nlog: record ") && text.contains("\nlast command: c"), "{text}");
}
