//! Reading and acting on desktop apps, each on a display of its own, and what a hundred readings do to the app.

use super::measure::{Stickpin, alternate, median, resident, timed};
use super::table::{Row, Table};
use crate::Result;
use crate::run::{on_path, run};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The peer that is run beside ours.
const PEER: &str = "agent-device";

/// Snapshots after which the app's memory is read again.
const SNAPSHOTS: usize = 100;

/// A program, what is opened, what it is called in the table, and how long a snapshot may take.
const APPS: &[(&str, &str, &str, &str)] = &[
    ("gnome-calculator", "linux:gnome-calculator", "gnome-calculator (GTK 4)", "under 35, 10 x the peer"),
    ("gedit", "linux:gedit", "gedit (GTK 3)", "under 15"),
    ("featherpad", "linux:featherpad", "FeatherPad (Qt)", "under 40"),
    ("firefox-esr", "linux:firefox-esr --no-remote about:support", "Firefox", "under 60"),
    ("soffice", "linux:soffice --calc --norestore --nologo", "LibreOffice Calc", "under 150"),
];

/// Adds the rows of this part; apps that are not installed are left out with a word.
pub fn measure(table: &mut Table, ours: &Stickpin, peers: Option<&Path>, runs: usize) -> Result {
    for &(program, what, name, bar) in APPS {
        if !on_path(program) {
            eprintln!("bench: {program} is not on the path; its rows are left out");
            continue;
        }
        ours.run(&["open", what, "--private", "--relaunch"])?;
        let pid = app(program)?;
        let peer = match peers.filter(|_| program == "gnome-calculator") {
            Some(dir) => Some(Peer::fetch(&dir.join("agent-device"), pid)?),
            None => None,
        };
        let theirs = peer.as_ref().map(|peer| || peer.snapshot());
        let (snapshot, theirs) = alternate(runs, || ours.command(&["snapshot", "-i"]), theirs)?;
        let words = if theirs.is_some() { format!("; beside {PEER}") } else { String::new() };
        let words = format!("`snapshot -i` of {name}, whole process{words}");
        table.push(Row::against(&words, snapshot, theirs, "ms", bar));
        let before = resident(pid)?;
        for _ in 0..SNAPSHOTS {
            ours.run(&["snapshot", "-i"])?;
        }
        #[allow(clippy::cast_precision_loss, reason = "sizes of processes")]
        let grown = (resident(pid)? as f64 / before as f64 - 1.0) * 100.0;
        let words = format!("memory of {name} after {SNAPSHOTS} snapshots, growth");
        table.push(Row::single(&words, grown, "%", "under 5"));
        if program == "gnome-calculator" {
            acts(table, ours, runs)?;
        }
        ours.run(&["close"])?;
    }
    Ok(())
}

/// A press through an action, and a picture of the whole screen.
fn acts(table: &mut Table, ours: &Stickpin, runs: usize) -> Result {
    let each = |args: &[&str]| -> Result<f64> {
        Ok(median((0..runs).map(|_| timed(&mut ours.command(args))).collect::<Result<Vec<_>>>()?))
    };
    let press = each(&["press", "role=button label=\"1\"", "--receipt", "off"]);
    let press = press.or_else(|_| each(&["press", "role=button label=\"1\""]))?;
    table.push(Row::single("`press` through an action, whole process", press, "ms", "under 5"));
    let picture = each(&["screenshot", "--full", "--max-px", "2000"])?;
    table.push(Row::single("`screenshot --full` of 1280x900, whole process", picture, "ms", "under 40"));
    Ok(())
}

/// The process of the app that is open: of those with its name on a private display the largest.
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
    let found = pids.filter(is_app).max_by_key(|pid| resident(*pid).unwrap_or_default());
    found.ok_or_else(|| format!("no process of {program} runs on a private display"))
}

/// The peer's command line, in the surroundings of the app.
struct Peer {
    program: PathBuf,
    surroundings: BTreeMap<String, String>,
}

impl Peer {
    fn fetch(dir: &Path, app: u32) -> Result<Self> {
        let program = dir.join("node_modules/.bin").join(PEER);
        if !program.is_file() {
            std::fs::create_dir_all(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
            run(Command::new("npm")
                .args(["install", "--no-audit", "--no-fund", "--prefix"])
                .arg(dir)
                .arg(PEER))?;
        }
        let file = format!("/proc/{app}/environ");
        let text = std::fs::read(&file).map_err(|e| format!("{file}: {e}"))?;
        let text = String::from_utf8_lossy(&text).into_owned();
        let wanted =
            ["DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "XDG_SESSION_TYPE"];
        let entries = text.split('\0').filter_map(|entry| entry.split_once('='));
        let mut surroundings: BTreeMap<String, String> = entries
            .filter(|(name, _)| wanted.contains(name))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        // It reads through Debian's Python (with gir1.2-atspi-2.0), and remembers in its home which one it found.
        let path = std::env::var("PATH").unwrap_or_default();
        surroundings.insert("PATH".to_owned(), format!("/usr/bin:{path}"));
        surroundings.insert("HOME".to_owned(), dir.join(format!("home-{app}")).display().to_string());
        Ok(Self { program, surroundings })
    }

    fn snapshot(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["snapshot", "-i", "--platform", "linux"]).envs(&self.surroundings);
        command
    }
}
