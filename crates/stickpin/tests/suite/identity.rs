//! Agents whose MCP server cannot determine which of them asks, and the codes that link them.

use crate::mcp::Harness;
use crate::support::client::{Client, text};
use crate::support::{Ran, World, eventually};
use serde_json::{Value, json};

/// A call of a tool, with metadata of the request.
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
    world.signal("-KILL", world.pid().unwrap());
    eventually("the process is gone", || world.pid().is_none());
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
    assert!(text(&refused).contains("in the shell"), "{refused}");
    let checked = world.ok("doctor identity");
    assert!(checked.contains("no MCP server"), "{checked}");
}

/// `core` does not list the command: there it is a step of a batch.
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
