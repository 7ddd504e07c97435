//! A log with every kind of record, as a session of two agents could write it.

use crate::log::{
    AgentSuperseded, Arguments, BlobId, BlobRef, ChildSpawned, ChildStateChanged, CommandBegin, CommandEnd,
    CommandError, CommandId, ContextAdded, ContextCleared, DaemonStarted, Evidence, Kind, LoanOpened,
    LoanReclaimed, LogRepaired, MemberJoined, MemberKicked, MemberLeft, Message, MessageHint, NoteAdded,
    NoteResolved, Outcome, PeerAdded, PeerRemoved, PolicyChanged, Record, RecordedStep, RecordingEnded,
    RecordingStarted, Redacted, RedactedHandoff, Redactor, RefPin, ReleaseReason, RepairCause, RepairStarted,
    RepairedTurn, ReservationExpired, SegmentEnd, SegmentStart, Snapshot, StartReason, SurrenderReason,
    TurnAssigned, TurnClaimed, TurnClosed, TurnLeaseStale, TurnReleased, TurnSurrendered, TurnTaken, Via,
};
use crate::timestamp::Timestamp;
use crate::turn::{
    AgentId, Anchor, Artifact, ArtifactRole, BaseScope, Child, ChildState, ClaimReason, Constraint, Deadline,
    Grant, Handoff, HandoffUi, Lease, LeaseId, Loan, LoanId, LoanState, Member, MemberKind, MemberRole,
    Policy, ReclaimedLoan, ScopeRule, TakeReason, TargetId, TargetRef, TargetSelector, TurnPhase, TurnState,
    Verb, WaitMode,
};
use serde_json::json;
use std::collections::BTreeSet;

/// A redactor for which only the word `hunter2` and the argument `password` are secret.
pub(super) struct Words;

impl Redactor for Words {
    fn is_secret(&self, argument: &str) -> bool {
        argument == "password"
    }

    fn redact(&self, text: &mut String) {
        *text = text.replace("hunter2", "•••");
    }
}

pub(super) fn agent(name: &str) -> AgentId {
    AgentId::new(name)
}

fn deadline() -> Deadline {
    Deadline { mono_ms: 5_000, boot_id: "b".into() }
}

fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(1_785_500_000_000 + millis)
}

pub(super) fn idle(turn_id: u64) -> TurnState {
    TurnState { turn_id, ..TurnState::default() }
}

pub(super) fn owned(turn_id: u64, by: &str) -> TurnState {
    TurnState {
        state: TurnPhase::Owned,
        owner: Some(agent(by)),
        lease_id: Some(LeaseId::new("4f")),
        lease: Some(Lease {
            ttl_ms: 900_000,
            deadline_mono_ms: 905_000,
            boot_id: "b".into(),
            display_expires_at: at(900_000),
        }),
        grant: Grant { delivered: true, granted_seq: Some(3) },
        ..idle(turn_id)
    }
}

pub(super) fn reserved(turn_id: u64, by: &str) -> TurnState {
    TurnState {
        state: TurnPhase::Reserved,
        reserved_for: Some(agent(by)),
        claim_deadline: Some(deadline()),
        pending_handoff_seq: Some(9),
        prev_owner: Some(agent("codex:1")),
        ..idle(turn_id)
    }
}

fn closed(turn_id: u64) -> TurnState {
    TurnState { state: TurnPhase::Closed, ..idle(turn_id) }
}

pub(super) fn member(name: &str, ordinal: u32) -> Member {
    let anchor = Anchor {
        host_id: "h".into(),
        pid: 7,
        process_start: 99,
        boot_id: "b".into(),
        harness: "codex".into(),
    };
    Member {
        agent_id: agent(name),
        display: "Ada".into(),
        harness: "codex".into(),
        kind: MemberKind::Harness,
        ordinal,
        joined_at: at(0),
        last_seen_at: at(1),
        last_wait_at: Some(at(1)),
        wait_mode: WaitMode::Active,
        last_held_turn: None,
        anchor: Some(anchor),
        role: MemberRole::Driver,
    }
}

fn rule() -> ScopeRule {
    let origins = Some(BTreeSet::from(["https://shop.test".to_owned()]));
    ScopeRule {
        verbs: BTreeSet::from([Verb::Observe, Verb::Act]),
        target: TargetSelector::Target(TargetId::new("page-1")),
        constraint: Some(Constraint { origins, ..Constraint::default() }),
    }
}

fn child(state: ChildState) -> Child {
    Child {
        session: "cart".into(),
        agent_id: Some(agent("codex:2")),
        loan_id: LoanId::new("l1"),
        spawned_at: at(2),
        state,
        last_output_seq: 4,
    }
}

fn handoff() -> RedactedHandoff {
    let artifact = Artifact {
        path: Some("receipt.pdf".into()),
        element: None,
        blob: None,
        seq: None,
        lines: None,
        role: ArtifactRole::Examine,
        note: Some("the total".into()),
    };
    let ui = HandoffUi {
        generation: 482_911,
        last_snapshot_blob: None,
        url_or_activity: "https://shop.test/cart".into(),
        focused_ref: Some("e3".into()),
    };
    let handoff = Handoff {
        status: "cart is filled".into(),
        next_action: "pay".into(),
        artifacts: vec![artifact],
        open_questions: vec!["which card?".into()],
        do_not: vec!["order twice".into()],
        ui: Some(ui),
    };
    RedactedHandoff::new(handoff, &Words)
}

pub(super) fn start(reason: StartReason, prev_segment: Option<u32>, turn_after: TurnState) -> Kind {
    let manifest =
        json!({"url": "https://shop.test", "size": [1280, 800], "headless": true, "env": {"A": "1"}});
    let target = TargetRef {
        target_id: TargetId::new("page-1"),
        kind: "page".into(),
        label: "Shop".into(),
        device_key: "t1".into(),
    };
    Kind::SegmentStart(Box::new(SegmentStart {
        session_uid: "6f1c".into(),
        platform: "web".into(),
        manifest: Arguments::new(manifest.as_object().unwrap(), &Words),
        policy: Policy::default(),
        targets: vec![target],
        base_scope: BaseScope { allow: vec![rule()], deny: Vec::new() },
        parent: None,
        prev_segment,
        reason,
        turn_after,
    }))
}

pub(super) fn begin(seq: u64) -> Kind {
    let raw = json!({"ref": "@e12~s3", "text": "Zoë \"quoted\"\n", "x": -1, "scale": 1.5, "password": "hunter2", "none": null});
    Kind::CommandBegin(Box::new(CommandBegin {
        cmd_id: CommandId::new(seq),
        verb: "fill".into(),
        args_raw: Arguments::new(raw.as_object().unwrap(), &Words),
        args_resolved: Arguments::default(),
        summary: Redacted::new("fill @e12".into(), &Words),
        ref_pins: vec![RefPin { r#ref: "@e12".into(), pin: Some(3) }],
    }))
}

pub(super) fn end(seq: u64, late: bool) -> Kind {
    let error = CommandError { code: "TIMEOUT".into(), message: Redacted::literal("the app is busy") };
    Kind::CommandEnd(CommandEnd {
        cmd_id: CommandId::new(seq),
        outcome: Outcome::Error,
        error: Some(error),
        duration_ms: 12,
        generation: Some(482_912),
        address: None,
        late,
        recorded: late.then(|| RecordedStep::Lines(Redacted::literal("fill label=Name Ada\n"))),
    })
}

/// Returns the end of a command from a script whose repair is over.
fn resumed(seq: u64) -> Kind {
    Kind::CommandEnd(CommandEnd {
        cmd_id: CommandId::new(seq),
        outcome: Outcome::Ok,
        error: None,
        duration_ms: 0,
        generation: None,
        address: None,
        late: false,
        recorded: Some(RecordedStep::ScriptResumed),
    })
}

pub(super) fn claim(turn_after: TurnState) -> Kind {
    Kind::TurnClaimed(Box::new(TurnClaimed { reason: ClaimReason::OpenClaim, turn_after }))
}

/// Builds records with consecutive numbers.
#[derive(Default)]
pub(super) struct Log {
    pub(super) records: Vec<Record>,
    lifetime: u32,
}

impl Log {
    pub(super) fn next_seq(&self) -> u64 {
        self.records.len() as u64 + 1
    }

    /// Adds a record of a turn.
    pub(super) fn add(&mut self, turn_id: u64, kind: Kind) -> &mut Self {
        if let Kind::SegmentStart(start) = &kind
            && matches!(start.reason, StartReason::Open | StartReason::Restore)
        {
            self.lifetime += 1;
        }
        let seq = self.next_seq();
        self.records.push(Record {
            seq,
            ts: at(seq),
            lifetime: self.lifetime,
            turn_id,
            agent: seq.is_multiple_of(2).then(|| agent("codex:1")),
            to: seq.is_multiple_of(3).then(|| agent("claude:2")),
            bcast: seq.is_multiple_of(5),
            via: [Via::Cli, Via::Mcp, Via::Repl, Via::Replay, Via::Daemon][seq as usize % 5],
            kind,
        });
        self
    }
}

/// Returns the records of two lifetimes in two segments, and the index at which the second begins.
pub(super) fn every_kind() -> (Vec<Record>, usize) {
    let (ada, bob) = ("codex:1", "claude:2");
    let mut log = Log::default();
    log.add(0, start(StartReason::Open, None, idle(0)));
    log.add(0, Kind::MemberJoined(Box::new(MemberJoined { member: member(ada, 1) })));
    log.add(0, Kind::MemberJoined(Box::new(MemberJoined { member: member(bob, 2) })));
    log.add(1, claim(owned(1, ada)));
    log.add(1, begin(5)).add(1, end(5, false));
    let blob = BlobRef { blob: BlobId::new([7; 32]), bytes: 70_000 };
    log.add(1, Kind::Snapshot(Snapshot { generation: 482_912, blob, node_count: 41 }));
    let body = Redacted::new("cart is filled".into(), &Words);
    let message =
        Message { body: body.clone(), hint: MessageHint::Interrupt, from_session: Some("a".into()) };
    log.add(1, Kind::Message(message));
    log.add(1, Kind::NoteAdded(NoteAdded { note_id: 1, body: body.clone(), scope_turn: Some(1) }));
    log.add(1, Kind::NoteAdded(NoteAdded { note_id: 2, body, scope_turn: None }));
    log.add(1, Kind::NoteResolved(NoteResolved { note_id: 1 }));
    log.add(1, Kind::ChildSpawned(Box::new(ChildSpawned { child: child(ChildState::Pending) })));
    let loan = Loan {
        loan_id: LoanId::new("l1"),
        lender: "shop".into(),
        borrower: "cart".into(),
        rules: vec![rule()],
        state: LoanState::Active,
        turn_bound: true,
        opened_seq: 13,
        expires_at: Some(at(60_000)),
        expires_mono: Some(deadline()),
        parent_loan: None,
    };
    log.add(1, Kind::LoanOpened(Box::new(LoanOpened { loan })));
    let evidence = Evidence {
        segment: Some(1),
        last_seq: Some(4),
        last_command: Some(CommandId::new(3)),
        last_snapshot_generation: None,
    };
    let stopped = ChildStateChanged { child: child(ChildState::Stopped), evidence };
    log.add(1, Kind::ChildStateChanged(Box::new(stopped)));
    let back = ReclaimedLoan {
        loan_id: LoanId::new("l1"),
        child: "cart".into(),
        rules: vec![rule()],
        reason: "stopped".into(),
        at_seq: 15,
        at: at(15),
    };
    log.add(
        1,
        Kind::LoanReclaimed(Box::new(LoanReclaimed { loan: back, late_command: Some(CommandId::new(5)) })),
    );
    log.add(1, Kind::PeerAdded(PeerAdded { peer: "mail".into() }));
    log.add(1, Kind::PeerAdded(PeerAdded { peer: "news".into() }));
    log.add(1, Kind::PeerRemoved(PeerRemoved { peer: "mail".into() }));
    let policy = Policy { drain_ms: 1, ..Policy::default() };
    log.add(1, Kind::PolicyChanged(Box::new(PolicyChanged { policy, deny: Some(vec![rule()]) })));
    let cleared = ContextCleared { context: "main".into(), upto_seq: log.next_seq() - 1 };
    log.add(1, Kind::ContextCleared(cleared));
    let late = log.next_seq();
    log.add(1, begin(late));
    log.add(1, Kind::TurnLeaseStale(Box::new(TurnLeaseStale { turn_after: owned(1, ada) })));
    let taken = TurnTaken {
        revoked: Some(agent(ada)),
        reason: TakeReason::OwnerTimeout,
        note: Some(Redacted::literal("silent")),
        operator_requested: false,
        inflight: Some(CommandId::new(late)),
        turn_after: owned(2, bob),
    };
    log.add(2, Kind::TurnTaken(Box::new(taken)));
    log.add(1, end(late, true));
    let assigned =
        TurnAssigned { handoff: Some(handoff()), operator_requested: false, turn_after: reserved(2, ada) };
    log.add(2, Kind::TurnAssigned(Box::new(assigned)));
    let expired = ReservationExpired { missed: agent(ada), turn_after: idle(2) };
    log.add(2, Kind::ReservationExpired(Box::new(expired)));
    log.add(3, claim(owned(3, bob)));
    let released =
        TurnReleased { reason: ReleaseReason::Release, handoff: Some(handoff()), turn_after: idle(3) };
    log.add(3, Kind::TurnReleased(Box::new(released)));
    log.add(4, claim(owned(4, bob)));
    let surrendered = TurnSurrendered { reason: SurrenderReason::OwnerGone, turn_after: idle(4) };
    log.add(4, Kind::TurnSurrendered(Box::new(surrendered)));
    let change = AgentSuperseded { old: agent(bob), new: agent("claude:3") };
    log.add(4, Kind::AgentSuperseded(change));
    log.add(4, Kind::SegmentEnd(SegmentEnd {}));
    let second = log.records.len();
    log.add(4, start(StartReason::Restore, Some(1), idle(4)));
    let repaired = vec![RepairedTurn { turn_id: 4, owner: agent(bob) }];
    log.add(4, Kind::DaemonStarted(DaemonStarted { epoch: 12, repaired }));
    let torn = LogRepaired {
        cause: RepairCause::TornTail,
        segment: 2,
        dropped_bytes: 17,
        sha256: Some("ab".into()),
        turn_after: None,
    };
    log.add(4, Kind::LogRepaired(Box::new(torn)));
    let ahead = LogRepaired {
        cause: RepairCause::MetaAhead,
        segment: 2,
        dropped_bytes: 0,
        sha256: None,
        turn_after: Some(idle(9)),
    };
    log.add(9, Kind::LogRepaired(Box::new(ahead)));
    let kicked =
        MemberKicked { agent_id: agent(ada), reason: Some(Redacted::literal("asleep")), turn_after: None };
    log.add(9, Kind::MemberKicked(Box::new(kicked)));
    let left = MemberLeft { agent_id: agent(bob), turn_after: Some(idle(9)) };
    log.add(9, Kind::MemberLeft(Box::new(left)));
    let entry = ContextAdded {
        context: "main".into(),
        body: Redacted::literal("press @e3"),
        result: Redacted::literal("ok"),
        target: Some(Redacted::literal("@e3~s7")),
        generation: Some(7),
        pins: vec![(1, 40), (57, 57)],
        events: vec![3],
        cwd: Redacted::literal("/home/ana"),
    };
    log.add(9, Kind::ContextAdded(Box::new(entry)));
    log.add(9, Kind::TurnClosed(Box::new(TurnClosed { turn_after: closed(9) })));
    let started =
        RecordingStarted { platform: "web".into(), path: Some("/home/ada/buy.ad".into()), keep_reads: true };
    log.add(9, Kind::RecordingStarted(Box::new(started)));
    let repair = RepairStarted {
        file: "/home/ada/buy.ad".into(),
        text: Redacted::literal("press text=Order\n"),
        to: "/home/ada/buy.repaired.ad".into(),
        line: 1,
        keeps_line: false,
        pass: Some(Redacted::literal("7 2,1")),
    };
    log.add(9, Kind::RepairStarted(Box::new(repair)));
    let last = log.next_seq();
    log.add(9, begin(last));
    log.add(9, resumed(last));
    log.add(9, Kind::RecordingEnded(RecordingEnded { written: true }));
    (log.records, second)
}
