//! Loans and peers between processes: agents are child processes that name themselves.

use crate::support::{Ran, World, words};

fn run(world: &World, agent: &str, line: &str) -> Ran {
    world.command(&words(line)).env("STICKPIN_AGENT_ID", agent).output().unwrap().into()
}

#[track_caller]
fn ok(world: &World, agent: &str, line: &str) -> String {
    let ran = run(world, agent, line);
    assert_eq!(ran.code, 0, "{agent} {line}: {ran:?}");
    ran.out
}

const ADA: &str = "claude:ada";
const BOB: &str = "codex:bob";

#[test]
fn who_lends_a_device_cannot_act_until_it_comes_back() {
    let world = World::new();
    ok(&world, ADA, "--session shop open sim:shop?clock=virtual");
    ok(&world, ADA, "--session shop scroll down");
    let spawned = ok(&world, ADA, "session spawn shop pay --lend act:* --agent codex:bob");
    assert!(spawned.contains("--session shop"), "{spawned}");
    let refused = run(&world, ADA, "--session shop scroll down");
    assert_eq!(refused.code, 10, "{refused:?}");
    assert!(
        refused.err.starts_with("SCOPE_DENIED: ") && refused.err.contains("session stop"),
        "{}",
        refused.err
    );
    ok(&world, ADA, "--session shop get title");
    ok(&world, BOB, "--session shop scroll down");
    // The child has no app of its own.
    let child = run(&world, BOB, "--session pay scroll down");
    assert!(child.code == 6 && child.err.contains("--session shop"), "{child:?}");
    let shown = ok(&world, ADA, "session show shop --json");
    assert!(shown.contains("\"children\":[{\"session\":\"pay\",\"state\":\"active\""), "{shown}");
    assert!(ok(&world, ADA, "session stop pay").contains("returned to shop"));
    ok(&world, ADA, "--session shop scroll down");
    assert_eq!(run(&world, BOB, "--session shop scroll down").code, 10);
    ok(&world, ADA, "session prune shop");
    ok(&world, BOB, "--session shop get title");
    assert!(ok(&world, ADA, "log verify shop").contains("follows all rules"));
}

#[test]
fn a_message_through_a_peer_lands_in_the_other_log() {
    let world = World::new();
    ok(&world, ADA, "--session shop open sim:shop");
    ok(&world, BOB, "--session mail open sim:feed");
    assert_eq!(run(&world, ADA, "session peer shop shop").code, 2);
    ok(&world, ADA, "session peer shop mail");
    ok(&world, ADA, "--session mail msg send room paid");
    let log = world.state_dir().join("sessions/mail/log/000001.jsonl");
    let text = std::fs::read_to_string(log).unwrap();
    assert!(text.contains("\"fromSession\":\"shop\""), "{text}");
    assert!(!ok(&world, BOB, "--session mail turn state").contains(ADA));
}

#[test]
fn limits_are_for_the_holder_and_repairs_for_a_person() {
    let world = World::new();
    ok(&world, ADA, "--session shop open sim:shop");
    assert!(ok(&world, ADA, "session policy shop drainMs=5000").contains("drainMs=5000"));
    assert_eq!(run(&world, BOB, "session policy shop drainMs=1000").code, 5);
    assert_eq!(run(&world, ADA, "session policy shop nothing=1").code, 2);
    assert_eq!(run(&world, ADA, "session adopt shop").code, 10);
    assert_eq!(run(&world, ADA, "log repair shop --at-line 1 --quarantine").code, 10);
    assert_eq!(run(&world, ADA, "log repair shop --at-line 1").code, 2);
}
