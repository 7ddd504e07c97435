//! Who may change a session: turns, members and lent scope.

pub mod machine;
mod routing;
pub mod scope;
mod state;
#[cfg(test)]
mod tests;

pub use routing::{Next, next_owner};
pub use state::{
    AgentId, Anchor, Artifact, ArtifactRole, Child, ChildState, Constraint, Deadline, Grant, Handoff,
    HandoffUi, ImplicitTurns, Lease, LeaseId, Loan, LoanId, LoanState, Member, MemberKind, MemberRole,
    Policy, ReclaimedLoan, ScopeRule, TargetId, TargetRef, TargetSelector, TurnPhase, TurnState, Verb,
    WaitMode,
};
