//! Measures reading and acting on pages, next to the peer. Covers static pages, pages that change
//! between two runs so that no tool can answer from a cache, newly opened pages, and the daemon's
//! memory.

use super::measure::{Tool, alternate, median, medians, run_timed};
use super::mib;
use super::page::{AGENT_PAUSE, RENDER_TIME, Server};
use super::table::Table;
use crate::Result;
use crate::run::output;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The snapshot commands of stickpin and of the peer: each reads as much as it can.
const OUR_SNAPSHOT: [&str; 3] = ["snapshot", "-i", "--all"];
const PEER_SNAPSHOT: [&str; 2] = ["snapshot", "-i"];

/// The number of runs on a page of 10,000 rows, which takes the peer half a minute.
const RUNS_OF_LARGE_PAGE: usize = 3;

/// Pause between two presses; not a multiple of a frame.
const PRESS_PAUSE: Duration = Duration::from_millis(75);

/// The time limit for freed memory to be returned to the system.
const MEMORY_RETURN_TIMEOUT: Duration = Duration::from_secs(5);

/// Adds the rows of this part.
pub fn measure(table: &mut Table, ours: &Tool, peer: Option<&Tool>, server: &Server, runs: usize) -> Result {
    let tools = ToolPair { ours, peer, server };
    for rows in [100, 1_000] {
        tools.open(&server.page(&format!("rows/{rows}")))?;
        if rows == 100 {
            let (a, b) = tools.measure_alternately(runs * 2, &["get", "title"], &["get", "title"])?;
            table.compare("`get title`, whole process", a, b, "ms", "at most 1.3 x the peer");
        }
        let (a, b) = tools.measure_alternately(runs, &OUR_SNAPSHOT, &PEER_SNAPSHOT)?;
        let what = format!("`snapshot -i --all`, {rows} rows, none changing");
        table.compare(&what, a, b, "ms", "at least 4 x faster");
        if rows == 1_000 {
            let (a, _) = alternate(runs, || ours.command(&["snapshot"]), None::<fn() -> Command>)?;
            table.add("`snapshot` again, 1000 rows, none changing", a, "ms", "under 10");
        }
        let a = output(&mut ours.command(&OUR_SNAPSHOT))?.len();
        let b = peer.map(|p| output(&mut p.command(&PEER_SNAPSHOT))).transpose()?.map(|s| s.len());
        let bar = if rows == 100 { "at most 0.8 x the peer's bytes" } else { "" };
        #[allow(clippy::cast_precision_loss, reason = "sizes of texts")]
        let (a, b) = (a as f64, b.map(|b| b as f64));
        table.compare(&format!("its text, {rows} rows"), a, b, "bytes", bar);
    }
    let bars =
        [(100, "at least 8 x faster"), (1_000, "at least 10 x faster"), (10_000, "at least 30 x faster")];
    for (rows, bar) in bars {
        let large = rows == 10_000;
        tools.open(&server.page(&format!("changing/{rows}")))?;
        let (a, b) = tools.changing(if large { runs.min(RUNS_OF_LARGE_PAGE) } else { runs }, AGENT_PAUSE)?;
        let what = format!("`snapshot -i --all`, {rows} rows, one changing");
        table.compare(&what, a, b, "ms", bar);
        if large {
            memory(table, &tools)?;
        }
        if rows == 1_000 {
            let (a, b) = tools.changing(runs, RENDER_TIME)?;
            let what = format!("the same, {rows} rows, one changing immediately before");
            table.compare(&what, a, b, "ms", "");
        }
    }
    tools.open(&server.page("rows/100"))?;
    tools.close()?;
    for (rows, bar) in [(1_000, "at least 10 x faster"), (10_000, "at least 30 x faster")] {
        let large = rows == 10_000;
        let (a, b) = tools.first_snapshots(
            &server.page(&format!("rows/{rows}")),
            if large { runs.min(RUNS_OF_LARGE_PAGE) } else { runs },
        )?;
        let what = format!("`snapshot -i --all`, {rows} rows, first snapshot in a new browser");
        table.compare(&what, a, b, "ms", bar);
    }
    tools.open(&server.page("real"))?;
    let (a, b) = tools.changing(runs, AGENT_PAUSE)?;
    let what =
        "`snapshot -i --all`, a realistic page (10,000 elements, icons, 800 rules), one element changing";
    table.compare(what, a, b, "ms", "at least 4 x faster");
    press(table, &tools, server, runs)?;
    ours.run(&["close"])
}

/// Presses a button by its ref.
fn press(table: &mut Table, tools: &ToolPair<'_>, server: &Server, runs: usize) -> Result {
    tools.open(&server.page("small"))?;
    let a = button(&output(&mut tools.ours.command(&["snapshot", "-i"]))?, "@")?;
    let b = tools.peer.map(|p| button(&output(&mut p.command(&PEER_SNAPSHOT))?, "ref=")).transpose()?;
    let (a, b) = (format!("@{a}"), format!("@{}", b.unwrap_or_default()));
    let (ours, theirs) = tools.measure_separately(runs * 2, &["press", &a], &["click", &b])?;
    table.compare("`press @ref` on a small page", ours, theirs, "ms", "not slower");
    let pressed = output(&mut tools.ours.command(&["get", "text", "role=status"]))?;
    // The uncounted run adds one press.
    if pressed.trim() == (runs * 2 + 1).to_string() {
        Ok(())
    } else {
        Err(format!("{} presses, and the page counted {}", runs * 2 + 1, pressed.trim()))
    }
}

/// Returns the ref of the only button in a snapshot.
fn button(snapshot: &str, before: &str) -> Result<String> {
    let line = snapshot.lines().find(|line| line.contains("button \"Save\""));
    let at = line.and_then(|line| Some(&line[line.find(before)? + before.len()..]));
    let r#ref: String = at.unwrap_or_default().chars().take_while(char::is_ascii_alphanumeric).collect();
    if r#ref.is_empty() { Err(format!("no button in: {snapshot}")) } else { Ok(r#ref) }
}

/// Measures the daemons' memory while a large page is open, and ours after it is closed.
fn memory(table: &mut Table, tools: &ToolPair<'_>) -> Result {
    let rss = mib(tools.ours.daemon_rss()?);
    let theirs = tools.peer.map(|p| p.daemon_rss().map(mib)).transpose()?;
    table.compare("daemon after snapshots of 10000 rows, resident", rss, theirs, "MiB", "under 150");
    tools.ours.run(&["close"])?;
    let deadline = Instant::now() + MEMORY_RETURN_TIMEOUT;
    let mut after = mib(tools.ours.daemon_rss()?);
    while after >= 30.0 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(100));
        after = mib(tools.ours.daemon_rss()?);
    }
    table.add("daemon after `close`, resident", after, "MiB", "under 30");
    Ok(())
}

/// The two tools on one page each.
struct ToolPair<'a> {
    ours: &'a Tool,
    peer: Option<&'a Tool>,
    server: &'a Server,
}

impl ToolPair<'_> {
    fn open(&self, url: &str) -> Result {
        self.ours.run(&["open", url])?;
        self.peer.map_or(Ok(()), |peer| peer.run(&["open", url]))
    }

    fn close(&self) -> Result {
        self.ours.run(&["close"])?;
        self.peer.map_or(Ok(()), |peer| peer.run(&["close"]))
    }

    /// Returns the medians of two commands that run alternately.
    fn measure_alternately(&self, runs: usize, ours: &[&str], theirs: &[&str]) -> Result<(f64, Option<f64>)> {
        alternate(runs, || self.ours.command(ours), self.peer.map(|p| move || p.command(theirs)))
    }

    /// Returns the medians with a pause between the commands. A press takes about as long as a
    /// frame. Without the pause, each tool waits for frames that the other one leaves behind, and
    /// the first run decides which is faster.
    fn measure_separately(&self, runs: usize, ours: &[&str], theirs: &[&str]) -> Result<(f64, Option<f64>)> {
        let after = |command: Command| {
            sleep(PRESS_PAUSE);
            command
        };
        let theirs = self.peer.map(|p| move || after(p.command(theirs)));
        alternate(runs, || after(self.ours.command(ours)), theirs)
    }

    /// Returns the medians of the first snapshot of a page that has not been read yet, in a browser
    /// that has just started.
    fn first_snapshots(&self, url: &str, runs: usize) -> Result<(f64, Option<f64>)> {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for _ in 0..runs {
            self.open(url)?;
            a.push(run_timed(&mut self.ours.command(&OUR_SNAPSHOT))?);
            b.extend(self.peer.map(|p| run_timed(&mut p.command(&PEER_SNAPSHOT))).transpose()?);
            self.close()?;
        }
        Ok((median(a), (!b.is_empty()).then(|| median(b))))
    }

    /// Returns the medians of snapshots of a page that changed `rest` before each of them.
    fn changing(&self, runs: usize, rest: Duration) -> Result<(f64, Option<f64>)> {
        let (mut last_a, mut last_b) = (String::new(), String::new());
        medians(runs, || {
            self.server.change(rest);
            let t = changed(&mut self.ours.command(&OUR_SNAPSHOT), &mut last_a)?;
            let u = self.peer.map(|p| changed(&mut p.command(&PEER_SNAPSHOT), &mut last_b)).transpose()?;
            Ok((t, u))
        })
    }
}

/// Returns the milliseconds of a command on a page that has changed; its answer must differ from
/// the last one.
fn changed(command: &mut Command, last: &mut String) -> Result<f64> {
    let start = Instant::now();
    let text = output(command)?;
    let took = start.elapsed().as_secs_f64() * 1e3;
    if text == *last {
        return Err("a snapshot of a page that changed reads like the one before".to_owned());
    }
    *last = text;
    Ok(took)
}

#[cfg(test)]
mod tests {
    use super::button;

    #[test]
    fn a_ref_is_found_in_either_snapshot() {
        assert_eq!(button("page\n@e1 textbox\n@e12 button \"Save\"\n", "@").unwrap(), "e12");
        assert_eq!(button("- button \"Save\" [ref=e2]", "ref=").unwrap(), "e2");
        assert!(button("- button \"Other\" [ref=e2]", "ref=").is_err());
    }
}
