//! Folders of lifetimes that a killed daemon left behind. The providers have already ended the
//! processes of these lifetimes. A folder with a mount that cannot be unmounted stays.
//!
//! Removal may take a long time and runs in the background. The list of folders is made before any
//! session opens, and a new session never reuses an existing folder.

use std::path::{Path, PathBuf};
use stickpin_kernel::{CancellationToken, LIVE};

/// Returns the folders of lifetimes that exist now; empty if the folders cannot be listed.
pub(crate) fn find(state_dir: &Path) -> Vec<PathBuf> {
    let sessions = state_dir.join(LIVE);
    match std::fs::read_dir(&sessions) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        // No session was ever opened.
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(e) => {
            tracing::warn!("{} could not be read: {e}", sessions.display());
            Vec::new()
        }
    }
}

/// Removes the folders one by one until the daemon shuts down. The next daemon finds the rest.
pub(crate) fn remove(folders: &[PathBuf], going: &CancellationToken) {
    for dir in folders.iter().take_while(|_| !going.is_cancelled()) {
        match stickpin_process::remove_folder(dir) {
            Ok(()) => tracing::info!("cleaned up after a killed daemon: removed {}", dir.display()),
            Err(e) => tracing::warn!("{} could not be removed: {e}", dir.display()),
        }
    }
}

#[cfg(test)]
#[path = "../../testkit/src/skip.rs"]
mod skip;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_session_folders_are_removed() {
        let tmp = tempfile::tempdir().unwrap();
        let dir = tmp.path().join("live/shop");
        std::fs::create_dir_all(dir.join("profile")).unwrap();
        std::fs::write(tmp.path().join("other"), "").unwrap();
        let (left, going) = (find(tmp.path()), CancellationToken::new());
        assert_eq!(left, std::slice::from_ref(&dir));
        // A session that opens while folders are removed.
        let opened = tmp.path().join("live/opened");
        std::fs::create_dir(&opened).unwrap();
        remove(&left, &going);
        assert!(!dir.exists() && opened.exists() && tmp.path().join("other").exists());
        going.cancel();
        remove(&find(tmp.path()), &going);
        assert!(opened.exists(), "a daemon that goes begins nothing");
        assert!(find(&opened).is_empty());
    }

    #[test]
    fn mount_in_session_folder_keeps_its_files() {
        let tmp = tempfile::tempdir().unwrap();
        let (dir, person) = (tmp.path().join("live/shop"), tmp.path().join("person"));
        let place = dir.join("run/doc");
        std::fs::create_dir_all(&place).unwrap();
        std::fs::create_dir(&person).unwrap();
        std::fs::write(person.join("letter"), "").unwrap();
        let run = |words: &[&std::ffi::OsStr]| {
            std::process::Command::new(words[0]).args(&words[1..]).output().is_ok_and(|o| o.status.success())
        };
        if !run(&["mount".as_ref(), "--bind".as_ref(), person.as_os_str(), place.as_os_str()]) {
            skip::skipped("STICKPIN_REQUIRE_MOUNTS", "nothing may be mounted here");
            return;
        }
        remove(&find(tmp.path()), &CancellationToken::new());
        let letter = person.join("letter").exists();
        // The folder stays if it could not be unmounted.
        let stays = run(&["umount".as_ref(), place.as_os_str()]);
        assert!(letter, "it was removed through the mount");
        assert_eq!(dir.exists(), stays);
    }
}
