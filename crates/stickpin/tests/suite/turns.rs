//! The turn of a session across processes: agents are child processes that declare their own ids.

use crate::support::client::{Client, text};
use crate::support::{Ran, World, eventually, words};
use serde_json::{Value, json};
use std::io::Read;
use std::process::{Child, Command, Stdio};

/// An agent on the command line.
struct Agent<'w> {
    world: &'w World,
    id: &'static str,
}

impl Agent<'_> {
    fn command(&self, line: &str) -> Command {
        let mut command = self.world.command(&[&["--session", "shop"], &words(line)[..]].concat());
        command.env("STICKPIN_AGENT_ID", self.id);
        command
    }

    fn run(&self, line: &str) -> Ran {
        self.command(line).output().expect("the binary runs").into()
    }

    /// Runs a command line that must exit with this status, and returns its output as JSON.
    #[track_caller]
    fn json(&self, line: &str, code: i32) -> Value {
        let ran = self.run(&format!("{line} --json"));
        assert_eq!(ran.code, code, "{} {line}: {ran:?}", self.id);
        let mut answer = ran.json();
        match code {
            0 | 3 | 4 | 11 if answer["error"].is_null() => answer["output"].take(),
            _ => answer["error"].take(),
        }
    }

    /// Starts `turn wait`, and returns once it is waiting.
    fn wait(&self) -> Child {
        let child = self.command("turn wait --json").stdout(Stdio::piped()).spawn().expect("the binary runs");
        eventually("the wait is registered", || {
            let waiters = self.json("turn state", 0)["waiters"].clone();
            waiters.as_array().is_some_and(|all| all.iter().any(|waiter| waiter["agentId"] == self.id))
        });
        child
    }
}

fn output(mut child: Child) -> Value {
    let mut out = String::new();
    child.stdout.take().expect("a pipe").read_to_string(&mut out).expect("text");
    assert!(child.wait().expect("it ends").success(), "{out}");
    serde_json::from_str::<Value>(&out).unwrap_or_else(|e| panic!("{e}: {out}"))["output"].take()
}

fn agents(world: &World) -> (Agent<'_>, Agent<'_>) {
    let (ada, bob) = (Agent { world, id: "claude:ada" }, Agent { world, id: "codex:bob" });
    assert_eq!(ada.run("open sim:shop -i").code, 0);
    (ada, bob)
}

const HAND_OVER: &str = "--status 'cart filled' --next-action 'pay'";

#[test]
fn two_agents_pass_the_turn_by_command_line() {
    let world = World::new();
    let (ada, bob) = agents(&world);
    let mine = ada.json("turn wait", 0);
    assert_eq!(mine["status"], "your_turn");
    assert_eq!(mine["guardianPid"].as_u64(), world.pid().map(u64::from));
    assert_eq!(mine["guardian"]["renewing"], true);

    let refused = bob.json("press 'role=link label=Orders'", 5);
    assert_eq!(
        (&refused["code"], &refused["details"]["owner"]),
        (&json!("NOT_YOUR_TURN"), &json!("claude:ada"))
    );
    assert_eq!(bob.json("turn try", 3)["status"], "not_yet");
    assert_eq!(ada.run("press 'role=link label=Orders'").code, 0, "the holder acts");

    let waits = bob.wait();
    let released = ada.json(&format!("turn release {HAND_OVER}"), 0);
    assert_eq!(released["reservedFor"], "codex:bob");
    let granted = output(waits);
    assert_eq!((&granted["reason"], &granted["from"]), (&json!("sequence"), &json!("claude:ada")));
    assert_eq!(granted["handoff"]["nextAction"], "pay");
    assert!(granted["handoff"]["ui"]["generation"].is_u64(), "{granted}");

    assert_eq!(ada.json("press 'role=link label=Orders'", 5)["code"], "NOT_YOUR_TURN");
    let assigned = bob.json(&format!("turn assign claude:ada {HAND_OVER}"), 0);
    assert_eq!(assigned["reservedFor"], "claude:ada");
    assert_eq!(ada.json("turn wait", 0)["reason"], "direct");
    assert_eq!(bob.json("turn take", 2)["code"], "REASON_REQUIRED");
    let old = bob.json("turn take --reason 'it is slow'", 5);
    assert_eq!(old["code"], "TURN_MISMATCH", "it has not looked since the turn moved on");
    bob.json("turn state", 0);
    assert_eq!(bob.json("turn take --reason 'it is slow'", 5)["code"], "TAKEOVER_NOT_AVAILABLE");
    let taken = bob.json("turn take --operator-requested", 0);
    assert_eq!((&taken["reason"], &taken["revoked"]), (&json!("operator_override"), &json!("claude:ada")));
    assert_eq!(taken["guardianPid"].as_u64(), world.pid().map(u64::from));
    assert_eq!(ada.json(&format!("turn release {HAND_OVER}"), 5)["code"], "STALE_LEASE");
    assert_eq!(bob.json("turn leave", 5)["code"], "MUST_RELEASE_FIRST");
    assert_eq!(bob.json(&format!("turn leave --release {HAND_OVER}"), 0)["remainingMembers"], 1);
}

#[test]
fn two_agents_pass_the_turn_over_mcp() {
    let world = World::new();
    let client = |id: &str| {
        let mut command = world.command(&["mcp", "--profile", "full"]);
        command.env("STICKPIN_AGENT_ID", id);
        Client::of(command)
    };
    let (mut ada, mut bob) = (client("claude:ada"), client("codex:bob"));
    let call = |client: &mut Client, name: &str, mut arguments: Value| {
        arguments["session"] = "shop".into();
        let result = client.tool(name, arguments);
        (result["isError"] == true, text(&result))
    };
    assert!(!call(&mut ada, "open", json!({"what": "sim:shop"})).0);
    let (failed, mine) = call(&mut ada, "turn_wait", json!({}));
    assert!(!failed && mine.contains("your turn"), "{mine}");
    let (failed, refused) = call(&mut bob, "press", json!({"target": "role=link label=Orders"}));
    assert!(failed && refused.contains("NOT_YOUR_TURN"), "{refused}");
    let (failed, not_yet) = call(&mut bob, "turn_try", json!({}));
    assert!(!failed && not_yet.contains("not yet"), "a protocol outcome is no error: {not_yet}");
    let handoff = json!({"status": "cart filled", "nextAction": "pay"});
    assert!(!call(&mut ada, "turn_release", handoff.clone()).0);
    let (_, granted) = call(&mut bob, "turn_wait", json!({}));
    assert!(granted.contains("your turn") && granted.contains("cart filled"), "{granted}");
    let mut to_ada = handoff;
    to_ada["to"] = "claude:ada".into();
    assert!(!call(&mut bob, "turn_assign", to_ada).0);
    // An agent's command line and its MCP client are the same member.
    let shell = Agent { world: &world, id: "claude:ada" };
    assert_eq!(shell.json("turn wait", 0)["reason"], "direct");
    let (_, state) = call(&mut ada, "turn_state", json!({}));
    assert!(state.contains("is held by claude:ada"), "{state}");
    let (failed, note) = call(&mut bob, "notes_add", json!({"body": "check the address"}));
    assert!(!failed, "{note}");
    let (_, notes) = call(&mut ada, "notes_list", json!({}));
    assert!(notes.contains("check the address"), "{notes}");
    assert!(!call(&mut bob, "turn_state", json!({})).0);
    let (failed, taken) = call(&mut bob, "turn_take", json!({"operatorRequested": true}));
    assert!(!failed && taken.contains("your turn"), "{taken}");
    let (failed, refused) = call(&mut ada, "press", json!({"target": "role=link label=Orders"}));
    assert!(failed && refused.contains("NOT_YOUR_TURN"), "{refused}");
    let kick = json!({"member": "claude:ada", "force": true});
    let (failed, kicked) = call(&mut bob, "turn_kick", kick);
    assert!(!failed, "{kicked}");
    let (_, state) = call(&mut bob, "turn_state", json!({}));
    assert!(state.contains("held by codex:bob") && !state.contains("claude:ada"), "{state}");
}

#[test]
fn owner_goes_on_after_its_daemon_was_killed() {
    let world = World::new();
    let (ada, bob) = agents(&world);
    let before = ada.json("turn wait", 0);
    world.signal("-KILL", world.pid().expect("a daemon"));
    let after = ada.json("turn wait", 0);
    assert_eq!(after["reason"], "already_owner");
    assert_eq!(after["guardianRepaired"], true);
    assert_eq!((&after["turnId"], &after["leaseId"]), (&before["turnId"], &before["leaseId"]));
    let epoch = |turn: &Value| turn["guardian"]["epoch"].as_u64().expect("a number");
    assert_eq!(epoch(&after), epoch(&before) + 1);
    let status = world.run(&["daemon", "status", "--json"]).json()["output"].take();
    assert_eq!((status["epoch"].as_u64(), &status["ownedTurns"]), (Some(epoch(&after)), &json!(1)));
    assert_eq!(ada.json("whoami", 0)["rank"], "1");
    assert_eq!(bob.json("turn try", 3)["owner"], "claude:ada");
}

/// Returns the records of a session's first log segment.
fn records(world: &World) -> Vec<Value> {
    let log = world.state_dir().join("sessions/shop/log/000001.jsonl");
    let log = std::fs::read_to_string(log).expect("a log");
    log.lines().map(|line| serde_json::from_str(line).expect("a record")).collect()
}

/// F1: `kill -9` of a command that the holder runs.
#[test]
fn turn_stays_when_a_command_of_its_holder_is_killed() {
    let world = World::new();
    let (ada, bob) = agents(&world);
    let before = ada.json("turn wait", 0);
    let mut runs = ada.command("wait ms 60000").spawn().expect("the binary runs");
    let is_logged = |kind: &str| {
        let of_command = |record: &&Value| record["kind"] == kind && record["verb"] == "wait ms";
        records(&world).iter().find(of_command).cloned()
    };
    eventually("the command runs", || is_logged("command_begin").is_some());
    world.signal("-KILL", runs.id());
    runs.wait().expect("it ends");
    let begin = is_logged("command_begin").expect("its begin")["cmdId"].clone();
    eventually("it has ended", || {
        records(&world).iter().any(|record| record["kind"] == "command_end" && record["cmdId"] == begin)
    });
    assert_eq!(bob.json("press 'role=link label=Orders'", 5)["code"], "NOT_YOUR_TURN");
    let after = ada.json("turn wait", 0);
    assert_eq!(after["reason"], "already_owner");
    assert_eq!((&after["turnId"], &after["leaseId"]), (&before["turnId"], &before["leaseId"]));
    assert_eq!(ada.run("press 'role=link label=Orders'").code, 0);
}

/// F7: `kill -9` of the daemon while a command runs.
#[test]
fn caller_whose_daemon_is_killed_learns_which_command_has_an_unknown_outcome() {
    let world = World::new();
    let (ada, _) = agents(&world);
    let runs = ada.command("wait ms 60000 --json").stdout(Stdio::piped()).spawn().expect("the binary runs");
    let of_command = |record: &&Value| record["kind"] == "command_begin" && record["verb"] == "wait ms";
    let status = || world.run(&["daemon", "status", "--json"]).json()["output"]["commands"].take();
    eventually("the command runs", || records(&world).iter().any(|record| of_command(&record)));
    // An answer to a later request proves that the notification has been sent.
    assert_eq!(status(), 1);
    world.signal("-KILL", world.pid().expect("a daemon"));
    let ran = Ran::from(runs.wait_with_output().expect("it ends"));
    assert_eq!(ran.code, 8, "{ran:?}");
    let error = ran.json()["error"].take();
    let begin = records(&world).iter().find(of_command).expect("its begin").clone();
    assert_eq!(error["code"], "DAEMON_UNREACHABLE");
    assert_eq!(error["details"], json!({ "cmdId": begin["cmdId"], "outcomeUnknown": true }));
    // The next daemon ends the command, before anyone uses the session.
    world.ok("daemon start");
    eventually("the command is interrupted", || {
        let ended = |record: &Value| record["kind"] == "command_end" && record["cmdId"] == begin["cmdId"];
        records(&world).iter().find(|record| ended(record)).is_some_and(|end| end["outcome"] == "interrupted")
    });
}

/// F3: a grant counts as delivered when the command line has printed it.
#[test]
fn grant_is_delivered_once_its_reader_has_it() {
    let world = World::new();
    let (ada, _) = agents(&world);
    ada.json("turn wait", 0);
    ada.json(&format!("turn release {HAND_OVER}"), 0);
    let is_delivered = || {
        let meta = std::fs::read(world.state_dir().join("sessions/shop/meta.json")).expect("metadata");
        let meta: Value = serde_json::from_slice(&meta).expect("JSON");
        meta["turn"]["grant"]["delivered"].clone()
    };
    let mut raw = world.raw();
    let hello = json!({"protocol": 1, "version": env!("CARGO_PKG_VERSION"), "acknowledges": true});
    assert_eq!(raw.ask("hello", hello)["result"]["verdict"], "serve");
    let mut claim = crate::support::request("turn wait", json!({}));
    claim["session"] = "shop".into();
    claim["caller"]["evidence"] = json!({"env": {"STICKPIN_AGENT_ID": "codex:bob"}});
    claim["render"] = json!({"format": "json"});
    let granted = raw.ask("call", claim);
    assert_eq!(granted["result"]["output"]["status"], "your_turn", "{granted}");
    raw.ask("status", Value::Null);
    assert_eq!(is_delivered(), false, "nobody has read it");
    raw.send(&json!({"jsonrpc": "2.0", "method": "acknowledge", "params": {"id": granted["id"]}}));
    eventually("the grant is delivered", || is_delivered() == true);
    // The command line acknowledges what it printed.
    let bob = Agent { world: &world, id: "codex:bob" };
    bob.json(&format!("turn release {HAND_OVER}"), 0);
    ada.json("turn wait", 0);
    eventually("the grant is delivered", || is_delivered() == true);
}

#[test]
fn daemon_that_would_leave_a_turn_or_a_running_command_is_stopped_only_by_force() {
    let world = World::new();
    let (ada, bob) = agents(&world);
    let before = ada.json("turn wait", 0);
    let stop = |words: &[&str]| world.run(&[&["daemon", "stop", "--json"], words].concat());
    let refused = stop(&[]);
    assert_eq!(refused.code, 5, "{refused:?}");
    world.signal("-KILL", world.pid().expect("a daemon"));
    world.ok("daemon start");
    // No app is open any more, and the turn is from the previous daemon.
    eventually("the turn is loaded", || stop(&[]).code == 5);
    let refused = stop(&[]).json()["error"].take();
    assert_eq!(refused["code"], "NOT_YOUR_TURN");
    assert_eq!(refused["details"]["ownedTurns"], json!([{ "session": "shop", "owner": "claude:ada" }]));
    assert_eq!(stop(&["--force"]).code, 0);
    let after = ada.json("turn wait", 0);
    assert_eq!((&after["reason"], &after["leaseId"]), (&json!("already_owner"), &before["leaseId"]));
    assert_eq!(bob.json("turn try", 3)["owner"], "claude:ada");
}

#[test]
fn daemon_that_is_asked_to_end_waits_for_running_commands() {
    let world = World::new();
    let (ada, _) = agents(&world);
    let runs = ada.command("wait ms 1500 --json").stdout(Stdio::piped()).spawn().expect("the binary runs");
    let status = || world.run(&["daemon", "status", "--json"]).json()["output"].take();
    eventually("the command runs", || status()["commands"] == 1);
    world.signal("-TERM", world.pid().expect("a daemon"));
    let ran = Ran::from(runs.wait_with_output().expect("it ends"));
    assert_eq!(ran.code, 0, "{ran:?}");
    eventually("the daemon ends", || !world.state_dir().join("daemon/daemon.json").exists());
}

#[test]
fn action_is_refused_in_another_turn_than_the_one_that_was_granted() {
    let world = World::new();
    let (shell, bob) = agents(&world);
    let press = "press 'role=link label=Orders'";
    assert_eq!(shell.json(&format!("{press} --turn 99"), 5)["code"], "TURN_MISMATCH");
    let mut command = world.command(&["--session", "shop", "mcp", "--profile", "full"]);
    command.env("STICKPIN_AGENT_ID", "claude:ada");
    let mut ada = Client::of(command);
    let granted = ada.tool("turn_wait", json!({}));
    assert_eq!(granted["isError"], false, "{granted}");
    let turn = shell.json("turn state", 0)["turnId"].clone();
    assert_eq!(shell.run(&format!("{press} --turn {turn}")).code, 0);
    bob.json("turn take --operator-requested", 0);
    let input = json!({"target": "role=link label=Orders"});
    let refused = ada.err("press", input.clone());
    assert!(refused.contains("TURN_MISMATCH"), "{refused}");
    // By now, the client knows that it does not hold the turn.
    let refused = ada.err("press", input.clone());
    assert!(refused.contains("NOT_YOUR_TURN"), "{refused}");
    bob.json(&format!("turn assign claude:ada {HAND_OVER}"), 0);
    ada.ok("turn_wait", json!({}));
    ada.ok("press", input.clone());
    ada.ok("turn_release", json!({"status": "seen", "nextAction": "none"}));
    let refused = ada.err("press", input);
    assert!(refused.contains("TURN_REQUIRED"), "{refused}");
}

#[test]
fn wait_that_is_killed_leaves_its_place() {
    let world = World::new();
    let (ada, bob) = agents(&world);
    ada.json("turn wait", 0);
    let mut waits = bob.wait();
    assert_eq!(bob.json("turn try", 5)["code"], "DUPLICATE_LISTENER");
    waits.kill().expect("it runs");
    waits.wait().expect("it ends");
    eventually("the wait is gone", || bob.json("turn state", 0)["waiters"] == json!([]));
    let released = ada.json(&format!("turn release {HAND_OVER}"), 0);
    assert_eq!(released["reservedFor"], Value::Null, "nobody waits");
    assert_eq!(bob.json("turn wait", 0)["handoff"]["status"], "cart filled");
}

#[test]
fn single_agent_sees_nothing_of_turns() {
    let world = World::new();
    let plain = |line: &str| {
        let ran = world.run(&words(line));
        assert_eq!(ran.code, 0, "{line}: {ran:?}");
        format!("{}{}", ran.out, ran.err)
    };
    for line in ["open sim:shop -i", "press 'role=link label=Orders'", "snapshot -i", "close"] {
        let said = plain(line);
        assert!(!said.contains("turn"), "{line}: {said}");
    }
    let session = world.state_dir().join("sessions");
    let folder = std::fs::read_dir(session).expect("a folder").next().expect("a session").expect("readable");
    let log = std::fs::read_to_string(folder.path().join("log/000001.jsonl")).expect("a log");
    let count =
        |kind: &str| log.lines().filter(|line| line.contains(&format!("\"kind\":\"{kind}\""))).count();
    assert_eq!((count("command_begin"), count("command_end")), (3, 3), "open, press, snapshot: {log}");
}

#[test]
fn typed_secrets_are_not_in_the_log() {
    let world = World::new();
    let ada = Agent { world: &world, id: "claude:ada" };
    assert_eq!(ada.run("open sim:signin -i").code, 0);
    let filled = ada.command("fill 'label=Password' --secret PASSWORD").env("PASSWORD", "hunter2-x").output();
    let filled = Ran::from(filled.expect("the binary runs"));
    let typed = ada.run("fill 'label=Password' correct-horse");
    let log = world.state_dir().join("sessions/shop/log/000001.jsonl");
    let log = std::fs::read_to_string(log).expect("a log");
    assert!(log.contains("\"verb\":\"fill\""), "{filled:?} {typed:?} {log}");
    assert!(!log.contains("hunter2") && !log.contains("correct-horse"), "{log}");
}
