//! Limits of a session, and operations on its files that only a person may perform.

use crate::support::{Plain, World, act, agent, handoff, press};
use std::collections::BTreeSet;
use std::time::Duration;
use stickpin_coordinator::{ListedState, Participant, Spawn, WaitOptions, connect};
use stickpin_device::{Error, ErrorCode};
use stickpin_session::log::StartReason;
use stickpin_session::turn::{ImplicitTurns, MemberKind, TurnPhase};
use tokio_util::sync::CancellationToken;

fn changes(text: &str) -> Vec<(String, String)> {
    let pair = |part: &str| part.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()));
    text.split(' ').filter_map(pair).collect()
}

#[tokio::test(start_paused = true)]
async fn limits_are_changed_by_the_holder_and_survive_the_host() {
    let mut world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    world.open(&ada);
    let coordinator = world.coordinator.clone();
    let set = |who: &Participant, text: &str| {
        coordinator.set_policy("shop", who, &changes(text)).map_err(|e: Error| e.code)
    };
    let policy = set(&ada, "leaseTtlMs=60000 renew-ms=5000 implicit_turns=never").unwrap();
    assert_eq!((policy.lease_ttl_ms, policy.renew_ms), (60_000, 5_000));
    assert_eq!(policy.implicit_turns, ImplicitTurns::Never);
    assert_eq!(set(&bob, "claimTtlMs=9000"), Err(ErrorCode::NotYourTurn));
    for bad in ["x=1", "leaseTtlMs=10", "renewMs=60000", "implicitTurns=often", "claimTtlMs=soon"] {
        assert_eq!(set(&ada, bad), Err(ErrorCode::InvalidArgs), "{bad}");
    }
    world.restart();
    assert_eq!(world.coordinator.session("shop").unwrap().meta().policy, policy);
}

/// While no agent holds the turn, only an agent that is the only driver may set limits.
#[tokio::test(start_paused = true)]
async fn limits_of_an_idle_session_are_set_by_its_only_driver() {
    let world = World::new();
    let (ada, bob, eve) = (agent("ada", 1), agent("bob", 2), agent("eve", 3));
    let person = Participant { kind: MemberKind::Human, ..agent("mia", 4) };
    let shop = world.open(&ada);
    let set = |who: &Participant| {
        let limits = changes("drainMs=5000 deny+=act:*");
        world.coordinator.set_policy("shop", who, &limits).map(drop).map_err(|e: Error| e.code)
    };
    let release = async || {
        let options = WaitOptions { timeout: Some(Duration::ZERO), ..WaitOptions::default() };
        shop.wait(&ada, options, &CancellationToken::new()).await.unwrap();
        shop.release(&ada, None, handoff(), &Plain).unwrap();
        shop.meta().turn.reserved_for
    };
    assert_eq!(release().await, None);
    assert_eq!(set(&ada), Ok(()), "nobody else drives");
    assert_eq!(set(&eve), Err(ErrorCode::UnknownMember));
    shop.join(&eve, true, None).unwrap();
    assert_eq!((set(&ada), set(&eve)), (Ok(()), Err(ErrorCode::StaleLease)), "an observer never drives");
    shop.join(&bob, false, None).unwrap();
    for who in [&ada, &bob] {
        assert_eq!(set(who), Err(ErrorCode::StaleLease));
    }
    let options = WaitOptions { timeout: Some(Duration::ZERO), ..WaitOptions::default() };
    shop.wait(&bob, options, &CancellationToken::new()).await.unwrap();
    shop.assign(&bob, ada.agent.as_str(), None, handoff(), false, &Plain).unwrap();
    assert_eq!((set(&bob), set(&person)), (Err(ErrorCode::NotYourTurn), Ok(())), "ada has it reserved");
}

/// The rules hold at once, including for sessions that borrow from this one.
#[tokio::test(start_paused = true)]
async fn denials_are_set_by_the_holder_and_removed_by_a_person() {
    let mut world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let person = Participant { kind: MemberKind::Human, ..agent("eve", 3) };
    let shop = world.open(&ada);
    let rules = vec!["act:*,origins=https://shop.test,origins=https://bank.test".to_owned()];
    let spawn = Spawn { rules, agent: Some(bob.agent.clone()), ttl: None };
    world.coordinator.loans().spawn("shop", "pay", &ada, spawn).await.unwrap();
    let bank = "deny+=act:*,origins=https://bank.test";
    let set = |world: &World, who: &Participant, text: &str| {
        world.coordinator.set_policy("shop", who, &changes(text)).map(drop).map_err(|e: Error| e.code)
    };
    assert_eq!(set(&world, &bob, bank), Err(ErrorCode::NotYourTurn));
    set(&world, &ada, bank).unwrap();
    set(&world, &ada, bank).unwrap();
    let refused = |world: &World, who: &Participant| {
        let shop = world.coordinator.session("shop").unwrap();
        world.coordinator.loans().permit(&shop, who, Some("https://bank.test/pay")).unwrap_err().details
    };
    let denials = |world: &World| world.coordinator.meta("shop").unwrap().0.base_scope.deny;
    let rule = "act:*,origins=https://bank.test";
    for who in [&ada, &bob] {
        let details = refused(&world, who);
        assert_eq!((&details["rule"], &details["deniedBy"]), (&rule.into(), &"shop".into()), "{details}");
    }
    world.coordinator.loans().permit(&shop, &bob, Some("https://shop.test/")).unwrap();
    world.restart();
    assert_eq!(refused(&world, &bob)["rule"], rule);
    assert_eq!(denials(&world).len(), 1);
    for (who, text, code) in [
        (&ada, "deny-=act:*,origins=https://bank.test", ErrorCode::ScopeDenied),
        (&person, "deny-=act:*", ErrorCode::InvalidArgs),
        (&person, "deny+=act", ErrorCode::InvalidArgs),
        (&person, "deny+=observe:*", ErrorCode::InvalidArgs),
    ] {
        assert_eq!(set(&world, who, text), Err(code), "{text}");
    }
    set(&world, &person, "deny-=act:*,origins=https://bank.test leaseTtlMs=70000").unwrap();
    assert_eq!(denials(&world), []);
    assert_eq!(world.coordinator.policy("shop").lease_ttl_ms, 70_000);
    let findings = world.coordinator.verify("shop").unwrap().findings;
    assert!(findings.is_empty(), "{findings:?}");
}

/// Fault 27: never automatically, and not by an agent.
#[tokio::test(start_paused = true)]
async fn removed_metadata_is_adopted_by_a_person() {
    let mut world = World::new();
    let ada = agent("ada", 1);
    let person = Participant { kind: MemberKind::Human, ..ada.clone() };
    let turn = world.open(&ada).meta().turn.turn_id;
    world.restart();
    for file in ["meta.json", "meta.prev.json"] {
        std::fs::remove_file(world.folder.path().join("sessions/shop").join(file)).unwrap();
    }
    let code = |e: Error| e.code;
    assert_eq!(world.coordinator.session("shop").map_err(code).err(), Some(ErrorCode::SessionNotFound));
    assert_eq!(world.coordinator.adopt("shop", &ada).map_err(code), Err(ErrorCode::ScopeDenied));
    world.coordinator.adopt("shop", &person).unwrap();
    let shop = world.coordinator.session("shop").unwrap();
    assert_eq!((shop.meta().turn.state, shop.meta().turn.turn_id), (TurnPhase::Idle, turn + 1));
    act(&shop, &ada).await.unwrap();
    assert_eq!(world.coordinator.adopt("shop", &person).map_err(code), Err(ErrorCode::SessionExists));
}

#[tokio::test(start_paused = true)]
async fn a_damaged_line_is_given_up_by_a_person() {
    let mut world = World::new();
    let ada = agent("ada", 1);
    let person = Participant { kind: MemberKind::Human, ..ada.clone() };
    act(&world.open(&ada), &ada).await.unwrap();
    world.restart();
    let log = world.folder.path().join("sessions/shop/log/000001.jsonl");
    let text = std::fs::read_to_string(&log).unwrap();
    let lines = text.lines().count();
    let damaged: Vec<_> = text.lines().enumerate().map(|(n, line)| if n == 1 { "{" } else { line }).collect();
    std::fs::write(&log, damaged.join("\n") + "\n").unwrap();
    let code = |e: Error| e.code;
    let listed = || world.coordinator.listed("shop", None, &BTreeSet::new());
    assert_eq!(listed().state, ListedState::Restorable, "a list reads no log");
    assert_eq!(world.coordinator.verify("shop").map_err(code).err(), Some(ErrorCode::LogCorrupt));
    let found = listed();
    assert_eq!((found.state, found.diagnostics), (ListedState::Corrupt, vec!["LOG_CORRUPT".to_owned()]));
    assert!(!found.restore.unwrap().possible);
    assert_eq!(world.coordinator.repair("shop", 2, &ada).map_err(code).err(), Some(ErrorCode::ScopeDenied));
    assert_eq!(
        world.coordinator.repair("shop", 1, &person).map_err(code).err(),
        Some(ErrorCode::InvalidArgs)
    );
    assert_eq!(world.coordinator.repair("shop", 2, &person).unwrap().stubs, 1);
    assert_eq!(listed().state, ListedState::Restorable);
    assert_eq!(world.coordinator.verify("shop").unwrap().summary.records, lines as u64);
}

/// Fault 10 in a session that is in use: a reader finds the damage, and the writer stops.
#[tokio::test(start_paused = true)]
async fn session_in_use_stops_at_damage_and_goes_on_when_a_person_repairs_it() {
    let mut world = World::new();
    let ada = agent("ada", 1);
    let person = Participant { kind: MemberKind::Human, ..ada.clone() };
    act(&world.open(&ada), &ada).await.unwrap();
    world.restart();
    let shop = world.coordinator.session("shop").unwrap();
    let log = world.folder.path().join("sessions/shop/log/000001.jsonl");
    let mut bytes = std::fs::read(&log).unwrap();
    let second = bytes.iter().position(|b| *b == b'\n').unwrap() + 1;
    bytes[second] = b'?';
    std::fs::write(&log, bytes).unwrap();
    act(&shop, &ada).await.unwrap();
    // A reader that starts at the beginning finds the damage.
    let code = |e: Error| e.code;
    assert_eq!(shop.records_after(0, 9).map_err(code).err(), Some(ErrorCode::LogCorrupt));
    assert_eq!(act(&shop, &ada).await, Err(ErrorCode::LogCorrupt));
    let cancel = CancellationToken::new();
    let refused = shop.admit(&ada, None, Duration::ZERO, &cancel).await;
    let refused = match refused {
        Ok(admission) => shop.begin(&ada, Some(admission), press(), &cancel).map(drop).unwrap_err(),
        Err(e) => e,
    };
    assert!(refused.hint.contains("`stickpin log repair shop --at-line 2 --quarantine`"), "{refused:?}");
    let listed = world.coordinator.listed("shop", None, &BTreeSet::new());
    assert_eq!((listed.state, listed.diagnostics), (ListedState::Corrupt, vec!["LOG_CORRUPT".to_owned()]));
    assert_eq!(world.coordinator.repair("shop", 2, &person).unwrap().stubs, 1);
    act(&shop, &ada).await.unwrap();
    assert!(world.coordinator.verify("shop").is_ok());
}

/// Fault 10 in an older segment, without which the session could be loaded and written to.
#[tokio::test(start_paused = true)]
async fn nothing_is_written_to_a_log_with_known_damage() {
    let mut world = World::new();
    let ada = agent("ada", 1);
    let person = Participant { kind: MemberKind::Human, ..ada.clone() };
    act(&world.open(&ada), &ada).await.unwrap();
    world.restart();
    world.begin("shop", StartReason::Restore, &ada);
    world.restart();
    let folder = world.folder.path().join("sessions/shop");
    let log = folder.join("log/000001.jsonl");
    let mut bytes = std::fs::read(&log).unwrap();
    let second = bytes.iter().position(|b| *b == b'\n').unwrap() + 1;
    let intact = std::mem::replace(&mut bytes[second], b'?');
    std::fs::write(&log, &bytes).unwrap();
    let content = || -> Vec<Vec<u8>> {
        let files = ["log/000001.jsonl", "log/000002.jsonl", "meta.json"];
        files.iter().map(|file| std::fs::read(folder.join(file)).unwrap()).collect()
    };
    let before = content();
    let code = |e: Error| e.code;
    assert_eq!(world.coordinator.verify("shop").map_err(code).err(), Some(ErrorCode::LogCorrupt));
    assert_eq!(world.coordinator.session("shop").map_err(code).err(), Some(ErrorCode::LogCorrupt));
    let listed = world.coordinator.listed("shop", None, &BTreeSet::new());
    assert_eq!(listed.state, ListedState::Corrupt);
    assert_eq!(content(), before);
    // A person may also repair the log by hand.
    bytes[second] = intact;
    std::fs::write(&log, &bytes).unwrap();
    let shop = world.coordinator.session("shop").unwrap();
    act(&shop, &ada).await.unwrap();
    bytes[second] = b'?';
    std::fs::write(&log, &bytes).unwrap();
    assert_eq!(world.coordinator.verify("shop").map_err(code).err(), Some(ErrorCode::LogCorrupt));
    assert_eq!(act(&shop, &ada).await, Err(ErrorCode::LogCorrupt), "it is loaded now");
    assert_eq!(world.coordinator.repair("shop", 2, &person).unwrap().stubs, 1);
    act(&shop, &ada).await.unwrap();
}

/// Besides its metadata, opening a session reads the records of at most five seconds.
#[tokio::test(start_paused = true)]
async fn metadata_follows_the_log_within_five_seconds() {
    let world = World::new();
    let ada = agent("ada", 1);
    let shop = world.open(&ada);
    act(&shop, &ada).await.unwrap();
    let stored = || world.coordinator.store().meta("shop").unwrap().0.applied_seq;
    assert!(stored() < shop.meta().applied_seq);
    tokio::time::sleep(Duration::from_millis(5_001)).await;
    assert_eq!(stored(), shop.meta().applied_seq);
}

#[tokio::test(start_paused = true)]
async fn members_that_disappeared_leave_after_their_presence_time() {
    let world = World::new();
    let (ada, bob, cid) = (agent("ada", 1), agent("bob", 2), agent("cid", 3));
    let person = Participant { kind: MemberKind::Human, anchor: None, ..agent("person", 4) };
    let console = |name| Participant { kind: MemberKind::Console, anchor: None, ..agent(name, 5) };
    let (killed, connected) = (console("killed"), console("connected"));
    let shop = world.open(&ada);
    let options = WaitOptions { timeout: Some(Duration::ZERO), ..WaitOptions::default() };
    shop.wait(&ada, options, &CancellationToken::new()).await.unwrap();
    world.coordinator.confirm_delivery(&ada.agent);
    for who in [&bob, &cid, &person, &killed, &connected] {
        shop.join(who, false, None).unwrap();
    }
    let _connection = connect(&world.coordinator, connected.agent.clone());
    world.ended.lock().unwrap().insert(2);
    let members = || -> Vec<_> { shop.meta().members.into_iter().map(|m| m.agent_id).collect() };
    tokio::time::sleep(Duration::from_secs(4 * 3_600 - 60)).await;
    assert_eq!(members().len(), 6);
    tokio::time::sleep(Duration::from_secs(180)).await;
    let stay = [ada.agent.clone(), cid.agent, person.agent, connected.agent];
    assert_eq!(members(), stay, "the harness of bob and one console ended");
    assert!(world.coordinator.verify("shop").unwrap().findings.is_empty());
    // A member that comes back is a member again.
    shop.join(&bob, false, None).unwrap();
    assert!(members().contains(&bob.agent));
}

#[tokio::test(start_paused = true)]
async fn row_of_a_pruned_child_leaves_after_a_week() {
    let world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let shop = world.open(&ada);
    let spawn = Spawn { rules: vec!["act:*".into()], agent: Some(bob.agent.clone()), ttl: None };
    world.coordinator.loans().spawn("shop", "pay", &ada, spawn).await.unwrap();
    world.coordinator.loans().stop_child("pay", &ada).await.unwrap();
    world.coordinator.loans().prune("shop", &ada).await.unwrap();
    let rows = || shop.meta().children.len();
    let days = |days: i64| {
        world.wall_ahead.store(days * 86_400_000, std::sync::atomic::Ordering::Relaxed);
        // The guardian runs after each change of the members.
        shop.join(&bob, false, None).unwrap();
        shop.leave(&bob).unwrap();
        tokio::time::sleep(Duration::from_millis(1))
    };
    days(6).await;
    assert_eq!(rows(), 1, "it stays visible");
    days(8).await;
    assert_eq!(rows(), 0);
}
