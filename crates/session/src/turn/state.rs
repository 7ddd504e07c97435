//! The stored values of turns, members, loans and policy: plain data, as the session log and the
//! metadata hold them. JSON keys are camelCase, and an unknown key is an error.

use crate::timestamp::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
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

/// The root process of a harness.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Anchor {
    /// The host of the process.
    pub host_id: String,
    /// Process id.
    pub pid: u32,
    /// Start time in the kernel's unit.
    pub process_start: u64,
    /// The boot in which the process runs.
    pub boot_id: String,
    /// The family of the harness, such as `codex`.
    pub harness: String,
}

/// What a member is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MemberKind {
    /// An agent in a harness.
    Harness,
    /// A person.
    Human,
    /// A console that shows a session.
    Console,
}

/// What a member may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MemberRole {
    /// Hold the turn.
    Driver,
    /// Only read.
    Observer,
}

/// Whether a member waits for the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WaitMode {
    /// Waits, and is given the turn.
    Active,
    /// Waits, but is not given the turn.
    Parked,
    /// Does not wait.
    #[default]
    None,
}

/// An agent that joined a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Member {
    /// Who.
    pub agent_id: AgentId,
    /// The name that people see.
    pub display: String,
    /// The family of the harness; `human` for a person.
    pub harness: String,
    /// What the member is.
    pub kind: MemberKind,
    /// The order of joining, from 1; breaks ties between waiters.
    pub ordinal: u32,
    /// When it joined.
    pub joined_at: Timestamp,
    /// When it last made a request.
    pub last_seen_at: Timestamp,
    /// When it last waited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_wait_at: Option<Timestamp>,
    /// Whether it waits now.
    pub wait_mode: WaitMode,
    /// The last turn that it held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_held_turn: Option<u64>,
    /// The root process of its harness.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchor: Option<Anchor>,
    /// What it may do.
    pub role: MemberRole,
}

/// What a rule lets one do to a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Verb {
    /// Read; shared between lender and borrower.
    Observe,
    /// Change the app; exclusive.
    Act,
    /// Change the session; exclusive.
    Admin,
}

/// The targets that a rule is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TargetSelector {
    /// All targets of the session.
    Any,
    /// One target.
    Target(TargetId),
}

/// Limits within a target. An absent field does not limit; an empty one allows nothing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Constraint {
    /// Origins of pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origins: Option<BTreeSet<String>>,
    /// Packages of apps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packages: Option<BTreeSet<String>>,
    /// Roles of windows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_roles: Option<BTreeSet<String>>,
    /// Canonical folders that files are read from and written to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_roots: Option<BTreeSet<String>>,
}

/// One rule of a scope.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScopeRule {
    /// What one may do.
    pub verbs: BTreeSet<Verb>,
    /// To what.
    pub target: TargetSelector,
    /// Within which limits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constraint: Option<Constraint>,
}

/// Where a loan is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LoanState {
    /// Reserved by the lender before the borrower exists.
    Pending,
    /// The borrower has the scope.
    Active,
    /// Nothing new is dispatched; what runs is waited for.
    Reclaiming,
    /// The lender has the scope again.
    Reclaimed,
}

/// Scope that a session gave to another and gets back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Loan {
    /// Which loan.
    pub loan_id: LoanId,
    /// The session that lends.
    pub lender: String,
    /// The session that borrows.
    pub borrower: String,
    /// What is lent.
    pub rules: Vec<ScopeRule>,
    /// Where the loan is in its life.
    pub state: LoanState,
    /// The lender's turn comes back with the loan.
    pub turn_bound: bool,
    /// The record that opened the loan.
    pub opened_seq: u64,
    /// When the loan ends, in wall time, for display only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// When the loan ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_mono: Option<Deadline>,
    /// The loan that this one is a part of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_loan: Option<LoanId>,
}

/// A loan that came back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReclaimedLoan {
    /// Which loan.
    pub loan_id: LoanId,
    /// The session that had borrowed.
    pub child: String,
    /// What was lent.
    pub rules: Vec<ScopeRule>,
    /// Why it came back.
    pub reason: String,
    /// The record that reclaimed it.
    pub at_seq: u64,
    /// When.
    pub at: Timestamp,
}

/// Where a child session is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ChildState {
    /// Its scope is reserved, it is not open yet.
    Pending,
    /// The child is open.
    Active,
    /// The child ended.
    Stopped,
    /// The child ended and cannot be restored; its row stays visible for a while.
    Pruned,
}

/// A session that was spawned by another, as its parent keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Child {
    /// The name of the child.
    pub session: String,
    /// Who drives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// The loan that it lives on.
    pub loan_id: LoanId,
    /// When it was spawned.
    pub spawned_at: Timestamp,
    /// Where it is in its life.
    pub state: ChildState,
    /// Where it was last reached; a hint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub socket_hint: Option<String>,
    /// The last record of the child that the parent has seen.
    pub last_output_seq: u64,
}

/// A target of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TargetRef {
    /// Which target.
    pub target_id: TargetId,
    /// What it is: `page`, `window`, `display`.
    pub kind: String,
    /// What people see of it.
    pub label: String,
    /// What the device calls it.
    pub device_key: String,
}

/// Whether a command takes an idle turn by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ImplicitTurns {
    /// The first command that changes something takes the turn.
    #[default]
    Auto,
    /// Only `turn wait`, `turn try` and `turn take` do.
    Never,
}

/// The times and limits of a session, effective values. Fields ending in `_ms` are milliseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Policy {
    /// From a renewal of a lease to its deadline.
    pub lease_ttl_ms: u64,
    /// Between two renewals.
    pub renew_ms: u64,
    /// From a reservation to the time when it is passed on.
    pub claim_ttl_ms: u64,
    /// How long an owner without a process may be silent.
    pub gone_grace_ms: u64,
    /// How long a live owner may be silent while others wait.
    pub owner_idle_ms: u64,
    /// How long a waiter may be between two polls.
    pub waiter_grace_ms: u64,
    /// How long a waiter over MCP may be between two polls.
    pub mcp_waiter_grace_ms: u64,
    /// How long one wait over MCP lasts.
    pub wait_slice_mcp_ms: u64,
    /// How long a silent member counts as present.
    pub presence_ttl_ms: u64,
    /// Whether a command takes an idle turn by itself.
    pub implicit_turns: ImplicitTurns,
    /// How long an implicit turn lasts without a command while others wait.
    pub implicit_idle_ms: u64,
    /// How long an implicit turn lasts without a command.
    pub implicit_lease_ms: u64,
    /// How long a takeover waits for the running command.
    pub drain_ms: u64,
    /// How long a session without members is kept before it may be collected.
    pub idle_session_retention_ms: u64,
    /// The longest message or note in bytes.
    pub max_text_bytes: u64,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            lease_ttl_ms: 900_000,
            renew_ms: 60_000,
            claim_ttl_ms: 300_000,
            gone_grace_ms: 120_000,
            owner_idle_ms: 600_000,
            waiter_grace_ms: 10_000,
            mcp_waiter_grace_ms: 45_000,
            wait_slice_mcp_ms: 25_000,
            presence_ttl_ms: 14_400_000,
            implicit_turns: ImplicitTurns::Auto,
            implicit_idle_ms: 5_000,
            implicit_lease_ms: 60_000,
            drain_ms: 10_000,
            idle_session_retention_ms: 7 * 86_400_000,
            max_text_bytes: 16_384,
        }
    }
}
