//! The stored values of scope, loans and child sessions.

use super::{AgentId, Deadline, LoanId, TargetId};
use crate::timestamp::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

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

/// The scope that a session has of its own. Denials survive every loan and reclaim.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BaseScope {
    /// What the session may do.
    pub allow: Vec<ScopeRule>,
    /// What it must not do, whatever allows it.
    pub deny: Vec<ScopeRule>,
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
