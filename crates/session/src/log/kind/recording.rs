//! The content of records about recordings. The steps themselves are in the `command_end` records
//! of their commands.

use super::super::redacted::Redacted;
use serde::{Deserialize, Serialize};

/// A recording of the session began. The `command_end` records after this record contain the steps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RecordingStarted {
    /// The kind of the device, such as `web`.
    pub platform: String,
    /// The absolute path of the script, if a path was given at the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Whether commands that only read are recorded.
    pub keep_reads: bool,
}

/// A repair began: the steps recorded after this record repair a line of a script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RepairStarted {
    /// The absolute path of the script.
    pub file: String,
    /// The text of the script.
    pub text: Redacted,
    /// The absolute path of the repaired script.
    pub to: String,
    /// The line number, from 1.
    pub line: u32,
    /// Whether the line is kept and follows the recorded steps.
    pub keeps_line: bool,
    /// The position at which the replay executed the line, such as `7@2,1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass: Option<Redacted>,
}

/// The recording of the session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RecordingEnded {
    /// Whether a script was written; otherwise, the steps were discarded.
    pub written: bool,
}

/// The contribution of a command to the recording of its session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RecordedStep {
    /// The lines of the command in the script, with variables in place of secrets.
    Lines(Redacted),
    /// A command from the script under repair. The command ends the steps of the repair.
    ScriptResumed,
}
