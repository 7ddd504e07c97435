//! Measures the session log on this machine: what a command pays, how fast a log is verified, how
//! long a session takes to open. Build it optimised:
//!
//! ```text
//! cargo run --profile dist -p stickpin-store --example log_speed -- 1000000
//! ```
//!
//! Goals for 1,000,000 records: at most 0.2 ms for a command, more than 200 MB/s, under 50 ms.

use serde_json::json;
use std::error::Error;
use std::time::{Duration, Instant};
use stickpin_session::Timestamp;
use stickpin_session::log::{Arguments, BaseScope, Redacted, Redactor, RefPin, Via};
use stickpin_session::turn::{AgentId, Policy};
use stickpin_store::{CommandOutcome, EndStatus, NewCommand, Origin, SessionLog, Start, Store};

struct NoSecrets;

impl Redactor for NoSecrets {
    fn is_secret(&self, _argument: &str) -> bool {
        false
    }

    fn redact(&self, _text: &mut String) {}
}

fn main() -> Result<(), Box<dyn Error>> {
    let records: u64 = std::env::args().nth(1).map_or(Ok(100_000), |count| count.parse())?;
    let state = tempfile::tempdir()?;
    let store = Store::open(state.path())?;
    let now = Timestamp::from_millis(1_785_500_000_123);
    let start = Start {
        platform: "web".into(),
        manifest: Arguments::default(),
        policy: Policy::default(),
        targets: Vec::new(),
        base_scope: BaseScope::default(),
    };
    let mut log = SessionLog::create(&store, "speed", "6f1c", start, &Origin::daemon(now))?;
    let me = Origin::agent(now, AgentId::new("codex:d4bc2492"), Via::Cli);
    let given = json!({"ref": "@e12~s482911", "text": "a text for a field", "timeoutMs": 5_000});
    let args = Arguments::new(given.as_object().ok_or("no object")?, &NoSecrets);
    let command = NewCommand {
        verb: "fill".into(),
        args_raw: args.clone(),
        args_resolved: args,
        summary: Redacted::new("fill @e12 with a text for a field".into(), &NoSecrets),
        ref_pins: vec![RefPin { r#ref: "e12".into(), pin: Some(482_911) }],
    };
    let mut taken = Vec::new();
    for _ in 0..records / 2 {
        let began = Instant::now();
        let id = log.begin(&me, command.clone())?;
        let outcome = CommandOutcome { error: None, duration_ms: 12, generation: Some(482_912) };
        if let EndStatus::NotPersisted(error) = log.end(&me, id, outcome) {
            return Err(error.into());
        }
        taken.push(began.elapsed());
    }
    taken.sort_unstable();
    let at = |share: usize| taken.get(taken.len() * share / 100).copied().unwrap_or_default();
    println!("command_begin + command_end, median: {:?}", at(50));
    println!("command_begin + command_end, 99 of 100: {:?}", at(99));
    log.sync()?;
    drop(log);

    let began = Instant::now();
    let verified = store.verify("speed")?;
    let took = began.elapsed();
    let rate = verified.bytes as f64 / took.as_secs_f64() / 1e6;
    println!(
        "verify: {} records, {} bytes in {took:?}: {rate:.0} MB/s",
        verified.summary.records, verified.bytes
    );
    if !verified.findings.is_empty() {
        return Err(format!("{:?}", verified.findings).into());
    }

    let mut opened = Vec::new();
    for _ in 0..11 {
        let began = Instant::now();
        let reopened = SessionLog::open(&store, "speed", now)?;
        opened.push(began.elapsed());
        drop(reopened);
    }
    opened.sort_unstable();
    println!("open, median: {:?}", opened.get(5).copied().unwrap_or(Duration::ZERO));
    Ok(())
}
