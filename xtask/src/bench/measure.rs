//! Timing whole processes.

use crate::Result;
use crate::run::{on_path, output};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// The shipped binary with a state dir of its own.
pub struct Stickpin {
    binary: PathBuf,
    state: PathBuf,
}

impl Stickpin {
    pub fn new(binary: &Path, state: &Path) -> Result<Self> {
        if state.exists() {
            std::fs::remove_dir_all(state).map_err(|e| format!("{}: {e}", state.display()))?;
        }
        Ok(Self { binary: binary.to_owned(), state: state.to_owned() })
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(args).env("STICKPIN_STATE_DIR", &self.state).env("STICKPIN_SESSION", "bench");
        command
    }

    pub fn run(&self, args: &[&str]) -> Result {
        output(&mut self.command(args)).map(drop)
    }

    /// Resident bytes of the daemon.
    pub fn daemon_rss(&self) -> Result<u64> {
        let file = self.state.join("daemon").join("daemon.json");
        let text = std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        let json: serde_json::Value =
            serde_json::from_str(&text).map_err(|e| format!("{}: {e}", file.display()))?;
        let pid = json["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok());
        resident(pid.ok_or("daemon.json has no pid")?)
    }

    pub fn state_dir(&self) -> &Path {
        &self.state
    }
}

/// Resident bytes of a process.
pub fn resident(pid: u32) -> Result<u64> {
    let status =
        std::fs::read_to_string(format!("/proc/{pid}/status")).map_err(|e| format!("process {pid}: {e}"))?;
    let kib = status
        .lines()
        .find_map(|l| l.strip_prefix("VmRSS:"))
        .and_then(|l| l.trim().trim_end_matches(" kB").parse::<u64>().ok())
        .ok_or("no VmRSS line")?;
    Ok(kib * 1024)
}

impl Drop for Stickpin {
    fn drop(&mut self) {
        // A failed bench must not leave a daemon and a browser behind.
        if let Err(error) = self.run(&["daemon", "stop"]) {
            eprintln!("bench: {error}");
        }
    }
}

/// Milliseconds from start to exit. Its output is read away.
pub fn timed(command: &mut Command) -> Result<f64> {
    command.stdin(Stdio::null());
    let start = Instant::now();
    output(command)?;
    Ok(start.elapsed().as_secs_f64() * 1e3)
}

/// Runs two commands in turn and returns the medians.
pub fn alternate(
    runs: usize,
    ours: impl Fn() -> Command,
    theirs: Option<impl Fn() -> Command>,
) -> Result<(f64, Option<f64>)> {
    medians(runs, || Ok((timed(&mut ours())?, theirs.as_ref().map(|c| timed(&mut c())).transpose()?)))
}

/// The medians of measurements of ours and of the peer's, where it runs, after one that is not counted.
pub fn medians(
    runs: usize,
    mut measured: impl FnMut() -> Result<(f64, Option<f64>)>,
) -> Result<(f64, Option<f64>)> {
    measured()?;
    let (ours, theirs): (Vec<_>, Vec<_>) =
        (0..runs).map(|_| measured()).collect::<Result<Vec<_>>>()?.into_iter().unzip();
    let theirs: Vec<f64> = theirs.into_iter().flatten().collect();
    Ok((median(ours), (!theirs.is_empty()).then(|| median(theirs))))
}

/// The middle value.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// What the browser calls itself.
pub fn chromium_version() -> Result<String> {
    let program = chromium().ok_or("no Chromium on the path")?;
    Ok(output(Command::new(program).arg("--version"))?
        .split_whitespace()
        .take(2)
        .collect::<Vec<_>>()
        .join(" "))
}

/// Where the browser lies.
pub fn chromium_path() -> Result<PathBuf> {
    let program = chromium().ok_or("no Chromium on the path")?;
    std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .map(|dir| dir.join(program))
        .find(|p| p.is_file())
        .ok_or_else(|| format!("{program} is not on the path"))
}

/// The browser that both tools drive.
pub fn chromium() -> Option<&'static str> {
    ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|p| on_path(p))
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn median_is_the_middle_value() {
        assert!((median(vec![9.0, 1.0, 5.0]) - 5.0).abs() < f64::EPSILON);
        assert!(median(Vec::new()).is_nan());
    }
}
