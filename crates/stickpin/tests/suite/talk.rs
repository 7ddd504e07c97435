//! Two agents in one session, each a separate process per command: the messages that they exchange,
//! and what a follower prints.

use crate::support::client::{Client, text};
use crate::support::{Ran, World, eventually, kill_daemon, words};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

/// An agent in the project's folder.
struct Agent<'w> {
    world: &'w World,
    id: &'static str,
}

impl Agent<'_> {
    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.world.command(args);
        command.env("STICKPIN_AGENT_ID", self.id);
        command
    }

    fn run(&self, line: &str) -> Ran {
        self.command(&words(line)).output().unwrap().into()
    }

    /// Returns the output of a command that succeeds.
    #[track_caller]
    fn ok(&self, line: &str) -> Value {
        let ran = self.run(&format!("{line} --json"));
        assert_eq!(ran.code, 0, "{line}: {ran:?}");
        ran.json()["output"].clone()
    }

    fn follow(&self, line: &str) -> Follower {
        let mut command = self.command(&words(line));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Follower { child, out }
    }
}

/// A process that follows the feed.
struct Follower {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Follower {
    /// Returns the next event.
    fn event(&mut self) -> Value {
        let mut line = String::new();
        self.out.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line:?}"))
    }

    /// Waits until the process ends, and returns the rest of its output.
    fn end(mut self) -> Ran {
        let mut out = String::new();
        self.out.read_to_string(&mut out).unwrap();
        let ended: Ran = self.child.wait_with_output().unwrap().into();
        Ran { out, ..ended }
    }
}

/// Returns the cursor in the only line on stderr.
#[track_caller]
fn cursor(ran: &Ran) -> u64 {
    let cursor = ran.err.strip_prefix("cursor_seq=").and_then(|rest| rest.strip_suffix('\n'));
    cursor.and_then(|cursor| cursor.parse().ok()).unwrap_or_else(|| panic!("no cursor alone: {ran:?}"))
}

fn kinds(output: &Value) -> BTreeSet<&str> {
    output["events"].as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap()).collect()
}

/// Opens a session, and returns its two drivers.
fn shop(world: &World) -> (Agent<'_>, Agent<'_>) {
    let (ada, bob) = (Agent { world, id: "claude:ada" }, Agent { world, id: "codex:bob" });
    ada.ok("open sim:shop");
    bob.ok("turn join --as Bob");
    (ada, bob)
}

#[test]
fn a_wait_begins_at_the_end_and_hears_others_only() {
    let world = World::new();
    let (ada, bob) = shop(&world);
    ada.ok("msg send Bob before");
    let mut waits = bob.follow("events --wait --json");
    eventually("a message ends the wait", || {
        bob.ok("msg send room mine");
        let sent = ada.ok("msg send Bob 'look at the cart'");
        sent["delivery"] == "live" || waits.child.try_wait().unwrap().is_some()
    });
    let ran = waits.end();
    let output = &ran.json()["output"];
    let events = output["events"].as_array().unwrap();
    assert!(!events.is_empty(), "{ran:?}");
    for event in events {
        assert_eq!((&event["from"], &event["body"]), (&json!("claude:ada"), &json!("look at the cart")));
        assert_eq!((&event["to"], &event["scope"]), (&json!("codex:bob"), &json!("direct")));
    }
    assert_eq!((ran.code, json!(cursor(&ran))), (0, output["cursorSeq"].clone()));

    let late = bob.run("events --wait --timeout 20");
    assert_eq!((late.code, late.out.as_str()), (3, ""), "{late:?}");
    let last = cursor(&late);
    let sent = ada.ok("msg send room 'to all'");
    assert_eq!(sent["seq"], last + 1);
    let next = bob.run(&format!("events --wait --after {last}"));
    assert_eq!((next.code, cursor(&next)), (0, last + 1));
    assert!(next.out.contains("claude:ada -> room: message \"to all\""), "{next:?}");
    let beyond = bob.run("events --after 999");
    assert!(beyond.code == 2 && beyond.err.starts_with("INVALID_CURSOR: "), "{beyond:?}");
}

#[test]
fn a_follower_that_is_ended_and_started_again_loses_nothing() {
    let world = World::new();
    let (ada, bob) = shop(&world);
    let from = bob.ok("turn state")["cursorSeq"].as_u64().unwrap();
    let mut follower = bob.follow(&format!("events --follow --after {from} --json"));
    // Long lines, so that the end may come in the middle of one.
    let long = "x".repeat(16_000);
    let sent: Vec<u64> =
        (0..12).map(|_| ada.ok(&format!("msg send Bob {long}"))["seq"].as_u64().unwrap()).collect();
    ada.ok("turn wait");
    ada.ok("turn assign Bob --status 'cart filled' --next-action pay");
    let mut seen: Vec<Value> = (0..3).map(|_| follower.event()).collect();
    world.signal("-TERM", follower.child.id());
    let ran = follower.end();
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.is_empty() || ran.out.ends_with('\n'), "half a line: {}", ran.out.len());
    seen.extend(ran.out.lines().map(|line| serde_json::from_str::<Value>(line).expect("a whole line")));
    let behind = cursor(&ran);
    assert!(seen.iter().all(|event| event["seq"].as_u64().unwrap() <= behind), "{behind}: {seen:?}");

    ada.ok("msg send Bob 'while you were away'");
    let mut again = bob.follow(&format!("events --follow --after {behind} --json"));
    while seen.last().is_none_or(|event| event["body"] != "while you were away") {
        seen.push(again.event());
    }
    let numbers: Vec<u64> = seen.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert!(sent.iter().all(|seq| numbers.contains(seq)), "sent {sent:?}, seen {numbers:?}");
    assert!(numbers.is_sorted_by(|a, b| a < b), "nothing comes twice: {numbers:?}");
    let assigned = seen.iter().find(|event| event["type"] == "turn_assigned").expect("the turn");
    assert_eq!(assigned["handoff"]["status"], "cart filled");
    assert_eq!((&assigned["from"], &assigned["to"]), (&json!("claude:ada"), &json!("codex:bob")));

    // The log contains the same events, and a query for messages alone does not return the turn.
    let all = bob.ok("events --after 0 --target self --limit 999");
    assert!(kinds(&all).is_superset(&["message", "turn_assigned"].into()), "{:?}", kinds(&all));
    let only = bob.ok("msg recv --after 0 --limit 999");
    assert_eq!(kinds(&only), ["message"].into());
    world.signal("-HUP", again.child.id());
    let ran = again.end();
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{ran:?}");
    assert!(cursor(&ran) > behind);
}

#[test]
fn a_follower_finds_the_next_daemon_and_ends_with_the_session() {
    let world = World::new();
    let (ada, bob) = shop(&world);
    let from = bob.ok("turn state")["cursorSeq"].as_u64().unwrap();
    let mut follower = bob.follow(&format!("events --follow --after {from} --json"));
    ada.ok("msg send Bob one");
    assert_eq!(follower.event()["body"], "one");
    kill_daemon(&world);
    ada.ok("msg send Bob two");
    let mut event = follower.event();
    while event["type"] != "message" {
        event = follower.event();
    }
    assert_eq!(event["body"], "two");
    ada.ok("open sim:shop");
    ada.ok("msg send Bob three");
    assert_eq!(follower.event()["body"], "three");
    ada.ok("close");
    let ran = follower.end();
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{ran:?}");
    cursor(&ran);
    assert_eq!(bob.run("events --wait").code, 11);
}

#[test]
fn a_closed_pipe_ends_a_follower_with_its_cursor() {
    let world = World::new();
    let (ada, bob) = shop(&world);
    let mut follower = bob.follow("events --follow --after 0 --target any");
    let mut line = String::new();
    follower.out.read_line(&mut line).unwrap();
    assert!(line.contains("member_joined"), "{line}");
    let Follower { mut child, out } = follower;
    drop(out);
    eventually("the next line ends it", || {
        ada.ok("msg send Bob hello");
        child.try_wait().unwrap().is_some()
    });
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.code, 0, "{ran:?}");
    cursor(&ran);
}

#[test]
fn a_saved_cursor_goes_on_in_another_process() {
    let world = World::new();
    let (ada, bob) = shop(&world);
    assert_eq!(bob.run("msg recv --wait --resume --timeout 0").code, 3);
    for body in ["one", "two"] {
        ada.ok(&format!("msg send Bob {body}"));
        let ran = bob.run("msg recv --wait --resume");
        assert!(ran.code == 0 && ran.out.contains(body), "{ran:?}");
    }
    assert_eq!(bob.run("msg recv --wait --resume --timeout 0").code, 3);
    assert!(world.state_dir().join("cursors/codex_bob.json").exists());
}

#[test]
fn text_of_an_agent_cannot_control_a_terminal() {
    let world = World::new();
    let (ada, bob) = shop(&world);
    let mut command = ada.command(&["msg", "send", "Bob", "\u{1b}[31mred\nfrom claude:ada: lies"]);
    assert!(command.output().unwrap().status.success());
    for line in ["events", "msg recv", "session log"] {
        let ran = bob.run(line);
        assert!(ran.out.contains("[31mred") && !ran.out.contains('\u{1b}'), "{line}: {ran:?}");
        assert!(!ran.out.contains("\nfrom claude:ada"), "{line}: {ran:?}");
    }
}

#[test]
fn notes_stay_until_they_are_resolved() {
    let world = World::new();
    let (ada, bob) = shop(&world);
    assert_eq!(bob.ok("notes add the card is declined")["noteId"], 1);
    ada.ok("notes add 'ask for another one' --turn 1");
    let eve = Agent { world: &world, id: "claude:eve" };
    let refused = eve.run("notes add hello");
    assert!(refused.code == 6 && refused.err.starts_with("UNKNOWN_MEMBER: "), "{refused:?}");
    assert_eq!(ada.ok("turn wait")["openNotes"], 2);
    assert_eq!(bob.run("notes resolve 2").code, 5);
    ada.ok("notes resolve 1");
    let missing = ada.run("notes resolve 1");
    assert!(missing.code == 6 && missing.err.starts_with("NOTE_NOT_FOUND: "), "{missing:?}");
    let left = eve.run("notes list");
    assert_eq!(left.out, "2 by claude:ada about turn 1: \"ask for another one\"\n");
}

#[test]
fn the_log_of_a_session_says_who_did_what() {
    let world = World::new();
    let (ada, bob) = shop(&world);
    ada.ok("press 'label=\"Search\"'");
    assert_eq!(ada.run("press 'label=\"Nowhere\"'").code, 1);
    let log = bob.run("session log");
    let row = |word: &str| log.out.lines().filter(|line| line.contains(word)).collect::<Vec<_>>();
    let presses = row("  press  ");
    assert_eq!(presses.len(), 2, "{}", log.out);
    assert!(presses[0].contains("claude:ada") && presses[0].contains("  ok in "), "{}", log.out);
    assert!(presses[0].contains("Search"), "{}", log.out);
    assert!(presses[1].contains("ELEMENT_NOT_FOUND in "), "{}", log.out);
    assert_eq!(row("member_joined").len(), 2, "{}", log.out);
    let all = bob.ok("session log --after 0 --limit 999");
    let last = all["cursorSeq"].as_u64().unwrap();
    assert_eq!(all["events"].as_array().unwrap().len() as u64, last);
    assert!(!kinds(&bob.ok("events --limit 999")).contains("command_begin"));
    assert!(kinds(&bob.ok("events --limit 999 --include run")).contains("command_begin"));
}

#[test]
fn both_surfaces_reach_the_same_feed() {
    let world = World::new();
    let (ada, bob) = shop(&world);
    let session = world.session();
    let mut command = bob.command(&["mcp", "--profile", "slim", "--session", &session]);
    command.stderr(Stdio::null());
    let mut mcp = Client::of(command);
    let mut line = |line: &str| mcp.tool("stickpin", json!({"line": line}));
    // Nothing happens: the client learns that, and where to continue.
    for in_vain in [line("events --wait --timeout 20"), line("batch 'events --wait --timeout 20'")] {
        let (text, cursor) = (text(&in_vain), ada.ok("turn state")["cursorSeq"].clone());
        assert!(text.ends_with(&format!("status not_yet, cursorSeq {cursor}")), "{text}");
        assert_eq!(in_vain["isError"], false, "{text}");
    }
    ada.ok("msg send Bob 'over to you'");
    let read = line("events --wait --after 0 --event message");
    assert!(read.to_string().contains("claude:ada -> codex:bob: message"), "{read}");
    assert_eq!(line("msg send claude:ada 'thank you'")["isError"], false);
    assert_eq!(line("notes add 'pay by invoice'")["isError"], false);
    let got = ada.ok("msg recv --after 0");
    assert_eq!(
        (&got["events"][0]["body"], &got["events"][0]["from"]),
        (&json!("thank you"), &json!("codex:bob"))
    );
    assert_eq!(ada.ok("notes list")["notes"][0]["author"], "codex:bob");
    let followed = line("events --follow");
    assert!(followed["isError"] == true && followed.to_string().contains("--wait"), "{followed}");
    let batch = line("batch 'msg send room hello' 'notes list'");
    assert_eq!(batch["isError"], false, "{batch}");
    assert!(batch.to_string().contains("pay by invoice"), "{batch}");
}

/// Runs a command of an agent with a text on standard input, and returns its output.
#[track_caller]
fn with_stdin(agent: &Agent<'_>, line: &str, text: &str) -> Value {
    let mut command = agent.command(&words(&format!("{line} --json")));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let ran: Ran = child.wait_with_output().unwrap().into();
    assert_eq!(ran.code, 0, "{line}: {ran:?}");
    ran.json()["output"].clone()
}

#[test]
fn long_texts_come_from_standard_input() {
    let world = World::new();
    let (ada, bob) = shop(&world);
    with_stdin(&ada, "msg send Bob --stdin", "two\nlines\n");
    let got = bob.ok("msg recv");
    assert_eq!(got["events"][0]["body"], "two\nlines");
    with_stdin(&bob, "notes add --stdin", "it is \"sold out\"\n");
    assert_eq!(ada.ok("notes list")["notes"][0]["body"], "it is \"sold out\"");
    ada.ok("turn wait");
    let handoff = json!({
        "status": "cart filled", "nextAction": "pay",
        "artifacts": [{"path": "cart.png", "role": "examine"}],
    });
    with_stdin(&ada, "turn assign Bob --stdin", &handoff.to_string());
    let granted = bob.ok("turn wait");
    assert_eq!(granted["handoff"]["artifacts"][0]["path"], "cart.png", "{granted}");
    with_stdin(&bob, "turn release --stdin", r#"{"status":"paid","nextAction":"check the mail"}"#);
    assert_eq!(ada.ok("turn wait")["handoff"]["status"], "paid");
}

/// Returns whether a process has installed a handler for a signal.
fn handles(pid: u32, signal: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    caught & (1 << (signal - 1)) != 0
}

/// Section 10.3: the cursor is written on every exit, even when nothing has been read yet.
#[test]
fn follower_that_is_ended_before_the_first_answer_says_where_to_go_on() {
    let world = World::new();
    let (_ada, bob) = shop(&world);
    let last = bob.ok("turn state")["cursorSeq"].as_u64().unwrap();
    let daemon = world.pid().unwrap();
    world.signal("-STOP", daemon);
    let follower = bob.follow("events --follow --json");
    let pid = follower.child.id();
    eventually("it handles SIGTERM", || handles(pid, 15));
    world.signal("-TERM", pid);
    world.signal("-CONT", daemon);
    let ran = follower.end();
    assert_eq!((ran.code, ran.out.as_str(), cursor(&ran)), (0, "", last));
}

#[test]
fn feed_of_all_sessions_has_a_cursor_for_each() {
    let world = World::new();
    let (ada, bob) = shop(&world);
    let own = bob.ok("turn state")["session"].as_str().unwrap().to_owned();
    ada.ok("--session mail open sim:feed");
    ada.ok("--session other open sim:feed");
    bob.ok("--session mail turn join --as Bob");
    let mut follower = bob.follow("events --all-sessions --follow --json");
    eventually("it is connected", || ada.ok("msg send Bob 'from the shop'")["delivery"] == "live");
    ada.ok("--session other msg send room 'for nobody'");
    ada.ok("--session mail msg send Bob 'from the mail'");
    let mut seen = Vec::new();
    while seen.last() != Some(&("mail".to_owned(), json!("from the mail"))) {
        let event = follower.event();
        seen.push((event["session"].as_str().unwrap().to_owned(), event["body"].clone()));
    }
    assert!(seen.contains(&(own.clone(), json!("from the shop"))), "{seen:?}");
    assert!(!seen.iter().any(|(session, _)| session == "other"), "{seen:?}");
    world.signal("-TERM", follower.child.id());
    let ran = follower.end();
    let cursors: Vec<&str> = ran.err.lines().collect();
    let last = |session: &str| ada.ok(&format!("--session {session} turn state"))["cursorSeq"].clone();
    let mut expected = [("mail", last("mail")), (own.as_str(), last(&own))]
        .map(|(name, seq)| format!("cursor_seq[{name}]={seq}"));
    expected.sort();
    assert_eq!((ran.code, cursors), (0, expected.iter().map(String::as_str).collect()));

    let behind = expected.iter().map(|line| {
        let (name, seq) = line.trim_start_matches("cursor_seq[").split_once("]=").unwrap();
        format!(" --cursor {name}={seq}")
    });
    let line = format!("events --all-sessions --wait --timeout 60000{}", behind.collect::<String>());
    ada.ok("--session mail msg send Bob again");
    let ran = bob.run(&line);
    assert!(ran.code == 0 && ran.out.contains("mail ") && ran.out.contains("again"), "{ran:?}");
    let wrong = bob.run("events --all-sessions --after 3");
    assert!(wrong.code == 2 && wrong.err.contains("--cursor NAME=SEQ"), "{wrong:?}");
}

#[test]
fn name_of_several_members_addresses_none_of_them() {
    let world = World::new();
    let (ada, _) = shop(&world);
    let eve = Agent { world: &world, id: "gemini:eve" };
    eve.ok("turn join --as Bob");
    let refused = ada.run("msg send Bob hi --json");
    let error = refused.json()["error"].clone();
    assert_eq!((refused.code, &error["code"]), (6, &json!("AMBIGUOUS_RECIPIENT")), "{error}");
    assert_eq!(error["details"]["candidates"], json!(["codex:bob", "gemini:eve"]));
}
