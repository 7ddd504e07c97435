//! Processes by id and start time, because ids come back.

use serde::{Deserialize, Serialize};

/// A process that cannot be mistaken for a later one with the same id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// When it started, in the platform's own words.
    pub started: String,
}

impl Process {
    /// The process that has this id now.
    #[must_use]
    pub fn find(pid: u32) -> Option<Self> {
        started(pid).map(|started| Self { pid, started })
    }

    /// Whether it still runs.
    #[must_use]
    pub fn alive(&self) -> bool {
        started(self.pid).is_some_and(|now| now == self.started)
    }

    /// Ends it and its group at once.
    pub fn kill(&self) {
        if self.alive() {
            kill_group(self.pid);
        }
    }
}

/// Ends a process group at once, for a process that was started as the leader of its own.
pub fn kill_group(pid: u32) {
    let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) else { return };
    if let Err(e) = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL) {
        // Usually that it ended by itself meanwhile.
        tracing::debug!(pid = pid.as_raw_nonzero(), error = %e, "could not end a process group");
    }
}

#[cfg(target_os = "linux")]
fn started(pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the program's name in parentheses, which may contain anything.
    let rest = stat.rsplit_once(") ")?.1;
    let mut fields = rest.split(' ');
    // A zombie has ended; its parent has not noticed yet.
    if fields.next()? == "Z" {
        return None;
    }
    fields.nth(18).map(str::to_owned)
}

#[cfg(not(target_os = "linux"))]
fn started(pid: u32) -> Option<String> {
    let out =
        std::process::Command::new("ps").args(["-o", "lstart=", "-p", &pid.to_string()]).output().ok()?;
    let text = String::from_utf8_lossy(&out.stdout).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_id_and_start() {
        let us = Process::find(std::process::id()).unwrap();
        assert!(us.alive());
        assert!(!Process { started: "0".into(), ..us }.alive());
    }
}
