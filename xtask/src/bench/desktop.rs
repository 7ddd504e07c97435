//! Measures reading and acting on desktop apps, each on a private display, and the effect of a
//! hundred snapshots on the app.
//!
//! An app's memory is first measured once it no longer grows: Firefox grows by a third in its first
//! five seconds even if no tool reads it.

use super::measure::{Tool, alternate, medians, resident_bytes, run_timed};
use super::table::Table;
use crate::Result;
use crate::run::{npm_install, on_path, output};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

/// The peer, which is measured next to stickpin, and the release that the table compares with.
const PEER: &str = "agent-device";
const PACKAGE: &str = "agent-device@0.21.5";

/// The number of snapshots after which the app's memory is measured again.
const SNAPSHOTS: usize = 100;

/// The number of measurements, a second apart, that must agree within one percent for memory to
/// count as stable.
const AGREEING_READINGS: usize = 5;
const MAX_READINGS: usize = 60;

/// Pause between presses. GTK 4 drops a press of a button that it still shows as pressed. The pause
/// also lets an app become quiet, as it does while an agent thinks, so that it is read ahead.
const PRESS_PAUSE: Duration = Duration::from_millis(700);

/// Time to leave an app alone before it is pressed. Some show a message in their first seconds
/// ("Root Instance" in FeatherPad), and its disappearance changes the section.
const STARTUP_PAUSE: Duration = Duration::from_secs(11);

/// The measured presses. Columns: program, toolkit, how the device presses, snapshot lines that are
/// pressed in turn, a note on the wait for an effect, and the target time.
const PRESSES: &str = include_str!("presses.tsv");

/// A program, the argument of `open`, its name in the table, and the target time of a snapshot.
const APPS: &[(&str, &str, &str, &str)] = &[
    ("gnome-calculator", "linux:gnome-calculator", "gnome-calculator (GTK 4)", "under 35, 10 x the peer"),
    ("gedit", "linux:gedit", "gedit (GTK 3)", "under 15"),
    ("featherpad", "linux:featherpad", "FeatherPad (Qt)", "under 40"),
    ("firefox-esr", "linux:firefox-esr --no-remote about:support", "Firefox", "under 60"),
    ("soffice", "linux:soffice --calc --norestore --nologo", "LibreOffice Calc", "under 150"),
];

/// Adds the rows of this part. Apps that are not installed are skipped with a message.
pub fn measure(table: &mut Table, ours: &Tool, peers: Option<&Path>, runs: usize) -> Result {
    for &(program, what, name, bar) in APPS {
        if !on_path(program) {
            eprintln!("bench: {program} is not on the path; its rows are left out");
            continue;
        }
        ours.run(&["open", what, "--private", "--relaunch"])?;
        let pid = app(program)?;
        // The window may appear before its content: Firefox shows its page a second or two later.
        let before = resting_memory(pid)?;
        let peer = match peers.filter(|_| program == "gnome-calculator") {
            Some(dir) => Some(Peer::fetch(&dir.join("agent-device"), pid)?),
            None => None,
        };
        let theirs = peer.as_ref().map(|peer| || peer.snapshot());
        let (snapshot, theirs) = alternate(runs, || ours.command(&["snapshot", "-i"]), theirs)?;
        let words = if theirs.is_some() { format!("; compared with {PACKAGE}") } else { String::new() };
        let words = format!("`snapshot -i` of {name}, whole process{words}");
        table.compare(&words, snapshot, theirs, "ms", bar);
        for _ in 0..SNAPSHOTS {
            ours.run(&["snapshot", "-i"])?;
        }
        #[allow(clippy::cast_precision_loss, reason = "sizes of processes")]
        let growth_percent = (resident_bytes(pid)? as f64 / before as f64 - 1.0) * 100.0;
        let words = format!("memory of {name} after {SNAPSHOTS} snapshots, growth");
        table.add(&words, growth_percent, "%", "under 5");
        if program == "gnome-calculator" {
            let picture = median_of(runs, |_| ours.command(&["screenshot", "--full", "--max-px", "2000"]))?;
            let words = "`screenshot --full` of 1280x900, whole process";
            table.add(words, picture, "ms", "under 40");
        }
        ours.run(&["close"])?;
    }
    presses(table, ours, runs)
}

/// Measures presses, without and with waiting for their effect. Half of the time is spent on waking
/// up three or four processes, which varies by a fifth between presses. Presses therefore have more
/// runs than other measurements.
fn presses(table: &mut Table, ours: &Tool, runs: usize) -> Result {
    let runs = runs * 3;
    for line in PRESSES.lines().filter(|line| !line.starts_with('#')) {
        let &[program, toolkit, by, pressed, waits, bar] = &*line.split('\t').collect::<Vec<_>>() else {
            return Err(format!("not six columns: {line}"));
        };
        if !on_path(program) {
            eprintln!("bench: {program} is not on the path; its rows are left out");
            continue;
        }
        ours.run(&["open", &format!("linux:{program}"), "--private", "--relaunch"])?;
        sleep(STARTUP_PAUSE);
        let snapshot = output(&mut ours.command(&["snapshot", "-i"]))?;
        let refs = pressed.split("; ").map(|line| reference(&snapshot, line)).collect::<Result<Vec<_>>>()?;
        let words = format!("`press @ref` {by} ({program}, {toolkit}), whole process");
        let off = median_of(runs, |i| ours.command(&["press", refs[i % refs.len()], "--receipt", "off"]))?;
        table.add(&format!("{words}, `--receipt off`"), off, "ms", bar);
        let on = median_of(runs, |i| ours.command(&["press", refs[i % refs.len()]]))?;
        let words = format!("{words}, until its effect is seen");
        match waits {
            "" => table.add(&words, on, "ms", ""),
            waits => table.add(&format!("{words}; {waits}"), on, "ms", ""),
        }
        ours.run(&["close"])?;
    }
    Ok(())
}

/// Returns the ref of the first snapshot line with this text that is not disabled.
fn reference<'a>(snapshot: &'a str, line: &str) -> Result<&'a str> {
    let lines = snapshot.lines().filter_map(|l| l.trim_start().split_once(' '));
    let mut found = lines.filter(|(r, rest)| r.starts_with('@') && *rest == line).map(|(r, _)| r);
    found.next().ok_or_else(|| format!("nothing in the snapshot reads {line:?}"))
}

/// Returns the median of some runs after an uncounted one, with a pause before each.
fn median_of(runs: usize, command: impl Fn(usize) -> Command) -> Result<f64> {
    let mut run = 0..;
    let (ours, _) = medians(runs, || {
        sleep(PRESS_PAUSE);
        Ok((run_timed(&mut command(run.next().unwrap_or_default()))?, None))
    })?;
    Ok(ours)
}

/// Returns the resident bytes of a process once it has stopped growing.
fn resting_memory(pid: u32) -> Result<u64> {
    let mut readings = vec![resident_bytes(pid)?];
    while readings.len() < MAX_READINGS {
        sleep(Duration::from_secs(1));
        readings.push(resident_bytes(pid)?);
        if is_at_rest(&readings) {
            break;
        }
    }
    Ok(readings[readings.len() - 1])
}

/// Returns whether the last measurements agree.
fn is_at_rest(readings: &[u64]) -> bool {
    let Some(last) = readings.len().checked_sub(AGREEING_READINGS).map(|from| &readings[from..]) else {
        return false;
    };
    let (least, most) = last.iter().fold((u64::MAX, 0), |(a, b), &n| (a.min(n), b.max(n)));
    most - least <= most / 100
}

/// Returns the process of the open app: the largest with its name on a private display.
fn app(program: &str) -> Result<u32> {
    let entries = std::fs::read_dir("/proc").map_err(|e| format!("/proc: {e}"))?;
    let pids = entries.filter_map(|e| e.ok()?.file_name().to_str()?.parse::<u32>().ok());
    // The system keeps 15 characters of a name.
    let name = program.get(..15).unwrap_or(program);
    let is_app = |pid: &u32| {
        let read = |file| std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        let environ = read("environ");
        let private = environ
            .split(|b| *b == 0)
            .any(|e| e.starts_with(b"XDG_RUNTIME_DIR=") && e.windows(9).any(|part| part == b"/stickpin"));
        private && read("comm").starts_with(name.as_bytes())
    };
    let found = pids.filter(is_app).max_by_key(|pid| resident_bytes(*pid).unwrap_or_default());
    found.ok_or_else(|| format!("no process of {program} runs on a private display"))
}

/// The peer's command line, in the environment of the app.
struct Peer {
    program: PathBuf,
    env: BTreeMap<String, String>,
}

impl Peer {
    fn fetch(dir: &Path, app: u32) -> Result<Self> {
        let program = dir.join("node_modules/.bin").join(PEER);
        if !program.is_file() {
            npm_install(dir, PACKAGE)?;
        }
        let file = format!("/proc/{app}/environ");
        let text = std::fs::read(&file).map_err(|e| format!("{file}: {e}"))?;
        let text = String::from_utf8_lossy(&text).into_owned();
        let wanted =
            ["DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "XDG_SESSION_TYPE"];
        let entries = text.split('\0').filter_map(|entry| entry.split_once('='));
        let mut env: BTreeMap<String, String> = entries
            .filter(|(name, _)| wanted.contains(name))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        // The peer reads through Debian's Python (with gir1.2-atspi-2.0), and stores in its home
        // folder which Python it found.
        let path = std::env::var("PATH").unwrap_or_default();
        env.insert("PATH".to_owned(), format!("/usr/bin:{path}"));
        env.insert("HOME".to_owned(), dir.join(format!("home-{app}")).display().to_string());
        Ok(Self { program, env })
    }

    fn snapshot(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["snapshot", "-i", "--platform", "linux"]).envs(&self.env);
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_at_rest_when_its_last_readings_agree() {
        assert!(!is_at_rest(&[100, 100, 100, 100]));
        assert!(!is_at_rest(&[338, 454, 441, 439, 438]));
        assert!(is_at_rest(&[338, 454, 440, 439, 438, 439, 440]));
    }

    #[test]
    fn what_is_pressed_is_found_by_its_whole_line() {
        let snapshot =
            "page\n@e1 checkbox \"a\" disabled\n  @e2 checkbox \"a\" checked\n@e3 checkbox \"a\"\n";
        assert_eq!(reference(snapshot, "checkbox \"a\"").unwrap(), "@e3");
        assert!(reference(snapshot, "button \"a\"").is_err());
    }
}
