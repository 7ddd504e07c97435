//! The state of one session, under one lock. Nothing else writes the session's log.

use super::aging::note_seen;
use super::commands::implicit_check_ms;
use super::events::Reader;
use crate::environment::Environment;
use crate::error;
use crate::participant::{Connections, Participant};
use crate::tree_queue::SnapshotQueue;
use parking_lot::{Mutex, MutexGuard};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use stickpin_device::{Error, Result};
use stickpin_session::Timestamp;
use stickpin_session::log::{CommandId, Record, SessionMeta, Via};
use stickpin_session::turn::{
    AgentId, Anchor, Liveness, Member, Now, Presence, Situation, TurnError, TurnPhase, TurnState,
};
use stickpin_store::{Amendment, Origin, Phase, SessionLog, Store};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

/// A session of a state directory, loaded from its metadata and log.
#[derive(Debug)]
pub struct SessionAuthority {
    pub(super) name: String,
    pub(crate) shared: Arc<Shared>,
    pub(super) state: Mutex<State>,
    /// The `seq` of the newest record, for readers that follow the log.
    pub(super) feed: watch::Sender<u64>,
    /// Counts the changes to the turn, to the members and to the waits, and the records that are
    /// addressed to somebody. Watched by agents that wait for the turn.
    pub(super) turns: watch::Sender<u64>,
}

/// The values that all sessions of a coordinator share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) store: Store,
    pub(crate) environment: Environment,
    /// The number of times that a host has been started in this state directory.
    pub(crate) epoch: u64,
    /// Whether the guardian is running.
    pub(crate) renewing: AtomicBool,
    /// Wakes the guardian when a deadline may have moved.
    pub(crate) guardian: watch::Sender<u64>,
    /// Notified when a session's metadata lags behind its log.
    pub(crate) lagging: Notify,
    /// The agents that are connected to the host.
    pub(crate) connections: Arc<Connections>,
    /// The stored trees that are not in their logs yet.
    pub(crate) snapshots: SnapshotQueue,
}

/// The state that the lock protects.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) log: SessionLog,
    /// When and how each agent was last seen.
    pub(super) seen: BTreeMap<AgentId, Seen>,
    /// The agents that are waiting for the turn, each with all of its waits: its connected `turn
    /// wait`, and its commands that wait to be admitted.
    pub(super) waits: BTreeMap<AgentId, Vec<Registration>>,
    /// The commands that are running on the device.
    pub(super) running: Vec<Running>,
    /// When the turn became idle, in milliseconds of the monotonic clock; `None` while the turn is
    /// not idle, or if it became idle before the session was loaded.
    pub(super) idle_since: Option<u64>,
    /// When the lease was last stored, in milliseconds of the monotonic clock.
    pub(super) lease_stored: u64,
    /// The deadline of the lease that was reported as stale, in milliseconds of the monotonic
    /// clock.
    pub(crate) stale: Option<u64>,
    /// The turn that was last reported to each agent.
    pub(super) reported: BTreeMap<AgentId, u64>,
    /// When the session was loaded, in milliseconds of the monotonic clock. As far as this host
    /// knows, no agent has been silent since before that time.
    pub(super) loaded: u64,
    /// Whether a restarted host gave the turn back to its owner.
    pub(super) repaired: bool,
    /// Counts the waits for the turn and for events. No two waits of one kind have the same number.
    pub(super) registrations: u64,
    /// The readers of the feed that are connected and waiting.
    pub(super) readers: Vec<Reader>,
    /// The values that all sessions share.
    shared: Arc<Shared>,
    /// The record up to which each agent has read or need not read: the record of its join, or the
    /// last record examined by a wait that found no event.
    pub(super) positions: BTreeMap<AgentId, u64>,
    /// The number of records so far that are addressed to an agent or to all.
    pub(super) addressed: u64,
    /// How far each agent has read, for responses that have not been delivered yet.
    pub(super) unconfirmed: BTreeMap<AgentId, u64>,
}

/// When and how an agent was last seen.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    /// The time of the last request, or of the end of a command if that was later, in milliseconds
    /// of the monotonic clock.
    pub(super) at: u64,
    /// When the last wait returned to its client, in milliseconds of the monotonic clock.
    pub(super) polled: Option<u64>,
    pub(super) via_mcp: bool,
    pub(super) anchor: Option<Anchor>,
}

/// A connected wait for the turn or for the admission of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Registration {
    pub(super) number: u64,
    /// Whether the agent listens without claiming the turn.
    pub(super) parked: bool,
    /// Whether the agent also receives the records that concern it.
    pub(super) reads: bool,
    pub(super) since: Timestamp,
    /// The process of the client.
    pub(super) pid: Option<u32>,
}

/// A command that is running on the device.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) command: CommandId,
    pub(super) agent: AgentId,
    /// Cancelled when the command must end, for example for the next owner of the turn.
    pub(super) cancel: CancellationToken,
}

impl SessionAuthority {
    pub(crate) fn new(log: SessionLog, shared: Arc<Shared>, repaired: bool) -> Self {
        let state = State {
            log,
            seen: BTreeMap::new(),
            waits: BTreeMap::new(),
            running: Vec::new(),
            idle_since: None,
            lease_stored: 0,
            stale: None,
            reported: BTreeMap::new(),
            loaded: (shared.environment.now)().mono_ms,
            repaired,
            registrations: 0,
            readers: Vec::new(),
            shared: Arc::clone(&shared),
            positions: BTreeMap::new(),
            addressed: 0,
            unconfirmed: BTreeMap::new(),
        };
        Self {
            name: state.log.meta().name.clone(),
            shared,
            feed: watch::Sender::new(state.log.meta().applied_seq),
            turns: watch::Sender::new(0),
            state: Mutex::new(state),
        }
    }

    /// Returns the name of the session.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the current metadata of the session.
    #[must_use]
    pub fn meta(&self) -> SessionMeta {
        self.lock().log.meta().clone()
    }

    /// Returns whether an agent is a member of the session.
    #[must_use]
    pub fn is_member(&self, agent: &AgentId) -> bool {
        self.lock().log.meta().members.iter().any(|member| member.agent_id == *agent)
    }

    /// Returns a receiver of the `seq` of the newest record.
    #[must_use]
    pub fn feed(&self) -> watch::Receiver<u64> {
        self.feed.subscribe()
    }

    /// Returns at most `limit` records with a `seq` above `after`, oldest first.
    ///
    /// # Errors
    /// Returns `LOG_CORRUPT` and other errors from reading the log.
    pub fn records_after(&self, after: u64, limit: usize) -> Result<Vec<Arc<Record>>> {
        self.lock().log.records_after(after, limit, Phase::Feed).map_err(error::of_store)
    }

    /// Records that an agent made a request.
    pub fn touch(&self, who: &Participant) {
        let now = self.now();
        self.lock().touch(who, &now);
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    pub(crate) fn now(&self) -> Now {
        (self.shared.environment.now)()
    }

    /// Runs a change under the lock, and wakes all tasks that wait for the changed values.
    pub(crate) fn change<T>(&self, with: impl FnOnce(&mut State, &Now) -> Result<T>) -> Result<T> {
        let now = self.now();
        let mut state = self.lock();
        let before = state.version();
        let result = with(&mut state, &now);
        let after = state.version();
        let lags = stickpin_store::lags(&state.log);
        drop(state);
        if lags {
            self.shared.lagging.notify_one();
        }
        if after.seq != before.seq {
            self.feed.send_replace(after.seq);
        }
        if (after.turn, after.phase, after.members) != (before.turn, before.phase, before.members) {
            self.turns.send_modify(|count| *count += 1);
            self.shared.guardian.send_modify(|count| *count += 1);
        } else if after.addressed != before.addressed {
            // A wait for the turn is also a wait for events.
            self.turns.send_modify(|count| *count += 1);
        }
        result
    }

    /// Runs a change for an agent, whose request counts as its activity. Refuses a request that
    /// could have come from another agent.
    pub(crate) fn change_for<T>(
        &self,
        who: &Participant,
        with: impl FnOnce(&mut State, &Now) -> Result<T>,
    ) -> Result<T> {
        who.require_unambiguous()?;
        self.change(|state, now| {
            state.touch(who, now);
            with(state, now)
        })
    }

    pub(crate) fn turn_error(&self, state: &State, e: TurnError) -> Error {
        error::of_turn(&self.name, &state.log.meta().turn, &self.now(), e)
    }
}

/// The values that show whether a change concerns readers, waiters or the guardian.
struct Version {
    seq: u64,
    turn: u64,
    phase: TurnPhase,
    members: usize,
    addressed: u64,
}

impl State {
    fn version(&self) -> Version {
        let meta = self.log.meta();
        Version {
            seq: meta.applied_seq,
            turn: meta.turn.turn_id,
            phase: meta.turn.state,
            members: meta.members.len() + self.waits.values().map(Vec::len).sum::<usize>(),
            addressed: self.addressed,
        }
    }

    pub(crate) fn touch(&mut self, who: &Participant, now: &Now) {
        note_seen(self, &who.agent, now);
        let seen = self.seen.entry(who.agent.clone()).or_default();
        seen.at = now.mono_ms;
        seen.via_mcp = who.via == Via::Mcp;
        let Some(anchor) = who.anchor.as_ref().filter(|anchor| seen.anchor.as_ref() != Some(anchor)) else {
            return;
        };
        seen.anchor = Some(anchor.clone());
        // The next host must not consider an owner gone merely because its harness has a new
        // process.
        let is_first = self.member(&who.agent).is_some_and(|member| member.anchor.is_none());
        let change = Amendment::Anchor { agent: who.agent.clone(), anchor: anchor.clone() };
        self.log.amend(change);
        // Without a stored process, the next host would wait for a member that is gone.
        if is_first && let Err(e) = self.log.store_meta() {
            tracing::warn!(agent = %who.agent, "the process of the agent could not be stored: {e}");
        }
    }

    /// Returns the current presence of all members.
    pub(crate) fn presence(&self, now: &Now) -> BTreeMap<AgentId, Presence> {
        let members = self.log.meta().members.iter();
        members.map(|m| (m.agent_id.clone(), self.presence_of(m, now))).collect()
    }

    pub(super) fn presence_of(&self, member: &Member, now: &Now) -> Presence {
        let agent = &member.agent_id;
        let seen = self.seen.get(agent);
        let anchor = seen.and_then(|seen| seen.anchor.as_ref()).or(member.anchor.as_ref());
        let since = |at: u64| now.mono_ms.saturating_sub(at);
        Presence {
            liveness: anchor.map_or(Liveness::Unknown, |anchor| (self.shared.environment.liveness)(anchor)),
            silent_ms: since(seen.map_or(self.loaded, |seen| seen.at)),
            waiting: self.parked_wait(agent) == Some(false),
            last_poll_ms: seen.and_then(|seen| seen.polled).map(since),
            via_mcp: seen.is_some_and(|seen| seen.via_mcp),
            connected: self.shared.connections.has(agent),
            in_flight: self.running.iter().any(|running| running.agent == *agent),
        }
    }

    /// Applies a function to the current situation: the turn, the members, their presence, the
    /// policy and the time.
    pub(crate) fn judge<T>(&self, now: &Now, by: impl FnOnce(Situation<'_>) -> T) -> T {
        let presence = self.presence(now);
        let meta = self.log.meta();
        by(Situation {
            turn: &meta.turn,
            members: &meta.members,
            policy: &meta.policy,
            presence: &presence,
            idle_ms: self.idle_since.map(|since| now.mono_ms.saturating_sub(since)),
            now,
        })
    }

    /// Returns whether all waits of an agent are parked; `None` if the agent is not waiting.
    pub(super) fn parked_wait(&self, agent: &AgentId) -> Option<bool> {
        self.waits.get(agent).map(|waits| waits.iter().all(|wait| wait.parked))
    }

    /// Returns whether any agent is waiting for the turn.
    pub(crate) fn has_waits(&self) -> bool {
        !self.waits.is_empty()
    }

    /// Returns the remaining time of the lease, in milliseconds; 0 if there is no lease.
    pub(crate) fn lease_left(&self, now: &Now) -> u64 {
        let lease = self.log.meta().turn.lease.as_ref();
        lease.map_or(0, |lease| lease.deadline_mono_ms.saturating_sub(now.mono_ms))
    }

    /// Replaces the lease. Writes it to disk at most once every `store_every` milliseconds.
    pub(crate) fn renew(&mut self, turn: TurnState, now: &Now, store_every: u64) -> Result<()> {
        if now.mono_ms.saturating_sub(self.lease_stored) < store_every {
            self.log.amend(Amendment::Turn(Box::new(turn)));
            return Ok(());
        }
        self.lease_stored = now.mono_ms;
        match turn.lease {
            Some(lease) => self.log.renew_lease(lease).map_err(error::of_store),
            None => Ok(()),
        }
    }

    /// Returns the time until the turn and its lease must be checked again; `None` if only a
    /// request can change the turn.
    pub(crate) fn next_due(&self, now: &Now) -> Option<Duration> {
        let meta = self.log.meta();
        let turn = &meta.turn;
        let ms = match turn.state {
            TurnPhase::Idle | TurnPhase::Closed => return None,
            TurnPhase::Reserved => turn.claim_deadline.as_ref()?.mono_ms.saturating_sub(now.mono_ms),
            TurnPhase::Owned if turn.implicit && self.waits.is_empty() => return None,
            TurnPhase::Owned if turn.implicit => implicit_check_ms(self, now),
            TurnPhase::Owned if !turn.grant.delivered => 1_000,
            TurnPhase::Owned => {
                let owner =
                    turn.owner.as_ref().and_then(|owner| meta.members.iter().find(|m| m.agent_id == *owner));
                let gone = owner.is_some_and(|owner| self.presence_of(owner, now).liveness == Liveness::Gone);
                // The end of a harness is noticed within a fraction of its grace period.
                if gone {
                    meta.policy.gone_grace_ms / 4
                } else {
                    meta.policy.renew_ms.min(meta.policy.gone_grace_ms / 4)
                }
            }
        };
        Some(Duration::from_millis(ms.max(20)))
    }

    pub(crate) fn origin(who: &Participant, now: &Now) -> Origin {
        Origin::agent(now.wall, who.agent.clone(), who.via)
    }

    /// Returns the origin of a record: the agent, or the daemon if `who` is `None`.
    pub(crate) fn origin_of(who: Option<&Participant>, now: &Now) -> Origin {
        who.map_or_else(|| Origin::daemon(now.wall), |who| Self::origin(who, now))
    }
}
