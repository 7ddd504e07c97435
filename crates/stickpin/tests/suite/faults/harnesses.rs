//! F5 and F34: the process of a harness changes while its conversation continues, or its
//! conversation changes while its process continues.

use super::agents::{ADA, BOB, ok, refused, run, shell};
use crate::mcp::Harness;
use crate::support::{World, eventually};
use serde_json::json;

/// F5.
#[test]
fn turn_stays_with_a_conversation_that_goes_on_in_another_process() {
    let world = World::new();
    let start = || Harness::start(&world, &["codex"], "CODEX_THREAD_ID=t1 STICKPIN_SESSION=shop", "");
    let (mut first, mut second) = (start(), start());
    shell(&first, "open sim:shop");
    shell(&first, "session policy shop goneGraceMs=1000");
    let granted = shell(&first, "turn wait");
    let owner = shell(&second, "whoami")["agentId"].clone();
    assert_eq!(shell(&first, "whoami")["agentId"], owner, "one conversation is one agent");
    ok(&world, BOB, "turn join");
    // A request that only reads.
    shell(&second, "turn state");
    first.kill();
    // Longer than an owner without a process keeps its turn.
    let waited = run(&world, BOB, "turn wait --timeout 4000");
    let reply = waited.json()["output"].take();
    assert_eq!((waited.code, &reply["status"]), (3, &json!("not_yet")), "{waited:?}");
    assert_eq!((&reply["owner"], &reply["turnId"]), (&owner, &granted["turnId"]), "{reply}");
    let again = shell(&second, "turn wait");
    assert_eq!((&again["reason"], &again["leaseId"]), (&json!("already_owner"), &granted["leaseId"]));
    shell(&second, "scroll down");
    // The newest process counts.
    second.kill();
    let next = ok(&world, BOB, "turn wait");
    assert_eq!(next["reason"], "after_surrender", "{next}");
}

/// F34.
#[test]
fn conversation_that_replaced_another_one_takes_its_turn_and_its_mcp_server() {
    let world = World::new();
    let conversation = world.path().join("conversation");
    std::fs::write(&conversation, "s1").expect("a file");
    let in_shop = |id: &str| format!("CLAUDECODE=1 CLAUDE_CODE_SESSION_ID={id} STICKPIN_SESSION=shop");
    let current = format!("$(cat {})", conversation.display());
    let mut claude = Harness::start(&world, &["claude"], &in_shop(&current), &in_shop("s1"));
    shell(&claude, "open sim:shop");
    let old = shell(&claude, "whoami")["agentId"].as_str().expect("an id").to_owned();
    let granted = shell(&claude, "turn wait");
    assert!(claude.client.ok("whoami", json!({})).contains(&old));
    ok(&world, BOB, "turn join");
    // `/clear`: the harness and its server continue, and the shell has another conversation.
    std::fs::write(&conversation, "s2").expect("a file");
    let new = shell(&claude, "whoami")["agentId"].as_str().expect("an id").to_owned();
    assert_ne!(new, old);
    let by_mcp = claude.client.ok("whoami", json!({}));
    assert!(by_mcp.contains(&new) && !by_mcp.contains(&old), "{by_mcp}");
    assert!(claude.client.err("press", json!({"target": "role=link"})).contains("NOT_YOUR_TURN"));
    let take = "turn take --reason mine";
    assert_eq!(refused(&world, BOB, take)["code"], "TAKEOVER_NOT_AVAILABLE");
    let taken = claude.client.ok("turn_take", json!({"reason": "mine"}));
    assert!(
        taken.contains(&format!("turn {}", granted["turnId"].as_u64().expect("a number") + 1)),
        "{taken}"
    );
    claude.client.ok("press", json!({"target": "role=link label=Orders"}));
    let events = ok(&world, ADA, "events --after 0 --event turn_taken --target any");
    let event = &events["events"][0];
    assert_eq!((&event["reason"], &event["from"]), (&json!("session_replaced"), &json!(new)), "{events}");
    let state = ok(&world, BOB, "turn state");
    assert_eq!(state["owner"], new, "{state}");
    eventually("the older conversation is said to be replaced", || {
        let told = ok(&world, BOB, "events --after 0 --event agent_superseded --target any");
        told["events"].as_array().is_some_and(|told| told.iter().any(|e| e.to_string().contains(&old)))
    });
}
