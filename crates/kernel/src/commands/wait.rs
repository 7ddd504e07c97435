//! What waits for the app.

pub(crate) mod element;
pub(crate) mod page;
pub(crate) mod traffic;

use crate::command::args::ALLOWANCE;
use crate::commands::prelude::*;

/// How long a wait takes unless it says otherwise, in milliseconds.
pub(crate) fn usual() -> u64 {
    10_000
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

/// How long a wait of so many milliseconds may take.
fn within(ms: u64) -> Time {
    let waits = Duration::from_millis(ms);
    Time { deadline: WAIT.deadline.saturating_add(waits), bound: Some(waits.saturating_add(ALLOWANCE)) }
}

/// Shows an output of a wait: what is true now.
macro_rules! shows_truth {
    ($output:ty) => {
        impl $crate::api::render::Show for $output {
            fn show(&self, text: &mut $crate::api::render::Text) {
                text.line(&self.truth);
            }
        }
    };
}
use shows_truth;

shows_truth!(Waited);
