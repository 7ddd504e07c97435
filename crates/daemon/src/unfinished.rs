//! Why a daemon refuses to stop without force.

use serde_json::json;
use stickpin_coordinator::Unfinished;
use stickpin_kernel::{Error, ErrorCode};

/// Returns why the daemon refuses to stop without force: open sessions, turns that agents own, and
/// running commands. Returns `None` if nothing prevents the stop.
pub(crate) fn refusal(sessions: &[String], work: &Unfinished) -> Option<Error> {
    let turns: Vec<_> =
        work.turns.iter().map(|(session, owner)| format!("{owner} holds the turn of {session}")).collect();
    let mut why = Vec::new();
    if !sessions.is_empty() {
        why.push(format!("sessions are open: {}", sessions.join(", ")));
    }
    if !work.commands.is_empty() {
        why.push(format!("commands are running in {}", work.commands.join(", ")));
    }
    why.extend(turns);
    let (code, hint) = match (sessions.is_empty() && work.commands.is_empty(), work.turns.is_empty()) {
        (true, true) => return None,
        (true, false) => (
            ErrorCode::NotYourTurn,
            "wait until every turn is released, or run `stickpin daemon stop --force`: a turn stays with its owner under the next daemon",
        ),
        // A command such as `open` can run in a session whose app is not open yet.
        (false, _) if sessions.is_empty() => (
            ErrorCode::SessionExists,
            "wait until the commands have ended, or run `stickpin daemon stop --force` to end them with the daemon",
        ),
        (false, _) => (
            ErrorCode::SessionExists,
            "run `stickpin close --all` first, or `stickpin daemon stop --force` to end the sessions with the daemon",
        ),
    };
    let owned: Vec<_> =
        work.turns.iter().map(|(session, owner)| json!({ "session": session, "owner": owner })).collect();
    let details = json!({ "sessions": sessions, "running": work.commands, "ownedTurns": owned });
    Some(Error::new(code, why.join("; ")).hint(hint).details(details))
}
