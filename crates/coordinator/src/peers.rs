//! Peers: two sessions that see each other and may send each other messages, and nothing else.

use crate::coordinator::Coordinator;
use crate::participant::Participant;
use crate::session::{SessionAuthority, State, Talk};
use crate::upkeep::require_turn_or_idle;
use stickpin_device::{Error, ErrorCode, Result};
use stickpin_session::log::{Kind, PeerAdded, PeerRemoved};

impl Talk<'_> {
    /// Returns whether a session is a peer of this one.
    #[must_use]
    pub fn is_peer(&self, name: &str) -> bool {
        self.0.lock().log.meta().peers.contains(name)
    }
}

/// Records that a session gained or lost a peer.
fn set_peer(session: &SessionAuthority, who: &Participant, peer: &str, there: bool) -> Result<()> {
    session.change(|state, now| {
        if state.log.meta().peers.contains(peer) == there {
            return Ok(());
        }
        let peer = peer.to_owned();
        let kind = match there {
            true => Kind::PeerAdded(PeerAdded { peer }),
            false => Kind::PeerRemoved(PeerRemoved { peer }),
        };
        state.append(&State::origin(who, now), kind).map(drop)
    })
}

impl Coordinator {
    /// Makes two sessions peers. If the second session cannot record this, the record in the first
    /// session is undone.
    ///
    /// # Errors
    /// Returns `PEER_SELF`, `SESSION_NOT_FOUND`, `UNKNOWN_MEMBER` for an agent that is not a member
    /// of `a`, `NOT_YOUR_TURN` while another agent holds the turn of `a` or has it reserved,
    /// `IDENTITY_AMBIGUOUS`, and errors from the logs.
    pub fn peer(&self, a: &str, b: &str, who: &Participant) -> Result<()> {
        self.set_peers(a, b, who, true)
    }

    /// Ends the peer relation of two sessions.
    ///
    /// # Errors
    /// Returns the errors of [`Self::peer`].
    pub fn unpeer(&self, a: &str, b: &str, who: &Participant) -> Result<()> {
        self.set_peers(a, b, who, false)
    }

    fn set_peers(&self, a: &str, b: &str, who: &Participant, there: bool) -> Result<()> {
        if a == b {
            return Err(Error::new(ErrorCode::PeerSelf, format!("session `{a}` cannot be its own peer"))
                .hint("name two different sessions"));
        }
        who.require_unambiguous()?;
        let (first, second) = (self.session(a)?, self.session(b)?);
        first.change(|state, now| {
            if !who.is_person() {
                state.require_member(a, &who.agent)?;
            }
            require_turn_or_idle(&first, state, who, now)
        })?;
        let was = Talk(&first).is_peer(b);
        set_peer(&first, who, b, there)?;
        set_peer(&second, who, a, there).or_else(|e| {
            set_peer(&first, who, b, was)?;
            Err(e)
        })
    }

    /// Returns the session through which an agent may send messages to `to` without being a member
    /// there: a peer of `to` that the agent is a member of. Messages name that session as their
    /// origin.
    #[must_use]
    pub fn peer_through(&self, who: &Participant, to: &str) -> Option<String> {
        let (there, _) = self.meta(to).ok()?;
        if there.members.iter().any(|member| member.agent_id == who.agent) {
            return None;
        }
        there.peers.into_iter().find(|name| {
            let reciprocal = |(meta, _): &(stickpin_session::log::SessionMeta, _)| {
                meta.peers.contains(to) && meta.members.iter().any(|member| member.agent_id == who.agent)
            };
            self.meta(name).is_ok_and(|found| reciprocal(&found))
        })
    }
}
