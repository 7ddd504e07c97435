//! The turn of a session.

use crate::support::{Plain, World, act, agent, handoff, press};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use stickpin_coordinator::{Closing, Participant, Talk};
use stickpin_coordinator::{GrantReason, Granted, SessionAuthority, TakeOptions, TurnReply};
use stickpin_coordinator::{WaitOptions, WaitReply};
use stickpin_device::ErrorCode;
use stickpin_session::log::{Kind, KindName, MessageHint, StartReason};
use stickpin_session::turn::{Handoff, Label, MemberKind, TurnPhase, WaitMode};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

async fn wait(shop: &SessionAuthority, who: &Participant, ms: u64) -> TurnReply {
    let options = WaitOptions { timeout: Some(Duration::from_millis(ms)), ..WaitOptions::default() };
    shop.wait(who, options, &CancellationToken::new()).await.unwrap().reply
}

/// Starts a wait in a task of its own, and returns once the wait is registered.
async fn started_wait(
    shop: &Arc<SessionAuthority>,
    who: &Participant,
    cancel: &CancellationToken,
) -> tokio::task::JoinHandle<stickpin_device::Result<WaitReply>> {
    let (shop, who, cancel) = (Arc::clone(shop), who.clone(), cancel.clone());
    let options = WaitOptions { timeout: Some(Duration::from_secs(25)), ..WaitOptions::default() };
    let waits = tokio::spawn(async move { shop.wait(&who, options, &cancel).await });
    tokio::task::yield_now().await;
    waits
}

#[track_caller]
fn granted(reply: TurnReply) -> Granted {
    match reply {
        TurnReply::YourTurn(granted) => *granted,
        other => panic!("no turn: {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_single_agent_notices_nothing() {
    let world = World::new();
    let ada = agent("ada", 1);
    let shop = world.open(&ada);
    for hours in [0, 1, 100] {
        tokio::time::sleep(Duration::from_secs(3_600 * hours)).await;
        let began = Instant::now();
        act(&shop, &ada).await.unwrap();
        assert_eq!(began.elapsed(), Duration::ZERO);
    }
    assert_eq!(shop.state(None).unwrap().turn_id, 1, "its turn never ended");
}

#[tokio::test(start_paused = true)]
async fn a_command_waits_for_the_implicit_turn_of_another_agent() {
    let world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let shop = world.open(&ada);
    act(&shop, &ada).await.unwrap();
    let began = Instant::now();
    act(&shop, &bob).await.unwrap();
    assert!(began.elapsed() >= Duration::from_secs(5), "after {:?}", began.elapsed());
    assert_eq!(shop.state(None).unwrap().owner, Some(bob.agent));
}

/// The owner has been silent for a part of the idle time when the other agent begins to wait.
#[tokio::test(start_paused = true)]
async fn wait_returns_as_soon_as_the_owner_of_an_implicit_turn_has_rested() {
    for guarded in [true, false] {
        let world = World::new();
        let (ada, bob) = (agent("ada", 1), agent("bob", 2));
        let shop = world.begin("shop", StartReason::Open, &ada);
        if guarded {
            world.guard();
        }
        act(&shop, &ada).await.unwrap();
        let idle = Duration::from_millis(shop.meta().policy.implicit_idle_ms);
        let began = Instant::now();
        tokio::time::sleep(idle - Duration::from_secs(1)).await;
        granted(wait(&shop, &bob, 60_000).await);
        assert_eq!(began.elapsed(), idle, "with a guardian: {guarded}");
    }
}

#[tokio::test(start_paused = true)]
async fn command_that_waits_leaves_the_wait_of_its_agent_registered() {
    let world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let shop = world.open(&ada);
    act(&shop, &ada).await.unwrap();
    let park = WaitOptions { park: true, ..WaitOptions::default() };
    let (waiting, who, cancel) = (Arc::clone(&shop), bob.clone(), CancellationToken::new());
    let ends = cancel.clone();
    let parked = tokio::spawn(async move { waiting.wait(&who, park, &ends).await });
    tokio::task::yield_now().await;
    let waits = || {
        let state = shop.state(None).unwrap();
        let mode = shop.meta().members.into_iter().find(|m| m.agent_id == bob.agent).unwrap().wait_mode;
        (state.waiters.into_iter().map(|waiter| waiter.parked).collect::<Vec<_>>(), mode)
    };
    assert_eq!(waits(), (vec![true], WaitMode::Parked));
    let (acting, who) = (Arc::clone(&shop), bob.clone());
    let command = tokio::spawn(async move { act(&acting, &who).await });
    tokio::task::yield_now().await;
    assert_eq!(waits(), (vec![false], WaitMode::Active), "the command waits for the turn");
    command.await.unwrap().unwrap();
    assert_eq!(waits(), (vec![true], WaitMode::Parked), "the command has ended");
    let second = shop.wait(&bob, park, &CancellationToken::new()).await.unwrap_err();
    assert_eq!(second.code, ErrorCode::DuplicateListener);
    cancel.cancel();
    parked.await.unwrap().unwrap();
    assert_eq!(waits(), (vec![], WaitMode::None));
}

#[tokio::test(start_paused = true)]
async fn nobody_acts_in_the_turn_of_another_agent() {
    let world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let shop = world.open(&ada);
    let turn = granted(wait(&shop, &ada, 0).await);
    assert_eq!((turn.guardian_pid, turn.guardian.renewing), (4_711, true));
    assert_eq!(act(&shop, &bob).await, Err(ErrorCode::NotYourTurn));
    act(&shop, &ada).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_released_turn_goes_to_who_waits_with_its_handoff() {
    let world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let shop = world.open(&ada);
    let first = granted(wait(&shop, &ada, 0).await);
    let waits = {
        let (shop, bob) = (Arc::clone(&shop), bob.clone());
        tokio::spawn(async move { wait(&shop, &bob, 60_000).await })
    };
    tokio::task::yield_now().await;
    let released = shop.release(&ada, Some(first.turn_id), handoff(), &Plain).unwrap();
    assert_eq!(released.reserved_for, Some(bob.agent.clone()));
    let second = granted(waits.await.unwrap());
    assert_eq!((second.turn_id, second.reason), (first.turn_id + 1, GrantReason::Sequence));
    assert_eq!((second.from, second.handoff), (Some(ada.agent.clone()), Some(handoff())));
    assert_eq!(act(&shop, &ada).await, Err(ErrorCode::NotYourTurn));
    let late = shop.release(&ada, Some(first.turn_id), handoff(), &Plain).unwrap_err();
    assert_eq!(late.code, ErrorCode::TurnMismatch);
    assert_eq!(late.details["handoff"]["status"], "cart filled", "its text is not lost");
}

#[tokio::test(start_paused = true)]
async fn a_handoff_has_to_be_read_before_anybody_acts() {
    let world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let shop = world.open(&ada);
    granted(wait(&shop, &ada, 0).await);
    shop.release(&ada, None, handoff(), &Plain).unwrap();
    assert_eq!(act(&shop, &bob).await, Err(ErrorCode::TurnRequired));
    assert_eq!(granted(wait(&shop, &bob, 0).await).handoff, Some(handoff()));
    act(&shop, &bob).await.unwrap();
    assert_eq!(granted(wait(&shop, &bob, 0).await).handoff, None, "it was acted on");
}

#[tokio::test(start_paused = true)]
async fn a_command_that_queues_while_its_turn_is_taken_does_not_run() {
    let world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let shop = world.open(&ada);
    granted(wait(&shop, &ada, 0).await);
    let cancel = CancellationToken::new();
    let admission = shop.admit(&ada, None, Duration::ZERO, &cancel).await.unwrap();
    let options = TakeOptions { operator_requested: true, ..TakeOptions::default() };
    let taken = granted(shop.take(&bob, options, &Plain).await.unwrap());
    assert_eq!((taken.revoked, taken.inflight), (Some(ada.agent.clone()), None));
    let refused = shop.begin(&ada, Some(admission), press(), &cancel).unwrap_err();
    assert_eq!(refused.code, ErrorCode::StaleLease);
}

#[tokio::test(start_paused = true)]
async fn a_takeover_drains_the_running_command_and_then_cancels_it() {
    let world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let shop = world.open(&ada);
    granted(wait(&shop, &ada, 0).await);
    let cancel = CancellationToken::new();
    let admission = shop.admit(&ada, None, Duration::ZERO, &cancel).await.unwrap();
    let ticket = shop.begin(&ada, Some(admission), press(), &cancel).unwrap();
    let options = TakeOptions { operator_requested: true, ..TakeOptions::default() };
    let began = Instant::now();
    let taken = granted(shop.take(&bob, options, &Plain).await.unwrap());
    assert!(taken.inflight.is_some() && cancel.is_cancelled());
    assert_eq!(began.elapsed(), Duration::from_secs(10));
    shop.end(ticket, None, None, None).unwrap();
    let last = shop.records_after(0, 99).unwrap().last().cloned().unwrap();
    assert_eq!(last.turn_id, taken.turn_id - 1, "its end belongs to the turn that it began in");
}

#[tokio::test(start_paused = true)]
async fn takeover_leaves_the_reads_of_other_members_alone() {
    let world = World::new();
    let (ada, bob, eve) = (agent("ada", 1), agent("bob", 2), agent("eve", 3));
    let shop = world.open(&ada);
    granted(wait(&shop, &ada, 0).await);
    shop.join(&eve, true, None).unwrap();
    let cancel = CancellationToken::new();
    let reads = shop.begin(&eve, None, press(), &cancel).unwrap();
    let options = TakeOptions { operator_requested: true, ..TakeOptions::default() };
    let began = Instant::now();
    let taken = granted(shop.take(&bob, options, &Plain).await.unwrap());
    assert_eq!((taken.inflight, began.elapsed()), (None, Duration::ZERO));
    assert!(!cancel.is_cancelled(), "it reads on");
    let last = shop.records_after(0, 99).unwrap().last().cloned().unwrap();
    assert!(matches!(&last.kind, Kind::TurnTaken(taken) if taken.inflight.is_none()), "{last:?}");
    shop.end(reads, None, None, None).unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_disappears_loses_its_turn_after_a_grace() {
    let world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let shop = world.open(&ada);
    let first = granted(wait(&shop, &ada, 0).await);
    world.coordinator.confirm_delivery(&ada.agent);
    // A long and quiet turn of a live agent continues.
    tokio::time::sleep(Duration::from_secs(3 * 3_600)).await;
    assert_eq!(shop.state(None).unwrap().label, Label::Owned);
    world.ended.lock().unwrap().insert(1);
    let second = granted(wait(&shop, &bob, 10 * 60_000).await);
    assert_eq!((second.turn_id, second.reason), (first.turn_id + 1, GrantReason::AfterSurrender));
    assert_eq!(second.handoff, None);
}

/// Fault 5: some harnesses run a process for each model turn.
#[tokio::test(start_paused = true)]
async fn owner_whose_harness_changes_its_process_keeps_its_turn() {
    let world = World::new();
    let bob = agent("bob", 2);
    let shop = world.open(&agent("ada", 10));
    let first = granted(wait(&shop, &agent("ada", 10), 0).await);
    world.coordinator.confirm_delivery(&agent("ada", 10).agent);
    shop.join(&bob, false, None).unwrap();
    for pid in 11..50 {
        world.ended.lock().unwrap().insert(pid - 1);
        tokio::time::sleep(Duration::from_secs(100)).await;
        // The owner only reads.
        shop.touch(&agent("ada", pid));
    }
    let state = shop.state(None).unwrap();
    assert_eq!((state.turn_id, state.label), (first.turn_id, Label::Owned));
    // The newest process counts: it is running, and then it is not.
    tokio::time::sleep(Duration::from_secs(3 * 3_600)).await;
    assert_eq!(shop.state(None).unwrap().label, Label::Owned);
    world.ended.lock().unwrap().insert(49);
    let second = granted(wait(&shop, &bob, 10 * 60_000).await);
    assert_eq!((second.turn_id, second.reason), (first.turn_id + 1, GrantReason::AfterSurrender));
}

/// Faults 5 and 6.
#[tokio::test(start_paused = true)]
async fn next_host_knows_the_newest_process_of_an_owner() {
    let mut world = World::new();
    let (ada, later) = (agent("ada", 1), agent("ada", 11));
    let shop = world.begin("shop", StartReason::Open, &ada);
    let first = granted(wait(&shop, &ada, 0).await);
    world.coordinator.confirm_delivery(&ada.agent);
    world.ended.lock().unwrap().insert(1);
    let (killed, coordinator) = (CancellationToken::new(), world.coordinator.clone());
    let guardian = tokio::spawn({
        let killed = killed.clone();
        async move { coordinator.guard(killed).await }
    });
    act(&shop, &later).await.unwrap();
    tokio::time::sleep(Duration::from_secs(70)).await;
    killed.cancel();
    guardian.await.unwrap();
    world.restart();
    let shop = world.coordinator.session("shop").unwrap();
    world.guard();
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    let state = shop.state(None).unwrap();
    assert_eq!((state.turn_id, state.label, state.owner), (first.turn_id, Label::Owned, Some(ada.agent)));
}

#[tokio::test(start_paused = true)]
async fn a_grant_that_never_arrived_is_reserved_for_its_agent() {
    let world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let opener = agent("opener", 3);
    let shop = world.open(&opener);
    granted(wait(&shop, &opener, 0).await);
    shop.release(&opener, None, handoff(), &Plain).unwrap();
    let first = granted(wait(&shop, &ada, 0).await);
    let other = wait(&shop, &bob, 60_000).await;
    assert!(matches!(other, TurnReply::NotYet(_)), "{other:?}");
    let state = shop.state(None).unwrap();
    assert_eq!((state.state, state.reserved_for), (TurnPhase::Reserved, Some(ada.agent.clone())));
    let again = granted(wait(&shop, &ada, 0).await);
    assert_eq!((again.turn_id, again.handoff), (first.turn_id + 1, Some(handoff())));
}

/// Fault 6.
#[tokio::test(start_paused = true)]
async fn delivered_grant_survives_a_kill_of_the_host() {
    let mut world = World::new();
    let ada = agent("ada", 1);
    let shop = world.begin("shop", StartReason::Open, &ada);
    shop.release(&ada, None, handoff(), &Plain).unwrap();
    shop.join(&agent("bob", 2), false, None).unwrap();
    let first = granted(wait(&shop, &ada, 60_000).await);
    world.coordinator.confirm_delivery(&ada.agent);
    world.restart();
    let shop = world.coordinator.session("shop").unwrap();
    assert!(shop.meta().turn.grant.delivered);
    world.guard();
    tokio::time::sleep(Duration::from_secs(30)).await;
    let turn = shop.meta().turn;
    assert_eq!((turn.state, turn.turn_id), (TurnPhase::Owned, first.turn_id));
}

/// Section 8.1: whoever reads the state finds the record that granted the turn.
#[tokio::test(start_paused = true)]
async fn turn_names_the_record_that_granted_it() {
    let mut world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let shop = world.open(&ada);
    let granted_by = |shop: &SessionAuthority| {
        let seq = shop.meta().turn.grant.granted_seq.expect("the record of the grant");
        let record = shop.records_after(seq - 1, 1).unwrap().remove(0);
        let after = record.kind.turn_after().unwrap();
        assert_eq!((record.seq, after.grant.granted_seq), (seq, Some(seq)));
        (record.kind.name(), record.agent.clone())
    };
    assert_eq!(granted_by(&shop), (KindName::TurnClaimed, Some(ada.agent.clone())), "the implicit turn");
    wait(&shop, &ada, 0).await;
    world.coordinator.confirm_delivery(&ada.agent);
    assert_eq!(granted_by(&shop).0, KindName::TurnClaimed);
    let options = TakeOptions { operator_requested: true, ..TakeOptions::default() };
    shop.take(&bob, options, &Plain).await.unwrap();
    let taken = (KindName::TurnTaken, Some(bob.agent.clone()));
    assert_eq!(granted_by(&shop), taken);
    world.restart();
    let shop = world.coordinator.session("shop").unwrap();
    assert_eq!(granted_by(&shop), taken);
    shop.release(&bob, None, handoff(), &Plain).unwrap();
    assert_eq!(shop.meta().turn.grant.granted_seq, None, "nobody has it");
}

#[tokio::test(start_paused = true)]
async fn a_killed_host_gives_the_turn_back_and_a_reboot_surrenders_it() {
    let mut world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let shop = world.open(&ada);
    let first = granted(wait(&shop, &ada, 0).await);
    world.restart();
    let shop = world.coordinator.session("shop").unwrap();
    assert!(matches!(wait(&shop, &bob, 0).await, TurnReply::NotYet(_)));
    let again = granted(wait(&shop, &ada, 0).await);
    assert_eq!((again.turn_id, &again.lease_id), (first.turn_id, &first.lease_id));
    assert!(again.guardian_repaired && again.reason == GrantReason::AlreadyOwner);
    assert_eq!(again.guardian.epoch, 2);
    world.reboot();
    let shop = world.coordinator.session("shop").unwrap();
    assert_eq!(shop.state(None).unwrap().state, TurnPhase::Idle);
    assert_eq!(granted(wait(&shop, &bob, 0).await).turn_id, first.turn_id + 1);
    assert!(world.coordinator.verify("shop").unwrap().findings.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_second_wait_of_an_agent_is_refused_until_the_first_ends() {
    let world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let shop = world.open(&ada);
    granted(wait(&shop, &ada, 0).await);
    let waits = {
        let (shop, bob) = (Arc::clone(&shop), bob.clone());
        tokio::spawn(async move { wait(&shop, &bob, 3_600_000).await })
    };
    tokio::task::yield_now().await;
    let options = WaitOptions { timeout: Some(Duration::ZERO), ..WaitOptions::default() };
    let second = shop.wait(&bob, options, &CancellationToken::new()).await.unwrap_err();
    assert_eq!(second.code, ErrorCode::DuplicateListener);
    // The same happens when its client is killed.
    waits.abort();
    assert!(waits.await.unwrap_err().is_cancelled());
    assert!(matches!(wait(&shop, &bob, 0).await, TurnReply::NotYet(_)));
}

/// Fault 2: the turn is not reserved for a waiter that was killed, but is for one that polls in
/// slices.
#[tokio::test(start_paused = true)]
async fn turn_is_not_reserved_for_a_waiter_that_is_gone() {
    for (ends, expected) in [("returns", true), ("is cancelled", false), ("is killed", false)] {
        let world = World::new();
        let ada = agent("ada", 1);
        let bob = Participant { via: stickpin_session::log::Via::Mcp, ..agent("bob", 2) };
        let shop = world.open(&ada);
        granted(wait(&shop, &ada, 0).await);
        let cancel = CancellationToken::new();
        let waits = started_wait(&shop, &bob, &cancel).await;
        match ends {
            "is cancelled" => cancel.cancel(),
            "is killed" => waits.abort(),
            _ => {}
        }
        assert_eq!(waits.await.is_err(), ends == "is killed");
        let released = shop.release(&ada, None, handoff(), &Plain).unwrap();
        assert_eq!(released.reserved_for, expected.then_some(bob.agent), "its wait {ends}");
    }
}

/// An earlier poll does not make a waiter of an agent whose last wait ended for good.
#[tokio::test(start_paused = true)]
async fn turn_is_not_reserved_for_an_agent_that_polled_before() {
    for ends in ["is cancelled", "is killed", "gets the turn"] {
        let world = World::new();
        let ada = agent("ada", 1);
        let bob = Participant { via: stickpin_session::log::Via::Mcp, ..agent("bob", 2) };
        let shop = world.open(&ada);
        granted(wait(&shop, &ada, 0).await);
        assert!(matches!(wait(&shop, &bob, 0).await, TurnReply::NotYet(_)));
        let cancel = CancellationToken::new();
        let waits = started_wait(&shop, &bob, &cancel).await;
        match ends {
            "is cancelled" => cancel.cancel(),
            "is killed" => waits.abort(),
            _ => drop(shop.release(&ada, None, handoff(), &Plain).unwrap()),
        }
        assert_eq!(waits.await.is_err(), ends == "is killed");
        if ends == "gets the turn" {
            act(&shop, &bob).await.unwrap();
            shop.assign(&bob, ada.agent.as_str(), None, handoff(), false, &Plain).unwrap();
            granted(wait(&shop, &ada, 0).await);
        }
        let released = shop.release(&ada, None, handoff(), &Plain).unwrap();
        assert_eq!(released.reserved_for, None, "its last wait {ends}");
    }
}

#[tokio::test(start_paused = true)]
async fn wait_mode_ends_with_the_wait_or_when_no_poll_follows() {
    let mut world = World::new();
    let (ada, bob, eve) = (agent("ada", 1), agent("bob", 2), agent("eve", 3));
    let shop = world.open(&ada);
    let mode_in = |shop: &SessionAuthority, who: &Participant| {
        shop.meta().members.into_iter().find(|m| m.agent_id == who.agent).unwrap().wait_mode
    };
    let mode = |who| mode_in(&shop, who);
    // The agent has the turn.
    granted(wait(&shop, &ada, 0).await);
    assert_eq!(mode(&ada), WaitMode::None);
    // A parked wait returns.
    let park = WaitOptions { timeout: Some(Duration::ZERO), park: true, ..WaitOptions::default() };
    shop.wait(&eve, park, &CancellationToken::new()).await.unwrap();
    assert_eq!(mode(&eve), WaitMode::None);
    // The client polls, and then no longer does.
    wait(&shop, &bob, 0).await;
    tokio::time::sleep(Duration::from_secs(44)).await;
    assert_eq!(mode(&bob), WaitMode::Active);
    wait(&shop, &bob, 0).await;
    tokio::time::sleep(Duration::from_secs(44)).await;
    assert_eq!(mode(&bob), WaitMode::Active);
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(mode(&bob), WaitMode::None);
    // The client is killed, or the host.
    for host in [false, true] {
        let waits = {
            let (shop, bob) = (Arc::clone(&shop), bob.clone());
            tokio::spawn(async move { wait(&shop, &bob, 3_600_000).await })
        };
        tokio::task::yield_now().await;
        assert_eq!(mode(&bob), WaitMode::Active);
        if host {
            // The metadata on disk says that bob is waiting.
            shop.join(&eve, false, Some("Eve".into())).unwrap();
            let (stored, _) = world.coordinator.store().meta("shop").unwrap();
            assert!(stored.members.iter().any(|m| m.wait_mode == WaitMode::Active));
            world.restart();
            world.guard();
            tokio::time::sleep(Duration::from_millis(1)).await;
            let again = world.coordinator.session("shop").unwrap();
            tokio::time::sleep(Duration::from_secs(60)).await;
            assert_eq!(mode_in(&again, &bob), WaitMode::None);
        }
        waits.abort();
        assert!(waits.await.unwrap_err().is_cancelled());
        assert_eq!(mode(&bob), WaitMode::None);
    }
}

#[tokio::test(start_paused = true)]
async fn member_that_joins_as_another_kind_is_recorded_as_that_kind() {
    let mut world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let shop = world.open(&ada);
    shop.join(&bob, false, None).unwrap();
    let person = Participant { kind: MemberKind::Human, ..bob.clone() };
    let again = shop.join(&person, false, None).unwrap();
    assert_eq!((again.created, again.member.kind), (false, MemberKind::Human));
    assert_eq!(shop.join(&person, false, None).unwrap().cursor_seq, again.cursor_seq, "nothing changed");
    world.restart();
    let members = world.coordinator.session("shop").unwrap().meta().members;
    let kinds: Vec<_> = members.iter().filter(|m| m.agent_id == bob.agent).map(|m| m.kind).collect();
    assert_eq!(kinds, [MemberKind::Human]);
}

#[tokio::test(start_paused = true)]
async fn one_of_many_agents_that_claim_at_once_gets_each_turn() {
    let world = World::new();
    let opener = agent("opener", 99);
    let shop = world.open(&opener);
    granted(wait(&shop, &opener, 0).await);
    shop.release(&opener, None, handoff(), &Plain).unwrap();
    let mut last = shop.state(None).unwrap().turn_id;
    for round in 0..100_u32 {
        let claims = (0..8).map(|n| {
            let (shop, who) = (Arc::clone(&shop), agent(&format!("a{n}"), n + 1));
            tokio::spawn(async move { (who.clone(), wait(&shop, &who, 0).await) })
        });
        let mut winners = Vec::new();
        for claim in claims.collect::<Vec<_>>() {
            if let (who, TurnReply::YourTurn(granted)) = claim.await.unwrap() {
                winners.push((who, granted.turn_id));
            }
        }
        let [(winner, turn)] = &winners[..] else { panic!("round {round}: {winners:?}") };
        assert_eq!(*turn, last + 1, "round {round}");
        last = *turn;
        shop.release(winner, Some(last), handoff(), &Plain).unwrap();
        tokio::time::sleep(Duration::from_secs(20)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn handoff_without_text_changes_nothing() {
    let world = World::new();
    let ada = agent("ada", 1);
    let shop = world.open(&ada);
    let before = shop.state(None).unwrap();
    let long = "x".repeat(16 * 1024 + 1);
    for (status, next_action) in [(" ", "pay"), ("done", ""), ("done", long.as_str())] {
        let given = Handoff { status: status.into(), next_action: next_action.into(), ..handoff() };
        let refused = shop.release(&ada, None, given, &Plain).unwrap_err();
        assert_eq!(refused.code, ErrorCode::InvalidHandoff);
    }
    // A record that is too long would leave the turn with its owner.
    for questions in [vec![long.clone()], vec!["x".repeat(16 * 1024); 17]] {
        let given = Handoff { open_questions: questions, ..handoff() };
        let refused = shop.release(&ada, None, given, &Plain).unwrap_err();
        assert_eq!(
            (refused.code, &refused.details["field"]),
            (ErrorCode::InvalidHandoff, &json!("openQuestions"))
        );
    }
    assert_eq!(shop.state(None).unwrap().cursor_seq, before.cursor_seq);
}

#[tokio::test(start_paused = true)]
async fn artifact_must_name_exactly_one_object() {
    let world = World::new();
    let ada = agent("ada", 1);
    let shop = world.open(&ada);
    let before = shop.state(None).unwrap().cursor_seq;
    let given = |artifact: serde_json::Value| {
        let artifact = serde_json::from_value(artifact).unwrap();
        Handoff { artifacts: vec![artifact], ..handoff() }
    };
    for artifact in [
        json!({"role": "examine"}),
        json!({"path": " ", "role": "examine"}),
        json!({"note": "the total", "lines": "1-2", "role": "examine"}),
        json!({"path": "a.png", "ref": "@e1", "role": "examine"}),
        json!({"path": "a.png", "ref": "", "role": "examine"}),
        json!({"blob": "sha256:00", "seq": 3, "role": "examine"}),
    ] {
        let refused = shop.release(&ada, None, given(artifact.clone()), &Plain).unwrap_err();
        assert_eq!(
            (refused.code, &refused.details["field"]),
            (ErrorCode::InvalidHandoff, &json!("artifacts")),
            "{artifact}"
        );
    }
    assert_eq!(shop.state(None).unwrap().cursor_seq, before);
    for artifact in [
        json!({"path": "a.png", "role": "examine"}),
        json!({"ref": "@e1", "role": "edit"}),
        json!({"blob": "sha256:00", "role": "context"}),
        json!({"seq": 3, "role": "output", "note": "the receipt"}),
    ] {
        granted(wait(&shop, &ada, 0).await);
        shop.release(&ada, None, given(artifact), &Plain).unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn member_is_removed_by_another_one_only_when_it_is_gone_or_by_force() {
    let world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let shop = world.open(&ada);
    shop.join(&bob, false, Some("second".into())).unwrap();
    let kick = |who: &Participant, target: &str, force| shop.kick(who, target, None, force, &Plain);
    assert_eq!(kick(&ada, "claude:ada", true).unwrap_err().code, ErrorCode::CannotKickSelf);
    assert_eq!(kick(&ada, "nobody", true).unwrap_err().code, ErrorCode::UnknownMember);
    assert_eq!(kick(&ada, "second", false).unwrap_err().code, ErrorCode::TargetActive);
    world.ended.lock().unwrap().insert(2);
    assert!(!kick(&ada, "second", false).unwrap().was_owner);
    // The owner of the turn never counts as absent.
    assert_eq!(kick(&bob, "claude:ada", true).unwrap_err().code, ErrorCode::UnknownMember, "no member");
    shop.join(&bob, false, None).unwrap();
    assert!(kick(&bob, "claude:ada", true).unwrap().was_owner);
    assert_eq!(shop.state(None).unwrap().state, TurnPhase::Idle);
}

/// The removal ends what the member is waiting for, so that it does not join again by waiting.
#[tokio::test(start_paused = true)]
async fn removed_member_neither_waits_on_nor_joins_again() {
    let world = World::new();
    let (ada, bob, eve, mia) = (agent("ada", 1), agent("bob", 2), agent("eve", 3), agent("mia", 4));
    let shop = world.open(&ada);
    act(&shop, &ada).await.unwrap();
    let spawn = |who: &Participant, park| {
        let (shop, who) = (Arc::clone(&shop), who.clone());
        let options = WaitOptions { park, ..WaitOptions::default() };
        tokio::spawn(async move { shop.wait(&who, options, &CancellationToken::new()).await.map(drop) })
    };
    let acts = {
        let (shop, mia) = (Arc::clone(&shop), mia.clone());
        tokio::spawn(async move { act(&shop, &mia).await })
    };
    let waits = [spawn(&bob, false), spawn(&eve, true)];
    tokio::task::yield_now().await;
    assert_eq!(shop.meta().members.len(), 4);
    for who in [&bob, &eve, &mia] {
        shop.kick(&ada, who.agent.as_str(), None, true, &Plain).unwrap();
    }
    assert_eq!(shop.state(None).unwrap().waiters, []);
    for wait in waits {
        assert_eq!(wait.await.unwrap().unwrap_err().code, ErrorCode::UnknownMember);
    }
    assert_eq!(acts.await.unwrap(), Err(ErrorCode::UnknownMember));
    assert_eq!(shop.meta().members.len(), 1, "none of them joined again");
}

#[tokio::test(start_paused = true)]
async fn observer_and_ambiguous_caller_hold_no_turn() {
    let world = World::new();
    let (ada, mut bob) = (agent("ada", 1), agent("bob", 2));
    let shop = world.open(&ada);
    shop.join(&bob, true, None).unwrap();
    let options = WaitOptions { timeout: Some(Duration::ZERO), ..WaitOptions::default() };
    let refused = shop.wait(&bob, options, &CancellationToken::new()).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::RoleObserver);
    shop.join(&bob, false, None).unwrap();
    bob.ambiguous = vec![ada.agent.clone()];
    let before = shop.state(None).unwrap().cursor_seq;
    assert_eq!(act(&shop, &bob).await, Err(ErrorCode::IdentityAmbiguous));
    let refused = shop.wait(&bob, options, &CancellationToken::new()).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::IdentityAmbiguous);
    assert_eq!(shop.state(None).unwrap().cursor_seq, before);
}

/// Fault 36.
#[tokio::test(start_paused = true)]
async fn ambiguous_caller_changes_nothing() {
    let world = World::new();
    let (ada, mail) = (agent("ada", 1), agent("bob", 2));
    let shop = world.open(&ada);
    world.begin("mail", StartReason::Open, &mail);
    granted(wait(&shop, &ada, 0).await);
    let rules = || vec!["act:*,origins=https://shop.test".to_owned()];
    let spawn = || stickpin_coordinator::Spawn { rules: rules(), ..Default::default() };
    let coordinator = &world.coordinator;
    let lent = coordinator.loans().spawn("shop", "pay", &ada, spawn()).await.unwrap();
    let who = Participant { ambiguous: vec![mail.agent.clone()], ..ada.clone() };
    let before = coordinator.names().unwrap().len();
    let seq = shop.meta().applied_seq;
    let (start, limits) = (crate::support::start("new"), [("drainMs".to_owned(), "5000".to_owned())]);
    let released = shop.release(&who, None, handoff(), &Plain).unwrap_err();
    assert_eq!(released.details["handoff"]["status"], "cart filled", "its text is not lost");
    let loan = lent.loan_id.as_str();
    let refused = [
        coordinator.begin_lifetime("new", start, StartReason::Open, Some(&who)).map(drop),
        Err(released),
        shop.assign(&who, "next", None, handoff(), false, &Plain).map(drop),
        shop.leave(&who).map(drop),
        shop.close(Some(&who), Closing::new(true)),
        coordinator.set_policy("shop", &who, &limits).map(drop),
        coordinator.peer("shop", "mail", &who),
        coordinator.loans().spawn("shop", "other", &who, spawn()).await.map(drop),
        coordinator.loans().stop_child("pay", &who).await.map(drop),
        coordinator.loans().reclaim(loan, false, &who).await.map(drop),
        coordinator.loans().prune("shop", &who).await.map(drop),
    ];
    for (at, refused) in refused.into_iter().enumerate() {
        assert_eq!(refused.unwrap_err().code, ErrorCode::IdentityAmbiguous, "{at}");
    }
    assert_eq!((shop.meta().applied_seq, coordinator.names().unwrap().len()), (seq, before));
}

#[tokio::test(start_paused = true)]
async fn no_turn_is_granted_that_nothing_renews() {
    let world = World::new();
    let ada = agent("ada", 1);
    let shop = world.open(&ada);
    world.guardian_panics.store(true, std::sync::atomic::Ordering::Relaxed);
    let supervised = tokio::spawn(world.coordinator.clone().supervise(CancellationToken::new()));
    // The guardian watches the owner of the turn whose state was requested.
    granted(wait(&shop, &ada, 0).await);
    supervised.await.unwrap();
    let options = WaitOptions { timeout: Some(Duration::ZERO), ..WaitOptions::default() };
    let refused = shop.wait(&ada, options, &CancellationToken::new()).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::GuardianUnavailable);
    let before = shop.meta().applied_seq;
    assert_eq!(act(&shop, &ada).await, Err(ErrorCode::GuardianUnavailable), "it holds the turn");
    assert_eq!(shop.meta().applied_seq, before, "nothing was begun");
    let read = shop.begin(&ada, None, press(), &CancellationToken::new()).unwrap();
    shop.end(read, None, None, None).unwrap();
    assert!(!shop.state(None).unwrap().guardian.renewing);
}

#[tokio::test(start_paused = true)]
async fn command_that_is_abandoned_while_it_waits_leaves_its_place() {
    let world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let shop = world.open(&ada);
    act(&shop, &ada).await.unwrap();
    let waits = {
        let (shop, bob) = (Arc::clone(&shop), bob.clone());
        tokio::spawn(async move { act(&shop, &bob).await })
    };
    tokio::task::yield_now().await;
    assert_eq!(shop.state(None).unwrap().waiters.len(), 1);
    waits.abort();
    assert!(waits.await.unwrap_err().is_cancelled());
    assert_eq!(shop.state(None).unwrap().waiters, []);
}

/// Fault 42: only its requests show that the owner is present.
#[tokio::test(start_paused = true)]
async fn owner_whose_process_nobody_can_see_keeps_its_lease_by_its_requests() {
    let world = World::new();
    let (ada, bob) = (Participant { anchor: None, ..agent("ada", 1) }, agent("bob", 2));
    let shop = world.open(&ada);
    let first = granted(wait(&shop, &ada, 0).await);
    world.coordinator.confirm_delivery(&ada.agent);
    shop.join(&bob, false, None).unwrap();
    for _ in 0..60 {
        tokio::time::sleep(Duration::from_secs(100)).await;
        shop.touch(&ada);
        assert_eq!(shop.state(None).unwrap().label, Label::Owned);
    }
    // Silence proves nothing: the turn is not surrendered, but may be taken after its lease ends.
    let options = || TakeOptions { reason: Some("silent".into()), ..TakeOptions::default() };
    wait(&shop, &bob, 0).await;
    tokio::time::sleep(Duration::from_secs(600)).await;
    let refused = shop.take(&bob, options(), &Plain).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::TakeoverNotAvailable);
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert_eq!(shop.meta().turn.owner, Some(ada.agent.clone()));
    let taken = granted(shop.take(&bob, options(), &Plain).await.unwrap());
    assert_eq!((taken.turn_id, taken.reason), (first.turn_id + 1, GrantReason::OwnerTimeout));
}

/// An owner whose process nobody can see keeps its turn after the lease has ended, until another
/// agent takes it.
#[tokio::test(start_paused = true)]
async fn lease_that_ends_without_renewal_is_in_the_log_once() {
    let world = World::new();
    let (ada, bob) = (Participant { anchor: None, ..agent("ada", 1) }, agent("bob", 2));
    let shop = world.open(&ada);
    granted(wait(&shop, &ada, 0).await);
    shop.join(&bob, false, None).unwrap();
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    let stale = || {
        let records = shop.records_after(0, 999).unwrap();
        records
            .iter()
            .filter(|record| matches!(record.kind, Kind::TurnLeaseStale(_)))
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(stale().len(), 1);
    assert_eq!(
        (&stale()[0].to, &shop.meta().turn.owner),
        (&Some(ada.agent.clone()), &Some(ada.agent.clone()))
    );
    // The owner comes back, and is late again.
    assert!(granted(wait(&shop, &ada, 0).await).lease_renewed);
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    assert_eq!(stale().len(), 2);
    assert!(world.coordinator.verify("shop").unwrap().findings.is_empty());
}

/// The wait that reports the silence counts as the wait that the takeover requires.
#[tokio::test(start_paused = true)]
async fn silent_owner_is_replaced_by_the_agent_that_waited() {
    let world = World::new();
    world.guard();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let shop = world.open(&ada);
    granted(wait(&shop, &ada, 0).await);
    world.coordinator.confirm_delivery(&ada.agent);
    let reply = wait(&shop, &bob, 800_000).await;
    assert!(matches!(reply, TurnReply::TakeoverAvailable(_)), "{reply:?}");
    let options = TakeOptions { reason: Some("silent".into()), ..TakeOptions::default() };
    let taken = granted(shop.take(&bob, options, &Plain).await.unwrap());
    assert_eq!((taken.reason, taken.revoked), (GrantReason::OwnerIdle, Some(ada.agent.clone())));
}

/// Fault 34: the session of a harness that replaced another one may take its turn, and no other.
#[tokio::test(start_paused = true)]
async fn only_the_session_that_replaced_the_owner_takes_its_turn_at_once() {
    let world = World::new();
    // Two threads of one process.
    let (ada, bob) = (agent("ada", 1), agent("bob", 1));
    let shop = world.open(&ada);
    granted(wait(&shop, &ada, 0).await);
    let take = async |who: &Participant| {
        let options = TakeOptions { reason: Some("mine".into()), ..TakeOptions::default() };
        shop.take(who, options, &Plain).await.map_err(|e| e.code)
    };
    assert_eq!(take(&bob).await.unwrap_err(), ErrorCode::TakeoverNotAvailable);
    let newer = Participant { replaces: vec![ada.agent.clone()], ..agent("eve", 1) };
    let taken = granted(take(&newer).await.unwrap());
    assert_eq!((taken.reason, taken.revoked), (GrantReason::SessionReplaced, Some(ada.agent.clone())));
    shop.state(Some(&ada)).unwrap();
    assert_eq!(take(&ada).await.unwrap_err(), ErrorCode::TakeoverNotAvailable, "it does not come back");
}

#[tokio::test(start_paused = true)]
async fn reservation_goes_to_the_session_that_replaced_its_agent_with_the_handoff() {
    let world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let shop = world.open(&ada);
    granted(wait(&shop, &ada, 0).await);
    shop.join(&bob, false, None).unwrap();
    shop.assign(&ada, bob.agent.as_str(), None, handoff(), false, &Plain).unwrap();
    let take = async |who: &Participant| {
        let options = TakeOptions { reason: Some("mine".into()), ..TakeOptions::default() };
        shop.take(who, options, &Plain).await.map_err(|e| e.code)
    };
    assert_eq!(take(&agent("eve", 3)).await.unwrap_err(), ErrorCode::TakeoverNotAvailable);
    let newer = Participant { replaces: vec![bob.agent.clone()], ..agent("bob2", 2) };
    let taken = granted(take(&newer).await.unwrap());
    assert_eq!((taken.reason, taken.revoked), (GrantReason::SessionReplaced, Some(bob.agent)));
    assert_eq!(taken.handoff, Some(handoff()));
    assert_eq!(world.coordinator.verify("shop").unwrap().findings, []);
}

/// An agent that acts on old information about its turn does not thereby take a new one.
#[tokio::test(start_paused = true)]
async fn action_in_another_turn_than_the_expected_one_is_refused() {
    let world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let shop = world.open(&ada);
    let cancel = CancellationToken::new();
    shop.wait(&ada, WaitOptions::default(), &cancel).await.unwrap();
    let mine = shop.meta().turn.turn_id;
    let admit = async |turn| {
        let admitted = shop.admit(&ada, Some(turn), Duration::from_secs(10), &cancel).await;
        admitted.map(drop).map_err(|e| e.code)
    };
    assert_eq!(admit(mine).await, Ok(()));
    assert_eq!(admit(mine + 1).await, Err(ErrorCode::TurnMismatch));
    let operator = TakeOptions { operator_requested: true, ..TakeOptions::default() };
    shop.take(&bob, operator, &Plain).await.unwrap();
    assert_eq!(admit(mine).await, Err(ErrorCode::TurnMismatch), "bob has the turn");
    shop.kick(&ada, bob.agent.as_str(), None, true, &Plain).unwrap();
    assert_eq!(shop.meta().turn.owner, None);
    let began = tokio::time::Instant::now();
    assert_eq!(admit(mine).await, Err(ErrorCode::TurnMismatch));
    assert_eq!(admit(mine + 1).await, Err(ErrorCode::StaleLease), "the turn is over");
    assert_eq!((began.elapsed(), shop.meta().turn.owner), (Duration::ZERO, None), "nothing was claimed");
    shop.admit(&ada, None, Duration::ZERO, &cancel).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn reply_to_a_wait_has_position_events_and_the_deadline_of_a_reservation() {
    let world = World::new();
    let (ada, bob, eve) = (agent("ada", 1), agent("bob", 2), agent("eve", 3));
    let shop = world.open(&ada);
    wait(&shop, &ada, 0).await;
    let waits = {
        let (shop, bob) = (Arc::clone(&shop), bob.clone());
        tokio::spawn(async move { wait(&shop, &bob, 60_000).await })
    };
    tokio::task::yield_now().await;
    let not_yet = |reply| match reply {
        TurnReply::NotYet(not_yet) => not_yet,
        other => panic!("{other:?}"),
    };
    let first = not_yet(wait(&shop, &eve, 0).await);
    assert_eq!((first.position, first.claim_expires_at), (Some(2), None), "bob waits already");
    Talk(&shop).send(&ada, None, eve.agent.as_str(), "hello".into(), MessageHint::Normal, &Plain).unwrap();
    let options = WaitOptions { events: true, after: Some(first.cursor_seq), ..WaitOptions::default() };
    let waited = shop.wait(&eve, options, &CancellationToken::new()).await.unwrap();
    let kinds: Vec<_> = waited.events.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [KindName::Message]);
    assert_eq!(not_yet(waited.reply).cursor_seq, shop.meta().applied_seq);
    shop.release(&ada, None, handoff(), &Plain).unwrap();
    let reserved = not_yet(wait(&shop, &eve, 0).await);
    assert_eq!((reserved.state, reserved.position), (TurnPhase::Reserved, Some(2)));
    let until = reserved.claim_expires_at.unwrap().millis();
    assert_eq!(until - shop.meta().updated_at.millis(), shop.meta().policy.claim_ttl_ms);
    granted(waits.await.unwrap());
}

/// A harness began a new session, which is another agent.
#[tokio::test(start_paused = true)]
async fn newer_session_of_an_agent_is_recorded_and_may_take_its_turn() {
    let mut world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let newer = Participant { replaces: vec![ada.agent.clone(), bob.agent.clone()], ..agent("ada2", 1) };
    let mut shop = world.open(&ada);
    wait(&shop, &ada, 0).await;
    let superseded = |shop: &SessionAuthority| {
        let records = shop.records_after(0, usize::MAX).unwrap();
        let changes = records.iter().filter_map(|record| match &record.kind {
            Kind::AgentSuperseded(change) => Some((change.old.clone(), change.new.clone())),
            _ => None,
        });
        changes.collect::<Vec<_>>()
    };
    for _ in 0..2 {
        shop.join(&newer, false, None).unwrap();
        wait(&shop, &newer, 0).await;
        assert_eq!(superseded(&shop), [(ada.agent.clone(), newer.agent.clone())], "bob is no member");
        world.restart();
        shop = world.coordinator.session("shop").unwrap();
    }
    assert!(shop.is_member(&ada.agent) && shop.is_member(&newer.agent), "both stay members");
    let options = TakeOptions { reason: Some("a new session".into()), ..TakeOptions::default() };
    let taken = granted(shop.take(&newer, options, &Plain).await.unwrap());
    assert_eq!((taken.reason, taken.revoked), (GrantReason::SessionReplaced, Some(ada.agent)));
    assert_eq!(world.coordinator.verify("shop").unwrap().findings, []);
}

#[tokio::test(start_paused = true)]
async fn next_host_maintains_turns_and_reservations_before_anyone_uses_them() {
    let mut world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let (held, passed) = (world.open(&ada), world.begin("passed", StartReason::Open, &ada));
    let idle = world.begin("idle", StartReason::Open, &ada);
    granted(wait(&held, &ada, 0).await);
    granted(wait(&passed, &ada, 0).await);
    passed.join(&bob, false, None).unwrap();
    passed.assign(&ada, "claude:bob", None, handoff(), false, &Plain).unwrap();
    granted(wait(&idle, &ada, 0).await);
    idle.release(&ada, None, handoff(), &Plain).unwrap();
    world.restart();
    world.guard();
    assert_eq!(stickpin_coordinator::resume(&world.coordinator).unwrap(), 3);
    let started = |name: &str| {
        let (meta, _) = world.coordinator.meta(name).unwrap();
        let store = world.coordinator.store();
        let records = store.records_after(name, 0, usize::MAX, stickpin_store::Phase::Verify).unwrap();
        let started = records.into_iter().find_map(|record| match record.kind {
            Kind::DaemonStarted(started) => Some(started),
            _ => None,
        });
        (meta, started.expect("the start of the host"))
    };
    let (_, of_held) = started("shop");
    assert_eq!(of_held.epoch, 2);
    assert_eq!(of_held.repaired.iter().map(|r| &r.owner).collect::<Vec<_>>(), [&ada.agent]);
    assert!(started("passed").1.repaired.is_empty(), "it is reserved");
    assert!(started("idle").1.repaired.is_empty(), "its app ended with the host");
    // Nobody names the sessions: the guardian alone surrenders the one turn and ends the wait for
    // the other.
    world.ended.lock().unwrap().insert(1);
    tokio::time::sleep(Duration::from_secs(900)).await;
    let turn = |name: &str| world.coordinator.meta(name).unwrap().0.turn;
    assert_eq!((turn("shop").state, turn("shop").prev_owner), (TurnPhase::Idle, Some(ada.agent.clone())));
    assert_eq!((turn("passed").state, turn("passed").reserved_for), (TurnPhase::Idle, None));
}

#[tokio::test(start_paused = true)]
async fn first_host_after_a_reboot_surrenders_turns_that_nobody_uses() {
    let mut world = World::new();
    let ada = agent("ada", 1);
    let shop = world.open(&ada);
    granted(wait(&shop, &ada, 0).await);
    world.reboot();
    assert_eq!(stickpin_coordinator::resume(&world.coordinator).unwrap(), 1);
    assert_eq!(world.coordinator.meta("shop").unwrap().0.turn.state, TurnPhase::Idle);
}

/// A person at a console makes no requests for a long time, and has no harness process.
#[tokio::test(start_paused = true)]
async fn connection_of_an_owner_without_a_process_keeps_its_lease() {
    let world = World::new();
    let ada = Participant { anchor: None, ..agent("ada", 1) };
    let shop = world.open(&ada);
    granted(wait(&shop, &ada, 0).await);
    world.coordinator.confirm_delivery(&ada.agent);
    let label = || shop.state(None).unwrap().label;
    let console = stickpin_coordinator::connect(&world.coordinator, ada.agent.clone());
    let command = stickpin_coordinator::connect(&world.coordinator, ada.agent.clone());
    tokio::time::sleep(Duration::from_secs(7_000)).await;
    assert_eq!(label(), Label::Owned);
    drop(command);
    tokio::time::sleep(Duration::from_secs(7_000)).await;
    assert_eq!(label(), Label::Owned);
    drop(console);
    tokio::time::sleep(Duration::from_secs(1_000)).await;
    assert_eq!(label(), Label::OwnerStale);
}

#[tokio::test(start_paused = true)]
async fn commands_of_an_owner_keep_its_lease_and_bring_an_ended_one_back() {
    let world = World::new();
    let ada = Participant { anchor: None, ..agent("ada", 1) };
    let shop = world.open(&ada);
    granted(wait(&shop, &ada, 0).await);
    world.coordinator.confirm_delivery(&ada.agent);
    let label = || shop.state(None).unwrap().label;
    let cancel = CancellationToken::new();
    let admission = shop.admit(&ada, None, Duration::ZERO, &cancel).await.unwrap();
    let runs = shop.begin(&ada, Some(admission), press(), &cancel).unwrap();
    tokio::time::sleep(Duration::from_secs(7_000)).await;
    assert_eq!(label(), Label::Owned, "its command runs");
    shop.end(runs, None, None, None).unwrap();
    tokio::time::sleep(Duration::from_secs(7_000)).await;
    assert_eq!(label(), Label::OwnerStale);
    act(&shop, &ada).await.unwrap();
    assert_eq!(label(), Label::Owned, "nobody took the turn");
    let lease = shop.meta().turn.lease.unwrap();
    assert_eq!(lease.deadline_mono_ms, world.now_ms() + lease.ttl_ms);
}

/// A session belongs to those who drive it.
#[tokio::test(start_paused = true)]
async fn idle_session_is_closed_by_its_drivers_or_by_force() {
    let world = World::new();
    let (ada, bob, eve) = (agent("ada", 1), agent("bob", 2), agent("eve", 3));
    let person = Participant { kind: MemberKind::Human, ..agent("ann", 4) };
    let shop = world.open(&ada);
    shop.join(&eve, true, None).unwrap();
    let idle = || async {
        granted(wait(&shop, &ada, 0).await);
        shop.release(&ada, None, handoff(), &Plain).unwrap();
        assert_eq!(shop.meta().turn.state, TurnPhase::Idle);
    };
    idle().await;
    let close = async |who: &Participant, force: bool| {
        let closed = world.coordinator.close_for(&shop, Some(who), Closing::new(force), None).await;
        closed.map(drop).map_err(|e| e.code)
    };
    for who in [&bob, &eve] {
        assert_eq!(close(who, false).await, Err(ErrorCode::NotYourTurn), "{}", who.agent);
    }
    let reopened = |who: &Participant| {
        assert_eq!(shop.meta().turn.state, TurnPhase::Closed);
        world.begin("shop", StartReason::Restore, who);
    };
    // A harness that began another conversation, a person, an agent that uses force, and a driver.
    let next = Participant { replaces: vec![ada.agent.clone()], ..agent("ada2", 1) };
    for (who, force) in [(&next, false), (&person, false), (&bob, true), (&ada, false)] {
        assert_eq!(close(who, force).await, Ok(()), "{}", who.agent);
        reopened(&ada);
    }
    granted(wait(&shop, &ada, 0).await);
    shop.join(&bob, false, None).unwrap();
    shop.assign(&ada, bob.agent.as_str(), None, handoff(), false, &Plain).unwrap();
    assert_eq!(close(&ada, false).await, Err(ErrorCode::NotYourTurn), "bob has it reserved");
    assert_eq!(close(&bob, false).await, Ok(()));
}

/// Fault 15: the caller named its turn, so the error names the expected and the current one.
#[tokio::test(start_paused = true)]
async fn queued_command_that_named_its_turn_is_refused_by_its_number() {
    let world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let shop = world.open(&ada);
    let turn = granted(wait(&shop, &ada, 0).await).turn_id;
    let cancel = CancellationToken::new();
    let admission = shop.admit(&ada, Some(turn), Duration::ZERO, &cancel).await.unwrap();
    let options = TakeOptions { operator_requested: true, ..TakeOptions::default() };
    granted(shop.take(&bob, options, &Plain).await.unwrap());
    let refused = shop.begin(&ada, Some(admission), press(), &cancel).unwrap_err();
    assert_eq!(refused.code, ErrorCode::TurnMismatch);
    let details = &refused.details;
    assert_eq!((&details["expected"], &details["currentTurnId"]), (&turn.into(), &(turn + 1).into()));
    assert_eq!((&details["currentOwner"], &details["state"]), (&"claude:bob".into(), &"owned".into()));
    let take = shop.take(&ada, TakeOptions { reason: Some("late".into()), ..TakeOptions::default() }, &Plain);
    let early = take.await.unwrap_err();
    assert_eq!(early.code, ErrorCode::TurnMismatch, "it decided on the turn that it knew");
    wait(&shop, &ada, 0).await;
    let take = shop.take(&ada, TakeOptions { reason: Some("late".into()), ..TakeOptions::default() }, &Plain);
    let early = take.await.unwrap_err();
    assert_eq!((early.code, &early.details["state"]), (ErrorCode::TakeoverNotAvailable, &"owned".into()));
    assert_eq!(early.details["eligibleAt"], early.details["leaseExpiresAt"]);
    assert!(early.details["eligibleAt"].is_string(), "{:?}", early.details);
}

/// An event is not a turn: the waiting agent learns of the event, and must wait again.
#[tokio::test(start_paused = true)]
async fn wait_returns_the_events_that_its_agent_has_not_read() {
    let mut world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let mut shop = world.open(&ada);
    wait(&shop, &ada, 0).await;
    shop.join(&bob, false, None).unwrap();
    let say = |shop: &SessionAuthority, body: &str| {
        Talk(shop).send(&ada, None, "room", body.into(), MessageHint::Normal, &Plain).unwrap().seq
    };
    let wait_for = async |shop: &SessionAuthority, who: &Participant, ms: Option<u64>| {
        let timeout = ms.map(Duration::from_millis);
        let options = WaitOptions { events: true, timeout, ..WaitOptions::default() };
        let waited = shop.wait(who, options, &CancellationToken::new()).await.unwrap();
        let bodies = waited.events.iter().filter_map(|event| event.body.clone());
        let bodies: Vec<_> = bodies.filter_map(|body| body.as_str().map(str::to_owned)).collect();
        (matches!(waited.reply, TurnReply::YourTurn(_)), bodies)
    };
    say(&shop, "before the wait");
    assert_eq!(wait_for(&shop, &bob, None).await, (false, vec!["before the wait".into()]), "after its join");
    assert_eq!(wait_for(&shop, &bob, Some(0)).await.1.len(), 1, "the response did not arrive");
    world.coordinator.confirm_delivery(&bob.agent);
    assert_eq!(wait_for(&shop, &bob, Some(10)).await, (false, vec![]));
    let waits = {
        let shop = Arc::clone(&shop);
        let bob = bob.clone();
        tokio::spawn(async move {
            let options = WaitOptions { events: true, ..WaitOptions::default() };
            shop.wait(&bob, options, &CancellationToken::new()).await.unwrap().events.len()
        })
    };
    tokio::task::yield_now().await;
    act(&shop, &ada).await.unwrap();
    tokio::task::yield_now().await;
    assert!(!waits.is_finished(), "a command is no event for it");
    say(&shop, "meanwhile");
    assert_eq!(waits.await.unwrap(), 1);
    world.coordinator.confirm_delivery(&bob.agent);
    say(&shop, "for the next host");
    world.restart();
    shop = world.coordinator.session("shop").unwrap();
    assert_eq!(wait_for(&shop, &bob, None).await, (false, vec!["for the next host".into()]));
    assert_eq!(wait_for(&shop, &ada, Some(0)).await, (true, vec![]), "its own messages do not count");
    let quiet = WaitOptions { timeout: Some(Duration::from_millis(5)), ..WaitOptions::default() };
    assert!(shop.wait(&bob, quiet, &CancellationToken::new()).await.unwrap().events.is_empty());
    let beyond = WaitOptions { events: true, after: Some(9_999), ..quiet };
    let refused = shop.wait(&bob, beyond, &CancellationToken::new()).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::InvalidCursor);
}

#[tokio::test(start_paused = true)]
async fn times_that_are_shown_follow_the_wall_clock() {
    let world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let shop = world.open(&ada);
    granted(wait(&shop, &ada, 0).await);
    let shown = || shop.state(None).unwrap().lease_expires_at.unwrap().millis();
    let before = shown();
    world.wall_ahead.store(3_600_000, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(shown(), before + 3_600_000);
    let TurnReply::NotYet(reply) = wait(&shop, &bob, 0).await else { panic!("ada holds the turn") };
    assert_eq!(reply.lease_expires_at.unwrap().millis(), shown());
    let refused = shop.admit(&bob, None, Duration::ZERO, &CancellationToken::new()).await.unwrap_err();
    let expiry = serde_json::to_value(shop.state(None).unwrap().lease_expires_at).unwrap();
    assert_eq!(refused.details["leaseExpiresAt"], expiry);
}
