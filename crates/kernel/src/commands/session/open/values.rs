//! The argument values of `open`.

use crate::commands::prelude::*;
use stickpin_session::{ContextPolicy, Ladder};

/// What to do about a changed context.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ContextRule {
    /// Say what changed, and act when the command is repeated.
    Tell,
    /// Act, and name the change in the warning.
    Warn,
    /// Do not compare.
    Off,
}

impl From<ContextRule> for ContextPolicy {
    fn from(rule: ContextRule) -> Self {
        match rule {
            ContextRule::Tell => Self::Tell,
            ContextRule::Warn => Self::Warn,
            ContextRule::Off => Self::Off,
        }
    }
}

/// How to treat refs that are unproven.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum StaleRefs {
    /// Act on live and unproven refs, and warn if you have not seen the current tree.
    Warn,
    /// Refuse refs whose element cannot be proven to be the same.
    Enforce,
}

impl From<StaleRefs> for Ladder {
    fn from(word: StaleRefs) -> Self {
        match word {
            StaleRefs::Warn => Self::Warn,
            StaleRefs::Enforce => Self::Enforce,
        }
    }
}
