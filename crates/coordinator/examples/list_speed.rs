//! Measures how long it takes to list 1,000 sessions, of which 50 are live: the first time after
//! the host started, and later. Prints a row per figure: name, value, unit, goal.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use stickpin_coordinator::{Coordinator, Environment, Participant, Start};
use stickpin_session::Timestamp;
use stickpin_session::log::{Arguments, StartReason, Via};
use stickpin_session::turn::{AgentId, BaseScope, Liveness, MemberKind, Now, Policy};

const SESSIONS: usize = 1_000;
const LIVE: usize = 50;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let ada = Participant {
        agent: AgentId::new("claude:ada"),
        harness: "claude".into(),
        kind: MemberKind::Harness,
        anchor: None,
        ambiguous: Vec::new(),
        replaces: Vec::new(),
        via: Via::Cli,
    };
    begin(&open(folder.path())?, "shop", &ada)?;
    let sessions = folder.path().join("sessions");
    let meta = std::fs::read_to_string(sessions.join("shop/meta.json"))?;
    for n in 1..SESSIONS {
        let folder = sessions.join(format!("s{n}"));
        std::fs::create_dir(&folder)?;
        let meta = meta.replace("\"name\":\"shop\"", &format!("\"name\":\"s{n}\""));
        std::fs::write(folder.join("meta.json"), meta)?;
    }
    let coordinator = open(folder.path())?;
    let live: BTreeSet<String> = (0..LIVE).map(|n| format!("live{n}")).collect();
    for name in &live {
        std::fs::remove_dir_all(
            sessions.join(format!("s{}", name.trim_start_matches("live").parse::<usize>()? + 1)),
        )?;
        begin(&coordinator, name, &ada)?;
    }
    for what in ["first list of 1,000 sessions, 50 live", "list of 1,000 sessions, 50 live"] {
        let began = Instant::now();
        let found = coordinator.list(Some(&ada), &live, false)?.sessions.len();
        let ms = began.elapsed().as_secs_f64() * 1_000.0;
        if found != SESSIONS {
            return Err(format!("{found} sessions were listed").into());
        }
        println!("{what}\t{ms:.1}\tms\tbelow 30");
    }
    Ok(())
}

fn open(state_dir: &Path) -> Result<Coordinator, stickpin_device::Error> {
    let random = AtomicU64::new(1);
    let now = || Now { mono_ms: 1, boot_id: "b".into(), wall: Timestamp::from_millis(1_785_500_000_000) };
    let environment = Environment {
        now: Arc::new(now),
        random: Arc::new(move || u128::from(random.fetch_add(1, Ordering::Relaxed))),
        liveness: Arc::new(|_| Liveness::Unknown),
        pid: std::process::id(),
    };
    Coordinator::open(state_dir, 1, environment)
}

fn begin(coordinator: &Coordinator, name: &str, who: &Participant) -> Result<(), stickpin_device::Error> {
    let start = Start {
        platform: "sim".into(),
        manifest: Arguments::default(),
        policy: Policy::default(),
        targets: Vec::new(),
        base_scope: BaseScope::default(),
    };
    coordinator.begin_lifetime(name, start, StartReason::Open, Some(who)).map(drop)
}
