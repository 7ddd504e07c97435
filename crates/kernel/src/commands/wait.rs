//! What waits for the app.

pub(crate) mod element;
pub(crate) mod page;
pub(crate) mod traffic;

use crate::api::render::{Show, Text};
use crate::api::spec::Spec;
use serde::Serialize;
use std::time::Duration;
use stickpin_device::Capability;

/// How long a wait takes unless it says otherwise, in milliseconds.
pub(crate) fn usual() -> u64 {
    10_000
}

/// When a wait of so many milliseconds has to be answered.
pub(crate) fn bounded(ms: u64) -> Duration {
    Duration::from_millis(ms).saturating_add(crate::command::args::ALLOWANCE)
}

/// How a wait ended.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Waited {
    /// What is true now.
    pub(crate) truth: String,
}

/// Waits let other commands of the session in between their looks.
pub(crate) const WAIT: Spec = Spec { needs: &[Capability::Capture], ..Spec::SESSION };

/// When a wait of so many milliseconds has to be over.
fn longer(ms: u64) -> Duration {
    WAIT.deadline.saturating_add(Duration::from_millis(ms))
}

impl Show for Waited {
    fn show(&self, text: &mut Text) {
        text.line(&self.truth);
    }
}
