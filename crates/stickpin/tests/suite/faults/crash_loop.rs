//! Acceptance test 8: three agents work in one session, and the daemon is killed before, during or
//! after an operation on its files. The agents continue with the next daemon. Daemons and agents
//! are separate processes.
//!
//! A kill after the write of a record precedes its reply, and a kill before the next operation
//! follows that reply, so every reply is hit from both sides.

use super::killing_files::{Moment, Orders, Point, sample};
use super::log_rules;
use crate::support::{Ran, World, eventually, words};
use std::path::PathBuf;
use std::process::Child;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const ADA: &str = "claude:ada";
const BOB: &str = "codex:bob";
const CID: &str = "gemini:cid";

/// The person, to whom no rule of a session applies.
const PERSON: &str = "";

/// The session, and the child that it lends its scope to.
const SHOP: &str = "shop";
const PAY: &str = "pay";

const TEST: &str = "faults::crash_loop::daemon_killed_at_any_operation_loses_nothing";

/// The records of the script, which are hit before, during and after their write.
const RECORDS: &[&str] = &[
    "child_spawned",
    "child_state",
    "command_begin",
    "command_end",
    "loan_opened",
    "loan_reclaimed",
    "member_joined",
    "member_kicked",
    "message",
    "note_added",
    "policy_changed",
    "segment_start",
    "snapshot",
    "turn_assigned",
    "turn_claimed",
    "turn_closed",
    "turn_released",
    "turn_taken",
];

/// What the agents do: each step with its agent, and the exit code that it has while nothing fails.
const SCRIPT: &[(&str, &str, i32)] = &[
    (BOB, "turn join", 0),
    (CID, "turn join", 0),
    (ADA, "turn wait --timeout 5000", 0),
    (ADA, "press 'role=button label=\"Add to cart\" row=\"Oak lamp\"'", 0),
    (BOB, "press 'role=button label=\"Add to cart\" row=\"Wall shelf\"'", 5),
    (ADA, "notes add 'one lamp is in the cart'", 0),
    (ADA, "msg send codex:bob 'your turn is next'", 0),
    (ADA, "turn assign codex:bob --status 'a lamp' --next-action 'a shelf'", 0),
    (BOB, "turn wait --timeout 5000", 0),
    (BOB, "press 'role=button label=\"Add to cart\" row=\"Wall shelf\"'", 0),
    (BOB, "turn release --status 'a shelf' --next-action 'a chair'", 0),
    (CID, "turn wait --timeout 5000", 0),
    (CID, "press 'role=button label=\"Add to cart\" row=\"Birch chair\"'", 0),
    (CID, "session spawn shop pay --lend act:* --agent codex:bob", 0),
    (CID, "press 'role=button label=\"Add to cart\" row=\"Birch chair\"'", 10),
    (CID, "session policy shop deny+=admin:*", 0),
    (CID, "turn release --status 'a chair' --next-action 'pay'", 0),
    (BOB, "turn wait --timeout 5000", 0),
    (BOB, "press 'role=button label=\"Add to cart\" row=\"Wall shelf\"'", 0),
    (CID, "session stop pay", 0),
    (ADA, "turn state", 0),
    (ADA, "turn take --operator-requested", 0),
    (ADA, "press 'role=button label=\"Add to cart\" row=\"Oak lamp\"'", 0),
    (ADA, "session policy shop drainMs=9000", 10),
    (ADA, "turn release --status 'done' --next-action 'nothing'", 0),
];

/// A session of three agents on a daemon that may kill itself.
struct Run {
    world: World,
    daemon: Child,
    /// Whether the daemon was killed and another one has taken over.
    recovered: bool,
    case: String,
}

impl Run {
    fn start(kill_at: Option<Point>, list: Option<PathBuf>, case: String) -> Self {
        let world = World::new();
        let orders = Orders { state_dir: world.state_dir(), kill_at, list, ..Orders::default() };
        let daemon = orders.start(TEST, world.path());
        Self { world, daemon, recovered: false, case }
    }

    fn received(&self) -> PathBuf {
        self.world.path().join("received.jsonl")
    }

    fn run(&self, agent: &str, line: &str) -> Ran {
        let mut command = self.world.command(&[&["--session", SHOP], &words(line)[..]].concat());
        command.envs((agent != PERSON).then_some(("STICKPIN_AGENT_ID", agent)));
        let mut ran: Ran = command.output().expect("the binary runs").into();
        // Another agent acted since: the repeated command acts.
        if ran.err.starts_with("CONTEXT_CHANGED") {
            ran = command.output().expect("the binary runs").into();
        }
        ran
    }

    fn open(&self, agent: &str) -> Ran {
        self.run(agent, &format!("open sim:shop?log={}&clock=virtual", self.received().display()))
    }

    /// Runs the script. A step during which the daemon is killed is repeated with the next daemon,
    /// unless it is an input whose effect is not known.
    fn run_script(&mut self) {
        let opened = self.open(ADA);
        if opened.code != 0 {
            self.go_on_after(&opened);
        }
        for (agent, line, code) in SCRIPT {
            let ran = self.run(agent, line);
            // Later steps may be refused after a crash, because the turn or the child may be gone.
            if ran.code == *code || self.recovered {
                continue;
            }
            self.go_on_after(&ran);
            let unknown = ran.code == 8 && line.starts_with("press");
            if !unknown {
                self.run(agent, line);
            }
        }
    }

    /// Opens the session again after a command that failed because the daemon was killed.
    #[track_caller]
    fn go_on_after(&mut self, failed: &Ran) {
        let case = self.case.clone();
        assert!(!self.recovered, "{case}: it failed with the next daemon: {failed:?}");
        let hit = failed.code == 8 || self.daemon.try_wait().expect("a state").is_some();
        assert!(hit, "{case}: it failed before the daemon was killed: {failed:?}");
        eventually("the daemon is dead", || self.daemon.try_wait().expect("a state").is_some());
        self.recovered = true;
        let restored = self.run(PERSON, "session restore shop");
        if restored.code != 0 {
            let opened = self.open(PERSON);
            assert_eq!(opened.code, 0, "{case}: {restored:?} {opened:?}");
        }
    }

    /// Every agent gets the turn, acts and gives it up, whatever state a crash left. Returns the
    /// command that failed, if any.
    fn wind_up(&self) -> Result<(), Ran> {
        let ok = |agent: &str, line: &str| {
            let ran = self.run(agent, line);
            if ran.code == 0 { Ok(ran) } else { Err(ran) }
        };
        for agent in [CID, BOB, ADA] {
            ok(agent, "turn join")?;
        }
        let shop = ok(ADA, "session show shop --json")?.json();
        let children = shop["output"]["children"]["sessions"].as_array().cloned().unwrap_or_default();
        if children.iter().any(|child| child["state"] == "active" || child["state"] == "pending") {
            ok(CID, &format!("session stop {PAY}"))?;
        }
        ok(CID, &format!("session prune {SHOP}"))?;
        for (agent, row) in [(BOB, "Wall shelf"), (CID, "Birch chair"), (ADA, "Oak lamp")] {
            ok(agent, "turn state")?;
            ok(agent, "turn take --operator-requested")?;
            ok(agent, &format!("press 'role=button label=\"Add to cart\" row=\"{row}\"'"))?;
            ok(agent, "turn release --status done --next-action nothing")?;
        }
        ok(PERSON, "close").map(drop)
    }

    /// Ends the run, checks the state that it left, and returns whether the daemon was killed.
    fn finish(mut self) -> bool {
        if let Err(failed) = self.wind_up() {
            self.go_on_after(&failed);
            self.wind_up().unwrap_or_else(|failed| panic!("{}: {failed:?}", self.case));
        }
        let stopped = self.world.run(&["daemon", "stop", "--force"]);
        assert_eq!(stopped.code, 0, "{}: {stopped:?}", self.case);
        let ended = self.daemon.wait().expect("it ended");
        log_rules::assert_whole(&self.world.state_dir(), SHOP, PAY, &self.received(), &self.case);
        !ended.success()
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // The daemon is still running only if the test is failing; it is ended by its own process
        // id.
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

#[test]
fn daemon_killed_at_any_operation_loses_nothing() {
    Orders::obey();
    // Without a kill the script runs through, and its operations are listed.
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("operations");
    let mut whole = Run::start(None, Some(list.clone()), "never killed".into());
    whole.run_script();
    assert!(!whole.finish(), "the daemon died by itself");
    let points = sample(&list);
    assert!(points.len() >= 60, "{} points: {points:?}", points.len());
    let is_hit = |name: &str, moment| points.iter().any(|p| p.operation == name && p.moment == moment);
    for (record, moment) in RECORDS.iter().flat_map(|record| Moment::ALL.map(|moment| (record, moment))) {
        assert!(is_hit(&format!("write log {record}"), moment), "no {record} is written");
    }
    for verb in ["write", "link", "remove", "rename"] {
        assert!(points.iter().any(|p| p.operation.starts_with(&format!("{verb} meta."))), "no {verb}");
    }
    let (next, killed, failed) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(Vec::new()));
    // A run spends most of its time waiting for the disk.
    let workers = std::thread::available_parallelism().map_or(1, usize::from).saturating_mul(2).min(6);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(point) = points.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let case = format!("killed {point}");
                    // All failures are reported, because a single one may not show the cause.
                    let ran = std::panic::catch_unwind(|| {
                        let mut run = Run::start(Some(point.clone()), None, case.clone());
                        run.run_script();
                        run.finish()
                    });
                    match ran {
                        Ok(hit) => drop(killed.fetch_add(usize::from(hit), Ordering::Relaxed)),
                        Err(_) => failed.lock().unwrap().push(case),
                    }
                }
            });
        }
    });
    let (killed, runs, failed) = (killed.into_inner(), points.len(), failed.into_inner().unwrap());
    println!("{killed} of {runs} daemons were killed");
    assert!(failed.is_empty(), "{} of {runs} failed: {failed:?}", failed.len());
    // The last operations of a run depend on how long it took.
    assert!(killed * 10 >= runs * 9, "only {killed} of {runs} daemons were killed");
}
