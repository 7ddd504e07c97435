//! Clients, harnesses and daemons of several agents are killed. Each is a separate process.

use super::agents::{ADA, BOB, command, ok, run, shell};
use crate::mcp::Harness;
use crate::support::{self, Ran, World, eventually};
use serde_json::{Value, json};
use std::io::Read;
use std::process::{Child, Stdio};
use stickpin_testkit::skipped;

const HAND_OVER: &str = "turn release --status 'cart filled' --next-action pay";

/// Opens a session in which a command that takes the turn does not wait for the turn of another
/// agent to end.
fn open_to_take_turns_at_once(world: &World) {
    ok(world, ADA, "open sim:shop?clock=virtual");
    ok(world, ADA, "session policy shop implicitIdleMs=0");
}

/// Starts `turn wait`, and returns once it is registered.
fn begin_wait(world: &World, agent: &str) -> Child {
    let child = command(world, agent, "turn wait").stdout(Stdio::piped()).spawn().expect("the binary runs");
    eventually("the wait is registered", || {
        ok(world, ADA, "turn state")["waiters"][0]["agentId"] == json!(agent)
    });
    child
}

/// Returns the output of a child that exits with 0.
#[track_caller]
fn output(mut child: Child) -> Value {
    let mut out = String::new();
    child.stdout.take().expect("a pipe").read_to_string(&mut out).expect("text");
    assert!(child.wait().expect("it ends").success(), "{out}");
    serde_json::from_str::<Value>(&out).unwrap_or_else(|e| panic!("{e}: {out}"))["output"].take()
}

/// F3: nobody else gets the turn, and the agent of the killed wait still gets the handoff.
#[test]
fn grant_to_a_killed_wait_is_not_delivered() {
    let world = World::new();
    ok(&world, ADA, "open sim:shop");
    ok(&world, ADA, "turn wait");
    let mut waits = begin_wait(&world, BOB);
    let is_delivered = || {
        let meta = std::fs::read_to_string(world.state_dir().join("sessions/shop/meta.json")).unwrap();
        let turn = serde_json::from_str::<Value>(&meta).unwrap()["turn"].take();
        (turn["owner"] == BOB).then(|| turn["grant"]["delivered"] == true)
    };
    // A stopped process does not read the grant that is sent to it.
    world.signal("-STOP", waits.id());
    ok(&world, ADA, HAND_OVER);
    eventually("the turn is granted, and nobody acknowledged it", || is_delivered() == Some(false));
    waits.kill().expect("it runs");
    waits.wait().expect("it ends");
    let other = run(&world, ADA, "turn try");
    assert_eq!((other.code, &other.json()["output"]["owner"]), (3, &json!(BOB)), "{other:?}");
    let again = ok(&world, BOB, "turn wait");
    assert_eq!((&again["status"], &again["handoff"]["status"]), (&json!("your_turn"), &json!("cart filled")));
    eventually("it is acknowledged", || is_delivered() == Some(true));
}

/// F4: the process of the holder's harness is killed while another agent waits.
#[test]
fn turn_of_a_killed_harness_goes_to_the_next_waiter() {
    let world = World::new();
    let mut codex = Harness::start(&world, &["codex"], "CODEX_THREAD_ID=t1 STICKPIN_SESSION=shop", "");
    shell(&codex, "open sim:shop");
    shell(&codex, "session policy shop goneGraceMs=1000");
    let held = shell(&codex, "turn wait");
    ok(&world, ADA, "turn join");
    let waits = begin_wait(&world, BOB);
    codex.kill();
    let granted = output(waits);
    assert_eq!(
        (&granted["reason"], &granted["handoff"]),
        (&json!("after_surrender"), &Value::Null),
        "{granted}"
    );
    assert_eq!(granted["turnId"].as_u64(), held["turnId"].as_u64().map(|turn| turn + 1));
    assert!(granted["refsNote"].as_str().is_some_and(|note| note.contains("snapshot")), "{granted}");
    let surrendered = ok(&world, BOB, "events --after 0 --event turn_surrendered");
    assert_eq!(surrendered["events"][0]["reason"], "owner_gone", "{surrendered}");
}

/// F29, and the part of F4 by which a loan to an agent that is gone comes back.
#[test]
fn loan_to_a_killed_harness_comes_back() {
    let world = World::new();
    let mut codex = Harness::start(&world, &["codex"], "CODEX_THREAD_ID=t1", "");
    let borrower = shell(&codex, "whoami")["agentId"].as_str().expect("an id").to_owned();
    open_to_take_turns_at_once(&world);
    ok(&world, ADA, &format!("session spawn shop pay --lend act:* --agent {borrower}"));
    shell(&codex, "--session pay turn join");
    shell(&codex, "--session shop scroll down");
    shell(&codex, "--session pay session policy pay goneGraceMs=1000");
    assert_eq!(run(&world, ADA, "scroll down").code, 10, "the scope is lent");
    codex.kill();
    let mut shop = Value::Null;
    eventually("the child has stopped", || {
        shop = ok(&world, ADA, "session show shop");
        shop["children"]["sessions"][0]["state"] == "stopped"
    });
    assert_eq!(shop["children"]["sessions"][0]["session"], "pay", "its row stays: {shop}");
    ok(&world, ADA, "scroll down");
    let told = ok(&world, ADA, "events --after 0 --event child_state --target any");
    let last = told["events"].as_array().and_then(|events| events.last()).expect("an event");
    assert!(last["payload"]["evidence"]["lastSeq"].is_u64(), "{last}");
    assert!(ok(&world, ADA, "session show pay --evidence")["evidence"].is_object());
    assert_eq!(ok(&world, ADA, "log verify shop")["findings"], json!([]));
}

/// F30: the app of the lender ends with its daemon while the borrower works.
#[test]
fn loan_outlives_the_daemon_and_the_app_of_its_lender() {
    let world = World::new();
    open_to_take_turns_at_once(&world);
    ok(&world, ADA, "session spawn shop pay --lend act:* --agent codex:bob");
    ok(&world, BOB, "scroll down");
    world.signal("-KILL", world.pid().expect("a daemon"));
    let restored = ok(&world, ADA, "session restore shop");
    assert_eq!(restored["children"][0]["session"], "pay", "{restored}");
    let shop = ok(&world, ADA, "session show shop");
    assert_eq!(shop["children"]["sessions"][0]["state"], "active", "{shop}");
    assert_eq!(run(&world, ADA, "scroll down").code, 10, "the scope is still lent");
    ok(&world, BOB, "scroll down");
    ok(&world, ADA, "session stop pay");
    ok(&world, ADA, "scroll down");
    assert_eq!(run(&world, BOB, "scroll down").code, 10, "the turn is granted to only one of them");
    assert_eq!(ok(&world, ADA, "log verify shop")["findings"], json!([]));
}

/// F11, across processes.
#[test]
fn one_of_many_processes_that_claim_at_once_gets_each_turn() {
    let world = World::new();
    ok(&world, ADA, "open sim:shop");
    // An agent that asked earlier does not get the turn first merely because of that.
    ok(&world, ADA, "session policy shop waiterGraceMs=0");
    let first = ok(&world, ADA, "turn wait")["turnId"].as_u64().expect("a number");
    ok(&world, ADA, HAND_OVER);
    let agents: Vec<String> = (0..6).map(|n| format!("codex:a{n}")).collect();
    for round in 0..8 {
        let claims: Vec<Child> = agents
            .iter()
            .map(|agent| command(&world, agent, "turn try").stdout(Stdio::piped()).spawn().unwrap())
            .collect();
        let mut winners = Vec::new();
        for (agent, claim) in agents.iter().zip(claims) {
            let ran: Ran = claim.wait_with_output().unwrap().into();
            let reply = ran.json()["output"].take();
            match ran.code {
                0 => winners.push((agent, reply["turnId"].as_u64())),
                _ => {
                    assert_eq!((ran.code, &reply["status"]), (3, &json!("not_yet")), "round {round}: {ran:?}")
                }
            }
        }
        let [(winner, turn)] = winners[..] else { panic!("round {round}: {winners:?}") };
        assert_eq!(turn, Some(first + 1 + round), "round {round}");
        ok(&world, winner, HAND_OVER);
    }
}

/// F12 and F13, across processes: two agents take the turn of a third, which releases it meanwhile.
#[test]
fn one_of_several_processes_that_take_and_release_at_once_wins_the_turn() {
    let world = World::new();
    ok(&world, ADA, "open sim:shop");
    let agents = [ADA, BOB, "gemini:eve"];
    for agent in agents {
        ok(&world, agent, "turn join");
    }
    let turn_of = |output: &Value| output["turnId"].as_u64().expect("a number");
    for round in 0..6 {
        let turn = turn_of(&ok(&world, ADA, "turn take --operator-requested --reason begin"));
        let take = format!("turn take --operator-requested --reason now --turn {turn}");
        let release = format!("turn release --status 'round {round}' --next-action pay --turn {turn}");
        let begun = [(ADA, release), (BOB, take.clone()), (agents[2], take)].map(|(agent, line)| {
            let process =
                command(&world, agent, &line).stdout(Stdio::piped()).spawn().expect("the binary runs");
            (agent, process)
        });
        let ended = begun.map(|(agent, process)| {
            let ran: Ran = process.wait_with_output().expect("it ends").into();
            (agent, ran.code, ran.json())
        });
        let owners: Vec<_> = ended[1..].iter().filter(|(_, code, _)| *code == 0).collect();
        let released = ended[0].1 == 0;
        // A request that loses is refused, because its turn is over.
        for (agent, code, answer) in &ended {
            let why = &answer["error"]["code"];
            let is_refusal =
                ["TURN_MISMATCH", "STALE_LEASE", "NOT_YOUR_TURN"].iter().any(|known| why == known);
            assert!(*code == 0 || is_refusal, "round {round}: {agent}: {answer}");
        }
        assert!(owners.len() <= 1, "round {round}: {ended:?}");
        assert!(released || owners.len() == 1, "round {round}: somebody won: {ended:?}");
        let state = ok(&world, ADA, "turn state");
        match owners[..] {
            [(agent, _, answer)] => {
                assert_eq!(state["owner"], **agent, "round {round}: {state}");
                assert!(turn_of(&answer["output"]) > turn, "round {round}: {answer}");
            }
            _ => assert_ne!(state["state"], "owned", "round {round}: {state}"),
        }
    }
    assert_eq!(ok(&world, ADA, "log verify shop")["findings"], json!([]));
}

/// In a separate process namespace: an agent takes the turn, its harness is killed, another program
/// gets the process id of the harness, and another agent waits for the turn.
const REUSED_ID: &str = r#"
    cat > "$HOME/codex.sh" <<'END'
        export CODEX_THREAD_ID=t1
        "$BIN" --session shop open sim:shop && "$BIN" --session shop turn wait \
            && "$BIN" --session shop session policy shop goneGraceMs=1000 && : > "$HOME/held"
        : > "$HOME/tried"
        while :; do read -r line < "$HOME/never"; done
END
    mkfifo "$HOME/never"
    (exec -a codex bash "$HOME/codex.sh") > "$HOME/out" 2>&1 & harness=$!
    until [ -e "$HOME/tried" ]; do sleep 0.02; done
    [ -e "$HOME/held" ] || { cat "$HOME/out"; exit 91; }
    { kill -9 $harness; wait $harness; } 2> "$HOME/killed"
    other=0
    for attempt in 1 2 3 4 5 6 7 8 9; do
        echo $((harness - 1)) > /proc/sys/kernel/ns_last_pid
        sleep 600 & other=$!
        [ $other = $harness ] && break
    done
    [ $other = $harness ] || exit 92
    STICKPIN_AGENT_ID=codex:bob "$BIN" --session shop turn wait --timeout 15000 --no-events --json
    kill -0 $harness || exit 93
    "$BIN" daemon stop --force > "$HOME/stopped"
"#;

/// F41.
#[test]
fn program_with_the_process_id_of_a_killed_harness_holds_no_turn() {
    let namespaces = &["--pid", "--fork", "--mount-proc"];
    let program = |words: &[&str]| support::unshared(&[&namespaces[..], words].concat());
    if !program(&["true"]).status().is_ok_and(|ran| ran.success()) {
        skipped("STICKPIN_REQUIRE_MOUNTS", "there are no process namespaces here");
        return;
    }
    let world = World::new();
    let first = world.command(&[]);
    let mut command = program(&["bash", "-c", REUSED_ID]);
    command.env_clear().envs(first.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("BIN", first.get_program()).current_dir(world.path()).stdin(Stdio::null());
    let ran = Ran::from(command.output().expect("unshare runs"));
    assert_eq!(ran.code, 0, "{ran:?}");
    let granted = ran.json()["output"].take();
    assert_eq!(
        (&granted["status"], &granted["reason"]),
        (&json!("your_turn"), &json!("after_surrender")),
        "{granted}"
    );
}
