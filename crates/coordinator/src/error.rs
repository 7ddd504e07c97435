//! Conversion of errors of the session log, of turns and of scope to errors for all surfaces.

use serde_json::json;
use std::path::Path;
use stickpin_device::{Error, ErrorCode};
use stickpin_session::turn::scope::{Denial, ScopeError};
use stickpin_session::turn::{TargetId, TurnError};
use stickpin_store::StoreError;

/// Converts an error of the store.
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
        _ => serde_json::Value::Null,
    };
    let hint = match &e {
        StoreError::Corrupt { path, corruption, .. } => repair_hint(path, corruption.line),
        _ => e.hint(),
    };
    Error::new(code, e.to_string()).hint(hint).details(details).caused_by(e)
}

/// Returns how a person gives up a damaged line of a segment, which is in `NAME/log`.
fn repair_hint(segment: &Path, line: u64) -> String {
    let session = segment.ancestors().nth(2).and_then(Path::file_name).unwrap_or_default();
    format!(
        "ask a person to run `stickpin log repair {} --at-line {line} --quarantine`; until then, the session can only be read",
        session.display()
    )
}

/// Converts an error about the turn of `session`.
pub(crate) fn of_turn(session: &str, e: TurnError) -> Error {
    let message = format!("session `{session}`: {e}");
    let wait = format!("run `stickpin --session {session} turn wait` to get the turn");
    let (code, hint, details) = match &e {
        TurnError::TurnMismatch { expected, current } => (
            ErrorCode::TurnMismatch,
            "run `stickpin turn state` to see the current turn".to_owned(),
            json!({ "expected": expected, "turnId": current }),
        ),
        TurnError::StaleLease { turn_id, .. } => (ErrorCode::StaleLease, wait, json!({ "turnId": turn_id })),
        TurnError::TurnHeld { owner, turn_id } => {
            (ErrorCode::NotYourTurn, wait, json!({ "owner": owner, "turnId": turn_id }))
        }
        TurnError::TurnRequired => (ErrorCode::TurnRequired, wait, serde_json::Value::Null),
        TurnError::TakeoverNotAvailable { turn_id } => (
            ErrorCode::TakeoverNotAvailable,
            "wait for the turn, or take it with `--operator-requested` if your operator asked for it"
                .to_owned(),
            json!({ "turnId": turn_id }),
        ),
        TurnError::NotADriver { agent } => (
            ErrorCode::RoleObserver,
            format!("run `stickpin --session {session} turn join` as a driver"),
            json!({ "agent": agent }),
        ),
        TurnError::MustReleaseFirst { .. } => (
            ErrorCode::MustReleaseFirst,
            "run `stickpin turn release` first, or leave with `stickpin turn leave --release`".to_owned(),
            serde_json::Value::Null,
        ),
        TurnError::TargetActive { agent } => (
            ErrorCode::TargetActive,
            "ask the member to leave, or remove it with `--force`".to_owned(),
            json!({ "agent": agent }),
        ),
        TurnError::OnSelf { .. } => {
            (ErrorCode::InvalidArgs, "name another member".to_owned(), serde_json::Value::Null)
        }
        TurnError::Closed => (
            ErrorCode::SessionClosed,
            format!("run `stickpin session restore {session}` to open it again"),
            serde_json::Value::Null,
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
        ScopeError::NoSuchSession(_) => (ErrorCode::SessionNotFound, serde_json::Value::Null),
        ScopeError::NoSuchLoan(_) => (ErrorCode::LoanNotFound, serde_json::Value::Null),
        ScopeError::LoanCycle { .. } => (ErrorCode::LoanConflict, serde_json::Value::Null),
    };
    Error::new(code, e.to_string()).details(details).caused_by(e)
}

/// Converts a refusal because of scope, with the rule that is the reason.
fn of_denial(target: &TargetId, cause: &Denial, e: &ScopeError) -> Error {
    let (hint, details) = match cause {
        Denial::NotAllowed => (
            "run `stickpin turn state --json` to list the loans of the session".to_owned(),
            json!({ "target": target }),
        ),
        Denial::Denied { by, rule } => (
            format!(
                "run `stickpin session policy {by}` to list what it denies; only a person can remove a rule"
            ),
            json!({ "target": target, "rule": rule.to_string(), "deniedBy": by }),
        ),
        Denial::Lent { to, rule } => (
            format!(
                "run `stickpin turn state --json` to list the loans, or `stickpin session stop {to}` to take it back"
            ),
            json!({ "target": target, "rule": rule.to_string(), "lentTo": to }),
        ),
    };
    Error::new(ErrorCode::ScopeDenied, e.to_string()).hint(hint).details(details).caused_by(e.clone())
}
