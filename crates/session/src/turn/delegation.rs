//! The stored values of scope, loans and child sessions.

use super::{AgentId, Deadline, LoanId, TargetId};
use crate::timestamp::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// What a rule permits or forbids a session to do with a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Verb {
    /// Read. Shared between lender and borrower.
    Observe,
    /// Change the app. Exclusive.
    Act,
    /// Change the session. Exclusive.
    Admin,
}

impl Verb {
    /// Every verb.
    pub const ALL: [Self; 3] = [Self::Observe, Self::Act, Self::Admin];

    /// Returns the name of the verb in the text form of a rule.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Observe => "observe",
            Self::Act => "act",
            Self::Admin => "admin",
        }
    }
}

/// The targets that a rule applies to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TargetSelector {
    /// All targets of the session.
    Any,
    /// The target with this id.
    Target(TargetId),
}

/// Limits within a target. An absent field imposes no limit; an empty field admits no value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Constraint {
    /// The origins of the pages to which the rule applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origins: Option<BTreeSet<String>>,
    /// The packages of the apps to which the rule applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packages: Option<BTreeSet<String>>,
    /// The roles of the windows to which the rule applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_roles: Option<BTreeSet<String>>,
    /// The canonical paths of the folders to whose files the rule applies. An action without a file
    /// is not limited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_roots: Option<BTreeSet<String>>,
}

/// A rule of a scope, which permits or forbids verbs on targets.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScopeRule {
    /// The verbs that the rule permits or forbids.
    pub verbs: BTreeSet<Verb>,
    /// The targets that the rule applies to.
    pub target: TargetSelector,
    /// The limits within the targets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constraint: Option<Constraint>,
}

/// Writes a rule in its text form: `act:target=shop,origins=https://shop.test`.
impl fmt::Display for ScopeRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, verb) in self.verbs.iter().enumerate() {
            write!(f, "{}{}", if at > 0 { "+" } else { "" }, verb.name())?;
        }
        match &self.target {
            TargetSelector::Any => f.write_str(":*")?,
            TargetSelector::Target(target) => write!(f, ":target={target}")?,
        }
        let Some(limits) = &self.constraint else { return Ok(()) };
        let Constraint { origins, packages, window_roles, file_roots } = limits;
        let named =
            [("origins", origins), ("packages", packages), ("windows", window_roles), ("roots", file_roots)];
        for (name, values) in named {
            for value in values.iter().flatten() {
                write!(f, ",{name}={value}")?;
            }
        }
        Ok(())
    }
}

/// The scope of a session itself, without loans. Denials survive every loan and reclaim.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BaseScope {
    /// What the session may do.
    pub allow: Vec<ScopeRule>,
    /// What the session must not do, regardless of `allow`.
    pub deny: Vec<ScopeRule>,
}

/// The state of a loan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LoanState {
    /// Reserved by the lender before the borrower exists.
    Pending,
    /// The borrower has the scope.
    Active,
    /// Nothing new is dispatched, and running commands are awaited.
    Reclaiming,
    /// The lender has the scope again.
    Reclaimed,
}

/// Scope that one session lends to another and gets back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Loan {
    /// The id of the loan.
    pub loan_id: LoanId,
    /// The lending session.
    pub lender: String,
    /// The borrowing session.
    pub borrower: String,
    /// The lent scope.
    pub rules: Vec<ScopeRule>,
    /// The state of the loan.
    pub state: LoanState,
    /// Whether the device's turn returns to the lender when the loan ends.
    pub turn_bound: bool,
    /// The `seq` of the record that opened the loan.
    pub opened_seq: u64,
    /// When the loan ends, in wall time, for display only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// When the loan ends, on the monotonic clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_mono: Option<Deadline>,
    /// The loan from which the lender has the scope; `None` if the scope is the lender's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_loan: Option<LoanId>,
}

/// A loan that was reclaimed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReclaimedLoan {
    /// The id of the loan.
    pub loan_id: LoanId,
    /// The session that had borrowed the scope.
    pub child: String,
    /// The scope that was lent.
    pub rules: Vec<ScopeRule>,
    /// The reason for the reclaim.
    pub reason: String,
    /// The `seq` of the record that reclaimed the loan.
    pub at_seq: u64,
    /// When the loan was reclaimed.
    pub at: Timestamp,
}

/// The state of a child session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ChildState {
    /// The scope of the child is reserved, but the child is not open yet.
    Pending,
    /// The child is open.
    Active,
    /// The child ended.
    Stopped,
    /// The child ended and cannot be restored. The child stays listed for a while.
    Pruned,
}

/// A session that was spawned by another session, as recorded by its parent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Child {
    /// The name of the child.
    pub session: String,
    /// The agent that drives the child.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// The loan that gives the child its scope.
    pub loan_id: LoanId,
    /// When the child was spawned.
    pub spawned_at: Timestamp,
    /// The state of the child.
    pub state: ChildState,
    /// The `seq` of the last record of the child that the parent has seen.
    pub last_output_seq: u64,
}

/// A target of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TargetRef {
    /// The id of the target.
    pub target_id: TargetId,
    /// The kind of the target: the platform of its device, such as `web`.
    pub kind: String,
    /// The display name of the target.
    pub label: String,
    /// The last address of the app or, until the app has reported one, the argument of `open`.
    pub device_key: String,
}
