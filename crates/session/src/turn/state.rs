//! The stored values of turns and handoffs: plain data, as contained in the session log and the
//! metadata. JSON keys are camelCase, and an unknown key is an error.

use crate::timestamp::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! ids {
    ($($(#[doc = $doc:literal])+ $name:ident;)*) => {$(
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Wraps the text of an id without checking it.
            #[must_use]
            pub fn new(id: impl Into<String>) -> Self {
                Self(id.into())
            }

            /// Returns the id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

ids! {
    /// The id of an agent or a person, as the daemon resolved it: `codex:d4bc2492`, `human:ana`.
    AgentId;
    /// The random fencing token of one grant; never reused.
    LeaseId;
    /// The id of a loan of scope from one session to another.
    LoanId;
    /// The id of a target: the device that a session drives.
    TargetId;
}

/// A point in time on the monotonic clock, which does not advance during suspend. Valid for one
/// boot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Deadline {
    /// Milliseconds of the monotonic clock.
    pub mono_ms: u64,
    /// The boot that the clock belongs to.
    pub boot_id: String,
}

/// The stored state of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TurnPhase {
    /// Nobody holds the turn.
    #[default]
    Idle,
    /// `owner` may change the session.
    Owned,
    /// Only `reserved_for` may claim the turn next.
    Reserved,
    /// The session is closed.
    Closed,
}

/// How long an owner keeps the turn without renewal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Lease {
    /// Milliseconds from a renewal to the deadline.
    pub ttl_ms: u64,
    /// The deadline in milliseconds of the monotonic clock.
    pub deadline_mono_ms: u64,
    /// The boot that the clock belongs to.
    pub boot_id: String,
    /// The deadline in wall time, for display only.
    pub display_expires_at: Timestamp,
}

/// The grant of a turn to its owner: the record that made it, and whether the owner has learned of
/// it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Grant {
    /// Whether the owner's client has learned of the grant, by an acknowledged reply or by a
    /// command.
    pub delivered: bool,
    /// The `seq` of the log record that granted the turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub granted_seq: Option<u64>,
}

/// The complete state of a turn. Every record that changes the turn contains the new state.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TurnState {
    /// The phase of the turn.
    pub state: TurnPhase,
    /// The ownership epoch, which advances by one each time ownership is granted and never
    /// decreases.
    pub turn_id: u64,
    /// The owner; set if the phase is `Owned`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<AgentId>,
    /// The fencing token of the grant; set if the phase is `Owned`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease_id: Option<LeaseId>,
    /// The lease of the owner; set if the phase is `Owned`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease: Option<Lease>,
    /// Whether a command took the turn implicitly. Such a turn ends by itself.
    pub implicit: bool,
    /// The agent that the turn is reserved for; set if the phase is `Reserved`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reserved_for: Option<AgentId>,
    /// Whether the turn was reserved for the agent by name, rather than because the agent was next
    /// in line.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reserved_directly: bool,
    /// When the reservation is passed on; set if the phase is `Reserved`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim_deadline: Option<Deadline>,
    /// The `seq` of the record with the handoff that the owner, or the next owner, has not read
    /// yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending_handoff_seq: Option<u64>,
    /// The owner before the last change of ownership.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prev_owner: Option<AgentId>,
    /// The grant of the turn to its owner.
    pub grant: Grant,
}

/// The information that the holder of a turn leaves for the next holder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Handoff {
    /// What was done, 1 to 16,384 bytes.
    pub status: String,
    /// What to do next, 1 to 16,384 bytes.
    pub next_action: String,
    /// Files, elements, blobs and log records that are relevant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
    /// The open questions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_questions: Vec<String>,
    /// What the next holder must not touch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub do_not: Vec<String>,
    /// The screen at the time of the handoff; attached by the daemon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ui: Option<HandoffUi>,
}

/// The screen at the time of a handoff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HandoffUi {
    /// The generation of the stored tree.
    pub generation: u64,
    /// The blob of this tree, if the log contains the tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_snapshot_blob: Option<String>,
    /// The address of the page, or the foreground activity or window.
    pub url_or_activity: String,
    /// The ref of the focused element.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub focused_ref: Option<String>,
}

/// An object that a handoff refers to. Exactly one of `path`, `ref`, `blob` and `seq` is set; the
/// coordinator refuses other artifacts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Artifact {
    /// The path of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The ref of an element.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub element: Option<String>,
    /// A blob of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
    /// The `seq` of a log record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The lines of the file, such as `10-25`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<String>,
    /// How the reader should use the artifact.
    pub role: ArtifactRole,
    /// A remark about the artifact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// How the reader of a handoff should use an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ArtifactRole {
    /// Inspect the artifact.
    Examine,
    /// Review the artifact.
    Review,
    /// Edit the artifact.
    Edit,
    /// Use the artifact as context.
    Context,
    /// Take the artifact as a result of the work.
    Output,
}
