//! The line by which a starting daemon tells the client that spawned it how the start went.

use crate::encode;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use stickpin_kernel::Error;

/// The one line that a starting daemon writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Announcement {
    /// A daemon listens: this one, or another that was faster.
    Ready {
        /// Its process, if it is this one.
        pid: Option<u32>,
    },
    /// It could not start.
    Failed(Error),
}

/// Says how the start went, to whoever waits for it.
pub fn announce(announcement: &Announcement) {
    // The client may have given up waiting; a daemon serves the next one all the same.
    let _ = io::stdout().write_all(&encode(announcement)).and_then(|()| io::stdout().flush());
}
