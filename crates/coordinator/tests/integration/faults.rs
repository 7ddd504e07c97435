//! Faults of the disk, as sessions in use see them.

use crate::support::{World, act, agent, press};
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Duration;
use stickpin_coordinator::{Ended, ListedState, Participant, WaitOptions};
use stickpin_device::ErrorCode;
use stickpin_session::turn::MemberKind;
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
    let admission = shop.admit(&ada, Duration::ZERO, &cancel).await.unwrap();
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
    let admission = shop.admit(&ada, Duration::ZERO, &cancel).await.unwrap();
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
