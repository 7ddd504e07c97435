//! Decides who gets the turn next if its owner does not name anyone.

use super::{AgentId, Member, MemberRole, Situation, WaitMode};

/// The destination of a turn that its owner gives up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// A member is waiting for the turn.
    Waiter(AgentId),
    /// The best candidate polled recently and is between two polls.
    BetweenPolls,
    /// No member is waiting.
    Nobody,
}

/// Returns who gets the turn that `from` gives up. Only drivers in active wait mode count. Members
/// that never held the turn come first, then those whose last turn was longest ago. Ties are broken
/// by order of joining.
#[must_use]
pub fn next_owner(s: Situation<'_>, from: &AgentId) -> Next {
    match candidates(s, Some(from)).first() {
        None => Next::Nobody,
        Some(best) if is_reachable(s, best) => Next::Waiter(best.agent_id.clone()),
        Some(_) => Next::BetweenPolls,
    }
}

/// Returns the position of an agent among those waiting for the turn; the agent at position 1 is
/// next. An agent for which the turn is reserved precedes all others. `None` if the agent is not
/// waiting.
#[must_use]
pub fn position(s: Situation<'_>, agent: &AgentId) -> Option<usize> {
    let candidates = candidates(s, s.turn.owner.as_ref());
    let at = candidates.iter().position(|m| m.agent_id == *agent)?;
    let ahead = s.turn.reserved_for.as_ref().map_or(0, |first| {
        // The agent with the reservation is already counted if it waits ahead of this agent.
        usize::from(first != agent && !candidates[..at].iter().any(|m| m.agent_id == *first))
    });
    Some(at + ahead + 1)
}

/// Returns the waiting members other than `except`, the next owner first.
fn candidates<'a>(s: Situation<'a>, except: Option<&AgentId>) -> Vec<&'a Member> {
    let mut candidates: Vec<&Member> = s
        .members
        .iter()
        .filter(|m| Some(&m.agent_id) != except)
        .filter(|m| m.role == MemberRole::Driver && m.wait_mode == WaitMode::Active)
        .filter(|m| is_reachable(s, m) || is_between_polls(s, m))
        .collect();
    // `None` sorts before every turn number.
    candidates.sort_by_key(|m| (m.last_held_turn, m.ordinal));
    candidates
}

/// Returns whether a request of the member is waiting, or whether the member's MCP client polls in
/// slices and is expected to poll again.
fn is_reachable(s: Situation<'_>, member: &Member) -> bool {
    let presence = s.presence_of(&member.agent_id);
    let polls = presence.via_mcp && presence.last_poll_ms.is_some_and(|ms| ms < s.policy.mcp_waiter_grace_ms);
    presence.waiting || polls
}

fn is_between_polls(s: Situation<'_>, member: &Member) -> bool {
    let presence = s.presence_of(&member.agent_id);
    presence.last_poll_ms.is_some_and(|ms| ms < s.policy.waiter_grace_ms)
}
