//! Agents whose MCP server cannot determine which of them is calling, and the codes that link them.

use crate::mcp::Harness;
use crate::support::client::{Client, text};
use crate::support::{Ran, World, eventually, kill_daemon, unshared};
use serde_json::{Value, json};
use std::process::{Child, Command, Stdio};
use stickpin_testkit::skipped;

/// Calls a tool, with metadata of the request.
fn call(client: &mut Client, name: &str, arguments: Value, meta: Value) -> Value {
    let mut params = json!({"name": name, "arguments": arguments});
    if !meta.is_null() {
        params["_meta"] = meta;
    }
    client.ask("tools/call", params)["result"].clone()
}

/// Fault 36.
#[test]
fn server_of_two_threads_acts_for_none_until_it_is_linked() {
    let world = World::new();
    let mut harness =
        Harness::start(&world, &["codex", "app-server"], "CODEX_THREAD_ID=t1 STICKPIN_SESSION=shop", "");
    let opened = harness.shell("open sim:shop --json");
    assert_eq!(opened["ok"], true, "{opened}");
    let first = harness.shell("whoami --json")["output"]["agentId"].as_str().unwrap().to_owned();
    let other = call(&mut harness.client, "whoami", json!({}), json!({"threadId": "t2"}));
    let other = text(&other).trim().to_owned();
    assert!(other.starts_with("codex:") && other != first, "{other}");

    let none = Value::Null;
    let said = text(&call(&mut harness.client, "whoami", json!({}), none.clone()));
    assert!(said.contains(&first) && said.contains(&other), "{said}");
    let before = harness.shell("turn state --json")["output"]["cursorSeq"].clone();
    let refused = call(&mut harness.client, "turn_try", json!({"session": "shop"}), none.clone());
    let said = text(&refused);
    assert_eq!(refused["isError"], true, "{said}");
    assert!(said.contains("IDENTITY_AMBIGUOUS") && said.contains("identity_link"), "{said}");
    assert_eq!(harness.shell("turn state --json")["output"]["cursorSeq"], before, "nothing was done");
    let checked = harness.shell("doctor identity --json")["output"].clone();
    assert_eq!(checked["checks"][0]["ok"], false, "{checked}");

    let wrong = call(&mut harness.client, "identity_link", json!({"code": "nowhere"}), none.clone());
    assert!(text(&wrong).contains("INVALID_ARGS"), "{wrong}");
    let code = harness.shell("identity link --json")["output"]["code"].clone();
    let linked = text(&call(&mut harness.client, "identity_link", json!({ "code": code }), none.clone()));
    assert!(linked.contains(&first), "{linked}");
    let again = call(&mut harness.client, "identity_link", json!({ "code": code }), none.clone());
    assert_eq!(again["isError"], true, "a code works once: {again}");
    let mine = text(&call(&mut harness.client, "turn_try", json!({"session": "shop"}), none.clone()));
    assert!(mine.contains("your turn"), "{mine}");
    let checked = harness.shell("doctor identity --json")["output"].clone();
    assert_eq!(checked["checks"].as_array().map(Vec::len), Some(1), "{checked}");
    assert_eq!((&checked["agentId"], &checked["checks"][0]["ok"]), (&json!(first), &json!(true)));

    // The link outlives the daemon.
    kill_daemon(&world);
    let said = text(&call(&mut harness.client, "whoami", json!({}), none));
    assert!(said.contains(&first) && !said.contains(&other), "{said}");
}

#[test]
fn code_is_for_mcp_and_mcp_gets_none() {
    let world = World::new();
    let refused: Ran = world.run(&["identity", "link", "k3v9xa"]);
    assert!(refused.code == 2 && refused.err.contains("INVALID_ARGS: "), "{refused:?}");
    let mut client = Client::new(&world, &["--profile", "full"]);
    let refused = call(&mut client, "identity_link", json!({}), Value::Null);
    assert!(text(&refused).contains("`stickpin identity link` in the agent's shell"), "{refused}");
    let checked = world.ok("doctor identity");
    assert!(checked.contains("no MCP server"), "{checked}");
}

/// The profile `core` does not list the command, so it is run as a step of a batch.
#[test]
fn code_is_given_by_a_step_of_a_batch() {
    let world = World::new();
    let issue =
        world.command(&["identity", "link", "--json"]).env("STICKPIN_AGENT_ID", "claude:ada").output();
    let code = Ran::from(issue.unwrap()).json()["output"]["code"].clone();
    let mut client = Client::new(&world, &[]);
    let steps = json!({"steps": [{"command": "identity link", "input": {"code": code}}]});
    let ran = call(&mut client, "batch", steps, Value::Null);
    assert!(text(&ran).contains("this connection is claude:ada"), "{ran}");
    let me = call(&mut client, "batch", json!({"steps": [{"command": "whoami", "input": {}}]}), Value::Null);
    assert!(text(&me).contains("claude:ada"), "{me}");
}

/// A daemon in a separate process namespace, as in a container. It ends with its namespace.
struct Contained(Child);

impl Contained {
    const NAMESPACE: [&str; 3] = ["--pid", "--fork", "--mount-proc"];

    fn start(world: &World) -> Self {
        let client = world.command(&[]);
        // The first process of a namespace ends all others when it ends.
        let script = "\"$BIN\" daemon start && read -r _";
        let mut command = unshared(&[&Self::NAMESPACE[..], &["sh", "-c", script]].concat());
        command.env_clear().envs(client.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env("BIN", client.get_program()).stdin(Stdio::piped());
        let contained = Self(command.spawn().expect("unshare runs"));
        eventually("the daemon listens", || world.socket().exists());
        contained
    }
}

impl Drop for Contained {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        // A test that is failing already must not fail a second time.
        let _ = self.0.wait();
    }
}

/// Fault 42.
#[test]
fn agent_whose_process_the_daemon_cannot_see_is_known_by_its_id_or_a_code() {
    if !unshared(&[&Contained::NAMESPACE[..], &["true"]].concat()).status().is_ok_and(|ran| ran.success()) {
        skipped("STICKPIN_REQUIRE_MOUNTS", "no process namespaces can be made here");
        return;
    }
    let world = World::new();
    let contained = Contained::start(&world);
    let codex = |line: &[&str]| -> Command {
        let mut command = world.command(&[&["--session", "shop"], line, &["--json"]].concat());
        command.env("CODEX_THREAD_ID", "t1");
        command
    };
    let ok = |line: &[&str]| {
        let ran = Ran::from(codex(line).output().unwrap());
        assert_eq!(ran.code, 0, "{line:?}: {ran:?}");
        ran.json()["output"].take()
    };
    let me = ok(&["whoami"]);
    let id = me["agentId"].as_str().unwrap();
    assert!(id.starts_with("codex:") && me["anchor"].is_null(), "{me}");
    ok(&["open", "sim:shop"]);
    let turn = ok(&["turn", "wait"]);
    assert_eq!(ok(&["turn", "wait"])["leaseId"], turn["leaseId"], "the next command is the same agent");
    let member = ok(&["turn", "state"])["members"][0].take();
    assert_eq!((&member["agentId"], &member["alive"]), (&json!(id), &Value::Null), "{member}");

    // An MCP server that sees no variable of its harness needs a code.
    let mut client = Client::new(&world, &["--profile", "full"]);
    let stranger = text(&call(&mut client, "whoami", json!({}), Value::Null));
    assert!(!stranger.contains(id), "{stranger}");
    let refused = call(&mut client, "turn_try", json!({"session": "shop"}), Value::Null);
    assert!(text(&refused).contains("not yet"), "{refused}");
    let code = ok(&["identity", "link"])["code"].take();
    let linked = text(&call(&mut client, "identity_link", json!({ "code": code }), Value::Null));
    assert!(linked.contains(id), "{linked}");
    let mine = text(&call(&mut client, "turn_try", json!({"session": "shop"}), Value::Null));
    assert!(mine.contains("your turn"), "{mine}");
    drop(client);
    drop(contained);
}
