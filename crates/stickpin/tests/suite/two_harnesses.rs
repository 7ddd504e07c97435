//! Acceptance test 18: two harnesses, each a process of its own with a shell and an MCP server,
//! share one app as the README shows.

use crate::mcp::Harness;
use crate::support::client::text;
use crate::support::{World, eventually};
use serde_json::{Value, json};

/// A harness and the id of its agent.
struct Agent {
    harness: Harness,
    id: String,
}

impl Agent {
    fn start(world: &World, name: &str, shell: &str, spawn: &str) -> Self {
        let shell = format!("{shell} STICKPIN_SESSION=shop");
        let mut harness = Harness::start(world, &[name], &shell, &format!("{spawn} STICKPIN_SESSION=shop"));
        let me = harness.shell("whoami --json");
        let id = me["output"]["agentId"].as_str().unwrap_or_else(|| panic!("{me}")).to_owned();
        assert!(id.starts_with(&format!("{name}:")), "{id}");
        assert!(harness.client.ok("whoami", json!({})).contains(&id), "both ways lead to one agent");
        Self { harness, id }
    }

    /// Runs a command in the shell, which must succeed, and returns its output.
    #[track_caller]
    fn shell(&self, line: &str) -> Value {
        let mut answer = self.harness.shell(&format!("{line} --json"));
        assert_eq!(answer["ok"], true, "{line}: {answer}");
        answer["output"].take()
    }

    /// Runs a command in the shell, which must fail, and returns the code of the error.
    #[track_caller]
    fn refused(&self, line: &str) -> Value {
        let mut answer = self.harness.shell(&format!("{line} --json"));
        assert_eq!(answer["ok"], false, "{line}: {answer}");
        answer["error"]["code"].take()
    }

    /// Calls a tool of the MCP server, and returns its text.
    #[track_caller]
    fn tool(&mut self, name: &str, input: Value) -> String {
        self.harness.client.ok(name, input)
    }

    /// Begins `turn wait` over MCP for the turn alone, and returns once the daemon knows it.
    /// `observer` looks.
    fn begin_wait(&mut self, observer: &Self) -> u64 {
        let params = json!({"name": "turn_wait", "arguments": {"noEvents": true}});
        let call = self.harness.client.send("tools/call", params);
        eventually("it waits", || observer.shell("turn state")["waiters"][0]["agentId"] == *self.id);
        call
    }

    /// Returns the text of the answer to a call.
    fn answer(&mut self, call: u64) -> String {
        loop {
            let answer = self.harness.client.next();
            if answer["id"] == call {
                assert_eq!(answer["result"]["isError"], false, "{answer}");
                return text(&answer["result"]);
            }
        }
    }
}

#[test]
fn two_harnesses_talk_and_pass_the_turn_by_shell_and_by_mcp() {
    let world = World::new();
    let claude_shell = "CLAUDECODE=1 CLAUDE_CODE_SESSION_ID=s1";
    let mut claude = Agent::start(&world, "claude", claude_shell, "CLAUDECODE=1");
    let mut codex = Agent::start(&world, "codex", "CODEX_THREAD_ID=t1", "");
    let orders = json!({"target": "role=link label=Orders"});

    claude.shell("open sim:shop");
    codex.tool("turn_join", json!({}));
    let members = claude.shell("turn state")["members"].clone();
    let known: Vec<_> = members.as_array().unwrap().iter().map(|m| m["agentId"].as_str().unwrap()).collect();
    assert_eq!(known, [claude.id.as_str(), &codex.id], "each is one member");

    // Direct and broadcast messages, both ways, sent and read by shell and by MCP.
    claude.shell(&format!("msg send {} take-the-orders", codex.id));
    codex.tool("msg_send", json!({"to": claude.id, "body": ["show", "me", "the", "cart"]}));
    claude.tool("msg_send", json!({"to": "room", "body": ["signed", "in"]}));
    codex.shell("msg send room on-my-way");
    let bodies = |agent: &Agent| -> Vec<String> {
        let events = agent.shell("msg recv --after 0")["events"].clone();
        let bodies =
            events.as_array().unwrap().iter().map(|event| event["body"].as_str().unwrap().to_owned());
        bodies.collect()
    };
    assert_eq!(bodies(&codex), ["take-the-orders", "signed in"]);
    assert_eq!(bodies(&claude), ["show me the cart", "on-my-way"]);
    let ids = [claude.id.clone(), codex.id.clone()];
    for (agent, sender) in [(&mut claude, &ids[1]), (&mut codex, &ids[0])] {
        let read = agent.tool("msg_recv", json!({"after": 0}));
        assert_eq!(read.matches(sender.as_str()).count(), 2, "{read}");
    }

    // The turn goes from a shell to an MCP server, and back.
    let first = claude.shell("turn wait")["turnId"].as_u64().unwrap();
    assert!(codex.harness.client.err("press", orders.clone()).contains("NOT_YOUR_TURN"));
    let call = codex.begin_wait(&claude);
    claude.shell("turn release --status signed-in --next-action check-the-orders");
    let granted = codex.answer(call);
    assert!(granted.contains(&format!("turn {} of shop", first + 1)), "{granted}");
    assert!(granted.contains("check-the-orders"), "{granted}");
    codex.tool("press", orders.clone());
    assert_eq!(claude.refused("press role=link"), "NOT_YOUR_TURN");
    codex.shell(&format!("turn assign {} --status checked --next-action sign-out", claude.id));
    let granted = claude.tool("turn_wait", json!({}));
    assert!(granted.contains(&format!("turn {} of shop", first + 2)), "{granted}");
    claude.tool("press", orders.clone());
    // Its server was granted the turn that its shell gave away.
    assert!(codex.harness.client.err("press", orders).contains("TURN_MISMATCH"));
    let done = json!({"status": "signed out", "nextAction": "nothing"});
    claude.tool("turn_release", done);
    assert_eq!(codex.shell("turn wait")["handoff"]["status"], "signed out");

    let verified = world.run(&["log", "verify", "shop", "--json"]).json();
    assert_eq!((&verified["ok"], &verified["output"]["findings"]), (&json!(true), &json!([])), "{verified}");
}
