//! Acceptance test 18: two harnesses, each a separate process with a shell and an MCP server, share
//! one app. The run that the README shows is executed exactly as printed.

use crate::mcp::Harness;
use crate::support::client::text;
use crate::support::page::{missing, page};
use crate::support::{World, eventually};
use serde_json::{Value, json};
use stickpin_session::log::Kind;
use stickpin_store::{Phase, Store};

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

    /// Begins `turn wait` over MCP for the turn alone, and returns once the daemon knows of it, as
    /// `observer` sees.
    fn begin_wait(&mut self, observer: &Self) -> u64 {
        let params = json!({"name": "turn_wait", "arguments": {"noEvents": true}});
        let call = self.harness.client.send("tools/call", params);
        eventually("it waits", || observer.shell("turn state")["waiters"][0]["agentId"] == *self.id);
        call
    }

    /// Returns the text of the answer to a call, and whether it is an error.
    fn result(&mut self, call: u64) -> (String, bool) {
        loop {
            let answer = self.harness.client.next();
            if answer["id"] == call {
                return (text(&answer["result"]), answer["result"]["isError"] == true);
            }
        }
    }

    /// Returns the text of the answer to a call that succeeds.
    fn answer(&mut self, call: u64) -> String {
        let (text, is_error) = self.result(call);
        assert!(!is_error, "{text}");
        text
    }
}

/// What a harness shows: a command of its shell, a call of its MCP server, or what it printed.
#[derive(Debug, PartialEq)]
enum Shown {
    Prompt,
    Shell(String),
    Tool(String, Value),
    Output(Vec<String>),
}

/// The harness that uses the shell in the README. The other one, which uses MCP, is Codex.
const CLAUDE: &str = "Claude Code";

/// Returns the run that the README shows, in order and with the names of the harnesses.
fn run_of(readme: &str) -> Vec<(String, Shown)> {
    let (_, section) = readme.split_once("## Several agents, one app").expect("a section");
    let (_, block) = section.split_once("```text\n").expect("a block");
    let (block, _) = block.split_once("```").expect("an end");
    let (mut steps, mut harness): (Vec<(String, Shown)>, _) = (Vec::new(), String::new());
    for line in block.lines().filter(|line| !line.is_empty()) {
        let Some(line) = line.strip_prefix("  ") else {
            assert!([CLAUDE, "Codex"].contains(&line), "no harness: {line}");
            line.clone_into(&mut harness);
            continue;
        };
        let step = if line.starts_with("> ") {
            Shown::Prompt
        } else if let Some(command) = line.strip_prefix("● Bash(stickpin ") {
            Shown::Shell(command.strip_suffix(')').expect("an end").to_owned())
        } else if let Some(call) = line.strip_prefix("• Called stickpin.") {
            let (name, arguments) = call.strip_suffix(')').and_then(|c| c.split_once('(')).expect("a call");
            Shown::Tool(name.to_owned(), serde_json::from_str(arguments).expect("JSON"))
        } else if let Some(first) = line.strip_prefix("  ⎿ ").or_else(|| line.strip_prefix("  └ ")) {
            Shown::Output(vec![first.to_owned()])
        } else {
            let Some((_, Shown::Output(lines))) = steps.last_mut() else { panic!("not known: {line}") };
            lines.push(line.strip_prefix("    ").expect("an indent").to_owned());
            continue;
        };
        steps.push((harness.clone(), step));
    }
    steps
}

/// Replaces the agent id of a harness in the README with the given one.
fn name_agent(readme: &str, family: &str, id: &str) -> String {
    let at = readme.find(&format!("{family}:")).expect("the README shows its id");
    readme.replace(&readme[at..at + family.len() + 9], id)
}

#[test]
fn run_of_two_harnesses_in_the_readme_is_real() {
    let world = World::new();
    let mut claude = Agent::start(&world, "claude", "CLAUDECODE=1 CLAUDE_CODE_SESSION_ID=s1", "CLAUDECODE=1");
    // Codex runs with the profile with which it is registered.
    let mut codex = Agent::start(&world, "codex", "CODEX_THREAD_ID=t1", "STICKPIN_MCP_PROFILE=core");
    let readme = name_agent(&name_agent(&page("README.md"), "claude", &claude.id), "codex", &codex.id);
    let received = world.path().join("received.jsonl");
    let app = format!("'sim:shop?log={}'", received.display());
    let steps = run_of(&readme);
    let mut call = 0;
    for (at, (harness, step)) in steps.iter().enumerate() {
        let agent = if harness == CLAUDE { &mut claude } else { &mut codex };
        match step {
            Shown::Prompt => continue,
            Shown::Shell(line) => agent.harness.begin(&line.replace("sim:shop", &app)),
            Shown::Tool(name, arguments) => {
                call = agent.harness.client.send("tools/call", json!({"name": name, "arguments": arguments}));
            }
            Shown::Output(shown) => {
                let began = steps[..at].iter().rev().find(|(by, _)| by == harness);
                let printed = match began {
                    Some((_, Shown::Tool(..))) => agent.result(call).0,
                    _ => agent.harness.printed(),
                };
                if let Some(missing) = missing(shown, &printed) {
                    panic!("{began:?} does not print\n{missing}\nbut\n{printed}");
                }
                continue;
            }
        }
        if steps.get(at + 1).is_none_or(|(by, next)| by != harness || !matches!(next, Shown::Output(_))) {
            let state = || world.run(&["--session", "shop", "turn", "state", "--json"]).json();
            eventually("it waits", || state()["output"]["waiters"][0]["agentId"] == *agent.id);
        }
    }
    let received = std::fs::read_to_string(&received).expect("the app received input");
    let received = received.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let pressed: Vec<_> =
        received.filter(|entry| entry["event"] == "press").map(|entry| entry["element"].clone()).collect();
    assert_eq!(pressed, ["add lamp", "link Orders"], "each pressed once");
    let store = Store::open(&world.state_dir()).expect("a store");
    let records = store.records_after("shop", 0, usize::MAX, Phase::Verify).expect("records");
    let pressed = records.iter().filter_map(|record| match &record.kind {
        Kind::CommandBegin(begin) if begin.verb == "press" => {
            Some((record.turn_id, record.agent.as_ref()?.as_str()))
        }
        _ => None,
    });
    assert_eq!(pressed.collect::<Vec<_>>(), [(1, &*claude.id), (2, &*codex.id)], "each in its turn");
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
    // The server was granted the turn that its shell handed over.
    assert!(codex.harness.client.err("press", orders).contains("TURN_MISMATCH"));
    let done = json!({"status": "signed out", "nextAction": "nothing"});
    claude.tool("turn_release", done);
    assert_eq!(codex.shell("turn wait")["handoff"]["status"], "signed out");

    let verified = world.run(&["log", "verify", "shop", "--json"]).json();
    assert_eq!((&verified["ok"], &verified["output"]["findings"]), (&json!(true), &json!([])), "{verified}");
}
