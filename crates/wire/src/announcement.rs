//! The line in which a starting daemon reports to the client that spawned it.

use crate::encode;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use stickpin_kernel::Error;

/// The result of starting a daemon.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Announcement {
    /// A daemon is listening: this process, or another one that started first.
    Ready {
        /// The process id, if this process is the daemon.
        pid: Option<u32>,
    },
    /// The daemon could not start.
    Failed(Error),
}

/// Writes the announcement to stdout.
pub fn announce(announcement: &Announcement) {
    // The client may have stopped waiting; then the daemon serves the next client.
    let _ = io::stdout().write_all(&encode(announcement)).and_then(|()| io::stdout().flush());
}
