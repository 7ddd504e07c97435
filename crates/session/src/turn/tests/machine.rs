//! Unit tests of single transitions, and invariants over random runs of several agents.

use crate::timestamp::Timestamp;
use crate::turn::deadlines::*;
use crate::turn::machine::*;
use crate::turn::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A session with its members, as the daemon holds it.
#[derive(Debug, Clone)]
struct Room {
    turn: TurnState,
    members: Vec<Member>,
    policy: Policy,
    presence: BTreeMap<AgentId, Presence>,
    now: Now,
    idle_since: u64,
    leases: u32,
}

fn agent(name: &str) -> AgentId {
    AgentId::new(name)
}

impl Room {
    fn of(names: &[&str]) -> Self {
        let mut room = Self {
            turn: TurnState::default(),
            members: Vec::new(),
            policy: Policy::default(),
            presence: BTreeMap::new(),
            now: Now { mono_ms: 1_000, boot_id: "boot-1".into(), wall: Timestamp::from_millis(0) },
            idle_since: 0,
            leases: 0,
        };
        for (at, name) in names.iter().enumerate() {
            room.members.push(Member {
                agent_id: agent(name),
                display: (*name).into(),
                harness: "claude".into(),
                kind: MemberKind::Harness,
                ordinal: u32::try_from(at).unwrap() + 1,
                joined_at: Timestamp::from_millis(0),
                last_seen_at: Timestamp::from_millis(0),
                last_wait_at: None,
                wait_mode: WaitMode::Active,
                last_held_turn: None,
                anchor: None,
                role: MemberRole::Driver,
            });
            room.presence.insert(agent(name), Presence { liveness: Liveness::Alive, ..Presence::default() });
        }
        room
    }

    fn situation(&self) -> Situation<'_> {
        Situation {
            turn: &self.turn,
            members: &self.members,
            policy: &self.policy,
            presence: &self.presence,
            idle_ms: Some(self.now.mono_ms - self.idle_since),
            now: &self.now,
        }
    }

    fn lease(&mut self) -> LeaseId {
        self.leases += 1;
        LeaseId::new(format!("lease-{}", self.leases))
    }

    fn commit(&mut self, to: Transition) -> TurnEvent {
        self.turn = to.after;
        if self.turn.state == TurnPhase::Idle {
            self.idle_since = self.now.mono_ms;
        }
        if let Some(owner) = self.turn.owner.clone()
            && let Some(member) = self.members.iter_mut().find(|m| m.agent_id == owner)
        {
            member.last_held_turn = Some(self.turn.turn_id);
        }
        to.event
    }

    fn claim(&mut self, name: &str) -> Result<Claim, TurnError> {
        let lease = self.lease();
        let claim = claim(self.situation(), &agent(name), lease)?;
        if let Claim::Granted(to) = &claim {
            self.commit(to.clone());
        }
        Ok(claim)
    }

    fn take(&mut self, name: &str, how: Takeover) -> Result<Claim, TurnError> {
        let lease = self.lease();
        let claim = take(self.situation(), &agent(name), lease, how)?;
        if let Claim::Granted(to) = &claim {
            self.commit(to.clone());
        }
        Ok(claim)
    }

    fn enter(&mut self, name: &str) -> Result<(), TurnError> {
        let lease = self.lease();
        if let Some(to) = enter(self.situation(), &fence(name), lease)? {
            self.commit(to);
        }
        self.turn = after_command(&self.turn, &self.policy, &self.now);
        Ok(())
    }

    fn release(&mut self, name: &str, handoff: u64) -> Result<TurnEvent, TurnError> {
        let to = release(self.situation(), &fence(name), handoff)?;
        Ok(self.commit(to))
    }

    fn pass(&mut self, ms: u64) {
        self.now.mono_ms += ms;
        for presence in self.presence.values_mut() {
            presence.silent_ms = presence.silent_ms.saturating_add(ms);
            presence.last_poll_ms = presence.last_poll_ms.map(|poll| poll + ms);
        }
    }

    fn timers(&mut self) -> Vec<TurnEvent> {
        let mut events = Vec::new();
        while let Some(to) = due(self.situation()) {
            events.push(self.commit(to));
            assert!(events.len() < 20, "timers never come to rest: {events:?}");
        }
        events
    }

    fn hint(&mut self, name: &str) -> &mut Presence {
        self.presence.get_mut(&agent(name)).unwrap()
    }
}

fn fence(name: &str) -> Fence {
    Fence { agent: agent(name), turn_id: None, lease_id: None }
}

fn reason_of(claim: Result<Claim, TurnError>) -> ClaimReason {
    match claim {
        Ok(Claim::Granted(Transition { event: TurnEvent::Claimed { reason, .. }, .. })) => reason,
        other => panic!("not a claim: {other:?}"),
    }
}

#[test]
fn single_agent_enters_without_asking() {
    let mut room = Room::of(&["a"]);
    room.enter("a").unwrap();
    assert!(room.turn.implicit);
    assert_eq!(room.turn.turn_id, 1);
    room.enter("a").unwrap();
    assert_eq!(room.turn.turn_id, 1, "the second command belongs to the same turn");
}

#[test]
fn implicit_turn_ends_only_for_a_waiter_or_after_its_lease() {
    let mut room = Room::of(&["a", "b"]);
    room.enter("a").unwrap();
    room.pass(5_000);
    assert_eq!(room.timers(), []);
    room.hint("b").waiting = true;
    let ended = TurnEvent::Released { by: agent("a"), to: Some(agent("b")), implicit_end: true };
    assert_eq!(room.timers(), [ended]);
    assert_eq!(reason_of(room.claim("b")), ClaimReason::Sequence);

    let mut room = Room::of(&["a"]);
    room.enter("a").unwrap();
    room.hint("a").in_flight = true;
    room.pass(60_000);
    assert_eq!(room.timers(), [], "a command is running");
    room.hint("a").in_flight = false;
    assert_eq!(room.timers().len(), 1);
    assert_eq!(room.turn.state, TurnPhase::Idle);
}

#[test]
fn command_of_another_agent_is_refused_with_the_holder() {
    let mut room = Room::of(&["a", "b"]);
    room.claim("a").unwrap();
    assert_eq!(room.enter("b"), Err(TurnError::TurnHeld { owner: agent("a"), turn_id: 1 }));
}

#[test]
fn handoff_is_read_before_a_command() {
    let mut room = Room::of(&["a", "b"]);
    room.claim("a").unwrap();
    room.release("a", 7).unwrap();
    assert_eq!(room.enter("b"), Err(TurnError::TurnRequired));
    assert_eq!(reason_of(room.claim("b")), ClaimReason::OpenClaim);
    assert_eq!(room.turn.pending_handoff_seq, Some(7), "until the first command of the turn");
    room.enter("b").unwrap();
    assert_eq!(room.turn.pending_handoff_seq, None);
}

#[test]
fn releaser_gives_way_for_the_grace_period() {
    let mut room = Room::of(&["a", "b"]);
    room.claim("a").unwrap();
    room.release("a", 7).unwrap();
    assert_eq!(room.claim("a"), Ok(Claim::NotYet));
    room.pass(10_000);
    assert_eq!(reason_of(room.claim("a")), ClaimReason::OpenClaim);

    let mut alone = Room::of(&["a"]);
    alone.claim("a").unwrap();
    alone.release("a", 7).unwrap();
    assert_eq!(reason_of(alone.claim("a")), ClaimReason::OpenClaim);
}

#[test]
fn release_goes_to_who_waited_longest() {
    let mut room = Room::of(&["a", "b", "c", "d"]);
    room.claim("a").unwrap();
    for name in ["b", "c", "d"] {
        room.hint(name).waiting = true;
    }
    room.members[1].last_held_turn = Some(0);
    assert_eq!(next_owner(room.situation(), &agent("a")), Next::Waiter(agent("c")));
    room.members[2].wait_mode = WaitMode::Parked;
    assert_eq!(next_owner(room.situation(), &agent("a")), Next::Waiter(agent("d")));
    room.members[3].role = MemberRole::Observer;
    assert_eq!(next_owner(room.situation(), &agent("a")), Next::Waiter(agent("b")));
    room.hint("b").waiting = false;
    assert_eq!(next_owner(room.situation(), &agent("a")), Next::Nobody);
    room.hint("b").last_poll_ms = Some(9_999);
    assert_eq!(next_owner(room.situation(), &agent("a")), Next::BetweenPolls);
    room.hint("b").via_mcp = true;
    room.hint("b").last_poll_ms = Some(44_999);
    assert_eq!(next_owner(room.situation(), &agent("a")), Next::Waiter(agent("b")));
}

#[test]
fn assigned_turn_is_claimed_by_its_agent_only() {
    let mut room = Room::of(&["a", "b", "c"]);
    room.claim("a").unwrap();
    let s = room.situation();
    assert_eq!(assign(s, &fence("a"), &agent("a"), 3, false), Err(TurnError::OnSelf { agent: agent("a") }));
    assert_eq!(
        assign(s, &fence("a"), &agent("x"), 3, false),
        Err(TurnError::NotADriver { agent: agent("x") })
    );
    assert!(assign(s, &fence("b"), &agent("c"), 3, true).is_err(), "an owned turn is not redirected");
    let to = assign(s, &fence("a"), &agent("b"), 3, false).unwrap();
    room.commit(to);
    assert_eq!(room.claim("c"), Ok(Claim::NotYet));
    let redirected = assign(room.situation(), &fence("c"), &agent("c"), 9, true).unwrap();
    assert_eq!(redirected.after.pending_handoff_seq, Some(3), "the owner's handoff stays");
    assert_eq!(reason_of(room.claim("b")), ClaimReason::Direct);
    assert_eq!(room.turn.turn_id, 2);
}

#[test]
fn expired_reservation_passes_on_and_keeps_the_handoff() {
    let mut room = Room::of(&["a", "b", "c"]);
    room.claim("a").unwrap();
    let to = assign(room.situation(), &fence("a"), &agent("b"), 3, false).unwrap();
    room.commit(to);
    room.hint("c").waiting = true;
    room.pass(300_000);
    assert_eq!(reason_of(room.clone().claim("b")), ClaimReason::Direct, "until it is passed on");
    let expired = TurnEvent::ReservationExpired { missed: agent("b"), to: Some(agent("c")) };
    assert_eq!(room.timers(), [expired]);
    assert_eq!(reason_of(room.claim("c")), ClaimReason::Sequence);
    assert_eq!(room.turn.pending_handoff_seq, Some(3));
}

#[test]
fn expired_lease_opens_a_takeover_and_revokes_nothing() {
    let mut room = Room::of(&["a", "b"]);
    room.claim("a").unwrap();
    room.turn = with_delivery(&room.turn, true);
    assert_eq!(room.take("b", Takeover::default()), Err(TurnError::TakeoverNotAvailable { turn_id: 1 }));
    room.pass(900_000);
    assert_eq!(room.timers(), []);
    assert_eq!(label(room.situation()), Label::OwnerStale);
    assert_eq!(room.claim("b"), Ok(Claim::TakeoverAvailable(TakeReason::OwnerTimeout)));
    // The late owner renews before the takeover commits, and keeps the turn.
    let mut late = room.clone();
    let Ok(Claim::AlreadyOwner { renewed: Some(renewed) }) = late.claim("a") else { panic!() };
    late.turn = renewed;
    assert_eq!(late.claim("b"), Ok(Claim::NotYet));
    // The takeover commits first, and the fence of the old owner no longer fits.
    let old = Fence { turn_id: Some(1), lease_id: room.turn.lease_id.clone(), ..fence("a") };
    room.take("b", Takeover::default()).unwrap();
    assert_eq!(check(room.situation(), &old), Err(TurnError::TurnMismatch { expected: 1, current: 2 }));
}

#[test]
fn second_takeover_at_the_same_time_is_refused() {
    let mut room = Room::of(&["a", "b", "c"]);
    room.claim("a").unwrap();
    room.pass(900_000);
    let how = Takeover { expected_turn: Some(1), ..Takeover::default() };
    room.take("b", how).unwrap();
    assert_eq!(room.take("c", how), Err(TurnError::TurnMismatch { expected: 1, current: 2 }));
}

#[test]
fn silent_owner_is_idle_only_while_another_waits() {
    let mut room = Room::of(&["a", "b"]);
    room.claim("a").unwrap();
    room.turn = with_delivery(&room.turn, true);
    room.pass(600_000);
    assert_eq!(label(room.situation()), Label::Owned);
    room.hint("b").waiting = true;
    assert_eq!(label(room.situation()), Label::OwnerIdle);
    assert_eq!(room.claim("b"), Ok(Claim::TakeoverAvailable(TakeReason::OwnerIdle)));
    // The wait of `b` ends with this response.
    room.hint("b").waiting = false;
    room.hint("b").last_poll_ms = Some(44_999);
    assert_eq!(take_reason(room.situation(), &agent("b")), Some(TakeReason::OwnerIdle));
    room.hint("b").last_poll_ms = Some(45_000);
    assert_eq!(take_reason(room.situation(), &agent("b")), None);
    room.hint("b").waiting = true;
    room.hint("a").in_flight = true;
    assert_eq!(label(room.situation()), Label::Owned, "a long command does not count as silence");
}

#[test]
fn gone_owner_surrenders_after_silence_only() {
    let mut room = Room::of(&["a", "b"]);
    room.claim("a").unwrap();
    room.turn = with_delivery(&room.turn, true);
    room.hint("a").liveness = Liveness::Gone;
    room.pass(120_000);
    assert_eq!(room.timers(), [], "a harness may rotate its process");
    assert!(is_renewable(room.situation()));
    room.pass(1);
    assert!(!is_renewable(room.situation()));
    assert_eq!(label(room.situation()), Label::OwnerGone);
    assert_eq!(room.timers(), [TurnEvent::Surrendered { by: agent("a") }]);
    assert_eq!(reason_of(room.claim("b")), ClaimReason::AfterSurrender);
}

#[test]
fn undelivered_grant_returns_to_its_agent() {
    let mut room = Room::of(&["a", "b"]);
    room.claim("a").unwrap();
    room.release("a", 4).unwrap();
    room.claim("b").unwrap();
    room.pass(10_000);
    assert_eq!(room.timers(), [TurnEvent::Undelivered { to: agent("b") }]);
    assert_eq!(room.claim("a"), Ok(Claim::NotYet));
    assert_eq!(reason_of(room.claim("b")), ClaimReason::Direct);
    assert_eq!((room.turn.turn_id, room.turn.pending_handoff_seq), (3, Some(4)));
}

#[test]
fn operator_takes_a_reserved_turn() {
    let mut room = Room::of(&["a", "b", "c"]);
    room.claim("a").unwrap();
    let to = assign(room.situation(), &fence("a"), &agent("b"), 3, false).unwrap();
    room.commit(to);
    assert!(room.take("c", Takeover::default()).is_err());
    let how = Takeover { operator_requested: true, ..Takeover::default() };
    let Ok(Claim::Granted(Transition { event, .. })) = room.take("c", how) else { panic!() };
    let reason = TakeReason::OperatorOverride;
    assert_eq!(event, TurnEvent::Taken { by: agent("c"), revoked: Some(agent("b")), reason });
}

#[test]
fn replaced_session_is_taken_by_its_successor() {
    let mut room = Room::of(&["a", "b"]);
    room.claim("a").unwrap();
    let how = Takeover { replaces_owner: true, ..Takeover::default() };
    let Ok(Claim::Granted(Transition { event, .. })) = room.take("b", how) else { panic!() };
    assert!(matches!(event, TurnEvent::Taken { reason: TakeReason::SessionReplaced, .. }), "{event:?}");
}

#[test]
fn member_leaves_or_is_removed() {
    let mut room = Room::of(&["a", "b"]);
    room.claim("a").unwrap();
    let held = TurnError::MustReleaseFirst { agent: agent("a"), turn_id: 1 };
    assert_eq!(leave(room.situation(), &agent("a")), Err(held));
    assert_eq!(leave(room.situation(), &agent("b")), Ok(None));
    let s = room.situation();
    assert_eq!(kick(s, &agent("a"), &agent("a"), true), Err(TurnError::OnSelf { agent: agent("a") }));
    let active = TurnError::TargetActive { agent: agent("a") };
    assert_eq!(kick(s, &agent("b"), &agent("a"), false), Err(active));
    let to = kick(s, &agent("b"), &agent("a"), true).unwrap().unwrap();
    room.commit(to);
    assert_eq!((room.turn.state, room.turn.prev_owner.clone()), (TurnPhase::Idle, None));
}

#[test]
fn owner_of_an_implicit_turn_leaves_without_a_handoff() {
    let mut room = Room::of(&["a", "b"]);
    room.enter("a").unwrap();
    assert!(room.turn.implicit);
    let to = leave(room.situation(), &agent("a")).unwrap().unwrap();
    room.commit(to);
    assert_eq!((room.turn.state, room.turn.pending_handoff_seq), (TurnPhase::Idle, None));
    room.enter("b").unwrap();
}

/// The feed has no event for an agent to which a member that leaves would pass the turn on.
#[test]
fn turn_of_a_member_that_leaves_is_reserved_for_nobody() {
    let waits = Presence { waiting: true, ..Presence::default() };
    let mut room = Room::of(&["a", "b", "c"]);
    room.presence.insert(agent("c"), waits);
    room.enter("a").unwrap();
    let to = leave(room.situation(), &agent("a")).unwrap().unwrap();
    room.commit(to);
    assert_eq!((room.turn.state, &room.turn.reserved_for), (TurnPhase::Idle, &None));
    room.claim("a").unwrap();
    let to = assign(room.situation(), &fence("a"), &agent("b"), 7, false).unwrap();
    room.commit(to);
    let to = leave(room.situation(), &agent("b")).unwrap().unwrap();
    room.commit(to);
    assert_eq!((room.turn.state, &room.turn.reserved_for), (TurnPhase::Idle, &None));
    assert_eq!(room.turn.pending_handoff_seq, Some(7));
    for name in ["a", "b", "c"] {
        assert_eq!(leave(room.situation(), &agent(name)), Ok(None));
    }
}

#[test]
fn closed_turn_reopens_with_its_number() {
    let mut room = Room::of(&["a"]);
    room.claim("a").unwrap();
    let to = close(room.situation());
    room.commit(to);
    assert_eq!(room.claim("a"), Err(TurnError::Closed));
    assert_eq!(room.enter("a"), Err(TurnError::Closed));
    room.turn = reopen(&room.turn);
    room.claim("a").unwrap();
    assert_eq!(room.turn.turn_id, 2);
}

#[test]
fn restart_in_the_same_boot_keeps_owner_and_lease() {
    let mut room = Room::of(&["a", "b"]);
    room.claim("a").unwrap();
    room.pass(899_999);
    let after = after_restart(&room.turn, &room.now);
    assert_eq!((after.owner.as_ref(), &after.lease_id), (Some(&agent("a")), &room.turn.lease_id));
    assert_eq!(after.lease.unwrap().deadline_mono_ms, room.now.mono_ms + 60_000);
}

#[test]
fn reboot_frees_the_turn_and_keeps_a_pending_handoff() {
    let mut room = Room::of(&["a", "b"]);
    room.claim("a").unwrap();
    let other = Now { boot_id: "boot-2".into(), mono_ms: 0, ..room.now.clone() };
    let after = after_restart(&room.turn, &other);
    assert_eq!((after.state, after.turn_id, after.prev_owner), (TurnPhase::Idle, 1, Some(agent("a"))));
    let to = assign(room.situation(), &fence("a"), &agent("b"), 3, false).unwrap();
    let after = after_restart(&to.after, &other);
    assert_eq!((after.state, after.pending_handoff_seq), (TurnPhase::Idle, Some(3)));
}

#[derive(Debug, Clone)]
enum Op {
    Claim(usize),
    Enter(usize),
    Release(usize),
    Assign(usize, usize, bool),
    Take(usize, bool, bool),
    Kick(usize, usize),
    Leave(usize),
    Pass(u64),
    Wait(usize, bool),
    Gone(usize, bool),
    Ack,
    Restart,
    Reboot,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let who = 0..3_usize;
    let op = prop_oneof![
        4 => who.clone().prop_map(Op::Claim),
        4 => who.clone().prop_map(Op::Enter),
        2 => who.clone().prop_map(Op::Release),
        2 => (who.clone(), who.clone(), any::<bool>()).prop_map(|(a, b, o)| Op::Assign(a, b, o)),
        2 => (who.clone(), any::<bool>(), any::<bool>()).prop_map(|(a, o, r)| Op::Take(a, o, r)),
        1 => (who.clone(), who.clone()).prop_map(|(a, b)| Op::Kick(a, b)),
        1 => who.clone().prop_map(Op::Leave),
        4 => prop_oneof![Just(1), Just(6_000), Just(130_000), Just(1_000_000)].prop_map(Op::Pass),
        3 => (who.clone(), any::<bool>()).prop_map(|(a, w)| Op::Wait(a, w)),
        1 => (who, any::<bool>()).prop_map(|(a, g)| Op::Gone(a, g)),
        2 => Just(Op::Ack),
        1 => Just(Op::Restart),
        1 => Just(Op::Reboot),
    ];
    proptest::collection::vec(op, 1..60)
}

const NAMES: [&str; 3] = ["a", "b", "c"];

/// Applies one operation.
fn run(room: &mut Room, op: &Op) {
    match *op {
        Op::Claim(a) => drop(room.claim(NAMES[a])),
        Op::Enter(a) => {
            room.hint(NAMES[a]).silent_ms = 0;
            drop(room.enter(NAMES[a]));
        }
        Op::Release(a) => {
            let seq = u64::from(room.leases) + 100;
            drop(room.release(NAMES[a], seq));
        }
        Op::Assign(a, b, operator) => {
            let seq = u64::from(room.leases) + 100;
            let to = assign(room.situation(), &fence(NAMES[a]), &agent(NAMES[b]), seq, operator);
            to.into_iter().for_each(|to| drop(room.commit(to)));
        }
        Op::Take(a, operator_requested, replaces_owner) => {
            let how = Takeover { expected_turn: None, operator_requested, replaces_owner };
            drop(room.take(NAMES[a], how));
        }
        Op::Kick(a, b) => {
            let to = kick(room.situation(), &agent(NAMES[a]), &agent(NAMES[b]), true);
            to.into_iter().flatten().for_each(|to| drop(room.commit(to)));
        }
        Op::Leave(a) => {
            let to = leave(room.situation(), &agent(NAMES[a]));
            to.into_iter().flatten().for_each(|to| drop(room.commit(to)));
        }
        Op::Pass(ms) => {
            room.pass(ms);
            room.timers();
        }
        Op::Wait(a, waiting) => {
            let hint = room.hint(NAMES[a]);
            hint.waiting = waiting;
            hint.silent_ms = 0;
        }
        Op::Gone(a, gone) => {
            room.hint(NAMES[a]).liveness = if gone { Liveness::Gone } else { Liveness::Alive };
        }
        Op::Ack => room.turn = with_delivery(&room.turn, true),
        Op::Restart => room.turn = after_restart(&room.turn, &room.now),
        Op::Reboot => {
            room.now.boot_id.push('x');
            room.turn = after_restart(&room.turn, &room.now);
        }
    }
}

fn assert_well_formed(turn: &TurnState) {
    let owned = turn.state == TurnPhase::Owned;
    assert_eq!(turn.owner.is_some(), owned, "{turn:?}");
    assert_eq!(turn.lease_id.is_some(), owned, "{turn:?}");
    assert_eq!(turn.lease.is_some(), owned, "{turn:?}");
    let reserved = turn.state == TurnPhase::Reserved;
    assert_eq!(turn.reserved_for.is_some(), reserved, "{turn:?}");
    assert_eq!(turn.claim_deadline.is_some(), reserved, "{turn:?}");
}

#[test]
fn turn_of_a_loan_goes_back_to_the_last_holder_of_the_lender() {
    let mut room = Room::of(&["a", "b"]);
    room.claim("a").unwrap();
    room.release("a", 7).unwrap();
    room.claim("b").unwrap();
    let back = |to: &str| Reversion { to: Some(agent(to)), handoff: Some((7, agent("a"))) };
    let over = |room: &Room, back| revert(room.situation(), &agent("b"), back).unwrap();

    let unread = over(&room, back("a"));
    assert_eq!(unread.event, TurnEvent::Left { who: agent("b") });
    assert_eq!((unread.after.state, unread.after.turn_id), (TurnPhase::Reserved, room.turn.turn_id));
    assert_eq!((unread.after.reserved_for, unread.after.pending_handoff_seq), (Some(agent("a")), Some(7)));

    // A handoff that was read is given to the last holder again.
    room.enter("b").unwrap();
    let read = over(&room, back("a")).after;
    assert_eq!((read.pending_handoff_seq, read.prev_owner), (Some(7), Some(agent("a"))));
    let none = over(&room, Reversion { to: Some(agent("a")), handoff: None }).after;
    assert_eq!((none.pending_handoff_seq, none.prev_owner), (None, Some(agent("b"))));

    for to in [None, Some(agent("b")), Some(agent("stranger"))] {
        let idle = over(&room, Reversion { to, handoff: Some((7, agent("a"))) }).after;
        assert_eq!((idle.state, idle.pending_handoff_seq), (TurnPhase::Idle, None));
    }
    room.presence.insert(agent("a"), Presence { liveness: Liveness::Gone, ..Presence::default() });
    assert_eq!(over(&room, back("a")).after.state, TurnPhase::Idle, "it is gone");
    assert_eq!(revert(room.situation(), &agent("a"), back("b")), None, "it does not hold the turn");
}

proptest! {
    #[test]
    fn turns_keep_their_invariants(ops in ops()) {
        let mut room = Room::of(&NAMES);
        let mut fences: Vec<Fence> = Vec::new();
        for op in ops {
            let before = room.turn.clone();
            run(&mut room, &op);
            assert_well_formed(&room.turn);
            // Each grant increments the turn by one under a new lease; nothing else changes it.
            let granted = room.turn.lease_id.is_some() && room.turn.lease_id != before.lease_id;
            prop_assert_eq!(room.turn.turn_id, before.turn_id + u64::from(granted), "{:?}", op);
            if granted {
                prop_assert!(fences.iter().all(|f| f.lease_id != room.turn.lease_id));
                fences.push(Fence {
                    agent: room.turn.owner.clone().unwrap(),
                    turn_id: Some(room.turn.turn_id),
                    lease_id: room.turn.lease_id.clone(),
                });
            }
            // Among all fences that were ever issued, at most the newest one is valid.
            for fence in fences.iter().rev().skip(1) {
                prop_assert!(check(room.situation(), fence).is_err());
            }
            if room.turn.state == TurnPhase::Owned {
                prop_assert_eq!(check(room.situation(), fences.last().unwrap()), Ok(()));
            }
            // A handoff is lost only to its reader's first command, a newer handoff, or an owner
            // that disappeared or was removed.
            if let Some(seq) = before.pending_handoff_seq
                && room.turn.pending_handoff_seq.is_none()
            {
                let read = matches!(op, Op::Enter(_));
                let lost = before.owner.is_some() && matches!(op, Op::Kick(..) | Op::Pass(_) | Op::Reboot);
                prop_assert!(read || lost, "handoff {} lost by {:?}", seq, op);
            }
        }
    }
}
