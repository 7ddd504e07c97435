//! Cleaning up after a killed stickpin process.
//!
//! A record in a session's folder names the processes that were started for the session, and their
//! owner. A sweep ends the processes whose owner has ended. The caller of the sweep removes the
//! record with its folder, which may take a long time.

use crate::process::Process;
use crate::remove::remove_file;
use serde::{Deserialize, Serialize};
use std::fs::DirEntry;
use std::io;
use std::path::{Path, PathBuf};

/// The file name of the record in a session's folder.
const RECORD_FILE: &str = "processes.json";

/// The maximum depth below the state directory at which a sweep looks for records.
const MAX_DEPTH: usize = 4;

/// A record of the processes to end after their owner was killed, and of the links to remove.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProcessRecord {
    /// The processes that were started, each the leader of its own group. A sweep ends them in this
    /// order.
    pub processes: Vec<Process>,
    /// The process that started these processes. While the owner lives, a sweep leaves the record
    /// alone.
    pub owner: Process,
    /// Symbolic links to the record's folder, which provide the short paths that sockets need.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<PathBuf>,
    /// An entry of the form `NAME=value` that only these processes and their children have in their
    /// environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
}

impl ProcessRecord {
    /// Creates a record of this process's children. A child that has already ended is listed too,
    /// but a sweep has no process to end for it.
    #[must_use]
    pub fn of_children(children: &[u32]) -> Self {
        let find_or_dead =
            |pid| Process::find(pid).unwrap_or_else(|| Process { pid, started: String::new() });
        Self {
            processes: children.iter().copied().map(find_or_dead).collect(),
            owner: find_or_dead(std::process::id()),
            links: Vec::new(),
            mark: None,
        }
    }

    /// Writes the record to `dir`, replacing an existing one.
    ///
    /// # Errors
    /// Returns errors from the file system.
    pub fn write(&self, dir: &Path) -> io::Result<()> {
        let new = dir.join(format!("{RECORD_FILE}.new"));
        std::fs::write(&new, serde_json::to_vec(self)?)?;
        std::fs::rename(new, dir.join(RECORD_FILE))
    }

    /// Removes the record from `dir` if there is one.
    ///
    /// # Errors
    /// Returns errors from the file system.
    pub fn remove(dir: &Path) -> io::Result<()> {
        remove_file(&dir.join(RECORD_FILE))
    }
}

/// Ends the processes recorded below `state_dir` whose owner has ended, and removes the links to
/// the folders of their records. Returns one line for each process ended and each link removed. A
/// folder or record that cannot be read, or a link that cannot be removed, is logged and does not
/// stop the sweep.
///
/// # Errors
/// Returns an error when `state_dir` itself cannot be read.
pub fn sweep(state_dir: &Path) -> io::Result<Vec<String>> {
    let mut done = Vec::new();
    sweep_below(state_dir, MAX_DEPTH, &mut done)?;
    Ok(done)
}

fn sweep_below(folder: &Path, depth: usize, removed: &mut Vec<String>) -> io::Result<()> {
    let record = folder.join(RECORD_FILE);
    match std::fs::read(&record) {
        Ok(text) => {
            remove_if_dead(folder, &text, removed);
            return Ok(());
        }
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
        if let Err(e) = sweep_entry(&entry, depth - 1, removed) {
            tracing::warn!(folder = %entry.path().display(), error = %e, "cannot read what a killed process left behind");
        }
    }
    Ok(())
}

fn sweep_entry(entry: &DirEntry, depth: usize, removed: &mut Vec<String>) -> io::Result<()> {
    if entry.file_type()?.is_dir() { sweep_below(&entry.path(), depth, removed) } else { Ok(()) }
}

fn remove_if_dead(folder: &Path, text: &[u8], removed: &mut Vec<String>) {
    let record: ProcessRecord = match serde_json::from_slice(text) {
        Ok(record) => record,
        Err(e) => {
            tracing::warn!(folder = %folder.display(), error = %e, "cannot parse a process record");
            return;
        }
    };
    if record.owner.is_alive() {
        return;
    }
    let marked = record.mark.as_deref().map(Process::find_marked).unwrap_or_default();
    for process in record.processes.iter().chain(&marked).filter(|p| p.is_alive()) {
        process.kill();
        removed.push(format!("ended the process {}, whose owner is gone", process.pid));
    }
    // A link to another folder was not made by us.
    for link in record.links.iter().filter(|link| std::fs::read_link(link).is_ok_and(|to| to == folder)) {
        match std::fs::remove_file(link) {
            Ok(()) => removed.push(format!("removed {}", link.display())),
            Err(e) => tracing::warn!(link = %link.display(), error = %e, "cannot remove a link to a folder"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn this_process() -> Process {
        Process::find(std::process::id()).unwrap()
    }

    #[test]
    fn sweep_spares_live_owners_and_other_folders() {
        let state = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let gone = Process { pid: this_process().pid, started: "0".into() };
        let make = |name: &str, owner: &Process, to: Option<&Path>| {
            let dir = state.path().join("sessions").join(name);
            std::fs::create_dir_all(&dir).unwrap();
            let link = dir.join("link");
            std::os::unix::fs::symlink(to.unwrap_or(&dir), &link).unwrap();
            let record = ProcessRecord {
                processes: vec![gone.clone()],
                owner: owner.clone(),
                links: vec![link.clone()],
                mark: None,
            };
            record.write(&dir).unwrap();
            link
        };
        let living = make("living", &this_process(), None);
        let dead = make("dead", &gone, None);
        let forged = make("forged", &gone, Some(elsewhere.path()));
        assert_eq!(sweep(state.path()).unwrap(), [format!("removed {}", dead.display())]);
        assert!(
            !dead.is_symlink() && living.is_symlink() && forged.is_symlink() && elsewhere.path().exists()
        );
        assert_eq!(sweep(state.path()).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn unreadable_record_does_not_stop_the_sweep() {
        let state = tempfile::tempdir().unwrap();
        let mut ended = Vec::new();
        for name in ["a", "b", "c"] {
            let dir = state.path().join(name);
            // An invalid record among valid ones.
            std::fs::create_dir_all(dir.join("bad").join(RECORD_FILE)).unwrap();
            std::fs::create_dir(dir.join("run")).unwrap();
            let child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
            let gone = Process { pid: this_process().pid, started: "0".into() };
            ProcessRecord { owner: gone, ..ProcessRecord::of_children(&[child.id()]) }
                .write(&dir.join("run"))
                .unwrap();
            ended.push(child);
        }
        assert_eq!(sweep(state.path()).unwrap().len(), ended.len());
        for mut child in ended {
            assert!(!child.wait().unwrap().success());
        }
    }
}
