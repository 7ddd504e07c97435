//! Converts errors about session logs, turns and scope to errors for all front ends.

use serde_json::{Value, json};
use std::path::Path;
use stickpin_device::{Error, ErrorCode};
use stickpin_session::turn::scope::{Denial, ScopeError};
use stickpin_session::turn::{Now, TargetId, TurnError, TurnPhase, TurnState};
use stickpin_store::StoreError;

/// Converts a store error.
pub(crate) fn of_store(e: StoreError) -> Error {
    let code = match &e {
        StoreError::Io { .. } => ErrorCode::Io,
        StoreError::Full { .. } => ErrorCode::StorageFull,
        StoreError::Corrupt { .. } | StoreError::Gap { .. } => ErrorCode::LogCorrupt,
        StoreError::Version { .. } => ErrorCode::LogVersionUnsupported,
        StoreError::MetaCorrupt { .. } => ErrorCode::MetaCorrupt,
        StoreError::MetaTooLarge { .. } => ErrorCode::MetaTooLarge,
        StoreError::ReadOnly { .. } => ErrorCode::LogReadonly,
        StoreError::Missing(_) => ErrorCode::SessionNotFound,
        StoreError::Exists(_) => ErrorCode::SessionExists,
        StoreError::Name(_) | StoreError::RecordTooLarge(_) | StoreError::NotDamaged { .. } => {
            ErrorCode::InvalidArgs
        }
        StoreError::BlobCorrupt(_) => ErrorCode::LogCorrupt,
        StoreError::NotOpen(_) | StoreError::Illegal(_) => ErrorCode::Internal,
    };
    let details = match &e {
        StoreError::Corrupt { path, corruption, phase } => json!({
            "path": path, "line": corruption.line, "byteOffset": corruption.offset, "phase": phase.name(),
        }),
        _ => Value::Null,
    };
    let hint = match &e {
        StoreError::Corrupt { path, corruption, .. } => repair_hint(path, corruption.line),
        _ => e.hint(),
    };
    Error::new(code, e.to_string()).hint(hint).details(details).caused_by(e)
}

/// Returns the hint to have a person repair a damaged line of a log segment. `segment` is the path
/// of a file in `NAME/log`, where NAME is the session.
fn repair_hint(segment: &Path, line: u64) -> String {
    let session = segment.ancestors().nth(2).and_then(Path::file_name).unwrap_or_default();
    format!(
        "ask a person to run `stickpin log repair {} --at-line {line} --quarantine`; until then, the session can only be read",
        session.display()
    )
}

/// Describes a turn for the details of an error.
fn turn_details(turn: &TurnState, now: &Now) -> Value {
    let mut about = json!({ "turnId": turn.turn_id, "state": turn.state });
    let leased = turn.lease.as_ref().map(|lease| now.display_lease(lease));
    let claimed = turn.claim_deadline.as_ref().map(|deadline| now.display(deadline));
    for (name, value) in [
        ("owner", turn.owner.as_ref().map(|agent| json!(agent))),
        ("reservedFor", turn.reserved_for.as_ref().map(|agent| json!(agent))),
        ("leaseExpiresAt", leased.map(|at| json!(at))),
        ("claimExpiresAt", claimed.map(|at| json!(at))),
    ] {
        if let Some(value) = value {
            about[name] = value;
        }
    }
    about
}

/// Converts an error about the turn of `session`, whose current state is `turn`.
pub(crate) fn of_turn(session: &str, turn: &TurnState, now: &Now, e: TurnError) -> Error {
    let current = |mut about: Value| {
        (about["currentTurnId"], about["currentOwner"]) = (json!(turn.turn_id), json!(turn.owner));
        about
    };
    let message = match &e {
        TurnError::TurnHeld { owner, .. } if turn.state == TurnPhase::Reserved => {
            format!("session `{session}`: the turn is reserved for {owner}")
        }
        TurnError::TurnRequired => {
            let why = if turn.pending_handoff_seq.is_some() {
                "a handoff is waiting to be read"
            } else {
                "`implicitTurns` is `never`"
            };
            format!("session `{session}`: {e}, because {why}")
        }
        _ => format!("session `{session}`: {e}"),
    };
    let wait = format!("run `stickpin --session {session} turn wait` to get the turn");
    let (code, hint, details) = match &e {
        TurnError::TurnMismatch { expected, .. } => {
            (ErrorCode::TurnMismatch, "run `stickpin turn state` to see the current turn".to_owned(), {
                let mut details = current(turn_details(turn, now));
                details["expected"] = json!(expected);
                details
            })
        }
        TurnError::StaleLease { .. } => (ErrorCode::StaleLease, wait, current(turn_details(turn, now))),
        TurnError::TurnHeld { owner, .. } => {
            let mut details = turn_details(turn, now);
            details["owner"] = json!(owner);
            (ErrorCode::NotYourTurn, wait, details)
        }
        TurnError::TurnRequired => (ErrorCode::TurnRequired, wait, turn_details(turn, now)),
        TurnError::TakeoverNotAvailable { .. } => (
            ErrorCode::TakeoverNotAvailable,
            "wait for the turn, or add `--operator-requested` if your operator told you to take it"
                .to_owned(),
            {
                // While the owner is present, the lease is renewed before it expires.
                let mut details = turn_details(turn, now);
                details["eligibleAt"] = details["leaseExpiresAt"].clone();
                details
            },
        ),
        TurnError::NotADriver { agent } => (
            ErrorCode::RoleObserver,
            format!("an agent can become a driver with `stickpin --session {session} turn join`"),
            json!({ "agent": agent }),
        ),
        TurnError::MustReleaseFirst { .. } => (
            ErrorCode::MustReleaseFirst,
            "run `stickpin turn release` first, or leave with `stickpin turn leave --release`".to_owned(),
            Value::Null,
        ),
        TurnError::TargetActive { agent } => (
            ErrorCode::TargetActive,
            "ask the member to leave, or remove it with `--force`".to_owned(),
            json!({ "agent": agent }),
        ),
        TurnError::OnSelf { .. } => (ErrorCode::InvalidArgs, "name another member".to_owned(), Value::Null),
        TurnError::Closed => (
            ErrorCode::SessionClosed,
            format!("run `stickpin session restore {session}` to reopen the session"),
            Value::Null,
        ),
    };
    Error::new(code, message).hint(hint).details(details).caused_by(e)
}

/// Converts an error about scope.
pub(crate) fn of_scope(e: ScopeError) -> Error {
    let (code, details) = match &e {
        ScopeError::Denied { target, cause, .. } => return of_denial(target, cause, &e),
        ScopeError::LoanNotSubset { rule, .. } => (ErrorCode::LoanNotSubset, json!({ "rule": rule })),
        ScopeError::LoanConflict { holder, rule } => {
            (ErrorCode::LoanConflict, json!({ "session": holder, "rule": rule }))
        }
        ScopeError::NoSuchSession(_) => (ErrorCode::SessionNotFound, Value::Null),
        ScopeError::LoanCycle { .. } => (ErrorCode::LoanConflict, Value::Null),
    };
    Error::new(code, e.to_string()).details(details).caused_by(e)
}

/// Converts a denial of scope, with the rule that caused it.
fn of_denial(target: &TargetId, cause: &Denial, e: &ScopeError) -> Error {
    let (hint, details) = match cause {
        Denial::NotAllowed => (
            "run `stickpin turn state --json` to list the loans of the session".to_owned(),
            json!({ "target": target }),
        ),
        Denial::Denied { by, rule } => (
            format!(
                "run `stickpin session policy {by}` to list the session's denials; only a person can remove one"
            ),
            json!({ "target": target, "rule": rule.to_string(), "deniedBy": by }),
        ),
        Denial::Lent { to, rule } => (
            format!(
                "run `stickpin turn state --json` to list the loans, or `stickpin session stop {to}` to take the scope back"
            ),
            json!({ "target": target, "rule": rule.to_string(), "lentTo": to }),
        ),
    };
    Error::new(ErrorCode::ScopeDenied, e.to_string()).hint(hint).details(details).caused_by(e.clone())
}
