//! Measures the session log on this machine and prints a row per figure, separated by tabs: name,
//! value, unit, goal. `cargo xtask bench --only log` builds an optimized version and runs it. To
//! run it manually:
//!
//! ```text
//! cargo run --profile dist -p stickpin-store --example log_speed -- 1000000
//! ```

use serde_json::json;
use std::error::Error;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};
use stickpin_session::Timestamp;
use stickpin_session::log::{Arguments, Kind, PeerAdded, Redacted, Redactor, RefPin, StartReason, Via};
use stickpin_session::turn::{AgentId, BaseScope, Policy};
use stickpin_store::{CommandOutcome, NewCommand, Origin, SessionLog, Start, Store};

type Done<T = ()> = Result<T, Box<dyn Error>>;

/// The number of durable records to append; small, because each waits for the disk.
const DURABLE: usize = 101;

struct NoSecrets;

impl Redactor for NoSecrets {
    fn is_secret(&self, _argument: &str) -> bool {
        false
    }

    fn redact(&self, _text: &mut String) {}
}

fn row(what: &str, value: f64, unit: &str, goal: &str) {
    println!("{what}\t{value:.3}\t{unit}\t{goal}");
}

fn median(mut taken: Vec<Duration>) -> Duration {
    taken.sort_unstable();
    taken.get(taken.len() / 2).copied().unwrap_or_default()
}

fn timed<T>(taken: &mut Vec<Duration>, act: impl FnOnce() -> Done<T>) -> Done<T> {
    let began = Instant::now();
    let done = act()?;
    taken.push(began.elapsed());
    Ok(done)
}

fn start() -> Start {
    Start {
        platform: "web".into(),
        manifest: Arguments::default(),
        policy: Policy::default(),
        targets: Vec::new(),
        base_scope: BaseScope::default(),
    }
}

/// Returns the CPU time of this thread, in nanoseconds.
fn processor_time() -> Done<f64> {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(stat.split(' ').next().unwrap_or_default().parse()?)
}

fn main() -> Done {
    let records: u64 = std::env::args().nth(1).map_or(Ok(100_000), |count| count.parse())?;
    let state = tempfile::tempdir()?;
    let store = Store::open(state.path())?;
    let now = Timestamp::from_millis(1_785_500_000_123);
    let mut log = SessionLog::create(&store, "speed", "6f1c", start(), &Origin::daemon(now))?;
    commands(&mut log, now, records / 2)?;
    durable(&mut log, now, state.path())?;
    log.restart(StartReason::Restore, start(), &Origin::daemon(now))?;
    drop(log);

    let (began, processor) = (Instant::now(), processor_time()?);
    let verified = store.verify("speed")?;
    let (took, processor) = (began.elapsed().as_secs_f64(), processor_time()? - processor);
    if !verified.findings.is_empty() {
        return Err(format!("{:?}", verified.findings).into());
    }
    let megabytes = verified.bytes as f64 / 1e6;
    let what = format!("session log: verify {} records", verified.summary.records);
    row(&what, megabytes / took, "MB/s", "above 200");
    row(&format!("{what}, per second of processor"), megabytes / processor * 1e9, "MB/s", "");

    let mut opened = Vec::new();
    for _ in 0..11 {
        timed(&mut opened, || Ok(SessionLog::open(&store, "speed", now)?))?;
    }
    row("session log: open", median(opened).as_secs_f64() * 1e3, "ms", "under 50");
    Ok(())
}

/// Measures commands as agents run them.
fn commands(log: &mut SessionLog, now: Timestamp, count: u64) -> Done {
    let me = Origin::agent(now, AgentId::new("codex:d4bc2492"), Via::Cli);
    let given = json!({"ref": "@e12~s482911", "text": "a text for a field", "timeoutMs": 5_000});
    let args = Arguments::new(given.as_object().ok_or("no object")?, &NoSecrets);
    let command = NewCommand {
        verb: "fill".into(),
        args_raw: args.clone(),
        args_resolved: args,
        summary: Redacted::new("fill @e12 with a text for a field".into(), &NoSecrets),
        ref_pins: vec![RefPin { r#ref: "@e12".into(), pin: Some(482_911) }],
    };
    let mut taken = Vec::new();
    for _ in 0..count {
        timed(&mut taken, || {
            let id = log.begin(&me, command.clone())?;
            let outcome = CommandOutcome {
                error: None,
                duration_ms: 12,
                generation: Some(482_912),
                address: None,
                recorded: None,
            };
            Ok(log.end(&me, id, outcome).map(drop)?)
        })?;
    }
    row("session log: begin and end of a command", median(taken).as_secs_f64() * 1e3, "ms", "at most 0.2");
    Ok(())
}

/// Measures a durable record with its metadata, and the file system's share of one append.
fn durable(log: &mut SessionLog, now: Timestamp, folder: &Path) -> Done {
    let plain = OpenOptions::new().append(true).create(true).open(folder.join("plain"))?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for n in 0..DURABLE {
        let peer = format!("peer-{}", n % 8);
        timed(&mut ours, || Ok(log.append(&Origin::daemon(now), Kind::PeerAdded(PeerAdded { peer }))?))?;
        timed(&mut theirs, || {
            (&plain).write_all(&[b'x'; 200])?;
            Ok(plain.sync_data()?)
        })?;
    }
    row("session log: a record on disk, and the metadata", median(ours).as_secs_f64() * 1e3, "ms", "");
    row("append of 200 bytes and fsync, for scale", median(theirs).as_secs_f64() * 1e3, "ms", "");
    Ok(())
}
