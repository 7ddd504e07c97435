//! Commands that wait for the app.

pub mod element;
pub mod page;
pub mod traffic;

use crate::command::args::ACTION_ALLOWANCE;
use crate::commands::prelude::*;

/// Returns the default timeout of a wait, in milliseconds.
pub(crate) fn default_timeout() -> u64 {
    10_000
}

/// The outcome of a wait.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WaitOutput {
    /// A description of the condition that now holds.
    pub truth: String,
}

/// The properties that all waits share. Waits let other commands of the session run between their
/// checks.
pub(crate) const WAIT: Spec = Spec { needs: &[Capability::Capture], ..Spec::SESSION };

/// Returns the time limits of a wait of `ms` milliseconds.
fn within(ms: u64) -> TimeLimits {
    let waits = Duration::from_millis(ms);
    TimeLimits {
        deadline: WAIT.deadline.saturating_add(waits),
        response_limit: Some(waits.saturating_add(ACTION_ALLOWANCE)),
    }
}

show_line!(WaitOutput: wait => "{}", wait.truth);
