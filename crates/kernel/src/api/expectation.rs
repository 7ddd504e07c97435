//! What a replay says of its targets.

/// What a target must be, or nothing is sent: said by a replay.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Expectation {
    /// The target as it stands in the input.
    pub target: String,
    /// What it was when it was recorded.
    pub meaning: String,
}
