//! Removes outdated entries from a session's metadata: members that disappeared long ago, and
//! children that were pruned long ago.

use super::authority::State;
use crate::error;
use stickpin_device::Result;
use stickpin_session::Timestamp;
use stickpin_session::log::{Kind, MemberLeft, SessionMeta};
use stickpin_session::turn::{AgentId, Child, ChildState, Liveness, Member, MemberKind, Now};
use stickpin_store::{Amendment, Origin};

/// How long a pruned child stays in the list of children, in milliseconds.
const PRUNED_KEPT_MS: u64 = 7 * 86_400_000;

/// How far the stored time of a member's last request may lag behind the actual time, in
/// milliseconds.
const SEEN_EVERY_MS: u64 = 60_000;

/// Removes outdated entries from the metadata. If all members are absent, the one that was seen
/// last stays, so that it can find the session again.
pub(crate) fn age(state: &mut State, now: &Now) -> Result<()> {
    let meta = state.log.meta();
    let pruned = meta.children.iter().filter(|row| is_over(meta, row, now));
    let pruned: Vec<String> = pruned.map(|row| row.session.clone()).collect();
    for session in pruned {
        state.log.amend(Amendment::ChildForgotten { session });
    }
    // The members of a session that is closed carry over to its next lifetime.
    if !state.log.meta().status.is_current() {
        return Ok(());
    }
    for agent in absent_members(state, now) {
        let left = MemberLeft { agent_id: agent, turn_after: None };
        let left = Kind::MemberLeft(Box::new(left));
        state.log.append(&Origin::daemon(now.wall), left).map_err(error::of_store)?;
    }
    Ok(())
}

/// Returns the members that have made no request for longer than the policy's presence time and
/// whose harness is not known to be running. People stay, but not their consoles: a console that
/// was killed never comes back under its id. The holder of the turn stays, and so do the agent for
/// which it is reserved, and agents that are connected, are waiting or are running a command. If no
/// member would stay, omits the one that was seen last.
fn absent_members(state: &State, now: &Now) -> Vec<AgentId> {
    let meta = state.log.meta();
    let is_old = |member: &&Member| {
        member.kind != MemberKind::Human
            && age_of(seen_at(state, member, now), now) > meta.policy.presence_ttl_ms
    };
    let is_absent = |member: &&Member| {
        let (agent, turn) = (&member.agent_id, &meta.turn);
        let presence = state.presence_of(member, now);
        let is_present = presence.liveness == Liveness::Alive
            || presence.connected
            || presence.in_flight
            || state.waits.contains_key(agent);
        !is_present && turn.owner.as_ref() != Some(agent) && turn.reserved_for.as_ref() != Some(agent)
    };
    let mut old: Vec<&Member> = meta.members.iter().filter(is_old).filter(is_absent).collect();
    if old.len() == meta.members.len() {
        old.sort_by_key(|member| seen_at(state, member, now));
        old.pop();
    }
    old.into_iter().map(|member| member.agent_id.clone()).collect()
}

/// Returns whether a member has disappeared, according to `state`: its harness has ended, and it
/// has made no request for `grace_ms`. `state` may be that of another session in which the member
/// acts. An agent is present while it runs a command, waits for the turn or follows the events,
/// because its client is still waiting for the response.
pub(crate) fn is_gone(state: &State, member: &Member, now: &Now, grace_ms: u64) -> bool {
    let agent = &member.agent_id;
    let presence = state.presence_of(member, now);
    let silent_ms = presence.last_poll_ms.map_or(presence.silent_ms, |poll| poll.min(presence.silent_ms));
    let is_busy = presence.in_flight
        || state.waits.contains_key(agent)
        || state.readers.iter().any(|reader| reader.agent == *agent);
    presence.liveness == Liveness::Gone && silent_ms > grace_ms && !is_busy
}

/// Returns when a member made its last request. Requests to this host are timed by the monotonic
/// clock.
fn seen_at(state: &State, member: &Member, now: &Now) -> Timestamp {
    match state.seen.get(&member.agent_id) {
        Some(seen) => {
            let silent = now.mono_ms.saturating_sub(seen.at);
            Timestamp::from_millis(now.wall.millis().saturating_sub(silent))
        }
        None => member.last_seen_at,
    }
}

/// Stores the time of an agent's request with the next record, unless the stored time is recent.
pub(super) fn note_seen(state: &mut State, agent: &AgentId, now: &Now) {
    let due = state.member(agent).is_some_and(|member| age_of(member.last_seen_at, now) >= SEEN_EVERY_MS);
    if due {
        state.log.amend(Amendment::Seen { agent: agent.clone(), at: now.wall });
    }
}

fn age_of(at: Timestamp, now: &Now) -> u64 {
    now.wall.millis().saturating_sub(at.millis())
}

/// Returns whether a child was pruned long ago. If its loan is no longer among the latest reclaimed
/// ones, the age of the entry counts from the time of the spawn.
fn is_over(meta: &SessionMeta, row: &Child, now: &Now) -> bool {
    let back = meta.reclaimed.iter().find(|loan| loan.loan_id == row.loan_id);
    row.state == ChildState::Pruned
        && age_of(back.map_or(row.spawned_at, |loan| loan.at), now) > PRUNED_KEPT_MS
}
