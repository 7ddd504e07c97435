//! Sessions that are not open: listed by their metadata, and restored.

use crate::support::{World, act, agent};
use std::collections::BTreeSet;
use std::time::Duration;
use stickpin_coordinator::{ListedState, Participant, Spawn, Visibility, WaitOptions};
use stickpin_session::log::{CommandError, Redacted, StartReason, Status};
use stickpin_session::turn::{Label, TurnPhase};
use tokio_util::sync::CancellationToken;

fn listed(world: &World, who: &Participant, all: bool) -> Vec<(String, ListedState)> {
    let listing = world.coordinator.list(Some(who), &BTreeSet::new(), all).unwrap();
    listing.sessions.into_iter().map(|listed| (listed.name, listed.state)).collect()
}

#[tokio::test(start_paused = true)]
async fn a_list_has_what_the_caller_is_a_member_of_and_all_has_the_rest() {
    let mut world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    world.begin("hers", StartReason::Open, &ada);
    world.begin("his", StartReason::Open, &bob);
    world.begin("done", StartReason::Open, &ada);
    world.coordinator.close("done").await.unwrap();
    world.restart();
    assert_eq!(listed(&world, &ada, false), [("hers".to_owned(), ListedState::Restorable)]);
    let all = world.coordinator.list(Some(&ada), &BTreeSet::from(["his".to_owned()]), true).unwrap();
    let found: Vec<_> = all.sessions.iter().map(|s| (s.name.as_str(), s.state, s.visibility)).collect();
    assert_eq!(
        found,
        [
            ("done", ListedState::Stopped, Visibility::Own),
            ("hers", ListedState::Restorable, Visibility::Own),
            ("his", ListedState::Live, Visibility::Host),
        ]
    );
    let turn = all.sessions[1].turn.as_ref().unwrap();
    // Its owner is running, although it has made no request to this host.
    assert_eq!((turn.label, turn.owner.as_ref()), (Label::Owned, Some(&ada.agent)));
    world.ended.lock().unwrap().insert(2);
    let his = world.coordinator.listed("his", Some(&bob), &BTreeSet::new());
    assert_eq!(his.turn.map(|turn| turn.label), Some(Label::OwnerGone));
    assert!(all.sessions[1].restore.as_ref().unwrap().possible);
    assert_eq!(world.coordinator.list(Some(&ada), &BTreeSet::new(), false).unwrap().hidden.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_damaged_session_spoils_no_list() {
    let mut world = World::new();
    let ada = agent("ada", 1);
    for name in ["corrupt", "logless", "missing", "sound"] {
        world.begin(name, StartReason::Open, &ada);
    }
    world.restart();
    let sessions = world.folder.path().join("sessions");
    for file in ["meta.json", "meta.prev.json"] {
        std::fs::write(sessions.join("corrupt").join(file), "{").unwrap();
        std::fs::remove_file(sessions.join("missing").join(file)).unwrap();
    }
    std::fs::remove_dir_all(sessions.join("logless/log")).unwrap();
    let found = world.coordinator.list(Some(&ada), &BTreeSet::new(), true).unwrap().sessions;
    let states: Vec<_> = found.iter().map(|listed| (listed.name.as_str(), listed.state)).collect();
    assert_eq!(
        states,
        [
            ("corrupt", ListedState::Corrupt),
            ("logless", ListedState::Restorable),
            ("missing", ListedState::Missing),
            ("sound", ListedState::Restorable),
        ]
    );
    assert_eq!(found[0].diagnostics, ["META_CORRUPT"]);
    assert_eq!(found[1].diagnostics, ["LOG_MISSING"]);
    assert!(!found[0].restore.as_ref().unwrap().possible);
}

/// Fault 28: removed records cannot be replayed, and the session continues in a new segment.
#[tokio::test(start_paused = true)]
async fn a_session_without_its_log_is_restored_in_a_new_segment() {
    let mut world = World::new();
    let ada = agent("ada", 1);
    world.begin("shop", StartReason::Open, &ada);
    world.restart();
    std::fs::remove_dir_all(world.folder.path().join("sessions/shop/log")).unwrap();
    let shop = world.begin("shop", StartReason::Restore, &ada);
    assert_eq!((shop.meta().lifetime, shop.meta().active.unwrap().segment), (2, 2));
    act(&shop, &ada).await.unwrap();
}

/// Fault 18: a host that starts has no device of the previous one.
#[tokio::test(start_paused = true)]
async fn session_whose_device_ended_with_its_host_is_interrupted_until_it_is_restored() {
    let mut world = World::new();
    let ada = agent("ada", 1);
    let shop = world.open(&ada);
    let spawn = Spawn { rules: vec!["observe:*".to_owned()], ..Spawn::default() };
    world.coordinator.loans().spawn("shop", "watch", &ada, spawn).await.unwrap();
    shop.wait(&ada, WaitOptions::default(), &CancellationToken::new()).await.unwrap();
    world.begin("idle", StartReason::Open, &ada);
    world.begin("closed", StartReason::Open, &ada);
    world.coordinator.close("closed").await.unwrap();
    // What the files contain, without any session in memory.
    let stored = |world: &World, name: &str| world.coordinator.store().meta(name).unwrap().0.status;
    let all = |world: &World| ["shop", "watch", "idle", "closed"].map(|name| stored(world, name));
    use Status::{Closed, Interrupted, Open};
    assert_eq!(all(&world), [Open, Open, Open, Closed]);
    for _ in 0..2 {
        world.restart();
        world.guard();
        stickpin_coordinator::resume(&world.coordinator).unwrap();
        // Its metadata follows within five seconds.
        tokio::time::sleep(Duration::from_secs(6)).await;
        assert_eq!(all(&world), [Interrupted, Open, Interrupted, Closed], "a child has no device");
    }
    let shop = world.coordinator.session("shop").unwrap();
    assert_eq!(shop.meta().turn.owner, Some(ada.agent.clone()), "its turn stays");
    assert_eq!(listed(&world, &ada, false)[1], ("shop".to_owned(), ListedState::Restorable));

    let before = shop.meta();
    world.begin("shop", StartReason::Restore, &ada);
    assert_eq!(stored(&world, "shop"), Open);
    world.coordinator.revoke_lifetime(&shop, Some(&before), &ada).unwrap();
    assert_eq!(stored(&world, "shop"), Interrupted, "its app did not start");
    world.begin("shop", StartReason::Restore, &ada);
    assert_eq!(stored(&world, "shop"), Open);
    let verified = world.coordinator.verify("shop").unwrap();
    assert!(verified.findings.is_empty(), "{:?}", verified.findings);
}

/// Fault 40: the owner of the turn keeps it although the app was lost.
#[tokio::test(start_paused = true)]
async fn restoring_keeps_the_turn_and_grants_none() {
    let mut world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let before = world.open(&ada).meta().turn;
    world.restart();
    let shop = world.begin("shop", StartReason::Restore, &bob);
    let turn = shop.meta().turn;
    assert_eq!((turn.turn_id, turn.owner), (before.turn_id, Some(ada.agent.clone())));
    world.coordinator.close("shop").await.unwrap();
    let shop = world.begin("shop", StartReason::Restore, &bob);
    assert_eq!((shop.meta().turn.state, shop.meta().turn.turn_id), (TurnPhase::Idle, before.turn_id));
    assert_eq!(shop.meta().members.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_last_address_survives_the_host_without_a_write_of_its_own() {
    let mut world = World::new();
    let ada = agent("ada", 1);
    let shop = world.open(&ada);
    let cancel = CancellationToken::new();
    let go = async |address: &'static str, failure: Option<CommandError>| {
        let admission = shop.admit(&ada, None, Duration::ZERO, &cancel).await.unwrap();
        let ticket = shop.begin(&ada, Some(admission), crate::support::press(), &cancel).unwrap();
        shop.end(ticket, failure, None, Some(Redacted::literal(address))).unwrap();
    };
    go("sim:shop/cart", None).await;
    world.restart();
    assert_eq!(world.coordinator.session("shop").unwrap().meta().address(), Some("sim:shop/cart"));
}

/// `cargo xtask bench` measures the time.
#[tokio::test]
async fn a_thousand_sessions_are_listed_without_reading_logs() {
    let mut world = World::new();
    let ada = agent("ada", 1);
    world.begin("shop", StartReason::Open, &ada);
    world.restart();
    let sessions = world.folder.path().join("sessions");
    let meta = std::fs::read_to_string(sessions.join("shop/meta.json")).unwrap();
    for n in 0..1_000 {
        let folder = sessions.join(format!("s{n}"));
        std::fs::create_dir(&folder).unwrap();
        let meta = meta.replace("\"name\":\"shop\"", &format!("\"name\":\"s{n}\""));
        std::fs::write(folder.join("meta.json"), meta).unwrap();
    }
    world.files.take_read();
    let found = listed(&world, &ada, false);
    assert_eq!(found.len(), 1_001);
    let read = world.files.take_read();
    assert_eq!(read.len(), 1_001, "one file each");
    assert!(read.iter().all(|path| path.ends_with("meta.json")), "{read:?}");
    assert_eq!(listed(&world, &ada, false), found);
    assert_eq!(world.files.take_read(), Vec::<std::path::PathBuf>::new(), "nothing changed since");
    assert!(found.iter().all(|(_, state)| *state == ListedState::Restorable));
}
