//! Processes identified by id and start time, because ids are reused.

use crate::table::pids;
use rustix::process::{Pid, Signal};
use serde::{Deserialize, Serialize};

/// A process that cannot be mistaken for a later one with the same id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Process {
    /// The process id.
    pub pid: u32,
    /// The start time, as the platform writes it.
    pub started: String,
}

impl Process {
    /// Returns the process that has this id now.
    #[must_use]
    pub fn find(pid: u32) -> Option<Self> {
        start_time(pid).map(|started| Self { pid, started })
    }

    /// Returns whether the process is still running.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        start_time(self.pid).is_some_and(|now| now == self.started)
    }

    /// Returns all processes that have this entry, of the form `NAME=value`, in their environment.
    /// A process whose environment is unreadable is not found.
    #[must_use]
    pub fn find_marked(entry: &str) -> Vec<Self> {
        // Without `/proc`, no environment is readable.
        let has = |pid: &u32| {
            // Environments of other users' processes are unreadable, and those processes are not
            // ours.
            std::fs::read(format!("/proc/{pid}/environ"))
                .is_ok_and(|environ| environ.split(|b| *b == 0).any(|e| e == entry.as_bytes()))
        };
        pids().filter(has).filter_map(Self::find).collect()
    }

    /// Kills the process, with its group if it leads one.
    pub fn kill(&self) {
        if self.is_alive() {
            kill_group(self.pid);
            kill_one(self.pid);
        }
    }
}

/// Kills one process, but none of its children.
pub fn kill_one(pid: u32) {
    kill_with(pid, Signal::KILL, rustix::process::kill_process);
}

/// Kills a process group. `pid` is the process that was started as its leader.
pub fn kill_group(pid: u32) {
    kill_with(pid, Signal::KILL, rustix::process::kill_process_group);
}

/// Asks a process group to end. `pid` is the process that was started as its leader.
pub fn terminate_group(pid: u32) {
    kill_with(pid, Signal::TERM, rustix::process::kill_process_group);
}

fn kill_with(pid: u32, signal: Signal, kill: fn(Pid, Signal) -> rustix::io::Result<()>) {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return };
    if let Err(e) = kill(pid, signal) {
        // Usually the process has just ended on its own.
        tracing::debug!(pid = pid.as_raw_nonzero(), error = %e, "cannot end a process or its group");
    }
}

#[cfg(target_os = "linux")]
fn start_time(pid: u32) -> Option<String> {
    // A zombie has ended; its parent has not reaped it yet.
    let stat = crate::table::ProcessStat::of(pid).filter(|stat| stat.state != 'Z')?;
    Some(stat.start.to_string())
}

#[cfg(not(target_os = "linux"))]
fn start_time(pid: u32) -> Option<String> {
    let out =
        std::process::Command::new("ps").args(["-o", "lstart=", "-p", &pid.to_string()]).output().ok()?;
    let text = String::from_utf8_lossy(&out.stdout).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_is_identified_by_id_and_start() {
        let us = Process::find(std::process::id()).unwrap();
        assert!(us.is_alive());
        assert!(!Process { started: "0".into(), ..us }.is_alive());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn marked_process_is_found_and_killed() {
        let mark = format!("STICKPIN_TEST_MARK={}", std::process::id());
        let (name, value) = mark.split_once('=').unwrap();
        let mut child = std::process::Command::new("sleep").arg("60").env(name, value).spawn().unwrap();
        // The environment appears only after the program has started.
        let found = loop {
            let found = Process::find_marked(&mark);
            if !found.is_empty() {
                break found;
            }
            std::thread::yield_now();
        };
        assert_eq!(found.iter().map(|p| p.pid).collect::<Vec<_>>(), [child.id()]);
        found[0].kill();
        assert!(!child.wait().unwrap().success());
        assert_eq!(Process::find_marked(&mark), []);
    }
}
