//! The layout of the files in a state directory.

use crate::error::{Result, StoreError};
use std::path::{Path, PathBuf};
use stickpin_session::is_session_name;

/// The paths of one session in a state directory.
#[derive(Debug, Clone)]
pub(crate) struct SessionDir {
    pub(crate) name: String,
    /// The path of `sessions/<name>`.
    pub(crate) root: PathBuf,
    /// The path of the state directory's `quarantine`.
    pub(crate) quarantine: PathBuf,
}

impl SessionDir {
    /// Creates the paths of a session. The name doubles as a folder name, so it is checked against
    /// path traversal.
    pub(crate) fn new(state_dir: &Path, name: &str) -> Result<Self> {
        if !is_session_name(name) {
            return Err(StoreError::Name(name.to_owned()));
        }
        Ok(Self {
            name: name.to_owned(),
            root: sessions(state_dir).join(name),
            quarantine: state_dir.join("quarantine"),
        })
    }

    pub(crate) fn meta(&self) -> PathBuf {
        self.root.join("meta.json")
    }

    pub(crate) fn previous_meta(&self) -> PathBuf {
        self.root.join("meta.prev.json")
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.root.join("log")
    }

    pub(crate) fn segment(&self, number: u32) -> PathBuf {
        self.log().join(format!("{number:06}.jsonl"))
    }

    pub(crate) fn blobs(&self) -> PathBuf {
        self.root.join("blobs")
    }
}

/// Returns the folder that contains the folders of all sessions.
pub(crate) fn sessions(state_dir: &Path) -> PathBuf {
    state_dir.join("sessions")
}

/// Returns the path of the file that holds an agent's read positions. The file is named after the
/// agent's id.
pub(crate) fn cursors(state_dir: &Path, agent: &str) -> PathBuf {
    use std::fmt::Write as _;
    let mut name = String::with_capacity(agent.len() + 5);
    for byte in agent.bytes() {
        match byte {
            b':' => name.push('_'),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' => name.push(char::from(byte)),
            // Writing to a string cannot fail.
            _ => drop(write!(name, "%{byte:02x}")),
        }
    }
    state_dir.join("cursors").join(name + ".json")
}

/// Returns the path of the file that is removed in a storage emergency.
pub(crate) fn reserve(state_dir: &Path) -> PathBuf {
    state_dir.join("reserve.bin")
}

/// Returns the number of a segment from its file name; `None` for the name of any other file.
pub(crate) fn segment_number(file: &str) -> Option<u32> {
    let digits = file.strip_suffix(".jsonl")?;
    let plain = digits.len() >= 6 && digits.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten().filter(|number| *number > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_are_folders() {
        let state = Path::new("state");
        assert_eq!(SessionDir::new(state, "shop-2").unwrap().root, Path::new("state/sessions/shop-2"));
        for name in ["", "..", "a/b", "a..b", ".a", "A", "a b", "self", &"x".repeat(65)] {
            assert!(matches!(SessionDir::new(state, name), Err(StoreError::Name(_))), "{name}");
        }
    }

    #[test]
    fn agents_do_not_share_a_file_and_do_not_leave_the_folder() {
        let cursors = |agent| cursors(Path::new("s"), agent);
        assert_eq!(cursors("claude:ada-2"), Path::new("s/cursors/claude_ada-2.json"));
        assert_eq!(cursors("a:../x_y"), Path::new("s/cursors/a_..%2fx%5fy.json"));
    }

    #[test]
    fn files_that_are_no_segments_have_no_number() {
        assert_eq!(segment_number("000012.jsonl"), Some(12));
        for file in ["000000.jsonl", "12.jsonl", "000012.jsonl.new", "00001x.jsonl", "meta.json"] {
            assert_eq!(segment_number(file), None, "{file}");
        }
    }
}
