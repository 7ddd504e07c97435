//! Bodies of the kinds about segments, commands and the log itself.

use super::super::meta::Parent;
use super::super::redacted::{Arguments, BlobRef, Redacted};
use crate::turn::{AgentId, BaseScope, Policy, TargetRef, TurnState};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Why a segment begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartReason {
    /// The session was opened: a new lifetime.
    Open,
    /// The session was restored: a new lifetime.
    Restore,
    /// The segment before it was full.
    Rotate,
    /// The segments before it were converted from another version.
    Migrate,
}

/// The first record of a segment: what is needed to understand the records behind it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SegmentStart {
    /// The session, over all lifetimes and names.
    pub session_uid: String,
    /// The platform of its device.
    pub platform: String,
    /// The resolved parameters of `open`; secrets by reference only.
    pub manifest: Arguments,
    /// The effective policy.
    pub policy: Policy,
    /// What the session drives.
    pub targets: Vec<TargetRef>,
    /// What it may do by itself.
    pub base_scope: BaseScope,
    /// The session and the loan that it lives on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// The segment before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prev_segment: Option<u32>,
    /// Why it begins.
    pub reason: StartReason,
    /// The turn after this record.
    pub turn_after: TurnState,
}

/// The last record of a segment that another one follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SegmentEnd {}

/// The id of a command: the `seq` of its `command_begin`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CommandId(u64);

impl CommandId {
    /// The id of the command whose `command_begin` has this `seq`.
    #[must_use]
    pub const fn new(seq: u64) -> Self {
        Self(seq)
    }

    /// The `seq` of the `command_begin`.
    #[must_use]
    pub const fn seq(self) -> u64 {
        self.0
    }
}

impl fmt::Display for CommandId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c{}", self.0)
    }
}

/// A ref that a command was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RefPin {
    /// The ref, such as `e12`.
    pub r#ref: String,
    /// The generation of its pin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pin: Option<u64>,
}

/// A command is about to touch the device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CommandBegin {
    /// Which command.
    pub cmd_id: CommandId,
    /// Its name.
    pub verb: String,
    /// Its arguments as given.
    pub args_raw: Arguments,
    /// Its arguments with paths and defaults resolved.
    pub args_resolved: Arguments,
    /// One line about it.
    pub summary: Redacted,
    /// The refs that it was given.
    pub ref_pins: Vec<RefPin>,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The command succeeded.
    Ok,
    /// The command failed.
    Error,
    /// The daemon died; what reached the device is not known.
    Interrupted,
}

/// Why a command failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CommandError {
    /// The code of the error.
    pub code: String,
    /// Its sentence.
    pub message: Redacted,
}

/// A command ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CommandEnd {
    /// Which command.
    pub cmd_id: CommandId,
    /// How it ended.
    pub outcome: Outcome,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<CommandError>,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// The generation of the tree behind it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<u64>,
    /// The address of the app behind it, if the command changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<Redacted>,
    /// The command ended after the turn had gone to another agent.
    pub late: bool,
}

/// A tree was stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Snapshot {
    /// Its generation.
    pub generation: u64,
    /// Its content.
    pub blob: BlobRef,
    /// The number of its nodes.
    pub node_count: u64,
}

/// A turn whose guardian was started again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RepairedTurn {
    /// Which turn.
    pub turn_id: u64,
    /// Who has it.
    pub owner: AgentId,
}

/// A daemon took over the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DaemonStarted {
    /// The number of the daemon.
    pub epoch: u64,
    /// Turns whose guardian was started again.
    pub repaired: Vec<RepairedTurn>,
}

/// What was repaired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RepairCause {
    /// The end of the log was not committed.
    TornTail,
    /// A person gave up a damaged line. Stands in its place and has its `seq`.
    CorruptLine,
    /// The metadata knew of records that the log does not have.
    MetaAhead,
    /// The metadata was lost and made anew from the log.
    MetaLost,
}

/// The log was repaired.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LogRepaired {
    /// What was repaired.
    pub cause: RepairCause,
    /// In which segment.
    pub segment: u32,
    /// The bytes that were moved to the quarantine.
    pub dropped_bytes: u64,
    /// Their digest in hexadecimal digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The turn after this record, if it changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_after: Option<TurnState>,
}

/// The context of a console was cleared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ContextCleared {}

/// The policy changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PolicyChanged {
    /// The policy after this record.
    pub policy: Policy,
}
