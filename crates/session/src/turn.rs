//! Who may change a session: turns, members and lent scope.

mod state;

pub use state::{
    AgentId, Anchor, Artifact, ArtifactRole, Child, ChildState, Constraint, Deadline, Grant, Handoff,
    HandoffUi, ImplicitTurns, Lease, LeaseId, Loan, LoanId, LoanState, Member, MemberKind, MemberRole,
    Policy, ReclaimedLoan, ScopeRule, TargetId, TargetRef, TargetSelector, TurnPhase, TurnState, Verb,
    WaitMode,
};
