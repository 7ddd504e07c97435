//! Faults of the disk, as sessions in use see them.

use crate::support::{World, act, agent, press, start};
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Duration;
use stickpin_coordinator::{ListedState, Participant, Spawn, Start, WaitOptions};
use stickpin_device::{Error, ErrorCode};
use stickpin_session::log::StartReason;
use stickpin_session::turn::{
    BaseScope, ChildState, Constraint, LoanState, MemberKind, ScopeRule, TargetSelector, Verb,
};
use tokio_util::sync::CancellationToken;

/// Fault 23: the refused command leaves no trace, and records that end something need only the
/// turn.
#[tokio::test(start_paused = true)]
async fn command_that_cannot_be_logged_is_refused_before_the_device() {
    let world = World::new();
    let ada = agent("ada", 1);
    let shop = world.open(&ada);
    act(&shop, &ada).await.unwrap();
    let before = shop.meta();
    world.files.set_full(true);
    assert_eq!(act(&shop, &ada).await, Err(ErrorCode::StorageFull));
    assert_eq!(shop.meta().applied_seq, before.applied_seq);
    assert_eq!(shop.meta().open_commands, []);
    world.files.set_full(false);
    act(&shop, &ada).await.unwrap();
    assert_eq!(world.coordinator.verify("shop").unwrap().findings, []);
}

/// Fault 24: the command had its effect, and no other command acts before its end is in the log.
#[tokio::test(start_paused = true)]
async fn end_that_cannot_be_logged_stops_commands_until_it_is() {
    let world = World::new();
    let ada = agent("ada", 1);
    let shop = world.open(&ada);
    let cancel = CancellationToken::new();
    let admission = shop.admit(&ada, None, Duration::ZERO, &cancel).await.unwrap();
    let ticket = shop.begin(&ada, Some(admission), press(), &cancel).unwrap();
    world.files.set_full(true);
    let e = shop.end(ticket, None, Some(1), None).unwrap_err();
    assert_eq!(e.code, ErrorCode::StorageFull);
    assert_eq!(act(&shop, &ada).await, Err(ErrorCode::LogReadonly));
    assert_eq!(shop.meta().open_commands.len(), 1);
    world.files.set_full(false);
    act(&shop, &ada).await.unwrap();
    assert_eq!(shop.meta().open_commands, []);
    let verified = world.coordinator.verify("shop").unwrap();
    assert_eq!((verified.findings, verified.summary.open_commands), (Vec::new(), 0));
}

/// Fault 24: if the host ends before there is space again, the command counts as interrupted.
#[tokio::test(start_paused = true)]
async fn end_that_was_never_logged_is_interrupted_by_the_next_host() {
    let mut world = World::new();
    let ada = agent("ada", 1);
    let shop = world.open(&ada);
    let cancel = CancellationToken::new();
    let admission = shop.admit(&ada, None, Duration::ZERO, &cancel).await.unwrap();
    let ticket = shop.begin(&ada, Some(admission), press(), &cancel).unwrap();
    world.files.set_full(true);
    shop.end(ticket, None, Some(1), None).unwrap_err();
    world.files.set_full(false);
    world.restart();
    let shop = world.coordinator.session("shop").unwrap();
    assert_eq!(shop.meta().open_commands, []);
    act(&shop, &ada).await.unwrap();
    let log = std::fs::read_to_string(world.folder.path().join("sessions/shop/log/000001.jsonl")).unwrap();
    assert_eq!(log.matches("\"outcome\":\"interrupted\"").count(), 1, "{log}");
}

/// Fault 27: a session in use survives the loss of its metadata, which is restored from memory.
#[tokio::test(start_paused = true)]
async fn session_in_use_outlives_its_metadata() {
    let world = World::new();
    let ada = agent("ada", 1);
    let person = Participant { kind: MemberKind::Human, ..ada.clone() };
    let shop = world.open(&ada);
    let turn = shop.meta().turn;
    let folder = world.folder.path().join("sessions/shop");
    for file in ["meta.json", "meta.prev.json"] {
        std::fs::remove_file(folder.join(file)).unwrap();
    }
    let open = BTreeSet::from(["shop".to_owned()]);
    let listed = world.coordinator.list(Some(&ada), &open, false).unwrap().sessions;
    assert_eq!(listed.iter().map(|listed| listed.state).collect::<Vec<_>>(), [ListedState::Live]);
    act(&shop, &ada).await.unwrap();
    world.coordinator.adopt("shop", &person).unwrap();
    assert!(folder.join("meta.json").exists());
    assert_eq!(shop.meta().turn.turn_id, turn.turn_id, "the turn goes on");
}

/// Faults 16 and 17: the wall clock is set, or the machine sleeps, which the monotonic clock does
/// not count. Deadlines and the order of records do not change.
#[tokio::test(start_paused = true)]
async fn jumps_of_the_wall_clock_change_no_owner() {
    const HOUR: i64 = 3_600_000;
    let mut world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let shop = world.open(&ada);
    shop.join(&bob, false, None).unwrap();
    let cancel = CancellationToken::new();
    shop.wait(&ada, WaitOptions::default(), &cancel).await.unwrap();
    let before = shop.meta().turn;
    for ahead in [HOUR, -HOUR, 8 * HOUR] {
        world.wall_ahead.store(ahead, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert_eq!(act(&shop, &bob).await, Err(ErrorCode::NotYourTurn), "{ahead}");
        act(&shop, &ada).await.unwrap();
        let turn = shop.meta().turn;
        assert_eq!((turn.turn_id, &turn.owner), (before.turn_id, &before.owner), "{ahead}");
        assert_eq!(turn.lease_id, before.lease_id, "{ahead}");
    }
    assert_eq!(world.coordinator.verify("shop").unwrap().findings, []);
    world.restart();
    let turn = world.coordinator.session("shop").unwrap().meta().turn;
    assert_eq!((turn.turn_id, turn.owner), (before.turn_id, before.owner));
}

/// Opens a session that denies a bank, lends a shop to a child, which acts, and stops the child.
async fn lend_and_take_back(world: &World, ada: &Participant, bob: &Participant) -> Result<(), ErrorCode> {
    let everywhere = start("shop");
    let at = |origin: &str| Constraint { origins: Some([origin.to_owned()].into()), ..Constraint::default() };
    let bank = ScopeRule {
        verbs: [Verb::Act].into(),
        target: TargetSelector::Any,
        constraint: Some(at("https://bank.test")),
    };
    let base_scope = BaseScope { deny: vec![bank], ..everywhere.base_scope };
    let start = Start { base_scope, ..everywhere };
    let coordinator = &world.coordinator;
    let code = |e: Error| e.code;
    let shop = coordinator.begin_lifetime("shop", start, StartReason::Open, Some(ada)).map_err(code)?;
    let rules = vec!["act:*,origins=https://shop.test".to_owned()];
    let spawn = Spawn { rules, agent: Some(bob.agent.clone()), ttl: None };
    coordinator.loans().spawn("shop", "pay", ada, spawn).await.map_err(code)?;
    act(&shop, bob).await?;
    coordinator.loans().stop_child("pay", ada).await.map_err(code).map(drop)
}

/// Acceptance test 8: wherever the host is killed, at most one session may act in the shop, and
/// none in the bank.
#[tokio::test(start_paused = true)]
async fn denials_and_loans_hold_wherever_the_host_is_killed() {
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let whole = World::new();
    whole.files.stop_after(u64::MAX);
    lend_and_take_back(&whole, &ada, &bob).await.unwrap();
    let operations = whole.files.stop_after(u64::MAX);
    assert!(operations > 60, "{operations}");
    let mut seen = BTreeSet::new();
    for stop in 0..operations {
        let mut world = World::new();
        world.files.stop_after(stop);
        // The last operations store metadata that is already in the log.
        let lent = lend_and_take_back(&world, &ada, &bob).await;
        assert!(lent.is_err() || operations - stop < 8, "{stop} of {operations}: {lent:?}");
        world.files.stop_after(u64::MAX);
        world.restart();
        let Ok(shop) = world.coordinator.session("shop") else { continue };
        if shop.meta().active.is_none() {
            continue;
        }
        let may = |who: &Participant, address: &str| {
            world.coordinator.loans().permit(&shop, who, Some(address)).is_ok()
        };
        let loans: Vec<_> = shop.meta().loans.iter().map(|loan| loan.state).collect();
        let of_shop = (may(&ada, "https://shop.test/"), may(&bob, "https://shop.test/"));
        match *loans {
            [] => assert!(of_shop.0, "{stop}: nothing is lent"),
            [LoanState::Active] => assert_eq!(of_shop, (false, true), "{stop}"),
            _ => panic!("{stop}: a loan is changing hands: {loans:?}"),
        }
        assert!(!may(&ada, "https://bank.test/") && !may(&bob, "https://bank.test/"), "{stop}: {loans:?}");
        assert_eq!(world.coordinator.verify("shop").unwrap().findings, [], "{stop}");
        let row = shop.meta().children.into_iter().find(|child| child.session == "pay");
        let state = row.map(|row| row.state);
        // A spawn that did not finish leaves no session.
        let exists = world.coordinator.exists("pay");
        match state {
            Some(ChildState::Active) => assert!(exists && loans.len() == 1, "{stop}: {loans:?}"),
            Some(ChildState::Stopped) => assert!(exists && loans.is_empty(), "{stop}: {loans:?}"),
            None | Some(ChildState::Pruned) => assert!(!exists && loans.is_empty(), "{stop}: {loans:?}"),
            Some(ChildState::Pending) => panic!("{stop}: neither finished nor undone"),
        }
        if exists {
            world.coordinator.loans().stop_child("pay", &ada).await.unwrap();
        }
        seen.insert(format!("{state:?}"));
        assert!(may(&ada, "https://shop.test/") && !may(&ada, "https://bank.test/"), "{stop}");
    }
    let all = ["None", "Some(Active)", "Some(Pruned)", "Some(Stopped)"].map(str::to_owned);
    assert_eq!(seen, all.into());
}

/// Fault 31: the child never began, and its name was free for another session.
#[tokio::test(start_paused = true)]
async fn incomplete_spawn_leaves_the_session_that_took_the_name_of_its_child_alone() {
    let (ada, bob, eve) = (agent("ada", 1), agent("bob", 2), agent("eve", 3));
    let mut undone = 0;
    for stop in 0..u64::MAX {
        let mut world = World::new();
        world.files.stop_after(stop);
        let lent = lend_and_take_back(&world, &ada, &bob).await;
        world.files.stop_after(u64::MAX);
        world.restart();
        if lent.is_ok() || world.coordinator.exists("pay") {
            break;
        }
        let begins = Start { base_scope: BaseScope::default(), ..start("pay") };
        world.coordinator.begin_lifetime("pay", begins, StartReason::Open, Some(&eve)).unwrap();
        let Ok(shop) = world.coordinator.session("shop") else { continue };
        undone += shop.meta().reclaimed.iter().filter(|loan| loan.reason == "spawn_incomplete").count();
        assert_eq!(shop.meta().loans, [], "{stop}");
        let pay = world.coordinator.session("pay").unwrap().meta();
        assert_eq!((pay.parent, pay.members.len()), (None, 1), "{stop}");
    }
    assert!(undone > 0);
}
