//! What a replay expects of its targets.

/// A condition on a target, set by a replay: nothing is sent when the target does not meet it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Expectation {
    /// The target as given in the input.
    pub target: String,
    /// The target's meaning when it was recorded.
    pub meaning: String,
}
