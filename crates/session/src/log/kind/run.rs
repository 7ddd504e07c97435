//! The content of records about segments, commands and the log itself.

use super::super::meta::Parent;
use super::super::redacted::{Arguments, BlobRef, Redacted};
use super::recording::RecordedStep;
use crate::turn::{AgentId, BaseScope, Policy, ScopeRule, TargetRef, TurnState};
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
    /// The previous segment was full.
    Rotate,
    /// The parameters of `open` in the previous segment are not in effect, because the app did not
    /// start.
    Revoke,
    /// The previous segments were converted from another version.
    Migrate,
}

impl StartReason {
    /// Returns whether a segment that begins for this reason begins a lifetime.
    #[must_use]
    pub const fn begins_lifetime(self) -> bool {
        match self {
            Self::Open | Self::Restore => true,
            Self::Rotate | Self::Revoke | Self::Migrate => false,
        }
    }
}

/// The first record of a segment, with everything needed to understand the records after it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SegmentStart {
    /// The unique id of the session, which is the same in all its lifetimes.
    pub session_uid: String,
    /// The platform of the session's device.
    pub platform: String,
    /// The resolved parameters of `open`, without secrets.
    pub manifest: Arguments,
    /// The effective policy.
    pub policy: Policy,
    /// The targets that the session drives.
    pub targets: Vec<TargetRef>,
    /// The base scope of the session.
    pub base_scope: BaseScope,
    /// The parent session and the loan, for a child session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// The number of the previous segment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prev_segment: Option<u32>,
    /// The reason for the new segment.
    pub reason: StartReason,
    /// The turn after this record.
    pub turn_after: TurnState,
}

/// The last record of a segment, written when another segment follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SegmentEnd {}

/// The id of a command: the `seq` of its `command_begin`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CommandId(u64);

impl CommandId {
    /// Returns the id of the command whose `command_begin` has this `seq`.
    #[must_use]
    pub const fn new(seq: u64) -> Self {
        Self(seq)
    }

    /// Returns the `seq` of the `command_begin`.
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

/// A ref that was passed to a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RefPin {
    /// The ref, such as `@e12`.
    pub r#ref: String,
    /// The generation to which the ref is pinned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pin: Option<u64>,
}

/// A command is about to touch the device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CommandBegin {
    /// The id of the command.
    pub cmd_id: CommandId,
    /// The name of the command.
    pub verb: String,
    /// The arguments as given.
    pub args_raw: Arguments,
    /// The arguments with absolute paths, and with selectors in place of refs.
    pub args_resolved: Arguments,
    /// A one-line summary.
    pub summary: Redacted,
    /// The refs that were passed to the command.
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
    /// The daemon died; it is unknown what reached the device.
    Interrupted,
}

/// The error of a failed command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CommandError {
    /// The code of the error.
    pub code: String,
    /// The message of the error.
    pub message: Redacted,
}

/// A command ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CommandEnd {
    /// The id of the command.
    pub cmd_id: CommandId,
    /// The outcome of the command.
    pub outcome: Outcome,
    /// The error of a failed command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<CommandError>,
    /// The duration in milliseconds.
    pub duration_ms: u64,
    /// The generation of the tree after the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<u64>,
    /// The address of the app after the command, if the command changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<Redacted>,
    /// Whether another turn had begun before the command ended.
    pub late: bool,
    /// What the command contributed to the recording of its session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<RecordedStep>,
}

/// A tree was stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Snapshot {
    /// The generation of the tree.
    pub generation: u64,
    /// The content of the tree.
    pub blob: BlobRef,
    /// The number of nodes.
    pub node_count: u64,
}

/// A turn whose guardian was restarted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RepairedTurn {
    /// The number of the turn.
    pub turn_id: u64,
    /// The owner of the turn.
    pub owner: AgentId,
}

/// A daemon took over the session. If the session had a device, the device ended with the previous
/// daemon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DaemonStarted {
    /// The number of times that a daemon was started in the state directory.
    pub epoch: u64,
    /// The turns whose guardian was restarted.
    pub repaired: Vec<RepairedTurn>,
}

/// The cause of a repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RepairCause {
    /// The end of the log was not committed.
    TornTail,
    /// A person discarded a damaged line. This record replaces the line and has its `seq`.
    CorruptLine,
    /// The metadata reflects records that are missing from the log.
    MetaAhead,
    /// The metadata was lost and rebuilt from the log.
    MetaLost,
}

/// The log was repaired.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LogRepaired {
    /// The cause of the repair.
    pub cause: RepairCause,
    /// The number of the repaired segment.
    pub segment: u32,
    /// The number of bytes that were moved to the quarantine.
    pub dropped_bytes: u64,
    /// The SHA-256 digest of these bytes, in hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The turn after this record, if it changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_after: Option<TurnState>,
}

/// A completed entry of a conversation at a console. Later prompts may refer to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ContextAdded {
    /// The conversation.
    pub context: String,
    /// The command line as typed, without text that may be secret.
    pub body: Redacted,
    /// The outcome, in one line.
    pub result: Redacted,
    /// The element that `it` refers to from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Redacted>,
    /// The generation of the refs that the entry showed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<u64>,
    /// The numbers of these refs, as inclusive ranges: `[[1, 40], [57, 57]]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pins: Vec<(u32, u32)>,
    /// The records that were shown before the prompt, such as messages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<u64>,
    /// The working directory.
    pub cwd: Redacted,
}

/// The context of a conversation was cleared: its entries stay in the log, but later prompts do not
/// refer to them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ContextCleared {
    /// The conversation.
    pub context: String,
    /// The last record that is no longer in effect.
    pub upto_seq: u64,
}

/// The policy or the denials of a session changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PolicyChanged {
    /// The policy after this record.
    pub policy: Policy,
    /// The denials of the base scope after this record; absent if they did not change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deny: Option<Vec<ScopeRule>>,
}
