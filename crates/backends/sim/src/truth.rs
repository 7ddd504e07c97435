//! The app's own account of what reached it: the ground truth that tests compare answers with.

use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

/// One input as the app received it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Received {
    /// Milliseconds since the app was opened.
    pub at_ms: u64,
    /// `press`, `dblpress`, `context`, `longpress`, `hover`, `fill`, `type`, `key`, `select`,
    /// `scroll`, `drag`, `drop`.
    pub event: String,
    /// Which element of which record received it, in the app's words: its `truth`.
    pub element: String,
    /// The text that was filled in, the key; of a typed text and of several options as much as was
    /// delivered.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// Where the app was.
    pub url: String,
    /// Whether a disabled element received it, to which nothing happened.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disabled: bool,
}

/// The log, in memory and in a file if one was named.
#[derive(Debug, Default)]
pub(crate) struct Truth {
    pub(crate) received: Vec<Received>,
    file: Option<File>,
    /// The first failure to write; the device reports it when it is closed.
    pub(crate) failed: Option<std::io::Error>,
}

impl Truth {
    pub(crate) fn to_file(path: Option<&Path>) -> std::io::Result<Self> {
        let open = |p: &Path| File::options().create(true).append(true).open(p);
        Ok(Self { file: path.map(open).transpose()?, ..Self::default() })
    }

    pub(crate) fn push(&mut self, entry: Received) {
        if let Some(file) = &mut self.file {
            let line = serde_json::to_string(&entry).expect("plain fields are JSON") + "\n";
            if let Err(e) = file.write_all(line.as_bytes()) {
                self.failed.get_or_insert(e);
            }
        }
        self.received.push(entry);
    }
}
