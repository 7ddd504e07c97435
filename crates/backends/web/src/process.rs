//! Processes that we started, and those that a killed process of ours left behind.
//!
//! A record beside the profile names the browser and its owner by process id *and* start time, because ids come
//! back. A sweep ends a browser whose owner is gone and removes its folders.

use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// The name of the record in the folder of a session.
const RECORD: &str = "chromium.json";

/// How deep below the state dir a sweep looks for records.
const DEPTH: usize = 4;

/// A process that cannot be mistaken for a later one with the same id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Process {
    pub(crate) pid: u32,
    /// When it started, in the platform's own words.
    pub(crate) started: String,
}

impl Process {
    /// The process that has this id now.
    pub(crate) fn find(pid: u32) -> Option<Self> {
        started(pid).map(|started| Self { pid, started })
    }

    /// Whether it still runs.
    pub(crate) fn alive(&self) -> bool {
        started(self.pid).is_some_and(|now| now == self.started)
    }

    /// Ends it and its group at once.
    pub(crate) fn kill(&self) {
        if self.alive() {
            kill_group(self.pid);
        }
    }
}

/// Ends a process group at once; the browser is started as the leader of its own.
pub(crate) fn kill_group(pid: u32) {
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

/// What a browser of ours needs removed after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Record {
    pub(crate) browser: Process,
    pub(crate) owner: Process,
    /// Folders made for this browser only.
    pub(crate) folders: Vec<PathBuf>,
}

impl Record {
    pub(crate) fn write(&self, dir: &Path) -> io::Result<()> {
        std::fs::write(dir.join(RECORD), serde_json::to_vec(self)?)
    }

    pub(crate) fn remove(dir: &Path) -> io::Result<()> {
        match std::fs::remove_file(dir.join(RECORD)) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
            _ => Ok(()),
        }
    }
}

/// Removes a folder whose owner may still be writing its last files.
pub(crate) fn remove_folder(folder: &Path) -> io::Result<()> {
    let mut last = Ok(());
    for attempt in 0..5 {
        match std::fs::remove_dir_all(folder) {
            Ok(()) => return Ok(()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(e) => last = Err(e),
        }
        std::thread::sleep(std::time::Duration::from_millis(20 << attempt));
    }
    last
}

/// Ends browsers whose owner is gone and removes what they left. Answers with what was done.
pub(crate) fn sweep(state_dir: &Path) -> io::Result<Vec<String>> {
    let mut done = Vec::new();
    sweep_below(state_dir, DEPTH, &mut done)?;
    Ok(done)
}

fn sweep_below(folder: &Path, depth: usize, done: &mut Vec<String>) -> io::Result<()> {
    let record = folder.join(RECORD);
    match std::fs::read(&record) {
        Ok(text) => return sweep_one(folder, &text, done),
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        Err(e) => return Err(e),
    }
    if depth == 0 {
        return Ok(());
    }
    let entries = match std::fs::read_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sweep_below(&entry.path(), depth - 1, done)?;
        }
    }
    Ok(())
}

fn sweep_one(folder: &Path, text: &[u8], done: &mut Vec<String>) -> io::Result<()> {
    let record: Record = match serde_json::from_slice(text) {
        Ok(record) => record,
        Err(e) => {
            tracing::warn!(folder = %folder.display(), error = %e, "a browser record is not understood");
            return Ok(());
        }
    };
    if record.owner.alive() {
        return Ok(());
    }
    if record.browser.alive() {
        record.browser.kill();
        done.push(format!("ended the browser {} of a process that is gone", record.browser.pid));
    }
    for left in &record.folders {
        // A record that names anything outside its own folder was not written by us.
        if left.starts_with(folder) && left != folder && left.exists() {
            remove_folder(left)?;
            done.push(format!("removed {}", left.display()));
        }
    }
    Record::remove(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us() -> Process {
        Process::find(std::process::id()).unwrap()
    }

    #[test]
    fn a_process_is_known_by_id_and_start() {
        assert!(us().alive());
        assert!(!Process { started: "0".into(), ..us() }.alive());
    }

    #[test]
    fn a_sweep_spares_the_living_and_what_lies_elsewhere() {
        let state = tempfile::tempdir().unwrap();
        let gone = Process { pid: us().pid, started: "0".into() };
        let make = |name: &str, owner: &Process, folder: &Path| {
            let dir = state.path().join("sessions").join(name);
            let profile = dir.join("profile");
            std::fs::create_dir_all(&profile).unwrap();
            let folders =
                vec![if folder.as_os_str().is_empty() { profile.clone() } else { folder.to_owned() }];
            Record { browser: gone.clone(), owner: owner.clone(), folders }.write(&dir).unwrap();
            profile
        };
        let elsewhere = tempfile::tempdir().unwrap();
        let living = make("living", &us(), Path::new(""));
        let dead = make("dead", &gone, Path::new(""));
        make("forged", &gone, elsewhere.path());
        let done = sweep(state.path()).unwrap();
        assert!(living.exists() && !dead.exists() && elsewhere.path().exists());
        assert_eq!(done, [format!("removed {}", dead.display())]);
        assert_eq!(sweep(state.path()).unwrap(), Vec::<String>::new());
    }
}
