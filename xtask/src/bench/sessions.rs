//! Measures what many agents and many sessions cost: the processor time of a daemon on which a
//! hundred agents wait, how long the turn takes to reach one of them, and the list of a thousand
//! sessions.

use super::measure::{Tool, median, run_timed};
use super::table::Table;
use crate::Result;
use crate::run::{OnPath as _, output, read, write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The number of agents that wait for the turn, and of those that wait for events.
const WAITERS: usize = 50;

/// How long the processor time of the daemon is counted while they wait.
const COUNTED: Duration = Duration::from_secs(20);

/// How long the waits may take to be registered.
const REGISTERED: Duration = Duration::from_secs(60);

const SESSIONS: usize = 1_000;
const LIVE: usize = 50;

/// The agent that opens the sessions.
const OPENER: &str = "claude:opener";

const HAND_OVER: [&str; 6] = ["turn", "release", "--status", "done", "--next-action", "go on"];

/// Adds the rows of this part. `state` becomes the state directory of a separate daemon.
pub fn measure(table: &mut Table, binary: &Path, state: &Path, runs: usize) -> Result {
    let mut ours = Tool::stickpin(binary, state)?;
    // The sessions of the daemon are still open at the end.
    ours.end = &["daemon", "stop", "--force"];
    waiting(table, &ours)?;
    listing(table, &ours, runs)
}

fn waiting(table: &mut Table, ours: &Tool) -> Result {
    output(&mut agent(ours, OPENER, &["open", "sim:shop"]))?;
    output(&mut agent(ours, OPENER, &["turn", "wait"]))?;
    let mut waits = Waits(Vec::new());
    for n in 0..WAITERS {
        let name = format!("codex:turn{n}");
        waits.begin(agent(ours, &name, &["turn", "wait"]))?;
        let name = format!("codex:event{n}");
        output(&mut agent(ours, &name, &["turn", "join", "--observer"]))?;
        waits.begin(agent(ours, &name, &["events", "--wait"]))?;
    }
    let until = Instant::now() + REGISTERED;
    while waiters(ours)? < WAITERS {
        if Instant::now() > until {
            return Err(format!("{} of {WAITERS} wait for the turn", waiters(ours)?));
        }
        sleep(Duration::from_millis(100));
    }
    let daemon = daemon_pid(ours)?;
    let pids: Vec<u32> = waits.0.iter().map(Child::id).collect();
    let clients = || pids.iter().map(|pid| processor_ms(*pid)).sum::<Result<f64>>();
    // The last waits have just begun.
    sleep(Duration::from_secs(1));
    let (daemon_before, clients_before, began) = (processor_ms(daemon)?, clients()?, Instant::now());
    sleep(COUNTED);
    let seconds = began.elapsed().as_secs_f64();
    let of_daemon = (processor_ms(daemon)? - daemon_before) / seconds;
    table.add("daemon while 100 agents wait, processor time per second", of_daemon, "ms", "under 1");
    let of_clients = (clients()? - clients_before) / seconds;
    table.add("the 100 waiting processes together, processor time per second", of_clients, "ms", "under 10");
    let rss = ours.daemon_rss()?;
    table.add("daemon while 100 agents wait, resident", super::mib(rss), "MiB", "");

    let began = Instant::now();
    output(&mut agent(ours, OPENER, &HAND_OVER))?;
    while !waits.has_success()? {
        if began.elapsed() > REGISTERED {
            return Err("nobody got the turn".to_owned());
        }
        sleep(Duration::from_micros(100));
    }
    table.add(
        "from `turn release` until one of 50 waits has ended",
        began.elapsed().as_secs_f64() * 1e3,
        "ms",
        "",
    );
    drop(waits);
    ours.run(&["close", "--force"])
}

fn listing(table: &mut Table, ours: &Tool, runs: usize) -> Result {
    output(&mut agent(ours, OPENER, &["--session", "s0", "open", "sim:shop"]))?;
    ours.run(ours.end)?;
    let sessions = ours.folder.join("sessions");
    let meta = read(&sessions.join("s0/meta.json"))?;
    let name = "\"name\":\"s0\"";
    if !meta.contains(name) {
        return Err(format!("no {name} in the metadata: {meta}"));
    }
    let segment = "log/000001.jsonl";
    for n in 1..SESSIONS - LIVE {
        let folder = sessions.join(format!("s{n}"));
        std::fs::create_dir_all(folder.join("log")).with_path(&folder)?;
        // Listing reads the metadata, and checks whether there is a log.
        std::fs::hard_link(sessions.join("s0").join(segment), folder.join(segment)).with_path(&folder)?;
        write(&folder.join("meta.json"), &meta.replace(name, &format!("\"name\":\"s{n}\"")))?;
    }
    for n in 0..LIVE {
        let name = format!("live{n}");
        output(&mut agent(ours, OPENER, &["--session", &name, "open", "sim:shop"]))?;
    }
    let list = ["session", "list", "--all", "--json"];
    let json = output(&mut agent(ours, OPENER, &list))?;
    let json: serde_json::Value = serde_json::from_str(&json).map_err(|e| format!("session list: {e}"))?;
    let listed = json["output"]["sessions"].as_array().map_or(0, Vec::len);
    // The session of the waiting agents is closed, and listed as well.
    if listed < SESSIONS {
        return Err(format!("{listed} of {SESSIONS} sessions are listed"));
    }
    let times = (0..runs).map(|_| run_timed(&mut agent(ours, OPENER, &list))).collect::<Result<Vec<_>>>()?;
    table.add("`session list` of 1,000 sessions, 50 live, whole process", median(times), "ms", "under 30");
    Ok(())
}

/// Returns a command of an agent.
fn agent(ours: &Tool, name: &str, args: &[&str]) -> Command {
    let mut command = ours.command(args);
    command.env("STICKPIN_AGENT_ID", name);
    command
}

/// Returns how many agents wait for the turn.
fn waiters(ours: &Tool) -> Result<usize> {
    let state = output(&mut agent(ours, OPENER, &["turn", "state", "--json"]))?;
    let state: serde_json::Value = serde_json::from_str(&state).map_err(|e| format!("turn state: {e}"))?;
    Ok(state["output"]["waiters"].as_array().map_or(0, Vec::len))
}

fn daemon_pid(ours: &Tool) -> Result<u32> {
    let text = read(&ours.pid)?;
    let json: serde_json::Value =
        serde_json::from_str(&text).map_err(|e| format!("{}: {e}", ours.pid.display()))?;
    let pid = json["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok());
    pid.ok_or_else(|| format!("{} has no pid", ours.pid.display()))
}

/// Returns the processor time of a process in milliseconds, with that of threads that have ended.
/// The kernel reports it in steps of 10 ms.
fn processor_ms(pid: u32) -> Result<f64> {
    let file = std::path::PathBuf::from(format!("/proc/{pid}/stat"));
    let stat = read(&file)?;
    // The name of the program is in parentheses and may contain spaces; the times are fields 14
    // and 15 of the line.
    let fields = stat.rsplit_once(") ").map(|(_, rest)| rest.split(' ').skip(11).take(2));
    let ticks = fields.and_then(|times| times.map(|ticks| ticks.parse::<u32>().ok()).sum::<Option<u32>>());
    ticks.map(|ticks| f64::from(ticks) * 10.0).ok_or_else(|| format!("{}: {stat}", file.display()))
}

/// Processes that wait, ended when dropped.
struct Waits(Vec<Child>);

impl Waits {
    fn begin(&mut self, mut command: Command) -> Result {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.0.push(command.spawn().map_err(|e| format!("a wait: {e}"))?);
        Ok(())
    }

    /// Returns whether one of them has ended successfully.
    fn has_success(&mut self) -> Result<bool> {
        for child in &mut self.0 {
            if child.try_wait().map_err(|e| format!("a wait: {e}"))?.is_some_and(|status| status.success()) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // The process may have ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
