//! Listeners of a session: what a wait and a follower receive, and what they lose when they are
//! killed.

use crate::support::{Ran, World, eventually, words};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, Stdio};

/// An agent that only its harness identifies: a program with the harness's name, which runs each
/// command, and the variable in which it exports its session id.
struct Agent<'w> {
    world: &'w World,
    harness: &'static str,
    variables: &'static [(&'static str, &'static str)],
}

const CLAUDE: &[(&str, &str)] = &[("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", "s1")];
const CODEX: &[(&str, &str)] = &[("CODEX_THREAD_ID", "t1")];

impl Agent<'_> {
    fn command(&self, line: &str) -> Command {
        let known = self.world.command(&[&["--session", "shop"], &words(line)[..], &["--json"]].concat());
        // The harness passes a signal on, and ends as its command does.
        let script = "\"$0\" \"$@\" & child=$!; trap 'kill -TERM $child' TERM; wait $child; wait $child";
        let mut command = Command::new("bash");
        command.arg0(self.harness).args(["-c", script]).arg(known.get_program()).args(known.get_args());
        command.env_clear().envs(known.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.envs(self.variables.iter().copied()).current_dir(self.world.path().join("shop"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    #[track_caller]
    fn ok(&self, line: &str) -> Value {
        let ran: Ran = self.command(line).output().expect("the harness runs").into();
        assert_eq!(ran.code, 0, "{} {line}: {ran:?}", self.harness);
        ran.json()["output"].take()
    }

    fn id(&self) -> String {
        self.ok("whoami")["agentId"].as_str().expect("an id").to_owned()
    }

    fn listen(&self, line: &str) -> (Child, BufReader<ChildStdout>) {
        let mut child = self.command(line).spawn().expect("the harness runs");
        let out = BufReader::new(child.stdout.take().expect("a pipe"));
        (child, out)
    }
}

fn event(out: &mut BufReader<ChildStdout>) -> Value {
    let mut line = String::new();
    out.read_line(&mut line).expect("text");
    serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line:?}"))
}

/// Ends a listener with SIGTERM, and returns what it printed at its end.
fn end(world: &World, (child, mut out): (Child, BufReader<ChildStdout>)) -> Ran {
    world.signal("-TERM", child.id());
    let mut rest = String::new();
    out.read_to_string(&mut rest).expect("text");
    let ended: Ran = child.wait_with_output().expect("it ends").into();
    Ran { out: rest, ..ended }
}

/// Acceptance test 5: without an exported id, a wait and a follower act for their agent, begin at
/// the end of the feed, and receive messages and turns, but not what their own agent sends to all.
#[test]
fn listeners_know_their_agent_without_an_exported_id() {
    let world = World::new();
    let claude = Agent { world: &world, harness: "claude", variables: CLAUDE };
    let codex = Agent { world: &world, harness: "codex", variables: CODEX };
    let (ada, bob) = (claude.id(), codex.id());
    assert!(ada.starts_with("claude:") && bob.starts_with("codex:"), "{ada} {bob}");
    claude.ok("open sim:shop");
    codex.ok("turn join");
    claude.ok(&format!("msg send {bob} early"));

    let mut follower = codex.listen("events --follow");
    eventually("it follows", || claude.ok(&format!("msg send {bob} now"))["delivery"] == "live");
    let first = event(&mut follower.1);
    assert_eq!((&first["body"], &first["to"]), (&json!("now"), &json!(bob)), "it began at the end: {first}");
    codex.ok("msg send room 'from me'");
    claude.ok("turn wait");
    claude.ok(&format!("turn assign {bob} --status filled --next-action pay"));
    let mut next = event(&mut follower.1);
    while next["body"] == "now" {
        next = event(&mut follower.1);
    }
    assert_eq!(
        (&next["type"], &next["handoff"]["status"]),
        (&json!("turn_assigned"), &json!("filled")),
        "{next}"
    );
    let ended = end(&world, follower);
    let cursor = ended.err.trim().strip_prefix("cursor_seq=").and_then(|seq| seq.parse::<u64>().ok());
    assert_eq!((ended.code, ended.out.as_str()), (0, ""), "{ended:?}");
    assert!(cursor >= next["seq"].as_u64(), "{ended:?}");

    let (mut child, mut out) = codex.listen("events --wait");
    eventually("a message ends the wait", || {
        codex.ok("msg send room 'from me again'");
        let sent = claude.ok(&format!("msg send {bob} later"));
        sent["delivery"] == "live" || child.try_wait().expect("a state").is_some()
    });
    let mut printed = String::new();
    out.read_to_string(&mut printed).expect("text");
    let ended: Ran = child.wait_with_output().expect("it ends").into();
    let ran = Ran { out: printed, ..ended };
    let output = ran.json()["output"].take();
    let bodies: Vec<&Value> =
        output["events"].as_array().expect("events").iter().map(|e| &e["body"]).collect();
    assert!(!bodies.is_empty() && bodies.iter().all(|body| **body == "later"), "{ran:?}");
    assert_eq!((ran.code, ran.err), (0, format!("cursor_seq={}\n", output["cursorSeq"])));
}

/// F32: a killed reader that continues after the last event that it printed misses nothing, and
/// recognizes repeated events by their numbers.
#[test]
fn killed_reader_goes_on_behind_the_last_event_that_it_saw() {
    let world = World::new();
    let claude = Agent { world: &world, harness: "claude", variables: CLAUDE };
    let codex = Agent { world: &world, harness: "codex", variables: CODEX };
    claude.ok("open sim:shop");
    let from = codex.ok("turn join")["cursorSeq"].as_u64().expect("a number");
    let bob = codex.id();
    let send = |n: usize| claude.ok(&format!("msg send {bob} {n}"))["seq"].as_u64().expect("a number");
    let mut sent: Vec<u64> = (0..3).map(send).collect();
    let (mut child, mut out) = codex.listen(&format!("events --follow --after {from} --event message"));
    let seen: Vec<Value> = (0..2).map(|_| event(&mut out)).collect();
    // Both are killed: the reader, and the harness that it runs in.
    let reader =
        std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", child.id())).expect("a child");
    world.signal("-KILL", reader.trim().parse().expect("one process"));
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    sent.extend((3..5).map(send));

    // The reader recorded only that it had seen the first one.
    let behind = seen[0]["seq"].as_u64().expect("a number");
    let mut again = codex.listen(&format!("events --follow --after {behind} --event message"));
    let events: Vec<Value> = (0..4).map(|_| event(&mut again.1)).collect();
    let numbers: Vec<u64> = events.iter().filter_map(|event| event["seq"].as_u64()).collect();
    assert_eq!(numbers, sent[1..], "no gap");
    assert_eq!((&events[0]["eventId"], &events[0]), (&seen[1]["eventId"], &seen[1]), "it is the same event");
    assert_eq!(end(&world, again).code, 0);
}
