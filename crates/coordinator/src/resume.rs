//! What a host takes over from the previous one, and what it leaves to the next: turns,
//! reservations, loans and running commands.

use crate::coordinator::Coordinator;
use crate::error;
use crate::session::{SessionAuthority, drain};
use std::cmp::Reverse;
use std::sync::Arc;
use stickpin_device::Result;
use stickpin_session::log::{DaemonStarted, Kind, RepairedTurn, SessionMeta, Status};
use stickpin_session::turn::{AgentId, TurnPhase, deadlines};
use stickpin_store::{Amendment, Origin, SessionLog};
use tokio::task::JoinSet;

/// The maximum number of sessions without a deadline that are loaded. Nobody waits for an implicit
/// turn after a restart, and each loaded session keeps a file open.
const MAX_INTERRUPTED: usize = 64;

/// Why a session is loaded before anyone names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    /// A deadline is running: that of a lease, a reservation or a loan, or of the presence of a
    /// child's members.
    Deadline,
    /// The device ended with the last host, and a command may have been running.
    Interrupted,
}

/// Returns why the guardian must keep track of a session; `None` for a session that need not be
/// loaded before its first use.
fn due(meta: &SessionMeta) -> Option<Due> {
    let is_open = meta.status == Status::Open;
    let turn = &meta.turn;
    let is_held = meta.status.is_current() && matches!(turn.state, TurnPhase::Owned | TurnPhase::Reserved);
    if !meta.loans.is_empty() || (is_open && meta.parent.is_some()) || (is_held && !turn.implicit) {
        return Some(Due::Deadline);
    }
    (is_open || is_held || !meta.open_commands.is_empty()).then_some(Due::Interrupted)
}

/// What a host would leave to the next one if it ended now, by session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Unfinished {
    /// The turns that agents requested and still own.
    pub turns: Vec<(String, AgentId)>,
    /// The sessions in which a command is running.
    pub commands: Vec<String>,
}

impl Unfinished {
    /// Returns what the host of a coordinator would leave if it ended now. Reads no log. An
    /// implicit turn is not work: it belongs to a command that has ended.
    #[must_use]
    pub fn of(coordinator: &Coordinator) -> Self {
        // A folder that cannot be read has no turns that anyone could use.
        let names = coordinator.names().unwrap_or_default();
        let metas = names.iter().filter_map(|name| Some((name, coordinator.cached_meta(name).ok()?.0)));
        let owned = metas.filter_map(|(name, meta)| {
            let turn = &meta.turn;
            let is_owned = turn.state == TurnPhase::Owned && !turn.implicit && meta.status.is_current();
            is_owned.then(|| Some((name.clone(), turn.owner.clone()?)))?
        });
        let is_busy = |session: &Arc<SessionAuthority>| session.lock().running_of(&|_| true).is_some();
        let busy = coordinator.in_use().into_iter().filter(is_busy);
        Self { turns: owned.collect(), commands: busy.map(|session| session.name().to_owned()).collect() }
    }
}

/// Waits until no command is running in any session. A command that runs for longer than its
/// session allows is cancelled and no longer waited for.
pub async fn drain_all(coordinator: &Coordinator) {
    let mut drains = JoinSet::new();
    for session in coordinator.in_use() {
        drains.spawn(async move { drain(&session, &|_| true).await });
    }
    drains.join_all().await;
}

/// Writes the current deadlines of all leases, for the next host. A session whose metadata cannot
/// be written keeps the deadline that was stored last.
pub fn store_deadlines(coordinator: &Coordinator) {
    for session in coordinator.in_use() {
        let mut state = session.lock();
        if state.log.meta().turn.lease.is_none() {
            continue;
        }
        if let Err(e) = state.log.store_meta() {
            tracing::warn!(session = session.name(), "the lease of the session could not be stored: {e}");
        }
    }
}

/// Loads the sessions in which something was unfinished when the last host ended: a turn that is
/// owned or reserved, a loan, a child, an open device, or a command without an end. From then on,
/// the guardian maintains these sessions, even if nobody uses them. Of the sessions without a
/// deadline, only the newest are loaded. The other sessions are loaded on first use. Returns the
/// number of loaded sessions.
///
/// A session that cannot be loaded is reported to whoever uses it.
///
/// # Errors
/// Returns `IO` when the sessions folder cannot be read.
pub fn resume(coordinator: &Coordinator) -> Result<usize> {
    // Read the metadata one by one, so that the other cores are free for the first requests.
    let known = |name: String| {
        let (meta, _) = coordinator.cached_meta(&name).ok()?;
        Some((due(&meta)?, Reverse(meta.updated_at), name))
    };
    let mut due: Vec<_> = coordinator.names()?.into_iter().filter_map(known).collect();
    // Load the newest sessions first.
    due.sort_unstable_by_key(|(_, updated, _)| *updated);
    let (mut interrupted, mut loaded) = (0, 0);
    for (why, _, name) in due {
        interrupted += usize::from(why == Due::Interrupted);
        if why == Due::Interrupted && interrupted > MAX_INTERRUPTED {
            continue;
        }
        match coordinator.session(&name) {
            Ok(_) => loaded += 1,
            Err(e) => tracing::warn!(session = name, "the session could not be loaded: {e}"),
        }
    }
    Ok(loaded)
}

/// Records that a session's host ended, and the session's device with the host. An owned or
/// reserved turn is kept; after a reboot, it is surrendered. Returns whether an owner has the turn
/// again.
pub(crate) fn take_over(coordinator: &Coordinator, log: &mut SessionLog) -> Result<bool> {
    let now = (coordinator.shared.environment.now)();
    let before = log.meta().turn.clone();
    let epoch = coordinator.shared.epoch;
    let status = log.meta().status;
    let has_turn = status.is_current() && matches!(before.state, TurnPhase::Owned | TurnPhase::Reserved);
    if !has_turn {
        if status == Status::Open && log.meta().parent.is_none() {
            let started = Kind::DaemonStarted(DaemonStarted { epoch, repaired: Vec::new() });
            log.append(&Origin::daemon(now.wall), started).map_err(error::of_store)?;
        }
        return Ok(false);
    }
    let after = deadlines::after_restart(&before, &now);
    let daemon = Origin::daemon(now.wall);
    let owned = after.state == TurnPhase::Owned;
    let owner = after.owner.clone().filter(|_| owned);
    let repaired = owner.into_iter().map(|owner| RepairedTurn { turn_id: after.turn_id, owner }).collect();
    let started = DaemonStarted { epoch, repaired };
    if after.state == before.state {
        log.amend(Amendment::Turn(Box::new(after)));
    } else {
        let surrendered = crate::session::surrendered_by_reboot(&before, after);
        log.append(&daemon, surrendered).map_err(error::of_store)?;
    }
    log.append(&daemon, Kind::DaemonStarted(started)).map_err(error::of_store)?;
    Ok(owned)
}
