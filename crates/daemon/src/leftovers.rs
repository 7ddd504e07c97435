//! Folders of sessions that ended with their daemon. What ran in them the providers have ended by then: they know
//! which processes were theirs. What is mounted in one is not theirs to remove: where it cannot be unmounted, the folder stays.

use std::path::{Path, PathBuf};

/// Removes them, before any session is open. Returns what was removed, for the log.
pub(crate) fn remove(state_dir: &Path) -> Vec<PathBuf> {
    // No folder: no session was ever opened.
    let Ok(entries) = std::fs::read_dir(state_dir.join("sessions")) else { return Vec::new() };
    let mut removed = Vec::new();
    for dir in entries.flatten().map(|entry| entry.path()) {
        match stickpin_programs::remove_folder(&dir) {
            Ok(()) => removed.push(dir),
            Err(e) => tracing::warn!("{} could not be removed: {e}", dir.display()),
        }
    }
    removed
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
        assert_eq!(remove(tmp.path()), std::slice::from_ref(&dir));
        assert!(!dir.exists() && tmp.path().join("other").exists());
        assert!(remove(tmp.path()).is_empty());
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
        let removed = remove(tmp.path());
        let letter = person.join("letter").exists();
        // It stays where nobody could unmount it.
        let stays = run(&["umount".as_ref(), place.as_os_str()]);
        assert!(letter, "it was removed through the mount");
        assert_eq!((removed.is_empty(), dir.exists()), (stays, stays));
    }
}
