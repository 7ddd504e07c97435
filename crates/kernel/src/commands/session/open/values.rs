//! The values of the arguments of `open`.

use crate::api::schema::text_schema;
use crate::commands::prelude::*;
use stickpin_session::{ContextPolicy, Ladder};

/// What to do about a changed context.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ContextRule {
    /// Say what changed, and act when the command is repeated.
    Tell,
    /// Act, and say it in the warning.
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

/// How strict to be.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum StaleRefs {
    /// Act on refs that are alive, and warn where you have not seen the current tree.
    Warn,
    /// Refuse refs whose element cannot be proved to be the same.
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

/// A viewport size as typed, `WIDTHxHEIGHT`.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Viewport(pub(super) u32, pub(super) u32);

impl TryFrom<String> for Viewport {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let size = text.split_once(['x', 'X']).and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
        match size {
            Some((w @ 1..=16_384, h @ 1..=16_384)) => Ok(Self(w, h)),
            _ => Err(format!("a viewport is two numbers from 1 to 16384 like 1280x800, not {text:?}")),
        }
    }
}

impl From<Viewport> for String {
    fn from(v: Viewport) -> Self {
        format!("{}x{}", v.0, v.1)
    }
}

text_schema!(Viewport);
