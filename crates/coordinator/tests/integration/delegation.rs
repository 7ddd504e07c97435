//! Loans of scope between sessions, and peers.

use crate::support::{Plain, World, act, agent, handoff, press, start};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use stickpin_coordinator::{
    Closing, Coordinator, EndedLoan, Participant, SessionAuthority, Spawn, Spawned, Talk, WaitOptions,
};
use stickpin_device::{Error, ErrorCode};
use stickpin_session::log::{CommandId, Kind, MessageHint, SessionMeta, StartReason, Status};
use stickpin_session::turn::{AgentId, ChildState, LoanState, MemberKind, TurnPhase, Verb};
use tokio_util::sync::CancellationToken;

fn spawn(rule: &str, agent: Option<&Participant>) -> Spawn {
    Spawn { rules: vec![rule.to_owned()], agent: agent.map(|agent| agent.agent.clone()), ttl: None }
}

async fn lend(world: &World, child: &str, by: &Participant, to: &Participant) -> Spawned {
    world.coordinator.loans().spawn("shop", child, by, spawn("act:*", Some(to))).await.unwrap()
}

fn permit(world: &World, shop: &SessionAuthority, who: &Participant) -> Result<(), ErrorCode> {
    world.coordinator.loans().permit(shop, who, None).map_err(|e| e.code)
}

fn child_states(coordinator: &Coordinator, parent: &str) -> Vec<(String, ChildState)> {
    let (meta, _) = coordinator.meta(parent).unwrap();
    meta.children.into_iter().map(|child| (child.session, child.state)).collect()
}

const DENIED: Result<(), ErrorCode> = Err(ErrorCode::ScopeDenied);

#[tokio::test(start_paused = true)]
async fn what_is_lent_only_the_child_may_do_until_it_comes_back() {
    let world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let shop = world.open(&ada);
    assert_eq!(permit(&world, &shop, &ada), Ok(()));
    let spawned = lend(&world, "pay", &ada, &bob).await;
    assert_eq!(spawned.effective_parent, [Verb::Observe, Verb::Admin]);
    assert_eq!(spawned.effective_child, [Verb::Act]);
    assert_eq!(spawned.device, "shop");
    let refused = world.coordinator.loans().permit(&shop, &ada, None).unwrap_err();
    assert_eq!((refused.code, &refused.details["lentTo"]), (ErrorCode::ScopeDenied, &"pay".into()));
    assert_eq!(refused.details["rule"], "act:*");
    assert!(refused.hint.contains("stickpin session stop pay"), "{}", refused.hint);
    assert!(refused.message.contains("act on"), "{}", refused.message);
    assert_eq!(permit(&world, &shop, &bob), Ok(()));
    act(&shop, &bob).await.unwrap();

    let ended = world.coordinator.loans().stop_child("pay", &ada).await.unwrap();
    assert_eq!(ended.loans.iter().map(|loan| loan.reason.as_str()).collect::<Vec<_>>(), ["stopped"]);
    assert_eq!(ended.effective_parent, Verb::ALL, "the lender has everything again");
    assert_eq!(permit(&world, &shop, &ada), Ok(()));
    assert_eq!(permit(&world, &shop, &bob), DENIED, "it was a member for the child");
    assert_ne!(shop.meta().turn.owner, Some(bob.agent.clone()), "its turn ended with the loan");
    assert_eq!(child_states(&world.coordinator, "shop"), [("pay".to_owned(), ChildState::Stopped)]);
    let verified = world.coordinator.verify("shop").unwrap();
    assert!(verified.findings.is_empty(), "{:?}", verified.findings);
    let again = world.coordinator.loans().reclaim(spawned.loan_id.as_str(), false, &ada).await.unwrap();
    assert_eq!((again.loans, again.effective_parent.len()), (vec![], 3), "the loan had already ended");
}

#[tokio::test(start_paused = true)]
async fn a_session_lends_what_it_has_and_once() {
    let world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let shop = world.open(&ada);
    let code = |e: Error| e.code;
    let lend = async |parent: &str, child: &str, rule: &str, who: &Participant| {
        world.coordinator.loans().spawn(parent, child, who, spawn(rule, Some(who))).await.map_err(code)
    };
    lend("shop", "watch", "observe:*", &ada).await.unwrap();
    assert_eq!(permit(&world, &shop, &ada), DENIED, "a member of a child acts for the child");
    world.coordinator.session("watch").unwrap().leave(&ada).unwrap();
    assert_eq!(permit(&world, &shop, &ada), Ok(()), "to look is shared");
    lend("shop", "pay", "act:*,origins=https://shop.test", &ada).await.unwrap();
    assert_eq!(lend("shop", "other", "act:*", &ada).await, Err(ErrorCode::LoanConflict));
    assert_eq!(lend("watch", "more", "act:*", &ada).await, Err(ErrorCode::LoanNotSubset));
    assert_eq!(lend("shop", "pay", "observe:*", &ada).await, Err(ErrorCode::SessionExists));
    assert_eq!(lend("shop", "x", "observe:*", &bob).await, Err(ErrorCode::UnknownMember));
    assert!(!world.coordinator.exists("other") && !world.coordinator.exists("more"));

    world.coordinator.session("pay").unwrap().leave(&ada).unwrap();
    let elsewhere = |address| world.coordinator.loans().permit(&shop, &ada, Some(address)).map_err(code);
    assert_eq!(elsewhere("https://shop.test/cart"), DENIED);
    assert_eq!(elsewhere("https://mail.test/"), Ok(()), "the loan has limits");
    assert_eq!(permit(&world, &shop, &ada), DENIED, "an unknown address could be the lent one");
}

#[tokio::test(start_paused = true)]
async fn lending_waits_for_the_command_of_the_lender() {
    let world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let shop = world.open(&ada);
    let cancel = CancellationToken::new();
    let admission = shop.admit(&ada, None, Duration::ZERO, &cancel).await.unwrap();
    let _running = shop.begin(&ada, Some(admission), press(), &cancel).unwrap();
    let began = tokio::time::Instant::now();
    lend(&world, "pay", &ada, &bob).await;
    assert!(began.elapsed() >= Duration::from_millis(shop.meta().policy.drain_ms));
    assert!(cancel.is_cancelled(), "a command that does not end is cancelled");
}

#[tokio::test(start_paused = true)]
async fn a_loan_ends_at_its_time_without_anybody_asking() {
    let world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let shop = world.open(&ada);
    let ttl = Some(Duration::from_secs(60));
    let spawn = Spawn { ttl, ..spawn("act:*", Some(&bob)) };
    world.coordinator.loans().spawn("shop", "pay", &ada, spawn).await.unwrap();
    tokio::time::sleep(Duration::from_secs(59)).await;
    assert_eq!(shop.meta().loans.len(), 1);
    tokio::time::sleep(Duration::from_secs(2)).await;
    let meta = shop.meta();
    assert_eq!((meta.loans.len(), meta.reclaimed[0].reason.as_str()), (0, "expired"));
    assert_eq!((permit(&world, &shop, &ada), permit(&world, &shop, &bob)), (Ok(()), DENIED));
}

#[tokio::test(start_paused = true)]
async fn loan_that_expires_waits_for_the_command_that_uses_it() {
    let world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let shop = world.open(&ada);
    let spawn = Spawn { ttl: Some(Duration::from_secs(60)), ..spawn("act:*", Some(&bob)) };
    world.coordinator.loans().spawn("shop", "pay", &ada, spawn).await.unwrap();
    tokio::time::sleep(Duration::from_secs(58)).await;
    let cancel = CancellationToken::new();
    let admission = shop.admit(&bob, None, Duration::from_secs(10), &cancel).await.unwrap();
    let ticket = shop.begin(&bob, Some(admission), press(), &cancel).unwrap();
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(shop.meta().loans[0].state, LoanState::Reclaiming);
    assert_eq!((permit(&world, &shop, &ada), permit(&world, &shop, &bob)), (DENIED, DENIED));
    assert!(!cancel.is_cancelled());
    tokio::time::sleep(Duration::from_millis(shop.meta().policy.drain_ms)).await;
    assert!(cancel.is_cancelled(), "a command that does not end is cancelled");
    let meta = shop.meta();
    assert_eq!((meta.loans.len(), meta.reclaimed[0].reason.as_str()), (0, "expired"));
    assert_eq!(child_states(&world.coordinator, "shop"), [("pay".to_owned(), ChildState::Stopped)]);
    assert_eq!(late_commands(&shop), [Some(ticket.command())], "its log says what was still running");
    shop.end(ticket, None, None, None).unwrap();
    assert_eq!(permit(&world, &shop, &ada), Ok(()));
}

#[tokio::test(start_paused = true)]
async fn loans_outlive_the_host_and_end_with_the_lender() {
    let mut world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    world.open(&ada);
    lend(&world, "pay", &ada, &bob).await;
    world.restart();
    let shop = world.begin("shop", StartReason::Restore, &ada);
    assert_eq!((permit(&world, &shop, &ada), permit(&world, &shop, &bob)), (DENIED, Ok(())));
    world.coordinator.close("shop").await.unwrap();
    let (pay, _) = world.coordinator.meta("pay").unwrap();
    assert_eq!(pay.status, Status::Closed);
    let shop = world.coordinator.session("shop").unwrap().meta();
    assert_eq!((shop.loans.len(), shop.reclaimed[0].reason.as_str()), (0, "lender_closed"));
}

/// Returns the command that was using each loan of a session when the loan ended.
fn late_commands(shop: &SessionAuthority) -> Vec<Option<CommandId>> {
    let records = shop.records_after(0, 1_000).unwrap().into_iter();
    let back = records.filter_map(|record| match &record.kind {
        Kind::LoanReclaimed(back) => Some(back.late_command),
        _ => None,
    });
    back.collect()
}

#[tokio::test(start_paused = true)]
async fn loan_of_a_session_that_closes_waits_for_the_command_that_uses_it() {
    for closes in ["pay", "shop"] {
        let world = World::new();
        let (ada, bob) = (agent("ada", 1), agent("bob", 2));
        let shop = world.open(&ada);
        lend(&world, "pay", &ada, &bob).await;
        let cancel = CancellationToken::new();
        let admission = shop.admit(&bob, None, Duration::from_secs(10), &cancel).await.unwrap();
        let ticket = shop.begin(&bob, Some(admission), press(), &cancel).unwrap();
        let command = ticket.command();
        let coordinator = world.coordinator.clone();
        let closed = tokio::spawn(async move { coordinator.close(closes).await });
        tokio::time::sleep(Duration::from_millis(shop.meta().policy.drain_ms - 1)).await;
        assert_eq!(shop.meta().loans[0].state, LoanState::Reclaiming, "{closes}: nothing more begins");
        assert_eq!((permit(&world, &shop, &ada), permit(&world, &shop, &bob)), (DENIED, DENIED), "{closes}");
        assert!(!cancel.is_cancelled() && !closed.is_finished(), "{closes}");
        closed.await.unwrap().unwrap();
        assert!(cancel.is_cancelled(), "{closes}: a command that does not end is cancelled");
        assert_eq!(late_commands(&shop), [Some(command)], "{closes}");
        assert_eq!(borrowers(&world, "shop"), [""; 0], "{closes}");
        assert_eq!(world.coordinator.meta("pay").unwrap().0.status, Status::Closed, "{closes}");
        shop.end(ticket, None, None, None).unwrap();
        let verified = world.coordinator.verify("shop").unwrap();
        assert!(verified.findings.is_empty(), "{closes}: {:?}", verified.findings);
    }
}

/// Fault 29: the child dies silently. Fault 30: the parent does not grant twice.
#[tokio::test(start_paused = true)]
async fn a_child_whose_agent_disappeared_gives_back_what_it_borrowed() {
    let world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let shop = world.open(&ada);
    lend(&world, "pay", &ada, &bob).await;
    assert_eq!(permit(&world, &shop, &bob), Ok(()));
    world.ended.lock().unwrap().insert(2);
    tokio::time::sleep(Duration::from_secs(300)).await;
    assert_eq!(child_states(&world.coordinator, "shop"), [("pay".to_owned(), ChildState::Stopped)]);
    assert_eq!(shop.meta().reclaimed[0].reason, "child_closed");
    assert_eq!(permit(&world, &shop, &ada), Ok(()));
    let evidence = shop.records_after(0, 1_000).unwrap().into_iter().find_map(|record| match &record.kind {
        Kind::ChildStateChanged(changed) if changed.child.state == ChildState::Stopped => {
            Some(changed.evidence.clone())
        }
        _ => None,
    });
    assert!(evidence.unwrap().last_seq.is_some(), "its log is evidence");
}

/// The lender names the borrower before the borrower has a process.
#[tokio::test(start_paused = true)]
async fn process_of_a_named_borrower_is_known_to_the_next_host() {
    let mut world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    world.open(&ada);
    lend(&world, "pay", &ada, &bob).await;
    world.coordinator.session("pay").unwrap().join(&bob, false, None).unwrap();
    world.restart();
    world.ended.lock().unwrap().insert(2);
    stickpin_coordinator::resume(&world.coordinator).unwrap();
    let shop = world.begin("shop", StartReason::Restore, &ada);
    world.guard();
    tokio::time::sleep(Duration::from_secs(300)).await;
    assert_eq!(child_states(&world.coordinator, "shop"), [("pay".to_owned(), ChildState::Stopped)]);
    assert_eq!(permit(&world, &shop, &ada), Ok(()));
}

/// A harness may have a new process for every turn of its model, so its end alone means nothing.
#[tokio::test(start_paused = true)]
async fn a_child_whose_agent_reads_waits_or_runs_a_command_keeps_what_it_borrowed() {
    for how in ["reads", "runs", "waits"] {
        let world = World::new();
        let (ada, bob) = (agent("ada", 1), agent("bob", 2));
        let shop = world.open(&ada);
        lend(&world, "pay", &ada, &bob).await;
        shop.wait(&ada, WaitOptions::default(), &CancellationToken::new()).await.unwrap();
        assert_eq!(permit(&world, &shop, &bob), Ok(()));
        world.ended.lock().unwrap().insert(2);
        let (cancel, running) = (CancellationToken::new(), CancellationToken::new());
        match how {
            "reads" => {
                for _ in 0..10 {
                    let read = shop.begin(&bob, None, press(), &running).unwrap();
                    shop.end(read, None, Some(1), None).unwrap();
                    tokio::time::sleep(Duration::from_secs(60)).await;
                }
            }
            "runs" => {
                let long = shop.begin(&bob, None, press(), &running).unwrap();
                tokio::time::sleep(Duration::from_secs(600)).await;
                assert_eq!(borrowers(&world, "shop"), ["pay"], "{how}");
                shop.end(long, None, Some(1), None).unwrap();
            }
            _ => {
                let (shop, bob, cancel) = (Arc::clone(&shop), bob.clone(), cancel.clone());
                tokio::spawn(async move { shop.wait(&bob, WaitOptions::default(), &cancel).await });
                tokio::time::sleep(Duration::from_secs(600)).await;
            }
        }
        assert_eq!(borrowers(&world, "shop"), ["pay"], "{how}");
        cancel.cancel();
        tokio::time::sleep(Duration::from_secs(300)).await;
        assert_eq!(borrowers(&world, "shop"), [""; 0], "{how}: it has been silent since");
    }
}

/// Fault 31: a crash between writing the metadata of the parent and that of the child.
#[tokio::test(start_paused = true)]
async fn a_spawn_that_was_cut_short_is_taken_back() {
    let mut world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let shop = world.open(&ada);
    lend(&world, "pay", &ada, &bob).await;
    let opened = shop.records_after(0, 1_000).unwrap();
    let pending = opened.iter().position(|record| match &record.kind {
        Kind::LoanOpened(opened) => opened.loan.state == LoanState::Active,
        _ => false,
    });
    // Simulates a host that was killed before it created the child.
    let sessions = world.folder.path().join("sessions");
    let log = sessions.join("shop/log/000001.jsonl");
    let text = std::fs::read_to_string(&log).unwrap();
    let kept: String = text.lines().take(pending.unwrap()).map(|line| format!("{line}\n")).collect();
    std::fs::write(&log, kept).unwrap();
    std::fs::remove_dir_all(sessions.join("pay")).unwrap();
    for file in ["meta.json", "meta.prev.json"] {
        std::fs::remove_file(sessions.join("shop").join(file)).unwrap();
    }
    world.restart();
    let person = Participant { kind: MemberKind::Human, ..ada.clone() };
    world.coordinator.adopt("shop", &person).unwrap();
    let shop = world.coordinator.session("shop").unwrap();
    assert_eq!((shop.meta().loans.len(), shop.meta().reclaimed[0].reason.as_str()), (0, "spawn_incomplete"));
    assert_eq!(permit(&world, &shop, &ada), Ok(()));
}

#[tokio::test(start_paused = true)]
async fn loans_made_out_of_a_loan_go_on_or_end_with_it() {
    for cascade in [false, true] {
        let world = World::new();
        let (ada, bob, eve) = (agent("ada", 1), agent("bob", 2), agent("eve", 3));
        let shop = world.open(&ada);
        let first = lend(&world, "pay", &ada, &bob).await;
        let part = spawn("act:*,origins=https://shop.test", Some(&eve));
        let second = world.coordinator.loans().spawn("pay", "card", &bob, part).await.unwrap();
        let at_shop = |who: &Participant| {
            world
                .coordinator
                .loans()
                .permit(&shop, who, Some("https://shop.test/"))
                .map_err(|e: Error| e.code)
        };
        assert_eq!((at_shop(&ada), at_shop(&bob), at_shop(&eve)), (DENIED, DENIED, Ok(())));
        let ended = world.coordinator.loans().reclaim(first.loan_id.as_str(), cascade, &ada).await.unwrap();
        let ids: Vec<_> = ended.loans.iter().map(|loan: &EndedLoan| loan.loan_id.clone()).collect();
        let has_all = ended.effective_parent == Verb::ALL;
        assert_eq!(has_all, cascade, "{:?}", ended.effective_parent);
        if cascade {
            assert_eq!(ids, [second.loan_id, first.loan_id]);
            assert_eq!((at_shop(&ada), at_shop(&eve)), (Ok(()), DENIED));
        } else {
            assert_eq!((ids, &ended.loans[0].reparented), (vec![first.loan_id], &vec![second.loan_id]));
            assert_eq!((at_shop(&ada), at_shop(&bob), at_shop(&eve)), (DENIED, DENIED, Ok(())));
            assert_eq!(shop.meta().loans[0].lender, "shop");
            assert!(world.coordinator.meta("pay").unwrap().0.loans.is_empty());
            world.coordinator.loans().stop_child("card", &ada).await.unwrap();
            assert_eq!(at_shop(&ada), Ok(()));
        }
    }
}

/// Returns the state of the turn, and the agent that it is reserved for.
fn reservation(shop: &SessionAuthority) -> (TurnPhase, Option<AgentId>) {
    let turn = shop.meta().turn;
    (turn.state, turn.reserved_for)
}

#[tokio::test(start_paused = true)]
async fn whole_target_that_comes_back_brings_the_turn_back_to_its_lender() {
    for ada_is_gone in [false, true] {
        let world = World::new();
        let (ada, bob) = (agent("ada", 1), agent("bob", 2));
        let shop = world.open(&ada);
        act(&shop, &ada).await.unwrap();
        let spawned = lend(&world, "pay", &ada, &bob).await;
        assert!(shop.meta().loans[0].turn_bound, "it lends the whole target");
        let given = shop.release(&ada, None, handoff(), &Plain).unwrap();
        shop.wait(&bob, WaitOptions::default(), &CancellationToken::new()).await.unwrap();
        act(&shop, &bob).await.unwrap();
        let before = shop.meta().turn;
        assert_eq!((&before.owner, before.pending_handoff_seq), (&Some(bob.agent.clone()), None));
        if ada_is_gone {
            world.ended.lock().unwrap().insert(1);
        }
        world.coordinator.loans().reclaim(spawned.loan_id.as_str(), false, &ada).await.unwrap();
        let after = shop.meta().turn;
        assert_eq!(after.turn_id, before.turn_id, "nobody was granted a turn");
        if ada_is_gone {
            assert_eq!(reservation(&shop), (TurnPhase::Idle, None));
        } else {
            assert_eq!(reservation(&shop), (TurnPhase::Reserved, Some(ada.agent.clone())));
            assert_eq!(after.pending_handoff_seq, Some(given.seq), "with the last handoff");
        }
        let verified = world.coordinator.verify("shop").unwrap();
        assert!(verified.findings.is_empty(), "{:?}", verified.findings);
    }
}

#[tokio::test(start_paused = true)]
async fn part_of_a_target_that_comes_back_leaves_the_turn_idle() {
    let world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let shop = world.open(&ada);
    act(&shop, &ada).await.unwrap();
    let part = spawn("act:*,origins=https://shop.test", Some(&bob));
    let spawned = world.coordinator.loans().spawn("shop", "pay", &ada, part).await.unwrap();
    assert!(!shop.meta().loans[0].turn_bound);
    shop.release(&ada, None, handoff(), &Plain).unwrap();
    shop.wait(&bob, WaitOptions::default(), &CancellationToken::new()).await.unwrap();
    world.coordinator.loans().reclaim(spawned.loan_id.as_str(), false, &ada).await.unwrap();
    assert_eq!(reservation(&shop), (TurnPhase::Idle, None));
}

/// Opens `shop`, which lends to `pay`, which in turn lends to `card`.
async fn lent_on(world: &World, who: [&Participant; 3]) -> (Arc<SessionAuthority>, [Spawned; 2]) {
    let [ada, bob, eve] = who;
    let shop = world.open(ada);
    let first = lend(world, "pay", ada, bob).await;
    let part = spawn("act:*,origins=https://shop.test", Some(eve));
    let second = world.coordinator.loans().spawn("pay", "card", bob, part).await.unwrap();
    (shop, [first, second])
}

/// Returns the borrowers of the loans that a session has made.
fn borrowers(world: &World, lender: &str) -> Vec<String> {
    world.coordinator.meta(lender).unwrap().0.loans.into_iter().map(|loan| loan.borrower).collect()
}

#[tokio::test(start_paused = true)]
async fn work_goes_on_that_a_child_lent_on_before_it_ended() {
    for how in ["stopped", "closed", "gone", "pruned"] {
        let mut world = World::new();
        let (ada, bob, eve) = (agent("ada", 1), agent("bob", 2), agent("eve", 3));
        let (mut shop, _) = lent_on(&world, [&ada, &bob, &eve]).await;
        match how {
            "stopped" => drop(world.coordinator.loans().stop_child("pay", &ada).await.unwrap()),
            "closed" => world.coordinator.close("pay").await.unwrap(),
            "gone" => {
                world.ended.lock().unwrap().insert(2);
                tokio::time::sleep(Duration::from_secs(300)).await;
            }
            _ => {
                // Simulates a host that was killed between the end of the child and that of its
                // loan.
                let pay = world.coordinator.session("pay").unwrap();
                pay.close(None, stickpin_coordinator::Closing::new(true)).unwrap();
                world.restart();
                shop = world.coordinator.session("shop").unwrap();
                world.coordinator.loans().prune("shop", &ada).await.unwrap();
            }
        }
        assert_eq!(borrowers(&world, "shop"), ["card"], "{how}");
        assert_eq!(borrowers(&world, "pay"), [""; 0], "{how}");
        assert_eq!(world.coordinator.meta("card").unwrap().0.status, Status::Open, "{how}");
        let at_shop = |who| world.coordinator.loans().permit(&shop, who, Some("https://shop.test/"));
        assert_eq!(at_shop(&eve).map_err(|e| e.code), Ok(()), "{how}");
        assert_eq!(at_shop(&ada).map_err(|e| e.code), DENIED, "{how}");
    }
}

#[tokio::test(start_paused = true)]
async fn loans_end_leaf_first_when_their_time_is_over_or_their_lender_closes() {
    for closes in [false, true] {
        let world = World::new();
        let (ada, bob, eve) = (agent("ada", 1), agent("bob", 2), agent("eve", 3));
        let shop = world.open(&ada);
        let timed = Spawn { ttl: Some(Duration::from_secs(60)), ..spawn("act:*", Some(&bob)) };
        world.coordinator.loans().spawn("shop", "pay", &ada, timed).await.unwrap();
        let part = spawn("act:*,origins=https://shop.test", Some(&eve));
        world.coordinator.loans().spawn("pay", "card", &bob, part).await.unwrap();
        match closes {
            true => world.coordinator.close("shop").await.unwrap(),
            false => tokio::time::sleep(Duration::from_secs(61)).await,
        }
        assert_eq!((borrowers(&world, "shop"), borrowers(&world, "pay")), (vec![], vec![]));
        for (parent, child) in [("shop", "pay"), ("pay", "card")] {
            let stopped = (child.to_owned(), ChildState::Stopped);
            assert_eq!(child_states(&world.coordinator, parent), [stopped], "{closes}");
            let status = world.coordinator.meta(child).unwrap().0.status;
            assert_eq!(status == Status::Closed, closes, "{child}");
        }
        let reason = if closes { "lender_closed" } else { "expired" };
        let pay = world.coordinator.session("pay").unwrap().meta();
        assert_eq!((&*shop.meta().reclaimed[0].reason, &*pay.reclaimed[0].reason), (reason, reason));
    }
}

/// With an app of its own, the child would have two scopes: its own and a borrowed one.
#[tokio::test(start_paused = true)]
async fn child_opens_no_app_of_its_own() {
    let world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    world.open(&ada);
    lend(&world, "pay", &ada, &bob).await;
    let open = |reason| {
        let begun = world.coordinator.begin_lifetime("pay", start("pay"), reason, Some(&bob));
        begun.map(drop).map_err(|e| (e.code, e.hint))
    };
    let (code, hint) = open(StartReason::Open).unwrap_err();
    assert!(code == ErrorCode::SessionExists && hint.contains("`--session shop`"), "{hint}");
    world.coordinator.close("pay").await.unwrap();
    for reason in [StartReason::Open, StartReason::Restore] {
        assert_eq!(open(reason).unwrap_err().0, ErrorCode::SessionExists, "its name is that of a child");
    }
    assert!(world.coordinator.meta("pay").unwrap().0.targets.is_empty());
}

/// Section 17, test 16.
#[tokio::test(start_paused = true)]
async fn restoring_a_parent_shows_every_child_and_takes_back_what_nobody_uses() {
    let mut world = World::new();
    let ada = agent("ada", 1);
    world.open(&ada);
    for (n, name) in ["live", "stopped", "gone"].into_iter().enumerate() {
        let rule = format!("act:*,origins=https://{n}.test");
        world
            .coordinator
            .loans()
            .spawn("shop", name, &ada, spawn(&rule, Some(&agent(name, 7))))
            .await
            .unwrap();
    }
    world.restart();
    let sessions = world.folder.path().join("sessions");
    // Simulates a child that was closed by a host that was killed before it informed the parent.
    let stopped = world.coordinator.session("stopped").unwrap();
    stopped.close(None, stickpin_coordinator::Closing::new(true)).unwrap();
    std::fs::remove_dir_all(sessions.join("gone")).unwrap();
    let shop = world.begin("shop", StartReason::Restore, &ada);
    let of = |name: &str, state| (name.to_owned(), state);
    assert_eq!(
        child_states(&world.coordinator, "shop"),
        [of("live", ChildState::Active), of("stopped", ChildState::Stopped), of("gone", ChildState::Pruned)]
    );
    let meta: SessionMeta = shop.meta();
    assert_eq!(meta.loans.iter().map(|loan| loan.borrower.as_str()).collect::<Vec<_>>(), ["live"]);
    let reasons: Vec<_> = meta.reclaimed.iter().map(|loan| loan.reason.as_str()).collect();
    assert_eq!(reasons, ["child_closed", "child_missing"]);
    let everything = &meta.base_scope.allow[0];
    assert_eq!(everything.verbs.len(), 3, "the session's own scope is unchanged");
    let (pruned, returned) = world.coordinator.loans().prune("shop", &ada).await.unwrap();
    assert_eq!(pruned, ["stopped"]);
    let still_has = [Verb::Observe, Verb::Admin];
    assert_eq!(
        (returned.loans, returned.effective_parent),
        (vec![], still_has.to_vec()),
        "`live` has the rest"
    );
}

#[tokio::test(start_paused = true)]
async fn list_tells_what_a_session_has_lent_and_which_children_can_be_used() {
    let world = World::new();
    let (ada, bob, eve) = (agent("ada", 1), agent("bob", 2), agent("eve", 3));
    let (shop, _) = lent_on(&world, [&ada, &bob, &eve]).await;
    world.coordinator.loans().spawn("shop", "watch", &ada, spawn("observe:*", None)).await.unwrap();
    let open: BTreeSet<String> = ["shop".to_owned()].into();
    let of = |name: &str, open: &BTreeSet<String>| {
        let listed = world.coordinator.listed(name, Some(&ada), open);
        let children = listed.children;
        assert_eq!(children.count, children.sessions.len());
        ([children.count, children.reachable, children.unreachable], listed.scope_delegated)
    };
    let rules = |rules: &[&str]| rules.iter().map(|rule| (*rule).to_owned()).collect::<Vec<_>>();
    assert_eq!(of("shop", &open), ([2, 2, 0], rules(&["act:*", "observe:*"])));
    assert_eq!(of("pay", &open), ([1, 1, 0], rules(&["act:*,origins=https://shop.test"])));
    assert_eq!(of("shop", &BTreeSet::new()).0, [2, 0, 2], "the app of all of them is gone");
    world.coordinator.close("watch").await.unwrap();
    assert_eq!(of("shop", &open), ([2, 1, 1], rules(&["act:*"])));
    assert_eq!(shop.meta().children.len(), 2);
    let all = world.coordinator.list(Some(&agent("ann", 4)), &open, true).unwrap();
    let stranger = all.sessions.iter().find(|listed| listed.name == "shop").unwrap();
    assert!(stranger.children.is_empty() && stranger.scope_delegated.is_empty(), "{stranger:?}");
}

/// Section 17, test 17.
#[tokio::test(start_paused = true)]
async fn peers_see_each_other_and_get_nothing_else() {
    let world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let shop = world.open(&ada);
    world.begin("mail", StartReason::Open, &bob);
    let code = |e: Error| e.code;
    let coordinator = &world.coordinator;
    assert_eq!(coordinator.peer("shop", "shop", &ada).map_err(code), Err(ErrorCode::PeerSelf));
    assert_eq!(coordinator.peer("shop", "none", &ada).map_err(code), Err(ErrorCode::SessionNotFound));
    assert_eq!(coordinator.peer("shop", "mail", &bob).map_err(code), Err(ErrorCode::UnknownMember));
    coordinator.peer("shop", "mail", &ada).unwrap();
    coordinator.peer("shop", "mail", &ada).unwrap();
    let mail = coordinator.session("mail").unwrap();
    assert!(Talk(&shop).is_peer("mail") && Talk(&mail).is_peer("shop"));
    assert_eq!(coordinator.peer_through(&ada, "mail").as_deref(), Some("shop"));
    let seen = coordinator.list(Some(&ada), &Default::default(), false).unwrap();
    assert!(seen.sessions.iter().any(|listed| listed.name == "mail"), "{seen:?}");
    let meta = mail.meta();
    assert!(meta.loans.is_empty() && meta.parent.is_none() && meta.children.is_empty());
    assert!(!meta.members.iter().any(|member| member.agent_id == AgentId::new("claude:ada")));
    let through = coordinator.peer_through(&ada, "mail");
    let hint = MessageHint::Normal;
    let sent = Talk(&mail).send(&ada, through, "room", "paid".into(), hint, &Plain).unwrap();
    let record = mail.records_after(sent.seq - 1, 1).unwrap().remove(0);
    let Kind::Message(message) = &record.kind else { panic!("{record:?}") };
    assert_eq!((message.from_session.as_deref(), &record.agent), (Some("shop"), &Some(ada.agent.clone())));
    assert_eq!(mail.meta().members.len(), 1, "a message makes nobody a member");
    coordinator.unpeer("mail", "shop", &bob).unwrap();
    assert!(!Talk(&shop).is_peer("mail") && !Talk(&mail).is_peer("shop"));
    assert_eq!(coordinator.peer_through(&ada, "mail"), None);
}

/// Section 5.4: the session is idle or held by the caller. A reservation is neither.
#[tokio::test(start_paused = true)]
async fn reserved_turn_keeps_other_members_from_lending_peering_and_limits() {
    let world = World::new();
    let (ada, bob, eve) = (agent("ada", 1), agent("bob", 2), agent("eve", 3));
    let shop = world.open(&ada);
    world.begin("mail", StartReason::Open, &ada);
    for who in [&bob, &eve] {
        shop.join(who, false, None).unwrap();
    }
    shop.wait(&ada, WaitOptions::default(), &CancellationToken::new()).await.unwrap();
    shop.assign(&ada, "claude:bob", None, handoff(), false, &Plain).unwrap();
    let limits = [("drainMs".to_owned(), "5000".to_owned())];
    let tries = async |who: &Participant, child: &str| {
        let coordinator = &world.coordinator;
        let code = |e: Error| e.code;
        [
            coordinator
                .loans()
                .spawn("shop", child, who, spawn("observe:*", None))
                .await
                .map(drop)
                .map_err(code),
            coordinator.peer("shop", "mail", who).map_err(code),
            coordinator.unpeer("shop", "mail", who).map_err(code),
            coordinator.set_policy("shop", who, &limits).map(drop).map_err(code),
        ]
    };
    assert_eq!(tries(&eve, "a").await, [Err(ErrorCode::NotYourTurn); 4]);
    assert_eq!(tries(&bob, "a").await[..3], [Ok(()); 3], "it is reserved for it");
    let claim = Duration::from_millis(shop.meta().policy.claim_ttl_ms);
    tokio::time::sleep(claim + Duration::from_secs(1)).await;
    assert_eq!(shop.meta().turn.state, TurnPhase::Idle);
    assert_eq!(tries(&eve, "b").await[..3], [Ok(()); 3], "the reservation is over");
}

#[tokio::test(start_paused = true)]
async fn a_half_failed_handshake_is_rolled_back() {
    let world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let shop = world.open(&ada);
    let mail = world.begin("mail", StartReason::Open, &bob);
    // The metadata of the second session has no room for one more word.
    let size = || serde_json::to_vec(&mail.meta()).unwrap().len();
    mail.join(&bob, false, Some("x".to_owned())).unwrap();
    let rest = SessionMeta::MAX_BYTES - SessionMeta::SPARE_BYTES - size();
    mail.join(&bob, false, Some("x".repeat(rest - 4))).unwrap();
    let refused = world.coordinator.peer("shop", "mail", &ada).unwrap_err();
    assert_eq!(refused.code, ErrorCode::MetaTooLarge);
    assert!(!Talk(&shop).is_peer("mail") && !Talk(&mail).is_peer("shop"));
}

#[tokio::test(start_paused = true)]
async fn closing_a_session_reports_the_loans_that_end_with_it() {
    let world = World::new();
    let (ada, bob) = (agent("ada", 1), agent("bob", 2));
    let shop = world.open(&ada);
    let spawned = lend(&world, "pay", &ada, &bob).await;
    let ended = world.coordinator.close_for(&shop, Some(&ada), Closing::new(true), None).await.unwrap();
    assert_eq!(ended, [spawned.loan_id]);
    let again = world.coordinator.close_for(&shop, Some(&ada), Closing::new(true), None).await.unwrap();
    assert_eq!(again, []);
}

/// A child can always be stopped, but not by an agent that is a member of neither session.
#[tokio::test(start_paused = true)]
async fn child_is_stopped_by_members_of_the_family_even_without_a_loan() {
    let world = World::new();
    let (ada, bob, eve) = (agent("ada", 1), agent("bob", 2), agent("eve", 3));
    world.open(&ada);
    let spawned = lend(&world, "pay", &ada, &bob).await;
    world.coordinator.loans().reclaim(spawned.loan_id.as_str(), false, &ada).await.unwrap();
    let stop =
        async |who: &Participant| world.coordinator.loans().stop_child("pay", who).await.map_err(|e| e.code);
    assert_eq!(stop(&eve).await, Err(ErrorCode::UnknownMember));
    assert_eq!(world.coordinator.meta("pay").unwrap().0.status, Status::Open);
    stop(&ada).await.unwrap();
    assert_eq!(world.coordinator.meta("pay").unwrap().0.status, Status::Closed);
}

/// `admin` is exclusive, and covers the device, not what happens in its app.
#[tokio::test(start_paused = true)]
async fn device_is_administered_by_the_session_that_has_admin() {
    let world = World::new();
    let (ada, bob, eve) = (agent("ada", 1), agent("bob", 2), agent("eve", 3));
    let person = Participant { kind: MemberKind::Human, ..agent("ann", 4) };
    let shop = world.open(&ada);
    let loans = world.coordinator.loans();
    let both = vec!["act:*".to_owned(), "admin:*".to_owned()];
    let spawn_both = Spawn { rules: both, agent: Some(bob.agent.clone()), ttl: None };
    let spawned = loans.spawn("shop", "pay", &ada, spawn_both).await.unwrap();
    assert_eq!(spawned.effective_parent, [Verb::Observe]);
    let limits = [("drainMs".to_owned(), "5000".to_owned())];
    let policy =
        |who: &Participant| world.coordinator.set_policy("shop", who, &limits).map(drop).map_err(|e| e.code);
    let close = async |who: &Participant, force: bool| {
        let closed = world.coordinator.close_for(&shop, Some(who), Closing::new(force), None).await;
        closed.map(drop).map_err(|e| e.code)
    };
    assert_eq!(policy(&ada), DENIED);
    assert_eq!((close(&ada, false).await, close(&ada, true).await), (DENIED, DENIED), "not even by force");
    let refused = loans.administer(&shop, &ada, None).unwrap_err();
    assert_eq!((&refused.details["lentTo"], &refused.details["rule"]), (&"pay".into(), &"admin:*".into()));
    let more = loans.spawn("shop", "more", &ada, spawn("observe:*", Some(&eve))).await;
    assert_eq!(more.map(drop).map_err(|e| e.code), DENIED);
    assert_eq!(policy(&person), Ok(()), "a person decides");
    loans.administer(&shop, &bob, None).unwrap();
    // Wait until the owner of the implicit turn counts as idle.
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert_eq!(close(&bob, false).await, Ok(()), "it acts for the child, which borrowed `admin`");

    let shop = world.begin("shop", StartReason::Open, &ada);
    lend(&world, "buy", &ada, &bob).await;
    tokio::time::sleep(Duration::from_secs(6)).await;
    act(&shop, &bob).await.unwrap();
    assert_eq!(loans.administer(&shop, &bob, None).unwrap_err().code, ErrorCode::ScopeDenied, "it only acts");
    let ten = WaitOptions { timeout: Some(Duration::from_secs(10)), ..WaitOptions::default() };
    shop.wait(&ada, ten, &CancellationToken::new()).await.unwrap();
    let limited = spawn("admin:*,origins=https://shop.test", Some(&eve));
    loans.spawn("shop", "care", &ada, limited).await.unwrap();
    let address = Some("https://shop.test/cart");
    assert_eq!(loans.administer(&shop, &eve, address).map_err(|e| e.code), Ok(()));
    assert_eq!(loans.administer(&shop, &eve, None).map_err(|e| e.code), DENIED, "an unknown address denies");
    assert_eq!(loans.administer(&shop, &ada, None).map_err(|e| e.code), DENIED);
}
