//! Faults of the disk, as sessions in use see them.

use crate::support::{World, act, agent, press, start};
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Duration;
use stickpin_coordinator::{Ended, ListedState, Participant, Spawn, Start, WaitOptions};
use stickpin_device::{Error, ErrorCode};
use stickpin_session::log::StartReason;
use stickpin_session::turn::{BaseScope, Constraint, LoanState, MemberKind, ScopeRule, TargetSelector, Verb};
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
    let Ended::NotPersisted(e) = shop.end(ticket, None, Some(1), None) else { panic!("it was written") };
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
    assert!(matches!(shop.end(ticket, None, Some(1), None), Ended::NotPersisted(_)));
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

/// Faults 16 and 17: the wall clock is set, or the machine sleeps, which its monotonic clock does
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

/// Acceptance test 8: wherever the host is killed, at most one session may act in the shop, and none
/// in the bank.
#[tokio::test(start_paused = true)]
async fn denials_and_loans_hold_wherever_the_host_is_killed() {
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let whole = World::new();
    whole.files.stop_after(u64::MAX);
    lend_and_take_back(&whole, &ada, &bob).await.unwrap();
    let operations = whole.files.stop_after(u64::MAX);
    assert!(operations > 60, "{operations}");
    let mut states = BTreeSet::new();
    for stop in (0..operations).step_by(3) {
        let mut world = World::new();
        world.files.stop_after(stop);
        lend_and_take_back(&world, &ada, &bob).await.unwrap_err();
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
            [LoanState::Active] => {
                // The host may have been killed before the child's first member joined.
                let pay = world.coordinator.meta("pay").unwrap().0;
                let joined = pay.members.iter().any(|member| member.agent_id == bob.agent);
                assert_eq!(of_shop, (false, joined), "{stop}");
            }
            [_] => assert_eq!(of_shop, (false, false), "{stop}: the loan is changing hands"),
            _ => panic!("{stop}: {loans:?}"),
        }
        states.insert(format!("{loans:?}"));
        assert!(!may(&ada, "https://bank.test/") && !may(&bob, "https://bank.test/"), "{stop}: {loans:?}");
        assert_eq!(world.coordinator.verify("shop").unwrap().findings, [], "{stop}");
        if shop.meta().children.iter().any(|child| child.session == "pay") {
            // A child that never began is no session.
            let stopped = world.coordinator.loans().stop_child("pay", &ada).await;
            assert!(stopped.is_ok() || loans.is_empty(), "{stop}: {stopped:?}");
        }
        assert!(may(&ada, "https://shop.test/") && !may(&ada, "https://bank.test/"), "{stop}");
    }
    assert!(states.len() >= 2, "{states:?}");
}
