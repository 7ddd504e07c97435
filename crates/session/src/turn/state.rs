//! The stored values of turns and handoffs: plain data, as the session log and the
//! metadata hold them. JSON keys are camelCase, and an unknown key is an error.

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
            /// Wraps an id that its authority made or stored.
            #[must_use]
            pub fn new(id: impl Into<String>) -> Self {
                Self(id.into())
            }

            /// The id as text.
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
    /// An agent or a person, as the daemon resolved it: `codex:d4bc2492`, `human:ana`.
    AgentId;
    /// The random fencing token of one grant; never reused.
    LeaseId;
    /// One delegation of scope from a session to another.
    LoanId;
    /// A surface that can be driven by itself: a page, a window of an app, a display of a phone.
    TargetId;
}

/// A point in monotonic time that does not advance during suspend, valid for one boot.
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
    /// Nobody may change the session.
    #[default]
    Idle,
    /// `owner` may.
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
    /// Deadline in milliseconds of the monotonic clock.
    pub deadline_mono_ms: u64,
    /// The boot that the clock belongs to.
    pub boot_id: String,
    /// The deadline in wall time, for display only.
    pub display_expires_at: Timestamp,
}

/// Whether the owner learned of its grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Grant {
    /// The adapter acknowledged the reply.
    pub delivered: bool,
    /// The log record that granted the turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub granted_seq: Option<u64>,
}

/// The turn of a session, complete. Every record that changes the turn carries one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TurnState {
    /// Idle, owned, reserved or closed.
    pub state: TurnPhase,
    /// Ownership epoch: advances by one each time ownership is granted, and never decreases.
    pub turn_id: u64,
    /// Set if owned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<AgentId>,
    /// The fencing token of the grant; set if owned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease_id: Option<LeaseId>,
    /// Set if owned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease: Option<Lease>,
    /// Taken by a command and not by a wait, so it ends by itself.
    pub implicit: bool,
    /// The loan through which the owner has the turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loan_id: Option<LoanId>,
    /// Set if reserved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reserved_for: Option<AgentId>,
    /// Whether the reservation names its agent, instead of the next one in line.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reserved_directly: bool,
    /// When the reservation is passed on; set if reserved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim_deadline: Option<Deadline>,
    /// The record whose handoff the next owner still has to read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending_handoff_seq: Option<u64>,
    /// The owner before the last change of ownership.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prev_owner: Option<AgentId>,
    /// Whether the owner learned of the grant.
    pub grant: Grant,
}

/// What the holder of a turn tells the next one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Handoff {
    /// What was done, 1 to 16,384 bytes.
    pub status: String,
    /// What to do next, 1 to 16,384 bytes.
    pub next_action: String,
    /// Files, elements and records that matter for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
    /// What is not decided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_questions: Vec<String>,
    /// What the next holder must leave alone.
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
    /// Generation of the stored tree.
    pub generation: u64,
    /// The blob of the last snapshot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_snapshot_blob: Option<String>,
    /// Address of the page, or the activity or window in front.
    pub url_or_activity: String,
    /// The ref of the element with the focus.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub focused_ref: Option<String>,
}

/// Something that a handoff points at; exactly one of `path`, `ref`, `blob` and `seq` is set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Artifact {
    /// A file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// An element.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub element: Option<String>,
    /// A blob of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
    /// A record of the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// Lines of the file, such as `10-25`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<String>,
    /// What to do with it.
    pub role: ArtifactRole,
    /// A remark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What the reader of a handoff does with an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ArtifactRole {
    /// Look at it.
    Examine,
    /// Judge it.
    Review,
    /// Change it.
    Edit,
    /// Know of it.
    Context,
    /// Take it as a result.
    Output,
}
