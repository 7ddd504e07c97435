//! Measures the times of whole processes.

use crate::Result;
use crate::run::{empty_folder, output, read, which};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// A program with a separate daemon and folder.
pub struct Tool {
    pub program: PathBuf,
    pub folder: PathBuf,
    pub env: Vec<(&'static str, OsString)>,
    /// Arguments that end its daemon. Repeating them is not an error.
    pub end: &'static [&'static str],
    /// The file in which its daemon writes its process id, alone or as a JSON field.
    pub pid: PathBuf,
}

impl Tool {
    /// Returns the tool for the shipped binary.
    pub fn stickpin(binary: &Path, state: &Path) -> Result<Self> {
        empty_folder(state)?;
        Ok(Self {
            program: binary.to_owned(),
            folder: state.to_owned(),
            env: vec![("STICKPIN_STATE_DIR", state.into()), ("STICKPIN_SESSION", "bench".into())],
            end: &["daemon", "stop"],
            pid: state.join("daemon/daemon.json"),
        })
    }

    pub fn command<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(args).envs(self.env.iter().cloned());
        command
    }

    pub fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> Result {
        output(&mut self.command(args)).map(drop)
    }

    /// Returns the resident bytes of the daemon.
    pub fn daemon_rss(&self) -> Result<u64> {
        let text = read(&self.pid)?;
        let json: serde_json::Value =
            serde_json::from_str(&text).map_err(|e| format!("{}: {e}", self.pid.display()))?;
        let pid = json.get("pid").unwrap_or(&json).as_u64().and_then(|pid| u32::try_from(pid).ok());
        resident_bytes(pid.ok_or_else(|| format!("{} has no pid", self.pid.display()))?)
    }
}

/// Returns the resident bytes of a process.
pub fn resident_bytes(pid: u32) -> Result<u64> {
    let status =
        std::fs::read_to_string(format!("/proc/{pid}/status")).map_err(|e| format!("process {pid}: {e}"))?;
    let kib = status
        .lines()
        .find_map(|l| l.strip_prefix("VmRSS:"))
        .and_then(|l| l.trim().trim_end_matches(" kB").parse::<u64>().ok())
        .ok_or("no VmRSS line")?;
    Ok(kib * 1024)
}

impl Drop for Tool {
    fn drop(&mut self) {
        // A failed benchmark must not leave a daemon and a browser behind.
        if let Err(error) = self.run(self.end) {
            eprintln!("bench: {error}");
        }
    }
}

/// Returns the milliseconds from start to exit. The output is read and discarded.
pub fn run_timed(command: &mut Command) -> Result<f64> {
    command.stdin(Stdio::null());
    let start = Instant::now();
    output(command)?;
    Ok(start.elapsed().as_secs_f64() * 1e3)
}

/// Runs two commands alternately and returns the medians.
pub fn alternate(
    runs: usize,
    ours: impl Fn() -> Command,
    theirs: Option<impl Fn() -> Command>,
) -> Result<(f64, Option<f64>)> {
    medians(runs, || Ok((run_timed(&mut ours())?, theirs.as_ref().map(|c| run_timed(&mut c())).transpose()?)))
}

/// Returns the medians of measurements of stickpin and, if it runs, of the peer, after an uncounted
/// one.
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

/// Returns the middle value.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Returns the browser that both tools drive.
pub fn chromium() -> Result<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    names.into_iter().find_map(which).ok_or_else(|| "no Chromium on the path".to_owned())
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
