//! Shared test support: a file system that fails, and a session that three agents use.

pub mod memory;

use memory::MemoryFiles;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stickpin_session::Timestamp;
use stickpin_session::log::{
    Arguments, CommandId, Kind, MemberJoined, Message, MessageHint, Record, Redacted, Redactor,
    ReleaseReason, SessionMeta, Snapshot, StartReason, TurnClaimed, TurnClosed, TurnReleased, TurnTaken, Via,
};
use stickpin_session::turn::{
    AgentId, BaseScope, ClaimReason, Grant, Lease, LeaseId, Member, MemberKind, MemberRole, Policy,
    TakeReason, TurnPhase, TurnState, WaitMode,
};
use stickpin_store::{
    Blobs, CommandOutcome, NewCommand, Opened, Origin, Phase, Result, SessionLog, Start, Store, StoreError,
};

pub const STATE: &str = "/state";
pub const NAME: &str = "shop";

pub struct NoSecrets;

impl Redactor for NoSecrets {
    fn is_secret(&self, _argument: &str) -> bool {
        false
    }

    fn redact(&self, _text: &mut String) {}
}

pub fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(1_785_500_000_000 + millis)
}

pub fn agent(n: u64) -> AgentId {
    AgentId::new(["codex:1", "claude:2", "gemini:3"][n as usize % 3])
}

pub fn origin(n: u64) -> Origin {
    Origin::agent(at(n), agent(n), Via::Cli)
}

pub fn start() -> Start {
    Start {
        platform: "web".into(),
        manifest: Arguments::default(),
        policy: Policy::default(),
        targets: Vec::new(),
        base_scope: BaseScope::default(),
    }
}

/// The code of an error, for tests that compare nothing else.
pub trait Code {
    fn code(&self) -> &'static str;
}

impl Code for StoreError {
    fn code(&self) -> &'static str {
        match self {
            Self::Full { .. } => "STORAGE_FULL",
            Self::Corrupt { .. } | Self::Gap { .. } => "LOG_CORRUPT",
            Self::Version { .. } => "LOG_VERSION_UNSUPPORTED",
            Self::MetaCorrupt { .. } => "META_CORRUPT",
            Self::MetaTooLarge { .. } => "META_TOO_LARGE",
            Self::ReadOnly { .. } => "LOG_READONLY",
            Self::Missing(_) => "SESSION_NOT_FOUND",
            Self::Exists(_) => "SESSION_EXISTS",
            Self::BlobCorrupt(_) => "BLOB_CORRUPT",
            _ => "other",
        }
    }
}

pub fn store(files: &MemoryFiles) -> Result<Store> {
    Store::with_files(Path::new(STATE), Arc::new(files.clone()))
}

pub fn segment(number: u32) -> PathBuf {
    Path::new(STATE).join(format!("sessions/{NAME}/log/{number:06}.jsonl"))
}

pub fn meta_path() -> PathBuf {
    Path::new(STATE).join(format!("sessions/{NAME}/meta.json"))
}

pub fn text(text: &str) -> Redacted {
    Redacted::new(text.to_owned(), &NoSecrets)
}

pub fn command() -> NewCommand {
    NewCommand {
        verb: "press".into(),
        args_raw: Arguments::default(),
        args_resolved: Arguments::default(),
        summary: text("press @e1"),
        ref_pins: Vec::new(),
    }
}

pub fn done() -> CommandOutcome {
    CommandOutcome { error: None, duration_ms: 3, generation: Some(7), address: None, recorded: None }
}

pub fn message(body: &str) -> Kind {
    Kind::Message(Message { body: text(body), hint: MessageHint::Normal, from_session: None })
}

pub fn owned(turn_id: u64, by: u64) -> TurnState {
    TurnState {
        state: TurnPhase::Owned,
        turn_id,
        owner: Some(agent(by)),
        lease_id: Some(LeaseId::new(format!("lease-{turn_id}"))),
        lease: Some(Lease {
            ttl_ms: 900_000,
            deadline_mono_ms: 1,
            boot_id: "b".into(),
            display_expires_at: at(1),
        }),
        grant: Grant::default(),
        ..TurnState::default()
    }
}

pub fn idle(turn_id: u64) -> TurnState {
    TurnState { turn_id, ..TurnState::default() }
}

pub fn claim(turn_id: u64, by: u64) -> Kind {
    let turn_after = owned(turn_id, by);
    Kind::TurnClaimed(Box::new(TurnClaimed { reason: ClaimReason::OpenClaim, turn_after }))
}

pub fn release(turn_id: u64) -> Kind {
    let turn_after = idle(turn_id);
    Kind::TurnReleased(Box::new(TurnReleased { reason: ReleaseReason::Release, handoff: None, turn_after }))
}

fn take(turn_id: u64, by: u64) -> Kind {
    Kind::TurnTaken(Box::new(TurnTaken {
        revoked: None,
        reason: TakeReason::OwnerTimeout,
        note: None,
        operator_requested: false,
        inflight: None,
        turn_after: owned(turn_id, by),
    }))
}

pub fn join(n: u64) -> Kind {
    Kind::MemberJoined(Box::new(MemberJoined {
        member: Member {
            agent_id: agent(n),
            display: format!("agent {n}"),
            harness: "codex".into(),
            kind: MemberKind::Harness,
            ordinal: u32::try_from(n).expect("small"),
            joined_at: at(0),
            last_seen_at: at(0),
            last_wait_at: None,
            wait_mode: WaitMode::Active,
            last_held_turn: None,
            anchor: None,
            role: MemberRole::Driver,
        },
    }))
}

/// The actions of three agents, step by step. The effect of each step that returned was
/// acknowledged.
#[derive(Default)]
pub struct Script {
    /// The `seq` of everything that was acknowledged.
    pub acknowledged: Vec<u64>,
    /// The last `seq` that was on disk when a step returned.
    pub durable: u64,
    /// The commands whose beginning was acknowledged.
    pub begun: Vec<CommandId>,
    /// The commands whose end was acknowledged, each with the `seq` of the end.
    pub ended: Vec<(CommandId, u64)>,
}

/// Stores a tree and records it, as the coordinator does.
pub fn snapshot(log: &mut SessionLog, origin: &Origin, tree: &str, node_count: u64) -> Result<u64> {
    let blob = Blobs::of(log).put(tree.as_bytes())?;
    log.append(origin, Kind::Snapshot(Snapshot { generation: 7, blob, node_count }))
}

impl Script {
    /// Runs until an operation fails.
    pub fn run(&mut self, store: &Store) -> Result<SessionLog> {
        let mut log = SessionLog::create(store, NAME, "6f1c", start(), &origin(0))?;
        self.note(&log, log.meta().applied_seq);
        for n in 0..3 {
            self.append(&mut log, n, join(n))?;
        }
        self.append(&mut log, 0, claim(1, 0))?;
        self.command(&mut log, 0)?;
        let seq = snapshot(&mut log, &origin(0), &"a tree ".repeat(10), 2)?;
        self.note(&log, seq);
        self.append(&mut log, 1, message(&"a message ".repeat(20)))?;
        self.append(&mut log, 0, release(1))?;
        self.append(&mut log, 1, claim(2, 1))?;
        // A command that is still running when its turn is taken.
        let late = self.begin(&mut log, 1)?;
        self.append(&mut log, 2, take(3, 2))?;
        self.end(&mut log, 1, late)?;
        self.command(&mut log, 2)?;
        self.append(&mut log, 0, message(&"x".repeat(70_000)))?;
        log.sync()?;
        self.durable = log.meta().applied_seq;
        self.command(&mut log, 2)?;
        log.restart(StartReason::Restore, start(), &origin(9))?;
        self.note(&log, log.meta().applied_seq);
        self.command(&mut log, 2)?;
        let closed = TurnState { state: TurnPhase::Closed, ..idle(3) };
        self.append(&mut log, 2, Kind::TurnClosed(Box::new(TurnClosed { turn_after: closed })))?;
        Ok(log)
    }

    fn note(&mut self, log: &SessionLog, seq: u64) {
        self.acknowledged.push(seq);
        if log.is_synced() {
            self.durable = seq;
        }
    }

    fn append(&mut self, log: &mut SessionLog, n: u64, kind: Kind) -> Result<()> {
        let seq = log.append(&origin(n), kind)?;
        self.note(log, seq);
        Ok(())
    }

    fn begin(&mut self, log: &mut SessionLog, n: u64) -> Result<CommandId> {
        let id = log.begin(&origin(n), command())?;
        self.note(log, id.seq());
        self.begun.push(id);
        Ok(id)
    }

    fn end(&mut self, log: &mut SessionLog, n: u64, id: CommandId) -> Result<()> {
        let seq = log.end(&origin(n), id, done())?;
        self.note(log, seq);
        self.ended.push((id, seq));
        Ok(())
    }

    fn command(&mut self, log: &mut SessionLog, n: u64) -> Result<()> {
        let id = self.begin(log, n)?;
        self.end(log, n, id)
    }
}

/// Opens what a crash left, or creates what was never created.
pub fn reopen(files: &MemoryFiles) -> Result<Opened> {
    let store = store(files)?;
    match SessionLog::open(&store, NAME, at(50)) {
        Err(StoreError::Missing(_)) => {
            let log = SessionLog::create(&store, NAME, "6f1c", start(), &origin(0))?;
            Ok(Opened { log, diagnostics: Vec::new() })
        }
        Ok(Opened { mut log, diagnostics }) if log.meta().active.is_none() => {
            log.restart(StartReason::Open, start(), &origin(0))?;
            Ok(Opened { log, diagnostics })
        }
        opened => opened,
    }
}

/// Returns all records of the log.
pub fn records(files: &MemoryFiles) -> Vec<Record> {
    store(files).and_then(|store| store.records_after(NAME, 0, usize::MAX, Phase::Feed)).expect("a log")
}

/// Returns the metadata that results from the log, from its first record on.
pub fn folded(records: &[Record], like: &SessionMeta) -> SessionMeta {
    let mut meta = SessionMeta::pending(NAME, like.created_at);
    let mut segment = 0;
    for record in records {
        segment += u32::from(matches!(record.kind, Kind::SegmentStart(_)));
        meta.fold(segment, record).expect("the log is whole");
    }
    meta
}
