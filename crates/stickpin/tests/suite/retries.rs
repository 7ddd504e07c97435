//! Requests that are repeated because the connection or the daemon ended.

use crate::support::{Ran, World, eventually, request, words};
use serde_json::{Value, json};
use std::process::{Command, Stdio};

fn agent(world: &World, id: &str, line: &str) -> Command {
    let mut command = world.command(&[&["--session", "shop"], &words(line)[..]].concat());
    command.env("STICKPIN_AGENT_ID", id);
    command
}

#[track_caller]
fn ok(world: &World, id: &str, line: &str) -> Value {
    let ran = Ran::from(agent(world, id, &format!("{line} --json")).output().expect("the binary runs"));
    assert_eq!(ran.code, 0, "{id} {line}: {ran:?}");
    ran.json()["output"].take()
}

/// Returns an agent's request with an id, as a client writes it.
fn identified(command: &str, input: Value, id: &str) -> Value {
    let mut request = request(command, input);
    request["session"] = json!("shop");
    request["requestId"] = json!(id);
    request["caller"]["evidence"] = json!({"env": {"STICKPIN_AGENT_ID": "claude:ada"}});
    request["render"] = json!({"format": "json"});
    request
}

#[test]
fn repeated_request_gets_the_first_response_and_acts_once() {
    let world = World::new();
    ok(&world, "claude:ada", "open sim:shop -i");
    let claim = identified("turn wait", json!({}), "claim");
    let send = identified("msg send", json!({"to": "room", "body": ["hello"]}), "send");
    let press = identified("press", json!({"target": "role=link label=Orders"}), "press");
    for request in [claim, send, press] {
        let first = world.raw().welcome().ask("call", request.clone())["result"].take();
        assert_eq!(first["ok"], true, "{first}");
        // The client did not get the response, and reconnects.
        let again = world.raw().welcome().ask("call", request)["result"].take();
        assert_eq!(again, first);
    }
    let log = std::fs::read_to_string(world.state_dir().join("sessions/shop/log/000001.jsonl")).unwrap();
    let count = |part: &str| log.lines().filter(|line| line.contains(part)).count();
    assert_eq!(count("\"kind\":\"message\""), 1, "{log}");
    assert_eq!(count("\"verb\":\"press\""), 1, "{log}");
    let another = identified("msg send", json!({"to": "room", "body": ["hello"]}), "another");
    let sent = world.raw().welcome().ask("call", another);
    assert_eq!(sent["result"]["ok"], true, "{sent}");
    let refused = world.raw().welcome().ask("call", identified("session list", json!({}), ""));
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
}

#[test]
fn wait_for_the_turn_continues_after_its_daemon_was_killed() {
    let world = World::new();
    ok(&world, "claude:ada", "open sim:shop -i");
    ok(&world, "claude:ada", "turn wait");
    let waits = agent(&world, "codex:bob", "turn wait --json").stdout(Stdio::piped()).spawn().unwrap();
    let is_waiting = || ok(&world, "claude:ada", "turn state")["waiters"][0]["agentId"] == "codex:bob";
    eventually("bob waits", is_waiting);
    let killed = world.pid().expect("a daemon");
    world.signal("-KILL", killed);
    eventually("bob waits at the next daemon", || world.pid() != Some(killed) && is_waiting());
    ok(&world, "claude:ada", "turn release --status 'cart filled' --next-action pay");
    let got = Ran::from(waits.wait_with_output().expect("it ends"));
    assert_eq!(got.code, 0, "{got:?}");
    assert_eq!(got.json()["output"]["handoff"]["status"], "cart filled");
}
