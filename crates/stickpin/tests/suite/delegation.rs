//! Loans and peers between processes: agents are child processes that declare their own ids.

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
fn command_that_may_not_act_takes_no_turn() {
    let world = World::new();
    ok(&world, ADA, "--session shop open sim:shop");
    ok(&world, ADA, "session spawn shop pay --lend act:* --agent codex:bob");
    ok(&world, ADA, "--session shop turn leave");
    let refused = run(&world, ADA, "--session shop scroll down");
    assert_eq!(refused.code, 10, "{refused:?}");
    let turn = ok(&world, ADA, "--session shop turn state --json");
    assert!(turn.contains("\"state\":\"idle\""), "{turn}");
}

#[test]
fn who_lends_a_device_cannot_act_until_it_comes_back() {
    let world = World::new();
    ok(&world, ADA, "--session shop open sim:shop?clock=virtual");
    // Nobody waits for the turn that an agent took by acting.
    ok(&world, ADA, "session policy shop implicitIdleMs=0");
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
    // The child has no app of its own, and opens none.
    let own = run(&world, BOB, "--session pay open sim:feed");
    assert!(own.code == 5 && own.err.starts_with("SESSION_EXISTS: "), "{own:?}");
    let child = run(&world, BOB, "--session pay scroll down");
    assert!(child.code == 6 && child.err.contains("--session shop"), "{child:?}");
    let shown = ok(&world, ADA, "session show shop --json");
    let children = r#""children":{"count":1,"reachable":1,"unreachable":0,"sessions":[{"session":"pay","state":"active""#;
    assert!(shown.contains(children) && shown.contains(r#""scopeDelegated":["act:*"]"#), "{shown}");
    let stopped = ok(&world, ADA, "session stop pay --json");
    assert!(stopped.contains(r#""effectiveParent":["observe","act","admin"]"#), "{stopped}");
    ok(&world, ADA, "--session shop scroll down");
    assert_eq!(run(&world, BOB, "--session shop scroll down").code, 10);
    let pruned = ok(&world, ADA, "session prune shop --json");
    assert!(pruned.contains(r#""effectiveParent":["observe","act","admin"]"#), "{pruned}");
    ok(&world, BOB, "--session shop get title");
    assert!(ok(&world, ADA, "log verify shop").contains("the log is valid"));
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

#[test]
fn turn_of_a_lent_device_goes_back_to_the_agent_that_lent_it() {
    let world = World::new();
    ok(&world, ADA, "--session shop open sim:shop?clock=virtual");
    ok(&world, ADA, "--session shop turn wait");
    ok(&world, ADA, "session spawn shop pay --lend act:* --agent codex:bob");
    ok(&world, ADA, "--session shop turn release --status 'cart filled' --next-action pay");
    ok(&world, BOB, "--session shop turn wait");
    ok(&world, BOB, "--session shop scroll down");
    ok(&world, ADA, "session stop pay");
    let state = ok(&world, ADA, "--session shop turn state --json");
    assert!(state.contains("\"reservedFor\":\"claude:ada\""), "{state}");
    let granted = ok(&world, ADA, "--session shop turn try --json");
    assert!(granted.contains("\"reason\":\"direct\"") && granted.contains("cart filled"), "{granted}");
    ok(&world, ADA, "--session shop scroll down");
    assert!(ok(&world, ADA, "log verify shop").contains("the log is valid"));
}

#[test]
fn agent_sees_its_sessions_their_children_and_their_peers() {
    let world = World::new();
    ok(&world, ADA, "--session shop open sim:shop");
    ok(&world, ADA, "session spawn shop pay --lend observe:*");
    ok(&world, BOB, "--session mail open sim:feed");
    let listed = |agent: &str, line: &str| -> Vec<(String, String)> {
        let ran = run(&world, agent, line);
        let sessions = ran.json()["output"]["sessions"].as_array().unwrap().clone();
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        sessions.iter().map(|s| (text(&s["name"]), text(&s["visibility"]))).collect()
    };
    let of = |name: &str, visibility: &str| (name.to_owned(), visibility.to_owned());
    assert_eq!(listed(ADA, "session list --json"), [of("shop", "self"), of("pay", "child")]);
    assert_eq!(listed(BOB, "session list --json"), [of("mail", "self")]);
    let refused = run(&world, BOB, "session show shop");
    assert!(refused.code == 6 && refused.err.starts_with("SESSION_NOT_VISIBLE: "), "{refused:?}");
    let unknown = run(&world, BOB, "session show none");
    assert!(unknown.code == 6 && unknown.err.starts_with("SESSION_NOT_FOUND: "), "{unknown:?}");
    // With --all, the other sessions with name, platform and turn.
    let all = run(&world, BOB, "session list --all --json").json()["output"]["sessions"].clone();
    let shop = all.as_array().unwrap().iter().find(|s| s["name"] == "shop").unwrap().clone();
    assert_eq!((&shop["visibility"], &shop["kind"]), (&"host".into(), &"sim".into()));
    assert_eq!((&shop["title"], &shop["children"]), (&"".into(), &serde_json::Value::Null), "{shop}");
    assert_eq!(shop["turn"]["owner"], ADA);

    ok(&world, BOB, "session peer mail shop");
    assert_eq!(listed(BOB, "session list --json"), [of("shop", "peer"), of("mail", "self")]);
    assert!(ok(&world, BOB, "session show shop").contains("Nordic Shop"));
    // A person sees all open sessions.
    let person = world.run(&["session", "list", "--json"]);
    assert!(person.out.contains("Nordic Shop"), "{person:?}");
}

#[test]
fn sessions_are_removed_for_a_person_only() {
    let world = World::new();
    ok(&world, ADA, "--session shop open sim:shop");
    ok(&world, ADA, "--session shop close");
    let refused = run(&world, ADA, "session gc --older 0");
    assert!(refused.code == 10 && refused.err.starts_with("SCOPE_DENIED: "), "{refused:?}");
    assert!(world.ok("session gc").contains("no session"), "the session ended less than a week ago");
    assert!(world.ok("session gc --older 0 --print").contains("shop"));
    assert!(ok(&world, ADA, "log migrate shop").contains("is already in the current format"));
    assert!(world.ok("session gc --older 0").starts_with("removed:"));
    assert!(!world.state_dir().join("sessions/shop").exists());
    assert_eq!(run(&world, ADA, "session show shop").code, 6);
}

#[test]
fn log_of_a_newer_version_is_not_migrated() {
    let world = World::new();
    ok(&world, ADA, "--session shop open sim:shop");
    ok(&world, ADA, "--session shop close");
    world.ok("daemon stop");
    let log = world.state_dir().join("sessions/shop/log/000001.jsonl");
    let line = "{\"crc\":\"e0dae66d\",\"v\":2,\"seq\":1}\n";
    std::fs::write(&log, line).unwrap();
    let refused = run(&world, ADA, "log migrate shop");
    assert!(refused.code == 9 && refused.err.starts_with("LOG_VERSION_UNSUPPORTED: "), "{refused:?}");
    assert_eq!(std::fs::read_to_string(&log).unwrap(), line);
}
