//! Requests of two agents at the same moment, each on a thread of its own. The clock moves only
//! between rounds.

use crate::files::WatchedFiles;
use crate::support::{Plain, agent, handoff, start};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;
use stickpin_coordinator::{
    Coordinator, Environment, GrantReason, Granted, Participant, SessionAuthority, TakeOptions, Talk,
    TurnReply, WaitOptions,
};
use stickpin_device::{ErrorCode, Result};
use stickpin_session::Timestamp;
use stickpin_session::log::{MessageHint, StartReason};
use stickpin_session::turn::{Handoff, Liveness, Now, TurnPhase};
use tokio_util::sync::CancellationToken;

const ROUNDS: usize = 200;

/// The rounds of fault 11.
const MANY_ROUNDS: usize = 1_000;

/// A session whose turn `ada` holds and `bob` wants.
struct Race {
    shop: Arc<SessionAuthority>,
    coordinator: Coordinator,
    ada: Participant,
    bob: Participant,
    clock: Arc<AtomicU64>,
    _folder: tempfile::TempDir,
}

impl Race {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(AtomicU64::new(1_000_000));
        let random = AtomicU64::new(1);
        let time = Arc::clone(&clock);
        let now = move || {
            let ms = time.load(Ordering::SeqCst);
            Now { mono_ms: ms, boot_id: "b1".into(), wall: Timestamp::from_millis(1_785_500_000_000 + ms) }
        };
        let environment = Environment {
            now: Arc::new(now),
            random: Arc::new(move || u128::from(random.fetch_add(1, Ordering::SeqCst))),
            liveness: Arc::new(|_| Liveness::Alive),
            pid: 4_711,
        };
        let files = Arc::new(WatchedFiles::default());
        let coordinator = Coordinator::open_on(folder.path(), 1, environment, files).unwrap();
        let (ada, bob) = (agent("ada", 1), agent("bob", 2));
        let shop = coordinator.begin_lifetime("shop", start("shop"), StartReason::Open, Some(&ada)).unwrap();
        shop.join(&bob, false, None).unwrap();
        Self { shop, coordinator, ada, bob, clock, _folder: folder }
    }

    fn pass(&self, ms: u64) {
        self.clock.fetch_add(ms, Ordering::SeqCst);
    }

    /// Gives the turn to `ada`, and reports it to `bob`. Returns the number of the turn.
    fn begin_round(&self) -> u64 {
        let held = match self.claim(&self.ada) {
            TurnReply::YourTurn(held) => *held,
            _ => granted(self.take(&self.ada, true).unwrap()),
        };
        self.shop.confirm_delivery(&self.ada.agent);
        assert!(matches!(self.claim(&self.bob), TurnReply::NotYet(_)));
        held.turn_id
    }

    fn claim(&self, who: &Participant) -> TurnReply {
        let options = WaitOptions { timeout: Some(Duration::ZERO), ..WaitOptions::default() };
        block_on(self.shop.wait(who, options, &CancellationToken::new())).unwrap().reply
    }

    fn take(&self, who: &Participant, operator_requested: bool) -> Result<TurnReply> {
        let reason = Some("it is late".to_owned());
        let options = TakeOptions { reason, operator_requested, expected_turn: None };
        block_on(self.shop.take(who, options, &Plain))
    }

    /// Checks that the log has one owner for each turn, in a legal order.
    fn assert_consistent(&self) {
        assert_eq!(self.coordinator.verify("shop").unwrap().findings, []);
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

/// Runs both functions at the same moment.
fn at_once<A: Send, B>(one: impl FnOnce() -> A + Send, other: impl FnOnce() -> B) -> (A, B) {
    let line = Barrier::new(2);
    std::thread::scope(|threads| {
        let one = threads.spawn(|| {
            line.wait();
            one()
        });
        line.wait();
        let other = other();
        (one.join().unwrap(), other)
    })
}

#[track_caller]
fn granted(reply: TurnReply) -> Granted {
    match reply {
        TurnReply::YourTurn(granted) => *granted,
        other => panic!("no turn: {other:?}"),
    }
}

/// Fault 11, under load: while eight agents claim the turn, another one sends messages and reads
/// the state.
#[test]
fn one_of_many_agents_that_claim_under_load_gets_each_turn() {
    const CLAIMS: usize = 8;
    let race = Race::new();
    let agents: Vec<Participant> = (0..CLAIMS).map(|n| agent(&format!("a{n}"), 10 + n as u32)).collect();
    let mut last = race.begin_round();
    race.shop.release(&race.ada, Some(last), handoff(), &Plain).unwrap();
    let (line, is_over) = (Barrier::new(CLAIMS + 2), AtomicBool::new(false));
    let replies: Mutex<Vec<(usize, TurnReply)>> = Mutex::default();
    std::thread::scope(|threads| {
        for (n, who) in agents.iter().enumerate() {
            let (race, line, is_over, replies) = (&race, &line, &is_over, &replies);
            threads.spawn(move || {
                loop {
                    line.wait();
                    if is_over.load(Ordering::SeqCst) {
                        return;
                    }
                    let reply = race.claim(who);
                    replies.lock().unwrap().push((n, reply));
                    line.wait();
                }
            });
        }
        threads.spawn(|| {
            loop {
                line.wait();
                if is_over.load(Ordering::SeqCst) {
                    return;
                }
                Talk(&race.shop)
                    .send(&race.bob, None, "room", "hello".into(), MessageHint::Normal, &Plain)
                    .unwrap();
                race.shop.state(None).unwrap();
                line.wait();
            }
        });
        for round in 0..MANY_ROUNDS {
            race.pass(20_000);
            line.wait();
            line.wait();
            let replies = std::mem::take(&mut *replies.lock().unwrap());
            let turns = replies.iter().filter_map(|(n, reply)| match reply {
                TurnReply::YourTurn(granted) => Some((*n, granted.turn_id)),
                _ => None,
            });
            let [(winner, turn)] = turns.collect::<Vec<_>>()[..] else {
                panic!("round {round}: {replies:?}")
            };
            assert_eq!(turn, last + 1, "round {round}");
            for (_, reply) in replies.iter().filter(|(n, _)| *n != winner) {
                let TurnReply::NotYet(not_yet) = reply else { panic!("round {round}: {reply:?}") };
                // The answer to a claim that came before the winner's names no owner.
                let owner = not_yet.owner.as_ref();
                assert!(owner.is_none_or(|owner| *owner == agents[winner].agent), "round {round}: {owner:?}");
            }
            last = turn;
            race.shop.release(&agents[winner], Some(last), handoff(), &Plain).unwrap();
        }
        is_over.store(true, Ordering::SeqCst);
        line.wait();
    });
    race.assert_consistent();
}

/// Fault 13: one of the two is first, and the text of the handoff is not lost.
#[test]
fn release_and_takeover_at_once_have_one_winner_who_knows_the_handoff() {
    let race = Race::new();
    for round in 0..ROUNDS {
        let turn = race.begin_round();
        race.pass(20_000);
        let given = Handoff { status: format!("round {round}"), ..handoff() };
        let (released, taken) = at_once(
            || race.shop.release(&race.ada, Some(turn), given.clone(), &Plain),
            || race.take(&race.bob, true),
        );
        let taken = granted(taken.unwrap());
        assert_eq!(taken.turn_id, turn + 1, "round {round}");
        match released {
            // The turn was idle, or reserved for the agent that took it.
            Ok(_) => {
                assert_eq!(taken.revoked, None, "round {round}");
                assert_eq!(taken.handoff.map(|handoff| handoff.status), Some(given.status), "round {round}");
            }
            Err(e) => {
                assert_eq!(e.code, ErrorCode::TurnMismatch, "round {round}");
                assert_eq!(e.details["handoff"]["status"], *given.status, "round {round}");
                assert_eq!(taken.revoked, Some(race.ada.agent.clone()), "round {round}");
            }
        }
        let after = race.shop.meta().turn;
        assert_eq!((after.owner, after.turn_id), (Some(race.bob.agent.clone()), turn + 1), "round {round}");
    }
    race.assert_consistent();
}

/// Fault 12: the second decision was made about an old turn.
#[test]
fn two_takeovers_at_once_have_one_winner() {
    let race = Race::new();
    let eve = agent("eve", 3);
    for round in 0..ROUNDS {
        let turn = race.begin_round();
        assert!(matches!(race.claim(&eve), TurnReply::NotYet(_)));
        race.pass(race.shop.meta().policy.lease_ttl_ms + 1);
        let (one, other) = at_once(|| race.take(&eve, false), || race.take(&race.bob, false));
        let (won, lost) = match (one, other) {
            (Ok(won), Err(lost)) | (Err(lost), Ok(won)) => (granted(won), lost),
            both => panic!("round {round}: {both:?}"),
        };
        assert_eq!((won.turn_id, won.reason), (turn + 1, GrantReason::OwnerTimeout), "round {round}");
        assert_eq!(lost.code, ErrorCode::TurnMismatch, "round {round}");
    }
    race.assert_consistent();
}

/// Fault 14: an expired lease revokes nothing by itself.
#[test]
fn late_owner_that_renews_while_its_turn_is_taken_is_first_or_second() {
    let race = Race::new();
    let late = |turn: u64| {
        race.pass(race.shop.meta().policy.lease_ttl_ms + 1);
        assert_eq!(race.shop.meta().turn.turn_id, turn, "expiry revokes nothing");
    };
    // The owner is first.
    let turn = race.begin_round();
    late(turn);
    let renewed = granted(race.claim(&race.ada));
    assert_eq!((renewed.turn_id, renewed.lease_renewed), (turn, true));
    let refused = race.take(&race.bob, false).unwrap_err();
    assert_eq!(refused.code, ErrorCode::TakeoverNotAvailable);
    // The taker is first.
    late(turn);
    let taken = granted(race.take(&race.bob, false).unwrap());
    assert_eq!((taken.turn_id, taken.reason), (turn + 1, GrantReason::OwnerTimeout));
    assert!(matches!(race.claim(&race.ada), TurnReply::NotYet(_)));
    // Both at once.
    for round in 0..ROUNDS {
        let turn = race.begin_round();
        late(turn);
        let (claimed, taken) = at_once(|| race.claim(&race.ada), || race.take(&race.bob, false));
        let after = race.shop.meta().turn;
        assert_eq!(after.state, TurnPhase::Owned, "round {round}");
        match (claimed, taken) {
            (TurnReply::YourTurn(kept), Err(e)) => {
                assert!(kept.lease_renewed && kept.turn_id == turn, "round {round}: {kept:?}");
                assert_eq!(e.code, ErrorCode::TakeoverNotAvailable, "round {round}");
                assert_eq!((after.owner, after.turn_id), (Some(race.ada.agent.clone()), turn));
            }
            (TurnReply::NotYet(_), Ok(taken)) => {
                assert_eq!(granted(taken).revoked, Some(race.ada.agent.clone()), "round {round}");
                assert_eq!((after.owner, after.turn_id), (Some(race.bob.agent.clone()), turn + 1));
            }
            both => panic!("round {round}: {both:?}"),
        }
    }
    race.assert_consistent();
}
