//! A coordinator whose clock is that of the paused runtime.

use crate::files::WatchedFiles;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use stickpin_coordinator::{Coordinator, Environment, NewCommand, Participant, SessionAuthority, Start};
use stickpin_device::ErrorCode;
use stickpin_session::Timestamp;
use stickpin_session::log::{Arguments, Redacted, Redactor, StartReason, Via};
use stickpin_session::turn::{
    AgentId, Anchor, BaseScope, Handoff, Liveness, MemberKind, Now, Policy, ScopeRule, TargetId, TargetRef,
    TargetSelector, Verb,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// A redactor that redacts nothing.
pub(crate) struct Plain;

impl Redactor for Plain {
    fn is_secret(&self, _argument: &str) -> bool {
        false
    }

    fn redact(&self, _text: &mut String) {}
}

/// A state directory, its coordinator, and the processes that have ended.
pub(crate) struct World {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) coordinator: Coordinator,
    /// The pids of harnesses that have ended.
    pub(crate) ended: Arc<Mutex<BTreeSet<u32>>>,
    /// How far the wall clock is ahead, in milliseconds.
    pub(crate) wall_ahead: Arc<AtomicI64>,
    /// The files of the state directory.
    pub(crate) files: WatchedFiles,
    /// Whether the guardian, which runs in its own task, panics.
    pub(crate) guardian_panics: Arc<AtomicBool>,
    began: Instant,
    epoch: u64,
    boot: String,
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ended = Arc::default();
        let began = Instant::now();
        let guardian_panics = Arc::default();
        let (files, wall_ahead) = (WatchedFiles::default(), Arc::default());
        let clock = (began, &wall_ahead);
        let coordinator = coordinator(&folder, &files, clock, 1, "b1", (&ended, &guardian_panics));
        let boot = "b1".into();
        Self { folder, coordinator, ended, wall_ahead, files, guardian_panics, began, epoch: 1, boot }
    }

    /// Restarts the host as after `kill -9`.
    pub(crate) fn restart(&mut self) {
        self.epoch += 1;
        let processes = (&self.ended, &self.guardian_panics);
        let clock = (self.began, &self.wall_ahead);
        self.coordinator = coordinator(&self.folder, &self.files, clock, self.epoch, &self.boot, processes);
    }

    /// Restarts the host as after a restart of the machine.
    pub(crate) fn reboot(&mut self) {
        self.boot.push('+');
        self.restart();
    }

    /// Opens the session `shop` and starts the guardian.
    pub(crate) fn open(&self, who: &Participant) -> Arc<SessionAuthority> {
        let shop = self.begin("shop", StartReason::Open, who);
        self.guard();
        shop
    }

    /// Begins a lifetime of a session.
    pub(crate) fn begin(&self, name: &str, reason: StartReason, who: &Participant) -> Arc<SessionAuthority> {
        self.coordinator.begin_lifetime(name, start(name), reason, Some(who)).unwrap()
    }

    /// Returns the monotonic time, in milliseconds.
    pub(crate) fn now_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap() + 1_000_000
    }

    pub(crate) fn guard(&self) {
        let coordinator = self.coordinator.clone();
        tokio::spawn(async move { coordinator.guard(CancellationToken::new()).await });
    }
}

/// Returns the initial values of a session with its own device, which it may use without
/// restrictions.
pub(crate) fn start(name: &str) -> Start {
    let everything = ScopeRule {
        verbs: [Verb::Observe, Verb::Act, Verb::Admin].into(),
        target: TargetSelector::Any,
        constraint: None,
    };
    Start {
        platform: "sim".into(),
        manifest: Arguments::default(),
        policy: Policy::default(),
        targets: vec![TargetRef {
            target_id: TargetId::new(name),
            kind: "sim".into(),
            label: "sim:shop".into(),
            device_key: "sim:shop".into(),
        }],
        base_scope: BaseScope { allow: vec![everything], deny: Vec::new() },
    }
}

fn coordinator(
    folder: &tempfile::TempDir,
    files: &WatchedFiles,
    (began, wall_ahead): (Instant, &Arc<AtomicI64>),
    epoch: u64,
    boot: &str,
    (ended, panics): (&Arc<Mutex<BTreeSet<u32>>>, &Arc<AtomicBool>),
) -> Coordinator {
    let (boot, ended, panics) = (boot.to_owned(), Arc::clone(ended), Arc::clone(panics));
    let wall_ahead = Arc::clone(wall_ahead);
    let random = AtomicU64::new(epoch << 32);
    let now = move || {
        let ms = u64::try_from(began.elapsed().as_millis()).unwrap() + 1_000_000;
        let wall = (1_785_500_000_000 + ms).saturating_add_signed(wall_ahead.load(Ordering::Relaxed));
        Now { mono_ms: ms, boot_id: boot.clone(), wall: Timestamp::from_millis(wall) }
    };
    let alive = move |anchor: &Anchor| {
        let in_task = tokio::task::try_id().is_some();
        assert!(!(in_task && panics.load(Ordering::Relaxed)), "as a test asked");
        match ended.lock().unwrap().contains(&anchor.pid) {
            true => Liveness::Gone,
            false => Liveness::Alive,
        }
    };
    let environment = Environment {
        now: Arc::new(now),
        random: Arc::new(move || u128::from(random.fetch_add(1, Ordering::Relaxed))),
        liveness: Arc::new(alive),
        pid: 4_711,
    };
    Coordinator::open_on(folder.path(), epoch, environment, Arc::new(files.clone())).unwrap()
}

/// Returns an agent in its own harness.
pub(crate) fn agent(name: &str, pid: u32) -> Participant {
    let harness = "claude".to_owned();
    let anchor = Anchor { host_id: "h".into(), pid, process_start: 1, boot_id: "b1".into(), harness };
    Participant {
        agent: AgentId::new(format!("claude:{name}")),
        harness: "claude".into(),
        kind: MemberKind::Harness,
        anchor: Some(anchor),
        ambiguous: Vec::new(),
        replaces: Vec::new(),
        via: Via::Cli,
    }
}

pub(crate) fn handoff() -> Handoff {
    Handoff {
        status: "cart filled".into(),
        next_action: "pay".into(),
        artifacts: Vec::new(),
        open_questions: Vec::new(),
        do_not: Vec::new(),
        ui: None,
    }
}

pub(crate) fn press() -> NewCommand {
    NewCommand {
        verb: "press".into(),
        args_raw: Arguments::default(),
        args_resolved: Arguments::default(),
        summary: Redacted::literal("press"),
        ref_pins: Vec::new(),
    }
}

/// Runs a command that changes the app, as the kernel does.
pub(crate) async fn act(shop: &SessionAuthority, who: &Participant) -> Result<(), ErrorCode> {
    let cancel = CancellationToken::new();
    let patience = std::time::Duration::from_secs(10);
    let admission = shop.admit(who, None, patience, &cancel).await.map_err(|e| e.code)?;
    let ticket = shop.begin(who, Some(admission), press(), &cancel).map_err(|e| e.code)?;
    // The outcome is valid even if the host was killed before recording it.
    drop(shop.end(ticket, None, Some(1), None));
    Ok(())
}
