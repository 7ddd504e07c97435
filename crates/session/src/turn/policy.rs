//! The times and limits of a session.

use serde::{Deserialize, Serialize};

/// Whether a command may take a turn implicitly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ImplicitTurns {
    /// The first command that changes something takes the turn.
    #[default]
    Auto,
    /// Only `turn wait`, `turn try` and `turn take` take the turn.
    Never,
}

/// The effective times and limits of a session. Fields ending in `_ms` are milliseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Policy {
    /// The time from the renewal of a lease to its deadline.
    pub lease_ttl_ms: u64,
    /// The time between two renewals of a lease.
    pub renew_ms: u64,
    /// How long a reservation lasts before it is passed on.
    pub claim_ttl_ms: u64,
    /// How long an owner whose harness has ended may be silent.
    pub gone_grace_ms: u64,
    /// How long a live owner may be silent while others are waiting.
    pub owner_idle_ms: u64,
    /// How long a waiter may pause between two polls, and how long the former owner of a released
    /// turn must let other drivers claim the turn.
    pub waiter_grace_ms: u64,
    /// How long a waiter over MCP may pause between two polls.
    pub mcp_waiter_grace_ms: u64,
    /// The duration of one wait over MCP.
    pub wait_slice_mcp_ms: u64,
    /// How long a silent member counts as present.
    pub presence_ttl_ms: u64,
    /// Whether a command may take a turn implicitly.
    pub implicit_turns: ImplicitTurns,
    /// How long an implicit turn lasts without a command while others are waiting.
    pub implicit_idle_ms: u64,
    /// How long an implicit turn lasts without a command.
    pub implicit_lease_ms: u64,
    /// How long a takeover, the end of a loan or the daemon's shutdown waits for running commands
    /// before cancelling them.
    pub drain_ms: u64,
    /// How long an unused session is kept before it may be removed.
    pub idle_session_retention_ms: u64,
    /// The maximum length of a message or note, in bytes.
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
