//! Folders of sessions that ended with their daemon. What ran in them the providers have ended by then: they know
//! which processes were theirs.

use std::path::{Path, PathBuf};

/// Removes them, before any session is open. Returns what was removed, for the log.
pub(crate) fn remove(state_dir: &Path) -> Vec<PathBuf> {
    // No folder: no session was ever opened.
    let Ok(entries) = std::fs::read_dir(state_dir.join("sessions")) else { return Vec::new() };
    let mut removed = Vec::new();
    for dir in entries.flatten().map(|entry| entry.path()) {
        match std::fs::remove_dir_all(&dir) {
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
}
