//! Folders of sessions that ended with their daemon. What ran in them the providers have ended by then: they know
//! which processes were theirs. What is mounted in one is not theirs to remove: where it cannot be unmounted, the folder stays.
//!
//! That may take long, and nobody has to wait for it: which folders they are is settled before any session is open, and
//! no session gets a folder that was there.

use std::path::{Path, PathBuf};
use stickpin_kernel::CancellationToken;

/// The folders of sessions that are there now.
pub(crate) fn of(state_dir: &Path) -> Vec<PathBuf> {
    let sessions = state_dir.join("sessions");
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

/// Removes them, one after the other, unless the daemon goes. What is left then, the next one finds.
pub(crate) fn remove(folders: &[PathBuf], going: &CancellationToken) {
    for dir in folders.iter().take_while(|_| !going.is_cancelled()) {
        match stickpin_process::remove_folder(dir) {
            Ok(()) => tracing::info!("after a daemon that was killed: removed {}", dir.display()),
            Err(e) => tracing::warn!("{} could not be removed: {e}", dir.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_sessions_go_and_nothing_else() {
        let tmp = tempfile::tempdir().unwrap();
        let dir = tmp.path().join("sessions/shop");
        std::fs::create_dir_all(dir.join("profile")).unwrap();
        std::fs::write(tmp.path().join("other"), "").unwrap();
        let (left, going) = (of(tmp.path()), CancellationToken::new());
        assert_eq!(left, std::slice::from_ref(&dir));
        // One that is opened meanwhile.
        let opened = tmp.path().join("sessions/opened");
        std::fs::create_dir(&opened).unwrap();
        remove(&left, &going);
        assert!(!dir.exists() && opened.exists() && tmp.path().join("other").exists());
        going.cancel();
        remove(&of(tmp.path()), &going);
        assert!(opened.exists(), "a daemon that goes begins nothing");
        assert!(of(&opened).is_empty());
    }

    #[test]
    fn what_is_mounted_in_the_folder_of_a_session_keeps_its_files() {
        let tmp = tempfile::tempdir().unwrap();
        let (dir, person) = (tmp.path().join("sessions/shop"), tmp.path().join("person"));
        let place = dir.join("run/doc");
        std::fs::create_dir_all(&place).unwrap();
        std::fs::create_dir(&person).unwrap();
        std::fs::write(person.join("letter"), "").unwrap();
        let run = |words: &[&std::ffi::OsStr]| {
            std::process::Command::new(words[0]).args(&words[1..]).output().is_ok_and(|o| o.status.success())
        };
        if !run(&["mount".as_ref(), "--bind".as_ref(), person.as_os_str(), place.as_os_str()]) {
            eprintln!("skipped: nothing may be mounted here");
            return;
        }
        remove(&of(tmp.path()), &CancellationToken::new());
        let letter = person.join("letter").exists();
        // It stays where nobody could unmount it.
        let stays = run(&["umount".as_ref(), place.as_os_str()]);
        assert!(letter, "it was removed through the mount");
        assert_eq!(dir.exists(), stays);
    }
}
