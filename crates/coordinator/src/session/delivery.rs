//! Tracks whether the responses to an agent arrived. A turn whose grant did not arrive is reserved
//! for the agent again.

use super::authority::{SessionAuthority, State};
use stickpin_session::turn::{AgentId, TurnState, deadlines};
use stickpin_store::Amendment;

impl SessionAuthority {
    /// Records that the responses to an agent were delivered: stores the agent's read position, and
    /// marks a grant as delivered. The delivery of a grant is stored at once, so that the next host
    /// does not reserve the turn again. Returns whether there was such a grant.
    pub fn confirm_delivery(&self, agent: &AgentId) -> bool {
        let mut state = self.lock();
        self.confirm_cursor(&mut state, agent);
        let turn = &state.log.meta().turn;
        let granted = turn.owner.as_ref() == Some(agent) && !turn.grant.delivered;
        if granted {
            let amended = deadlines::with_delivery(turn, true);
            store(&mut state, amended);
        }
        granted
    }
}

/// Marks the last grant to an agent as undelivered, because the agent's client ended without having
/// read the grant.
pub(crate) fn take_back_grant(session: &SessionAuthority, agent: &AgentId) {
    let mut state = session.lock();
    let turn = &state.log.meta().turn;
    if turn.owner.as_ref() == Some(agent) && turn.grant.delivered {
        let amended = deadlines::with_delivery(turn, false);
        store(&mut state, amended);
    }
}

fn store(state: &mut State, amended: TurnState) {
    state.log.amend(Amendment::Turn(Box::new(amended)));
    if let Err(e) = state.log.store_meta() {
        // The delivery is stored with the next record.
        let session = &state.log.meta().name;
        tracing::warn!(session, "the delivery of a turn could not be stored: {e}");
    }
}
