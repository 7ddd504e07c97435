//! The rules for the turn after each kind of record. This is the table of transitions; the turn
//! state machine decides who may cause them, and when.

use super::kind::{Kind, RepairCause};
use crate::turn::{TurnPhase, TurnState};

/// The error for a record that changes the turn in violation of the rules.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Illegal {
    /// This change of state is not allowed.
    #[error("`{kind}` cannot change the turn from {before:?} to {after:?}")]
    Transition {
        /// The kind of the record.
        kind: &'static str,
        /// The previous state.
        before: TurnPhase,
        /// The new state.
        after: TurnPhase,
    },
    /// The turn number did not advance by one at a grant, changed without a grant, or did not grow
    /// at a repair that skips numbers.
    #[error("`{kind}` cannot have turn number {after} after turn number {before}")]
    Number {
        /// The kind of the record.
        kind: &'static str,
        /// The previous number.
        before: u64,
        /// The new number.
        after: u64,
    },
    /// The fields do not fit the state.
    #[error("a turn in state {0:?} has fields of another state or lacks required fields")]
    Fields(TurnPhase),
}

/// Checks the turn after a record against the turn before the record.
///
/// # Errors
/// Returns [`Illegal`] if no rule allows the change.
pub fn legal_turn(kind: &Kind, before: &TurnState) -> Result<(), Illegal> {
    use TurnPhase::{Closed, Idle, Owned, Reserved};
    let Some(after) = kind.turn_after() else { return Ok(()) };
    let name = kind.name().as_str();
    let change = (before.state, after.state);
    let (allowed, grants) = match kind {
        Kind::TurnClaimed(_) => (matches!(change, (Idle | Reserved, Owned)), true),
        Kind::TurnTaken(_) => (matches!(change, (Owned | Reserved, Owned)), true),
        Kind::TurnReleased(_) => (matches!(change, (Owned, Idle | Reserved)), false),
        Kind::TurnAssigned(_) => (matches!(change, (Owned | Reserved, Reserved)), false),
        Kind::TurnSurrendered(_) => (matches!(change, (Owned, Idle)), false),
        Kind::ReservationExpired(_) => (matches!(change, (Reserved, Reserved | Idle)), false),
        Kind::TurnLeaseStale(_) => (matches!(change, (Owned, Owned)), false),
        Kind::TurnClosed(_) => (matches!(change, (Idle | Owned | Reserved, Closed)), false),
        Kind::MemberLeft(_) | Kind::MemberKicked(_) => {
            (matches!(change, (Owned | Reserved, Idle | Reserved)) || is_same(before, after), false)
        }
        // A new lifetime grants nothing, and keeps the turn of a lifetime that was not closed.
        Kind::SegmentStart(start) => {
            let may_idle = start.reason.begins_lifetime() && after.state == Idle;
            (may_idle || is_same(before, after), false)
        }
        Kind::LogRepaired(repair) => match repair.cause {
            // The number is skipped so that no earlier fence matches.
            RepairCause::MetaAhead | RepairCause::MetaLost => return skip(name, before, after),
            RepairCause::TornTail | RepairCause::CorruptLine => (is_same(before, after), false),
        },
        _ => return Ok(()),
    };
    if !allowed {
        return Err(Illegal::Transition { kind: name, before: change.0, after: change.1 });
    }
    if after.turn_id != before.turn_id + u64::from(grants) {
        return Err(Illegal::Number { kind: name, before: before.turn_id, after: after.turn_id });
    }
    fields(after)
}

/// Returns whether both turns have the same grant or reservation. The other fields may change
/// without a record: a lease is renewed, a grant is delivered, a handoff is read.
fn is_same(before: &TurnState, after: &TurnState) -> bool {
    let grant = |turn: &TurnState| {
        (turn.state, turn.turn_id, turn.owner.clone(), turn.lease_id.clone(), turn.reserved_for.clone())
    };
    grant(before) == grant(after)
}

/// Checks the turn after a repair that skips turn numbers: it must be idle with a higher number.
fn skip(kind: &'static str, before: &TurnState, after: &TurnState) -> Result<(), Illegal> {
    if after.state != TurnPhase::Idle {
        return Err(Illegal::Transition { kind, before: before.state, after: after.state });
    }
    if after.turn_id <= before.turn_id {
        return Err(Illegal::Number { kind, before: before.turn_id, after: after.turn_id });
    }
    fields(after)
}

fn fields(turn: &TurnState) -> Result<(), Illegal> {
    let owned = turn.owner.is_some() && turn.lease_id.is_some() && turn.lease.is_some();
    let unowned = turn.owner.is_none() && turn.lease_id.is_none() && turn.lease.is_none();
    let fits = match turn.state {
        TurnPhase::Owned => owned && turn.reserved_for.is_none(),
        TurnPhase::Reserved => unowned && turn.reserved_for.is_some(),
        TurnPhase::Idle | TurnPhase::Closed => unowned && turn.reserved_for.is_none(),
    };
    fits.then_some(()).ok_or(Illegal::Fields(turn.state))
}
