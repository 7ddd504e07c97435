//! What a killed process of ours left behind.
//!
//! A record in the folder of a session names what was started for it and who started it. A sweep ends the processes
//! whose owner is gone and removes their folders.

use crate::process::Process;
use crate::remove::remove_folder;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// The name of the record in the folder of a session.
const RECORD: &str = "processes.json";

/// How deep below the state dir a sweep looks for records.
const DEPTH: usize = 4;

/// What has to be ended and removed after us.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// What was started, each the leader of its own group; ended in this order.
    pub processes: Vec<Process>,
    /// Who started it: while this one lives, it is left alone.
    pub owner: Process,
    /// Folders made for these processes only, all below the folder of the record.
    pub folders: Vec<PathBuf>,
    /// Symbolic links to the folder of the record: short names for it, as sockets need them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<PathBuf>,
    /// An entry (`NAME=value`) of the environment that only these processes and what they started have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
}

impl Record {
    /// One of what this process started. A child that ended already leaves nothing but folders.
    #[must_use]
    pub fn of(children: &[u32], folders: Vec<PathBuf>) -> Self {
        let find = |pid| Process::find(pid).unwrap_or_else(|| Process { pid, started: String::new() });
        Self {
            processes: children.iter().copied().map(find).collect(),
            owner: find(std::process::id()),
            folders,
            links: Vec::new(),
            mark: None,
        }
    }

    /// Writes it down in `dir`, over the one that was there.
    ///
    /// # Errors
    /// Of the file system.
    pub fn write(&self, dir: &Path) -> io::Result<()> {
        let new = dir.join(format!("{RECORD}.new"));
        std::fs::write(&new, serde_json::to_vec(self)?)?;
        std::fs::rename(new, dir.join(RECORD))
    }

    /// Removes the one in `dir`, if there is one.
    ///
    /// # Errors
    /// Of the file system.
    pub fn remove(dir: &Path) -> io::Result<()> {
        match std::fs::remove_file(dir.join(RECORD)) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
            _ => Ok(()),
        }
    }
}

/// Ends what runs below `state_dir` without its owner, and removes what it left. Answers with what was done.
///
/// # Errors
/// Of the file system.
pub fn sweep(state_dir: &Path) -> io::Result<Vec<String>> {
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
            tracing::warn!(folder = %folder.display(), error = %e, "a record of processes is not understood");
            return Ok(());
        }
    };
    if record.owner.alive() {
        return Ok(());
    }
    let marked = record.mark.as_deref().map(Process::marked).unwrap_or_default();
    for process in record.processes.iter().chain(&marked).filter(|p| p.alive()) {
        process.kill();
        done.push(format!("ended the process {}, whose owner is gone", process.pid));
    }
    for link in &record.links {
        // Only one that leads here was made by us.
        if std::fs::read_link(link).is_ok_and(|to| to == folder) {
            std::fs::remove_file(link)?;
            done.push(format!("removed {}", link.display()));
        }
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
    fn a_sweep_spares_the_living_and_what_lies_elsewhere() {
        let state = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let gone = Process { pid: us().pid, started: "0".into() };
        let make = |name: &str, owner: &Process, folder: &Path| {
            let dir = state.path().join("sessions").join(name);
            let profile = dir.join("profile");
            std::fs::create_dir_all(&profile).unwrap();
            let to = if name == "forged" { elsewhere.path() } else { &dir };
            std::os::unix::fs::symlink(to, dir.join("link")).unwrap();
            let folders =
                vec![if folder.as_os_str().is_empty() { profile.clone() } else { folder.to_owned() }];
            Record {
                processes: vec![gone.clone()],
                owner: owner.clone(),
                folders,
                links: vec![dir.join("link")],
                mark: None,
            }
            .write(&dir)
            .unwrap();
            profile
        };
        let living = make("living", &us(), Path::new(""));
        let dead = make("dead", &gone, Path::new(""));
        make("forged", &gone, elsewhere.path());
        let done = sweep(state.path()).unwrap();
        assert!(living.exists() && !dead.exists() && elsewhere.path().exists());
        let link = dead.with_file_name("link");
        assert_eq!(done, [format!("removed {}", link.display()), format!("removed {}", dead.display())]);
        assert!(!link.is_symlink() && living.with_file_name("link").is_symlink());
        assert!(state.path().join("sessions/forged/link").is_symlink());
        assert_eq!(sweep(state.path()).unwrap(), Vec::<String>::new());
    }
}
