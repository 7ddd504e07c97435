//! The app's own log of received input: the ground truth that tests compare responses with.

use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

/// One input as the app received it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReceivedInput {
    /// Milliseconds since the app was opened.
    pub at_ms: u64,
    /// The event: `press`, `dblpress`, `context`, `longpress`, `hover`, `fill`, `type`, `key`,
    /// `select`, `scroll`, `drag` or `drop`.
    pub event: String,
    /// The element and record that received the input, as the app names them in `truth`.
    pub element: String,
    /// The filled or typed text, the key, the selected options, or the scroller and the distance.
    /// For typed text and multiple options, only the delivered part.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// The app's address when it received the input.
    pub url: String,
    /// Whether a disabled element received the input, which then had no effect.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disabled: bool,
}

/// The log, in memory and optionally in a file.
#[derive(Debug, Default)]
pub(crate) struct InputLog {
    pub(crate) received: Vec<ReceivedInput>,
    file: Option<File>,
    /// The first write error, which the device reports when the device is closed.
    pub(crate) failed: Option<std::io::Error>,
}

impl InputLog {
    pub(crate) fn to_file(path: Option<&Path>) -> std::io::Result<Self> {
        let open = |p: &Path| File::options().create(true).append(true).open(p);
        Ok(Self { file: path.map(open).transpose()?, ..Self::default() })
    }

    pub(crate) fn push(&mut self, entry: ReceivedInput) {
        if let Some(file) = &mut self.file {
            let line = serde_json::to_string(&entry).expect("plain fields are JSON") + "\n";
            if let Err(e) = file.write_all(line.as_bytes()) {
                self.failed.get_or_insert(e);
            }
        }
        self.received.push(entry);
    }
}
