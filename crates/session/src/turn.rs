//! The rules for who may change a session: turns, members and lent scope.

pub mod deadlines;
mod delegation;
mod event;
pub mod machine;
mod member;
mod policy;
mod routing;
pub mod scope;
mod situation;
mod state;
#[cfg(test)]
mod tests;

pub use delegation::{
    BaseScope, Child, ChildState, Constraint, Loan, LoanState, ReclaimedLoan, ScopeRule, TargetRef,
    TargetSelector, Verb,
};
pub use event::{ClaimReason, Fence, TakeReason, Transition, TurnError, TurnEvent};
pub use member::{Anchor, Member, MemberKind, MemberRole, WaitMode};
pub use policy::{ImplicitTurns, Policy};
pub use routing::{Next, next_owner, position};
pub use situation::{Label, Liveness, Now, Presence, Situation, label};
pub use state::{
    AgentId, Artifact, ArtifactRole, Deadline, Grant, Handoff, HandoffUi, Lease, LeaseId, LoanId, TargetId,
    TurnPhase, TurnState,
};
